# shellcheck shell=bash
# Ctrl-C: exit 130, one sentence, no picture, no temporary; the old picture stays.
# shellcheck disable=SC2154,SC2034,SC2015  # variables come from and go to lib.sh; fail does not return

# A film long enough to be caught at work: the sample, repeated.
long_film() {
    f=$(sample)
    ffmpeg -nostdin -v error -stream_loop 20 -i "$f" -c copy long.mkv
}

# stops SIGNAL SECONDS ARG...
stops() {
    signal=$1 after=$2
    shift 2
    COMMAND="barcode $* (SIG$signal after $after s)" STATUS=0
    # Background jobs of a script ignore SIGINT, so the program is started through env, which restores it.
    env --default-signal=INT,TERM,HUP "$BARCODE" "$@" > "$LOGS/stdout" 2> "$LOGS/stderr" &
    pid=$!
    sleep "$after"
    kill -s "$signal" $pid 2> /dev/null || fail "it was done before it could be stopped"
    from=$(date +%s%N)
    wait $pid || STATUS=$?
    took=$((($(date +%s%N) - from) / 1000000))
    [ "$STATUS" -eq 130 ] || fail "exit status $STATUS, not 130"
    # Before main() begins there is nobody to say anything.
    [ "$after" = 0.05 ] && [ ! -s "$LOGS/stderr" ] || one_sentence
    [ $took -lt 5000 ] || fail "it took $took ms to stop"
}

test_ctrl_c() {
    long_film
    for after in 0.05 0.3 1; do
        stops INT $after long.mkv -n 1 -k 16 -o p.png --json p.json --dump p.rgb
        files long.mkv
    done
}

test_ctrl_c_keeps_the_old_picture() {
    long_film
    echo old > p.png
    stops INT 0.4 long.mkv -n 1 -k 16 -o p.png
    [ "$(cat p.png)" = old ] || fail "the old picture is gone"
    files long.mkv p.png
}

test_ctrl_c_stops_the_whole_batch() {
    long_film
    cp "$(clip h264-closed.mkv)" short.mkv
    stops INT 0.4 long.mkv short.mkv -n 1 -k 16
    files long.mkv short.mkv
}

test_ctrl_c_names_the_film() {
    one=$(clip one-frame.mkv)
    long_film
    stops INT 1 "$one" long.mkv "$one" -n 1 -k 16 -q
    says "'long.mkv': interrupted"
    files long.mkv one-frame.png
}

test_hang_up() {
    long_film
    stops HUP 0.4 long.mkv -n 1 -k 16 -o p.png --dump p.rgb
    files long.mkv
}

test_terminate() {
    long_film
    stops TERM 0.4 long.mkv -n 1 -k 16 -o p.png
    files long.mkv
}

test_ctrl_c_in_a_sequential_film() {
    f=$(clip ffv1.mkv)
    ffmpeg -nostdin -v error -stream_loop 10 -i "$f" -c copy long.mkv
    stops INT 0.4 long.mkv -n 1 -k 40 -o p.png
    files long.mkv
}
