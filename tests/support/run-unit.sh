#!/bin/sh
# run-unit.sh PROGRAM... - runs cmocka programs, shows the output of those that fail, and counts their tests.
set -u
export BARCODE_CACHE=-      # no test uses the user's cache
here=$(cd "$(dirname "$0")" && pwd)
export LSAN_OPTIONS="suppressions=$here/lsan.supp:print_suppressions=0" TSAN_OPTIONS="suppressions=$here/tsan.supp"
passed=0 failed=0 skipped=0
for program in "$@"; do
    log=$(mktemp)
    start=$(date +%s)
    # Where this is a background job or under nohup, signals are ignored, and tests send them.
    env --default-signal=INT,TERM,HUP "$program" > "$log" 2>&1
    status=$?
    p=$(grep -c '^\[       OK \]' "$log")
    s=$(grep -c '^\[  SKIPPED \] [^0-9]' "$log")
    f=$(grep -c '^\[  FAILED  \] [^0-9]*$' "$log")
    # Each failure and each skip is listed twice, where it happens and in the closing list; a crash lists none.
    f=$(((f + 1) / 2)) s=$(((s + 1) / 2))
    [ "$status" -eq 0 ] || [ "$f" -gt 0 ] || f=1
    if [ "$status" -ne 0 ]; then
        cat "$log"
        echo "FAIL  $program (status $status)"
    else
        # What it says of what is not here, then each test that was skipped for it, as tests/cli/run.sh names them.
        grep '^SKIPPED: ' "$log" | sort -u | head -n 3
        sed -n "s/^\[  SKIPPED \] \([^0-9].*\)/SKIP  $(basename "$program"): \1/p" "$log" | sort -u
        echo "ok    $(basename "$program"): $p tests, $(($(date +%s) - start)) s"
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    rm -f "$log"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
