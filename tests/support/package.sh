# shellcheck shell=bash
# package.sh - what the tests of packages share, which source it: chroot.sh; check, which counts in
# $passed; and die.

# shellcheck source=tests/support/chroot.sh
. "$(dirname "${BASH_SOURCE[0]}")/chroot.sh"

passed=0
die() {
    echo "FAIL  $*"
    [ ! -s "$work/log" ] || tail -n 20 "$work/log"
    exit 1
}
check() { # WHAT COMMAND...
    : > "$work/log"
    "${@:2}" > "$work/log" 2>&1 || die "$1: ${*:2}"
    echo "ok    $1"
    passed=$((passed + 1))
}
