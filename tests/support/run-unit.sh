#!/usr/bin/env bash
# run-unit.sh PROGRAM... - runs cmocka programs, JOBS (cores) at a time, shows the output of those that fail, and counts their tests.
set -u
here=$(cd "$(dirname "$0")" && pwd)

# One program, in its own process: run-unit.sh --one PROGRAM. Its words are one write, for others print at the same time; its
# counts go into $WORK.
if [ "${1:-}" = --one ]; then
    program=$2 name=$(basename "$2")
    log=$WORK/$name.log
    status=0 TIMEFORMAT='%R %U %S'
    # Where this is a background job or under nohup, signals are ignored, and tests send them.
    { time env --default-signal=INT,TERM,HUP "$program" > "$log" 2>&1 < /dev/null || status=$?; } 2> "$log.took"
    took=$(awk '{printf "%.1f s, %.1f s of a core", $1, $2 + $3}' "$log.took")
    p=$(grep -c '^\[       OK \]' "$log")
    s=$(grep -cE '^\[  SKIPPED \] [a-z]\w*$' "$log")
    f=$(grep -cE '^\[  FAILED  \] [a-z]\w*$' "$log")
    # Each failure and each skip is listed twice, where it happens and in the closing list; a crash lists none.
    f=$(((f + 1) / 2)) s=$(((s + 1) / 2))
    [ "$status" -eq 0 ] || [ "$f" -gt 0 ] || f=1
    echo "$p $f $s" > "$WORK/$name.counts"
    if [ "$status" -ne 0 ]; then
        said=$(cat "$log")$'\n'"FAIL  $program (status $status)"
    else
        # What it says of what is not here, then each test that was skipped for it, as tests/cli/run.sh names them.
        said=$(grep '^SKIPPED: ' "$log" | sort -u | head -n 3
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

# Those that take longest come first, so that none of them is left alone at the end.
long=' test_nvdec_worker test_film_source test_frame_probe test_kmeans_race test_points test_frame_cache test_shrink test_layout test_decode_worker_threads '
for program in "$@"; do
    [[ $long == *" $(basename "$program") "* ]] && echo "$program"
done > "$WORK/list"
for program in "$@"; do
    [[ $long == *" $(basename "$program") "* ]] || echo "$program"
done >> "$WORK/list"
xargs -P "${JOBS:-$(nproc)}" -d '\n' -n 1 "$0" --one < "$WORK/list"

passed=0 failed=0 skipped=0
for program in "$@"; do
    # A program of which nothing was counted has failed too.
    read -r p f s < "$WORK/$(basename "$program").counts" || p=0 f=1 s=0
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
