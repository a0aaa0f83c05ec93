#!/usr/bin/env bash
# run.sh [--quick | --rest] [PATTERN] - runs the built program as a user would: every test_* function of every case file
# beside this one, or those whose first line ends in "# quick", or the rest.
#
#   BARCODE=out/bin/barcode CLIPS=out/clips SAMPLE=out/sample.mkv JOBS=cores BARCODE_FILMS= tests/cli/run.sh
#
# Every film that it needs is made (make clips). BARCODE_FILMS names a folder of others, which go through the tests of whole
# films (90-films.sh, 95-cache.sh) too, many times each: clips of a minute, not of two hours.
#
# One line a test; what a failing one printed follows it. The last line counts. Exit 1 when one failed.
set -eu

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)

absolute() {
    case $1 in
        /*) echo "$1" ;;
        *) echo "$PWD/$1" ;;
    esac
}

# One case, in its own process: run.sh --one FILE FUNCTION
if [ "${1:-}" = --one ]; then
    LOGS=$WORK/$3.logs
    rm -rf "${WORK:?}/$3" "$LOGS"
    mkdir -p "$WORK/$3" "$LOGS"
    cd "$WORK/$3"
    export HERE LOGS
    code=0 TIMEFORMAT='%R %U %S'
    { time bash -c 'set -eu; . "$1/../support/lib.sh"; . "$2"; "$3"' case "$HERE" "$2" "$3" > "$LOGS/said" 2>&1 < /dev/null ||
        code=$?; } 2> "$LOGS/took"
    took=$(awk '{printf "%.1f s, %.1f s of a core", $1, $2 + $3}' "$LOGS/took")
    # What was said counts (lib.sh); a case of which nothing was said is what its exit status says.
    if [ ! -e "$LOGS/word" ]; then
        if [ "$code" -eq 0 ]; then echo ok; else echo FAIL; fi > "$LOGS/word"
    fi
    read -r word why < "$LOGS/word"
    rm -rf "$LOGS/kept"
    mkdir "$LOGS/json"
    find . -type f \( -name '*.json' -o -name '*.jsonl' \) -size -2M \
        -exec cp -l --backup=numbered -t "$LOGS/json" {} + 2> /dev/null || true
    [ "$word" = FAIL ] || rm -rf "${WORK:?}/$3"
    case $word in
        ok) line="ok    $3 ($took)" ;;
        SKIP) line="SKIP  $3: $why" ;;
        *) line="FAIL  $3 ($(basename "$2"); files in $WORK/$3)
$(sed 's/^/      /' "$LOGS/said" | tail -n 40)" ;;
    esac
    printf '%s\n' "$line"     # one write, for others print at the same time
    exit 0
fi

BARCODE=$(absolute "${BARCODE:-$TOP/out/bin/barcode}")
CLIPS=$(absolute "${CLIPS:-$TOP/out/clips}")
SAMPLE=$(absolute "${SAMPLE:-$TOP/out/sample.mkv}")
WORK=$(absolute "${WORK:-$TOP/out/test/cli}")
FEW_THREADS_SO=$(absolute "${FEW_THREADS_SO:-$TOP/out/bin/few-threads.so}")
BAD_READS_SO=$(absolute "${BAD_READS_SO:-$TOP/out/bin/bad-reads.so}")
REFUSED_MEMORY_SO=$(absolute "${REFUSED_MEMORY_SO:-$TOP/out/bin/refused-memory.so}")
TRIED_CALLS_SO=$(absolute "${TRIED_CALLS_SO:-$TOP/out/bin/tried-calls.so}")
PYTHON=${PYTHON:-/usr/bin/python3}
JOBS=${JOBS:-$(nproc)}
export BARCODE CLIPS SAMPLE WORK FEW_THREADS_SO BAD_READS_SO REFUSED_MEMORY_SO TRIED_CALLS_SO
export BARCODE_CACHE=-            # every run decodes, but for the cases that name a folder

[ -x "$BARCODE" ] || { echo "run.sh: no program at $BARCODE" >&2; exit 1; }
rm -rf "$WORK"
mkdir -p "$WORK"
"$TOP/tests/support/films.sh" > "$WORK/films"
cp "$BARCODE" "$WORK/barcode"      # so that a build beside a run disturbs nothing
BARCODE=$WORK/barcode

which=--all
case ${1:-} in
    --quick | --rest)
        which=$1
        shift
        ;;
esac
is_chosen() { # FILE FUNCTION
    local kind=--rest
    if grep -q "^$2() {.*# quick\$" "$1"; then kind=--quick; fi
    [ "$which" = --all ] || [ "$which" = "$kind" ]
}
list() {
    local file name
    for file in "$HERE"/[0-9]*.sh; do
        for name in $(bash -c '. "$1"; declare -F' list "$file" | sed -n 's/^declare -f \(test_.*\)/\1/p'); do
            ! is_chosen "$file" "$name" || echo "$file $name"
        done
    done | grep -Ee "${1:-}" || true
}

# What takes a minute comes first, so that none of it is left alone at the end while a core has nothing to do.
list "${1:-}" > "$WORK/all"
long=' test_(every_clip|cache_continues|nvdec_sessions|cache_kill|judge_every_format|holes_add_up)$'
{ grep -E "$long" "$WORK/all" || true; grep -vE "$long" "$WORK/all" || true; } > "$WORK/list"
[ -s "$WORK/list" ] || { echo "run.sh: no test matches '${1:-}'" >&2; exit 1; }

# Two words a test; xargs keeps JOBS of them going.
xargs -P "$JOBS" -L 1 "$HERE/run.sh" --one < "$WORK/list"

passed=0 failed=0 skipped=0
while read -r _ name; do
    case $(cat "$WORK/$name.logs/word" 2> /dev/null) in
        ok) passed=$((passed + 1)) ;;
        SKIP*) skipped=$((skipped + 1)) ;;
        *) failed=$((failed + 1)) ;;
    esac
done < "$WORK/list"
# All JSON that the cases left is as the schemas say: at once, because Python starts slowly.
if find "$WORK" -path '*.logs/json/*' -type f -print0 > "$WORK/json" && [ -s "$WORK/json" ]; then
    if ! "$PYTHON" -c 'import jsonschema' 2> /dev/null; then
        echo "SKIP  schema: $PYTHON has no jsonschema"
        skipped=$((skipped + 1))
    elif xargs -0 "$PYTHON" "$TOP/tests/support/schema.py" < "$WORK/json" > "$WORK/schema"; then
        echo "ok    schema ($(paste -sd' ' "$WORK/schema"))"
        passed=$((passed + 1))
    else
        echo "FAIL  schema (src/output/schema)"
        sed 's/^/      /' "$WORK/schema"
        failed=$((failed + 1))
    fi
fi
if [ "$skipped" -gt 0 ]; then
    echo "run.sh: $skipped tests were SKIPPED; the lines above say why" >&2
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
