# shellcheck shell=bash
# Films are worked on in a process of their own: what kills that costs one film.
# shellcheck disable=SC2154,SC2034  # variables come from and go to lib.sh

# The process that the program $pid started, once there is one, in $worker.
find_worker() {
    worker=
    for _ in $(seq 200); do
        for stat in /proc/[0-9]*/stat; do
            { read -r child _ _ parent _ < "$stat"; } 2> /dev/null || continue
            [ "$parent" != "$pid" ] || worker=$child
        done
        [ -z "$worker" ] || return 0
        sleep 0.05
    done
    fail "there is no worker"
}

# until_true WORD...: waits until the command is true
until_true() {
    for _ in $(seq 200); do
        if "$@"; then return 0; fi
        sleep 0.05
    done
    fail "never: $*"
}

temporary() {
    [ -n "$(find . -name '.*.tmp')" ]
}

is_gone() {
    ! kill -0 "$1" 2> /dev/null
}

# A film that holds the worker until it is killed: a pipe that nobody writes.
start_with_a_pipe() {
    f=$(clip h264-closed.mkv)
    cp "$f" a.mkv
    cp "$f" b.mkv
    mkfifo pipe.mkv
    COMMAND="barcode a.mkv pipe.mkv b.mkv, and a signal to its worker" STATUS=0
    "$BARCODE" a.mkv pipe.mkv b.mkv -n 20 -q > "$LOGS/stdout" 2> "$LOGS/stderr" &
    pid=$!
    until_true test -s a.png
    find_worker
}

test_a_crash_costs_one_film() {
    for signal in SEGV ABRT BUS KILL; do
        start_with_a_pipe
        kill -s "$signal" "$worker"
        wait "$pid" || STATUS=$?
        [ "$STATUS" -eq 1 ] || fail "exit status $STATUS, not 1"
        one_sentence
        says "'pipe.mkv': the process that worked on it"
        [ "$signal" = KILL ] || says crashed
        files a.mkv a.png b.mkv b.png pipe.mkv
        mv b.png crashed.png
        ok b.mkv -n 20 -q
        cmp -s crashed.png b.png || fail "the film behind the crash has another picture"
        rm -f ./*.mkv ./*.png
    done
}

test_a_crash_leaves_nothing_half_written() {
    f=$(clip h264-closed.mkv)
    COMMAND="a worker killed while a PNG is written" STATUS=0
    echo old > p.png
    "$BARCODE" "$f" -m downsample -q --width 32768 --height 65000 --cache cache -o p.png > "$LOGS/stdout" 2> "$LOGS/stderr" &
    pid=$!
    find_worker
    until_true temporary
    kill -s KILL "$worker"
    wait "$pid" || STATUS=$?
    [ "$STATUS" -eq 1 ] || fail "exit status $STATUS, not 1"
    one_sentence
    [ "$(cat p.png)" = old ] || fail "the old picture is gone"
    [ -z "$(find . -name '*.tmp' -o -name '.tmp*')" ] || fail "left behind: $(find . -type f)"
}

test_the_worker_dies_with_its_parent() {
    start_with_a_pipe
    kill -s KILL "$pid"
    wait "$pid" 2> /dev/null || STATUS=$?
    [ "$STATUS" -eq 137 ] || fail "exit status $STATUS, not 137"
    until_true is_gone "$worker"
}

test_a_worker_that_is_asked_to_stop() {
    start_with_a_pipe
    kill -s TERM "$worker"
    wait "$pid" || STATUS=$?
    [ "$STATUS" -eq 130 ] || fail "exit status $STATUS, not 130"
    one_sentence
    says "'pipe.mkv': interrupted"
    files a.mkv a.png b.mkv pipe.mkv
}
