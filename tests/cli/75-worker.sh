# Films are worked on in a process of their own: what kills that costs one film.

is_gone() {
    ! kill -0 "$1" 2> /dev/null
}

# crash_again FILE: the worker of FILE crashes, and the next one has it, in $worker.
crash_again() {
    local first=$worker
    kill -s SEGV "$worker"
    until_true is_gone "$first"
    find_worker "$1"
}

# start_with_a_pipe ARG...: a film that holds the worker until it is killed, a pipe that nobody writes.
start_with_a_pipe() {
    copy_clips a.mkv h264-closed.mkv b.mkv h264-closed.mkv
    mkfifo pipe.mkv
    start a.mkv pipe.mkv b.mkv -n 20 -q "$@"
    find_worker pipe.mkv
}

test_a_crash_costs_one_film() { # quick
    for signal in SEGV ABRT BUS KILL; do
        start_with_a_pipe -j 1
        kill -s "$signal" "$worker"
        ended_with 1
        one_sentence
        says "'pipe.mkv': the worker process"
        [ "$signal" = KILL ] || says crashed
        files a.mkv a.png b.mkv b.png pipe.mkv
        mv b.png crashed.png
        ok b.mkv -n 20 -q
        cmp -s crashed.png b.png || fail "the film behind the crash has another picture"
        rm -f ./*.mkv ./*.png
    done
}

# A limit of processor time (ulimit -t) kills the worker: by SIGXCPU at the soft limit, by SIGKILL at the hard one.
test_a_limit_of_processor_time() {
    long_film long.mkv
    for limit in -S -SH; do
        logged bash -c "ulimit $limit -t 1 && exec \"\$@\"" sh "$BARCODE" long.mkv -n 1 -k 16 -q
        was 1
        one_sentence
        [ $limit = -SH ] || says "'long.mkv': the worker process reached its limit of processor time"
        [ $limit = -S ] || says "'long.mkv': the worker process was killed (by the kernel when memory runs out, by a limit, or by somebody)"
    done
}

# Of several films that were under way any may have done it: they are done again one by one, and the next crash has its culprit.
test_a_crash_among_several() {
    seven_films
    mkdir o
    mkfifo films/3b.mkv
    start films/1.mkv films/3b.mkv films/[2-7].mkv -n 20 -j 4 -o o --report r
    find_worker 3b.mkv
    crash_again 3b.mkv
    kill -s SEGV "$worker"
    ended_with 1
    says "'films/3b.mkv': the worker process crashed"
    says '^barcode: 8 films: 7 done, 0 skipped, 1 failed, in'
    grep -q '"films/3b.mkv","status":"failed"' r || fail "$(cat r)"
    [ "$(grep -c '"status":"failed"' r)" -eq 1 ] || fail "more than one failed: $(cat r)"
    diff -r alone o
}

# full_pipe NAME: a pipe that is full; descriptor 9 reads and writes it.
full_pipe() {
    mkfifo "$1"
    exec 9<> "$1"
    "$PYTHON" -c 'import os, sys
f = os.open(sys.argv[1], os.O_WRONLY | os.O_NONBLOCK)
try:
    while True: os.write(f, b"x" * 4096)
except BlockingIOError: pass' "$1"
}

# A film whose outputs were there already when another one crashed: the dump that it finds is its own.
test_a_crash_beside_a_dump() {
    cp "$(clip h264-closed.mkv)" a.mkv
    mkdir d
    mkfifo pipe.mkv
    full_pipe bench      # where the film's line waits, so that the film is still under way
    COMMAND="barcode a.mkv pipe.mkv, and two signals to its workers" STATUS=0
    "$BARCODE" a.mkv pipe.mkv -n 20 -j 2 --dump d/ --bench > bench 2> "$LOGS/stderr" 9<&- &
    pid=$!
    find_worker pipe.mkv
    until_true test -e d/a.rgb
    kill -s SEGV "$worker"
    first=$worker
    until_true is_gone "$first"
    cat <&9 > lines &
    reader=$!
    find_worker pipe.mkv
    kill -s SEGV "$worker"
    wait "$pid" || STATUS=$?
    kill "$reader"
    [ "$STATUS" -eq 1 ] || fail "exit status $STATUS, not 1"
    says "'a.mkv' was in progress"
    says "'pipe.mkv': the worker process crashed"
    says '^barcode: 2 films: 1 done, 0 skipped, 1 failed, in'
}

# What was read of a film on stdin is gone: its rest would make a picture, and not the film's.
test_a_crash_beside_stdin() {
    ffmpeg -nostdin -v error -stream_loop 3 -i "$(sample)" -c copy -f mpegts film.ts
    mkfifo pipe.mkv film
    exec 9<> film
    COMMAND="barcode - pipe.mkv, and two signals to its workers" STATUS=0
    "$BARCODE" - pipe.mkv -n 20 -j 2 -m average --report report < film > "$LOGS/stdout" 2> "$LOGS/stderr" 9<&- &
    pid=$!
    cat film.ts film.ts >&9 2> /dev/null &
    writer=$!
    exec 9<&-
    find_worker pipe.mkv
    sleep 0.3
    crash_again pipe.mkv
    kill -s SEGV "$worker"
    wait "$pid" || STATUS=$?
    kill "$writer" 2> /dev/null || true
    [ "$STATUS" -eq 1 ] || fail "exit status $STATUS, not 1"
    says "'/dev/stdin' was in progress when .* crashed.*; its input cannot be read again"
    says '^barcode: 2 films: 0 done, 0 skipped, 2 failed, in'
    [ "$(wc -l < report)" -eq 2 ] || fail "$(cat report)"
    [ ! -e stdin-average.png ] || fail "a picture of the rest"
}

test_a_crash_leaves_nothing_half_written() { # quick
    f=$(clip h264-closed.mkv)
    echo old > p.png
    start "$f" -m squeeze -q --width 32768 --height 65000 --cache cache -o p.png
    find_worker
    until_true is_written
    kill -s KILL "$worker"
    ended_with 1
    one_sentence
    [ "$(cat p.png)" = old ] || fail "the old picture is gone"
    [ -z "$(find . -name '*.tmp' -o -name '.tmp*')" ] || fail "left behind: $(find . -type f)"
}

test_the_worker_dies_with_its_parent() { # quick
    start_with_a_pipe -j 1
    stopped_with KILL 137
    until_true is_gone "$worker"
}

# Only the parent can be asked: a worker that ends by itself costs its film.
test_a_worker_that_is_asked_to_stop() {
    start_with_a_pipe -j 1
    kill -s TERM "$worker"
    ended_with 1
    one_sentence
    says "'pipe.mkv': the worker process"
    files a.mkv a.png b.mkv b.png pipe.mkv
}

# timeout(1) sends its signal twice, to the child and to the group: that is one request.
test_timeout_stops_in_order() {
    long_film long.mkv
    for _ in 1 2 3 4; do
        logged timeout --preserve-status 0.6 "$BARCODE" long.mkv -n 1 -k 16 -o p.png
        was 130
        one_sentence
    done
    files long.mkv
}

# Without stdin, stdout or stderr no file gets their numbers, and what asks for one of them fails.
test_closed_descriptors() {
    f=$(clip h264-closed.mkv)
    cp "$f" a.mkv
    ok a.mkv -n 20 --dump right.rgb -o right.png
    STATUS=0 COMMAND="barcode with closed descriptors"
    "$BARCODE" a.mkv -n 20 --cache c --dump d.rgb -o p.png <&- >&- 2>&- || STATUS=$?
    was 0
    cmp right.rgb d.rgb
    cmp right.png p.png
    "$BARCODE" a.mkv -n 20 --cache c --dump d.rgb -o p.png <&- 2>&- || STATUS=$?
    was 0
    cmp right.rgb d.rgb
    "$BARCODE" a.mkv -n 20 -o - >&- 2> "$LOGS/stderr" || STATUS=$?
    [ "$STATUS" -eq 1 ] || fail "exit status $STATUS of a picture for a closed stdout, not 1"
}

# A parent that ignores its children hands that down.
test_children_that_nobody_waits_for() {
    cp "$(clip h264-closed.mkv)" a.mkv
    head -c 3000 /dev/urandom > junk.mkv
    logged "$PYTHON" -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])' "$BARCODE" junk.mkv a.mkv -n 20 -q
    was 3
    one_sentence
    files a.mkv a.png junk.mkv
}

# Two workers, as on a host with two GPUs.
two_workers=(--engine cpu --threads 4 -n 20)

seven_films() {
    for n in 1 2 3 4 5 6; do copy_clips films/$n.mkv h264-closed.mkv; done
    copy_clips films/7.mkv vp9.webm
    ok films -n 20 -o alone/ -q
}

test_a_worker_for_each_gpu() {
    seven_films
    for jobs in 0 2 3; do
        mkdir o
        # shellcheck disable=SC2046
        BARCODE_GPUS=2 ok "${two_workers[@]}" films -o o -v --progress always --report r \
            $([ $jobs = 0 ] || echo -j $jobs)
        diff -r alone o
        says 'worker 1 of 2: one GPU and 2 cores'
        says 'worker 2 of 2: one GPU and 2 cores'
        says '^barcode: 7 films: 7 done, 0 skipped, 0 failed, in'
        [ "$(grep -c '100 %  7/7 films' "$LOGS/stderr")" -eq 1 ] || fail "the progress does not say once how it ended"
        [ "$(grep -c '"status":"done"' r)" -eq 7 ] || fail "$(cat r)"
        rm -r o r
    done
}

# The films of the other worker go on, and what it writes stays.
test_a_crash_of_one_of_two_workers() {
    seven_films
    mkdir o
    mkfifo films/0.mkv
    BARCODE_GPUS=2 start "${two_workers[@]}" films/0.mkv films/[1-7].mkv -o o -j 4 --report r
    find_worker 0.mkv
    kill -s SEGV "$worker"
    until_true grep -q "'films/0.mkv'.*crashed" "$LOGS/stderr"
    # Where another film was in progress beside it, it is done again, alone.
    if grep -q "'films/0.mkv' was in progress" "$LOGS/stderr"; then
        find_worker 0.mkv
        kill -s SEGV "$worker"
    fi
    ended_with 1
    says "'films/0.mkv': the worker process crashed"
    says '^barcode: 8 films: 7 done, 0 skipped, 1 failed, in'
    [ "$(grep -c '"status":"failed"' r)" -eq 1 ] || fail "more than one failed: $(cat r)"
    diff -r alone o
}

# Also where both are at work, and neither is left behind.
test_ctrl_c_of_two_workers() {
    mkdir films
    mkfifo films/1.mkv films/2.mkv
    BARCODE_GPUS=2 start "${two_workers[@]}" films/1.mkv films/2.mkv -j 2 -q -o ./
    find_worker 1.mkv
    first=$worker
    find_worker 2.mkv
    [ "$worker" != "$first" ] || fail "one worker has both films"
    stopped_with TERM 130
    until_true is_gone "$first"
    until_true is_gone "$worker"
    [ "$(grep -c interrupted "$LOGS/stderr")" -eq 2 ] || fail "not each film is named"
    [ "$(ls)" = films ] || fail "something was left"
}

test_two_workers_die_with_their_parent() {
    mkfifo 1.mkv 2.mkv
    BARCODE_GPUS=2 start "${two_workers[@]}" 1.mkv 2.mkv -j 2 -q
    find_worker 1.mkv
    first=$worker
    find_worker 2.mkv
    stopped_with KILL 137
    until_true is_gone "$first"
    until_true is_gone "$worker"
}
