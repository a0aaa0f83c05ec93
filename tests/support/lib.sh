# shellcheck shell=bash
# lib.sh - what a test of the built program may use. Read by tests/cli/run.sh before the case file.
#
# A case is a function test_NAME in tests/cli/*.sh. It runs in a shell of its own with `set -eu`, in an empty folder:
# it passes by returning, fails by fail or any failing command, and is skipped by skip, wherever in it they are called.
#
#   $BARCODE  the program      $CLIPS  the made clips      $SAMPLE  the sample film      "${extra[@]}"  those of BARCODE_FILMS
#   $FEW_THREADS_SO  threads that cannot be had (few-threads.c)      $REFUSED_MEMORY_SO  memory that is refused (refused-memory.c)
#   $BAD_READS_SO  bytes that cannot be read (bad-reads.c)           $TRIED_CALLS_SO  what the sandbox must refuse (tried-calls.c)
#   $HERE     tests/cli        $STATUS, ./stdout, ./stderr of the latest run (in $LOGS, out of the way)

PYTHON=${PYTHON:-/usr/bin/python3}
export LC_ALL=C
# shellcheck disable=SC2034  # for the cases
mapfile -t extra < "$WORK/films"

# What a case has come to: the first word counts, and run.sh looks at it before it looks at the exit status. Called inside
# $(...), a pipe or a background job, `exit` ends no more than that shell, and the case would go on as if nothing had been said.
word() {
    [ -e "$LOGS/word" ] || echo "$1" > "$LOGS/word"
}

fail() {
    exec >&2    # also when called inside $(...)
    word FAIL
    echo "FAIL: $*"
    if [ -n "${STATUS:-}" ]; then
        echo "  command: $COMMAND"
        echo "  status:  $STATUS"
        sed 's/^/  stderr:  /' "$LOGS/stderr" | head -n 20
    fi
    exit 1
}

skip() {
    word "SKIP  $*"
    exit 77
}

# run ARG...: barcode ARG..., its status into STATUS; never fails itself, but a hang does. LIMIT (300) is in seconds of processor
# time for each of its processes, as a busy machine takes ten times as long by the clock.
run() {
    local limit=${LIMIT:-300}
    COMMAND="barcode $*"
    STATUS=0
    (ulimit -t "$limit" && exec timeout -k 5 $((300 + 3 * limit)) "$BARCODE" "$@") \
        > "$LOGS/stdout" 2> "$LOGS/stderr" < /dev/null || STATUS=$?
    if [ "$STATUS" -eq 124 ] || [ "$STATUS" -eq 137 ]; then fail "it hangs"; fi
    if [ "$STATUS" -ge 128 ] && [ "$STATUS" -ne 130 ]; then fail "it died of signal $((STATUS - 128))"; fi
    if grep -q 'the worker process' "$LOGS/stderr"; then fail "its worker crashed"; fi
}

# was STATUS: the latest run exited so.
was() {
    [ "$STATUS" -eq "$1" ] || fail "exit status $STATUS, not $1"
}

# exits STATUS ARG...: run ARG..., which must exit so.
exits() {
    run "${@:2}"
    was "$1"
}

ok() {
    exits 0 "$@"
}

# refuses STATUS ARG...: must exit so, with one sentence on stderr and nothing on stdout.
refuses() {
    exits "$@"
    one_sentence
}

# logged COMMAND...: a command that runs the program, with files and status as of run.
logged() {
    COMMAND="$*" STATUS=0
    "$@" > "$LOGS/stdout" 2> "$LOGS/stderr" || STATUS=$?
    [ "$STATUS" -ne 124 ] || fail "it hangs"
}

# from FILE ARG...: barcode ARG... < FILE. through FILE ARG...: the same through a pipe.
from() {
    logged timeout -k 5 300 "$BARCODE" "${@:2}" < "$1"
}

through() {
    logged timeout -k 5 300 "$BARCODE" "${@:2}" < <(cat "$1" 2> /dev/null)
}

# refuses_bound STATUS ARG...: refuses by one whom permissions bind, as they do not bind root. Another user might not reach
# root's folder.
refuses_bound() {
    local as=() caps=-dac_override,-dac_read_search
    if [ "$(id -u)" -eq 0 ]; then
        command -v setpriv > /dev/null || skip "permissions do not bind root, and setpriv is not there"
        as=(setpriv "--bounding-set=$caps" "--inh-caps=$caps")
    fi
    logged "${as[@]}" "$BARCODE" "${@:2}"
    was "$1"
    one_sentence
}

