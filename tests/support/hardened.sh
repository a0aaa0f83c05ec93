#!/bin/bash
# hardened.sh PROGRAM [FUNCTIONS] - fails unless the program was built as the Makefile's HARDENED and LINK say: position-independent,
# relocations read-only from the start, no executable stack, stack protector, FORTIFY and, at the start of at least FUNCTIONS
# (300) functions, the instruction of CET (x86-64) or of pointer authentication (aarch64). The notes of CET and of branch
# targets are not looked for: Debian 12's startup files do not have them.
set -euo pipefail

program=${1:?usage: hardened.sh PROGRAM [FUNCTIONS]}
functions=${2:-300}
bad=0
lacks() {
    echo "hardened.sh: $program: $*" >&2
    bad=1
}
headers=$(readelf -hldW "$program")
symbols=$(readelf --dyn-syms -W "$program")
grep -q "Type: *DYN" <<< "$headers" || lacks "not position-independent"
grep -q "FLAGS_1.*\bPIE\b" <<< "$headers" || lacks "not a position-independent program"
grep -q GNU_RELRO <<< "$headers" || lacks "no RELRO"
grep -q 'FLAGS_1.*\bNOW\b' <<< "$headers" || lacks "not all of RELRO: symbols are bound late"
grep -qE 'GNU_STACK.* RW +0x' <<< "$headers" || lacks "an executable stack"
grep -q '__stack_chk_' <<< "$symbols" || lacks "no stack protector"
grep -qE '__[a-z]+_chk@' <<< "$symbols" || lacks "no FORTIFY"
case $headers in
*Machine:*X86-64*) mark='\xf3\x0f\x1e\xfa' ;;  # endbr64
*Machine:*AArch64*) mark='\x3f\x23\x03\xd5' ;; # paciasp
*) mark= ;;
esac
if [ -n "$mark" ]; then
    marks=$(LC_ALL=C grep -aoP "$mark" "$program" | wc -l)
    [ "$marks" -ge "$functions" ] || lacks "a mark of branch protection in $marks functions only"
fi
exit $bad
