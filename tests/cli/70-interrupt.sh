# Ctrl-C: exit 130 within a second, one sentence, no picture, no temporary; the old picture stays.

# Waits until the program $pid has taken SIGTERM (15) over, which on a busy machine takes longer than $after.
until_listening() {
    for _ in $(seq 200); do
        caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$pid/status" 2> /dev/null || true)
        [ -z "$caught" ] || [ $((0x$caught >> 14 & 1)) -eq 0 ] || return 0
        sleep 0.05
    done
}

# stops SIGNAL SECONDS ARG...
stops() {
    signal=$1 after=$2
    shift 2
    start "$@"
    sleep "$after"
    [ "$after" = 0.05 ] || until_listening
    from=$(date +%s%N)
    stopped_with "$signal" 130
    took=$((($(date +%s%N) - from) / 1000000))
    # Before main() begins there is nobody to say anything.
    [ "$after" = 0.05 ] && [ ! -s "$LOGS/stderr" ] || one_sentence
    [ $took -lt "${MOST:-5000}" ] || fail "it took $took ms to stop"
}

test_ctrl_c() { # quick
    long_film long.mkv
    for after in 0.05 0.3 1; do
        stops INT $after long.mkv -n 1 -k 16 -o p.png --json p.json --dump p.rgb
        files long.mkv
    done
}

test_ctrl_c_keeps_the_old_picture() { # quick
    long_film long.mkv
    echo old > p.png
    stops INT 0.4 long.mkv -n 1 -k 16 -o p.png
    [ "$(cat p.png)" = old ] || fail "the old picture is gone"
    files long.mkv p.png
}

test_ctrl_c_stops_the_whole_batch() {
    long_film long.mkv
    cp "$(clip h264-closed.mkv)" short.mkv
    stops INT 0.4 long.mkv short.mkv -n 1 -k 16 -q -j 1
    files long.mkv short.mkv
}

# Films that wait for a decoder of NVDEC's, for which software stands in: nobody but they themselves could take what their readers
# read. One in four times it hung.
test_ctrl_c_while_films_wait_for_decoders() {
    mkdir pictures
    for i in 1 2 3 4 5 6; do
        copy_clips films/$i-a.mkv h264-keyint1.mkv
        cp "$(sample)" films/$i-b.mkv
    done
    for after in 0.3 0.6 0.9 1.1 1.4 1.7 2 2.3; do
        rm -f pictures/*
        BARCODE_NVDEC=software start films -q --no-cache --engine cpu --decode nvdec -j 6 -n 6 -o pictures/
        sleep $after
        until_listening
        kill -s TERM "$pid" 2> /dev/null || continue
        (sleep 10 && kill -s KILL "$pid") 2> /dev/null &
        watch=$!
        wait "$pid" || STATUS=$?
        kill $watch 2> /dev/null || true
        [ "$STATUS" -eq 0 ] || was 130
    done
}

test_ctrl_c_names_the_film() {
    one=$(clip one-frame.mkv)
    long_film long.mkv
    stops INT 1 "$one" long.mkv "$one" -n 1 -k 16 -q -j 1
    says "'long.mkv': interrupted"
    files long.mkv one-frame.png
}

test_hang_up_and_terminate() {
    long_film long.mkv
    for signal in HUP TERM; do
        stops $signal 0.4 long.mkv -n 1 -k 16 -o p.png --dump p.rgb
        files long.mkv
    done
}

test_ctrl_c_in_a_sequential_film() {
    f=$(clip ffv1.mkv)
    ffmpeg -nostdin -v error -stream_loop 10 -i "$f" -c copy long.mkv
    stops INT 0.4 long.mkv -n 1 -k 40 -o p.png
    files long.mkv
}

# Three gigabytes of pixels and more: minutes of writing.
test_ctrl_c_while_a_picture_is_written() {
    f=$(clip h264-closed.mkv)
    for signal in INT TERM HUP; do
        start "$f" -m squeeze -q --width 32768 --height 65000 -o p.png
        until_true is_written
        sleep 0.3
        from=$(date +%s%N)
        stopped_with $signal 130
        took=$((($(date +%s%N) - from) / 1000000))
        one_sentence
        says "interrupted while 'p.png' was being written"
        [ $took -lt 2000 ] || fail "it took $took ms to stop"
        files
    done
}

test_a_second_signal_leaves_no_temporary() {
    f=$(clip h264-closed.mkv)
    start "$f" -m squeeze -q --width 32768 --height 65000 --cache cache -o p.png
    until_true is_written
    # Stopped, it finds both when it goes on.
    kill -s STOP "$pid"
    kill -s TERM "$pid"
    kill -s INT "$pid"
    kill -s CONT "$pid"
    wait "$pid" 2> /dev/null || STATUS=$?
    [ "$STATUS" -eq 130 ] || [ "$STATUS" -eq 143 ] || fail "exit status $STATUS, not that of a signal"
    [ -z "$(find . -name '*.tmp' -o -name '.tmp*' -o -name '*.png')" ] || fail "left behind: $(find . -type f)"
}

# A frame may take minutes to cluster.
test_ctrl_c_in_a_long_frame() {
    f=$(clip film-1080p.mp4)
    MOST=2000 stops INT 1.5 "$f" -n 1 --size full -k 64 --n-init 1000 --max-iter 100000 -o p.png
    files
}

test_ctrl_c_with_a_pipe_for_output() {
    f=$(clip h264-closed.mkv)
    mkfifo pipe
    MOST=1500 stops INT 1 "$f" -n 20 -o pipe              # nobody reads it
    MOST=1500 stops TERM 1 "$f" -n 20 -o p.png --dump pipe
    "$PYTHON" -c 'import time; f = open("pipe"); time.sleep(60)' &
    reader=$!
    MOST=1500 stops INT 1.5 "$f" -q -n 1 --size full -o /dev/null --dump pipe
    kill $reader
    files pipe
}

# A FIFO that nobody writes to, and one whose writer says nothing more.
test_ctrl_c_with_a_pipe_for_a_film() {
    f=$(clip h264-closed.mkv)
    mkfifo film.mkv
    for signal in INT TERM HUP; do
        MOST=1500 stops $signal 0.5 film.mkv -o p.png
    done
    for bytes in 1000 400000; do
        { head -c $bytes "$f"; exec sleep 60; } > film.mkv &
        writer=$!
        MOST=1500 stops TERM 0.7 film.mkv -o p.png
        kill $writer 2> /dev/null || true
    done
    says "'film.mkv': interrupted"
    files film.mkv
}