# start ARG...: barcode ARG... in the background, as $pid. Background jobs ignore SIGINT, which env restores.
start() {
    COMMAND="barcode $*" STATUS=0
    env --default-signal=INT,TERM,HUP "$BARCODE" "$@" > "$LOGS/stdout" 2> "$LOGS/stderr" < /dev/null &
    pid=$!
}

# ended_with STATUS: the program $pid ends so.
ended_with() {
    timeout 300 tail -s 0.05 --pid="$pid" -f /dev/null || fail "it does not end"
    STATUS=0
    wait "$pid" 2> /dev/null || STATUS=$?
    was "$1"
}

# stopped_with SIGNAL STATUS: the program $pid, which gets the signal, ends so.
stopped_with() {
    kill -s "$1" "$pid"
    ended_with "$2"
}

one_sentence() {
    [ "$(wc -l < "$LOGS/stderr")" -eq 1 ] || fail "stderr has $(wc -l < "$LOGS/stderr") lines, not one"
    grep -q '^barcode: [^ ].*[^.]$' "$LOGS/stderr" || fail "stderr is not one sentence of the form 'barcode: ...'"
    grep -q '^barcode: warning' "$LOGS/stderr" && fail "stderr is a warning, not a sentence"
    [ ! -s "$LOGS/stdout" ] || fail "something came out on stdout"
}

says() {
    grep -q -- "$1" "$LOGS/stderr" || fail "stderr does not say '$1'"
}

# until_true WORD...: waits until the command is true.
until_true() {
    for _ in $(seq 2400); do
        if "$@"; then return 0; fi
        sleep 0.05
    done
    fail "never: $*; stderr: $(cat "$LOGS/stderr")"
}

# until_says TEXT: waits until the program in the background says so.
until_says() {
    until_true grep -qs -- "$1" "$LOGS/stderr"
}

# until_bytes PATTERN BYTES: waits until the files have as many together.
until_bytes() {
    # shellcheck disable=SC2317,SC2086  # a command of until_true; a pattern
    has_bytes() { [ "$(cat $1 2> /dev/null | wc -c)" -ge "$2" ]; }
    until_true has_bytes "$@"
}

says_not() {
    ! grep -q -- "$1" "$LOGS/stderr" || fail "stderr says '$1'"
}

