#!/usr/bin/env bash
# run-unit.sh PROGRAM... - runs the files of unit tests that these programs have (tests/unit/runner.c), JOBS (cores) at a time,
# shows the output of those that fail, and counts their tests. TEST=FILE[:PATTERN]: this file alone, of it the tests whose names
# match, and its whole output. WITHOUT=REGEX: not these files.
set -u
here=$(cd "$(dirname "$0")" && pwd)

# One file, in its own process: run-unit.sh --one PROGRAM FILE. Its words are one write, for others print at the same time; its
# counts go into $WORK.
if [ "${1:-}" = --one ]; then
    program=$2 name=$3
    log=$WORK/$name.log
    status=0 TIMEFORMAT='%R %U %S'
    # Where this is a background job or under nohup, signals are ignored, and tests send them.
    { time env --default-signal=INT,TERM,HUP "$program" "$name" ${PATTERN:+"$PATTERN"} > "$log" 2>&1 < /dev/null || status=$?; } 2> "$log.took"
    took=$(awk '{printf "%.1f s, %.1f s of a core", $1, $2 + $3}' "$log.took")
    p=$(grep -c '^\[       OK \]' "$log")
    s=$(grep -cE '^\[  SKIPPED \] [a-z]\w*$' "$log")
    f=$(grep -cE '^\[  FAILED  \] [a-z]\w*$' "$log")
    # Each failure and each skip is listed twice, where it happens and in the closing list; a crash lists none.
    f=$(((f + 1) / 2)) s=$(((s + 1) / 2))
    [ "$status" -eq 0 ] || [ "$f" -gt 0 ] || f=1
    echo "$p $f $s" > "$WORK/$name.counts"
    if [ "$status" -ne 0 ]; then
        said=$(cat "$log")$'\n'"FAIL  $program $name (status $status)"
    else
        # What it says of what is not here, then each test that was skipped for it, as tests/cli/run.sh names them.
        said=$([ -z "${TEST:-}" ] || cat "$log"
            grep '^SKIPPED: ' "$log" | sort -u | head -n 3
            sed -n "s/^\[  SKIPPED \] \([a-z][a-z0-9_]*\)$/SKIP  $name: \1/p" "$log" | sort -u
            echo "ok    $name: $p tests ($took)")
    fi
    printf '%s\n' "$said"
    exit 0
fi

export BARCODE_CACHE=-      # no test uses the user's cache
export ASAN_OPTIONS=allocator_may_return_null=1      # as without a sanitizer
export LSAN_OPTIONS="suppressions=$here/lsan.supp:print_suppressions=0"
# suppress_equal_addresses: what libav's threads do is suppressed, many thousand times in a program; each of their addresses would be kept,
# compared with all before it, and never told of again, not even when a race of ours is at that address.
export TSAN_OPTIONS="allocator_may_return_null=1:suppressions=$here/tsan.supp:suppress_equal_addresses=0"
WORK=$(mktemp -d)
export WORK
trap 'rm -rf "$WORK"' EXIT
export TEST=${TEST:-} PATTERN=
[[ $TEST != *:* ]] || PATTERN=${TEST#*:} TEST=${TEST%%:*}

# Those that take longest come first, so that none of them is left alone at the end.
long=' test_(sound_reading|nvdec_worker|align_map|live_channel|live_receiver|kmeans_race|frame_probe|film_source)$'
for program in "$@"; do
    "$program" --list | sed "s|^|$program |"
done | grep -E " ${TEST:-.*}\$" | grep -vE " (${WITHOUT:-})\$" > "$WORK/all"
{ grep -E "$long" "$WORK/all"; grep -vE "$long" "$WORK/all"; } > "$WORK/list"
if [ ! -s "$WORK/list" ]; then
    echo "no file of unit tests in $* is called '$TEST'; its room is its folder in tests/unit"
    exit 1
fi
xargs -P "${JOBS:-$(nproc)}" -L 1 "$0" --one < "$WORK/list"

passed=0 failed=0 skipped=0
while read -r _ name; do
    # A file of which nothing was counted has failed too.
    read -r p f s < "$WORK/$name.counts" || p=0 f=1 s=0
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done < "$WORK/list"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
