# shellcheck shell=bash
# package.sh - what the tests of packages share, which source it: root's rights, for chroot; the
# folder $work, which goes at the end; check, which counts in $passed; and die.

[ "$(id -u)" -eq 0 ] || { echo "${0##*/}: root is needed, for chroot" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

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