# find_worker [FILE]: a process that the program $pid started, once there is one and it has FILE open, in $worker. Only root
# sees the files of a confined worker; others give it a second to open them.
find_worker() {
    worker=
    for _ in $(seq 1200); do
        for stat in /proc/[0-9]*/stat; do
            { read -r child _ _ parent _ < "$stat"; } 2> /dev/null || continue
            [ "$parent" = "${pid:?}" ] || continue
            worker=$child
            if [ $# -eq 0 ] || readlink "/proc/$worker/fd"/* 2> /dev/null | grep -q "/$1\$"; then
                return 0
            fi
            if [ ! -r "/proc/$worker/fd" ] && kill -0 "$worker" 2> /dev/null; then
                sleep 1
                return 0
            fi
        done
        sleep 0.05
    done
    fail "there is no worker${1:+ that has $1 open}"
}

# is_written: program $pid has an output that is not complete: a file without a name, or with a temporary one.
is_written() {
    [ -n "$(find . -name '.*.tmp')" ] || readlink "/proc/${pid:?}/fd"/* 2> /dev/null | grep -q '/#[0-9]* (deleted)$'
}

# without_proc: sets no_proc to words behind which a command has no /proc.
without_proc() {
    # shellcheck disable=SC2016  # of the inner shell
    no_proc=(unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh)
    [ "$(id -u)" -eq 0 ] || no_proc=(unshare -r "${no_proc[@]:1}")
    "${no_proc[@]}" true 2> "$LOGS/tried" || skip "/proc cannot be hidden: $(cat "$LOGS/tried")"
}

# files NAME...: the working folder holds exactly these, hidden ones included.
files() {
    local have want
    have=$(find . -mindepth 1 -printf '%P\n' | sort | tr '\n' ' ')
    want=$(printf '%s\n' "$@" | sort | tr '\n' ' ')
    [ $# -eq 0 ] && want=
    [ "$have" = "$want" ] || fail "the folder holds '$have', not '$want'"
}

# copy_clips FILE CLIP [FILE CLIP]...: copies of clips, and the folders that these files are in.
copy_clips() {
    while [ $# -gt 0 ]; do
        mkdir -p "$(dirname "$1")"
        cp "$(clip "$2")" "$1"
        shift 2
    done
}

# long_film FILE [TIMES]: a film long enough to be caught at work, the sample repeated.
long_film() {
    ffmpeg -nostdin -v error -stream_loop "${2:-20}" -i "$(sample)" -c copy "$1"
}

# A clip's path by its name; skips the case where this machine's ffmpeg could not make it.
clip() {
    if [ ! -e "$CLIPS/$1" ]; then
        grep -q "^$1: " "$CLIPS/SKIPPED" || fail "there is no clip $1: run 'make clips'"
        skip "no clip $(grep "^$1: " "$CLIPS/SKIPPED")"
    fi
    echo "$CLIPS/$1"
}

# For cases that look at what is painted: the frames of each film and selection are decoded once, and come out of a cache then.
decoded_once() {
    export BARCODE_CACHE=$LOGS/kept
}

# ---- the frame cache: runs with the cache in ./cache, compared with runs without one ----

entries() {
    find "${1:-cache}" -name '*.frames' 2> /dev/null | wc -l
}

# state WANT: the latest run, made with --json now.json, found the cache so.
state() {
    local have
    have=$(sed -n 's/^"cache": "\(.*\)",$/\1/p' now.json)
    [ "$have" = "$1" ] || fail "the cache says '$have', not '$1'"
}

# like PICTURE: now.png is that picture.
like() {
    cmp "$1" now.png || fail "the picture differs from $1"
}

# The reference of a film: plain.png and plain.json without a cache.
plain() {
    ok "$@" --no-cache --json plain.json -o plain.png
}

# now FILM ARG...: with the cache in ./cache.
now() {
    ok "$@" --cache cache --json now.json -o now.png
}

sample() {
    [ -s "$SAMPLE" ] || fail "the sample film $SAMPLE is not there: run 'make out/sample.mkv'"
    echo "$SAMPLE"
}

# The checks that need arithmetic: tests/cli/checks.py WHAT ARG...
check() {
    "$PYTHON" "$HERE/checks.py" "$@" || fail "checks.py $*"
}

need_numpy() {
    "$PYTHON" -c 'import numpy' 2> /dev/null || skip "$PYTHON has no numpy"
}

# The clips that decode whole, by name.
whole_clips() {
    find "$CLIPS" -maxdepth 1 -type f ! -name SKIPPED -printf '%f\n' | sort
}

# recording NAME SECONDS OPTION...: with a key frame in 10 pictures.
recording() {
    local name=$1 seconds=$2
    shift 2
    ffmpeg -nostdin -v error -y -f lavfi -i "testsrc2=s=192x108:r=25:d=$seconds" -g 10 -preset veryfast "$@" -pix_fmt yuv420p "$name"
}

# joined NAME KIND... -- RECORDING...: one after the other, each with its units of these kinds at its start and never again. Of MPEG-2 that is
# the sequence header with what extends it.
joined() {
    "$PYTHON" - "$@" << 'END'
import re, sys
name, kinds = sys.argv[1], [int(k) for k in sys.argv[2:sys.argv.index("--")]]
out = b""
for part in sys.argv[sys.argv.index("--") + 1:]:
    seen = set()
    if name.endswith("m2v"):
        groups = re.split(b"(?=\0\0\1\xb3)", open(part, "rb").read())[1:]
        out += groups[0] + b"".join(g[g.index(b"\0\0\1\xb8"):] for g in groups[1:])
        continue
    for unit in re.split(b"\0?\0\0\1", open(part, "rb").read())[1:]:
        kind = unit[0] >> 1 & 63 if name.endswith("hevc") else unit[0] & 31
        if kind in kinds and kind in seen:
            continue
        seen.add(kind)
        out += b"\0\0\0\1" + unit
open(name, "wb").write(out)
END
}
