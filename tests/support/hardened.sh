#!/bin/bash
# hardened.sh PROGRAM [FUNCTIONS] - fails unless the program was built as the Makefile's HARDENED and LINK say: position-independent,
# relocations read-only from the start, no executable stack, stack protector, FORTIFY and, on x86-64, a mark for CET at the
# start of at least FUNCTIONS (300) functions. The note of CET is not looked for: Debian 12's startup files do not have it.
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
if grep -q 'Machine:.*X86-64' <<< "$headers"; then
    marks=$(LC_ALL=C grep -aoP '\xf3\x0f\x1e\xfa' "$program" | wc -l) # endbr64
    [ "$marks" -ge "$functions" ] || lacks "CET's mark at the start of $marks functions only"
fi
exit $bad
