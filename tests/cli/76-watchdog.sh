# A film that hangs, or takes longer than --film-timeout, is ended, and the others come out. BARCODE_SILENCE makes five minutes short.

nothing_moved='nothing was read, decoded or written for'

good_films() {
    copy_clips a.mkv h264-closed.mkv b.webm vp9.webm
    ok a.mkv b.webm -n 20 -q
    mkdir alone
    mv a.png b.png alone
}

# The writer of a pipe sends half of a film, and then nothing: only that film is ended, in the process where the others go on.
test_a_pipe_that_stops() { # quick
    good_films
    ffmpeg -nostdin -v error -i "$(sample)" -c copy whole.ts
    for decoder in "" "--decode nvdec --engine cpu"; do
        mkfifo pipe.ts
        { head -c 200000 whole.ts && sleep 60; } > pipe.ts &
        writer=$!
        # shellcheck disable=SC2086  # several words
        BARCODE_NVDEC=software BARCODE_SILENCE=1 start pipe.ts a.mkv b.webm -n 20 -q -j 3 --report r $decoder
        ended_with 1
        kill "$writer" 2> /dev/null || true
        one_sentence
        says "'pipe.ts': $nothing_moved 1 s\$"
        cmp a.png alone/a.png
        cmp b.png alone/b.png
        [ ! -e pipe.png ] || fail "a picture of the half"
        [ "$(grep -c '"status":"failed"' r)" -eq 1 ] || fail "$(cat r)"
        rm -f ./*.png pipe.ts r
    done
}

# A read that never returns: the process has to be killed, and what was in progress beside that film is done again.
test_a_read_that_hangs() {
    good_films
    cp "$(sample)" hang.mkv
    for from in 0 100000; do
        LD_PRELOAD=$BAD_READS_SO HANGING_READ=hang.mkv HANGING_FROM=$from BARCODE_SILENCE=1 \
            start hang.mkv a.mkv b.webm -n 20 -q -j 3 --report r --dump ./
        ended_with 1
        says "'hang.mkv': $nothing_moved 1 s; its worker process did not end and was killed"
        [ "$(grep -c '"status":"failed"' r)" -eq 1 ] || fail "$(cat r)"
        [ "$(grep -c '"status":"done"' r)" -eq 2 ] || fail "$(cat r)"
        [ -z "$(find . -name '*.tmp')" ] || fail "left behind: $(find . -type f)"
        [ ! -e hang.png ] || fail "a picture of a film that hung"
        cmp a.png alone/a.png
        cmp b.png alone/b.png
        rm -f ./*.png ./*.rgb r
    done
}

# The films of a worker that stands still are not to blame: each is done again.
test_a_stopped_worker() {
    cp "$(sample)" a.mkv
    cp a.mkv b.mkv
    ok a.mkv b.mkv -n 2 -m average -q -o alone/ --name '{stem}'
    BARCODE_SILENCE=2 start a.mkv b.mkv -n 2 -m average -j 2 --name '{stem}'
    find_worker a.mkv
    find_worker b.mkv
    kill -s STOP "$worker"
    ended_with 0
    says "'b.mkv' was in progress when the worker process did not answer and was killed; rendering it again, alone"
    cmp a.png alone/a.png
    cmp b.png alone/b.png
}

# One film alone is to blame, and the next one comes out.
test_a_stopped_worker_of_one_film() {
    long_film a.mkv
    cp "$(clip h264-closed.mkv)" b.mkv
    BARCODE_SILENCE=1 start a.mkv b.mkv -n 1 -k 16 -j 1 -q
    find_worker a.mkv
    kill -s STOP "$worker"
    ended_with 1
    one_sentence
    says "'a.mkv': $nothing_moved 1 s; its worker process did not end and was killed"
    files a.mkv b.mkv b.png
}

# Job control: a pause of all processes is no silence, whoever goes on first.
test_a_stopped_job() {
    cp "$(sample)" a.mkv
    BARCODE_SILENCE=2 start a.mkv -n 2 -q --film-timeout 60
    find_worker a.mkv
    kill -s STOP "$worker"
    sleep 0.3
    kill -s STOP "$pid"
    sleep 5
    kill -s CONT "$pid"
    sleep 0.5
    kill -s CONT "$worker"
    ended_with 0
    files a.mkv a.png
}

test_film_timeout() {
    long_film long.mkv
    cp "$(clip h264-closed.mkv)" short.mkv
    refuses 1 long.mkv short.mkv -m average -q -j 1 -n 20 --film-timeout 0:03.5
    says "'long.mkv': stopped after 3.5 s (--film-timeout)"
    files long.mkv short-average.png short.mkv
    ok short.mkv -q --film-timeout 1:00 -o p.png
    refuses 2 long.mkv --film-timeout 0
    says "film-timeout: '0' is too short"
    refuses 2 long.mkv --film-timeout soon
}

# A slow producer is the user's business, unless there is a time limit.
test_a_slow_producer() {
    ffmpeg -nostdin -v error -i "$(sample)" -c copy film.ts
    slowly() { head -c 200000 film.ts && sleep 4 && tail -c +200001 film.ts; }
    BARCODE_SILENCE=1 logged "$BARCODE" - -n 20 -q -o slow.png < <(slowly)
    was 0
    through film.ts - -n 20 -q -o p.png
    cmp p.png slow.png
    logged "$BARCODE" - -n 20 -q -o late.png --film-timeout 2 < <(slowly)
    was 1
    says "'/dev/stdin': stopped after 2 s (--film-timeout)"
    [ ! -e late.png ] || fail "a picture"
}

# So is a slow reader of the outputs, and of the messages.
test_a_slow_reader() {
    COMMAND="barcode --dump - | slow reader" STATUS=0
    BARCODE_SILENCE=1 "$BARCODE" "$(clip h264-closed.mkv)" -n 4 --dump - 2> "$LOGS/stderr" | { sleep 4 && cat; } > slow.rgb || STATUS=$?
    was 0
    ok "$(clip h264-closed.mkv)" -n 4 --dump p.rgb
    cmp p.rgb slow.rgb
}

# A film that waits for its turn does not hang, and its time limit does not run.
test_films_that_wait_for_their_turn() {
    cp "$(sample)" a.mkv
    cp a.mkv b.mkv
    cp a.mkv c.mkv
    BARCODE_SILENCE=1 start a.mkv b.mkv c.mkv -n 4 -m average -j 3 -q --name '{stem}'
    ended_with 0
    files a.mkv b.mkv c.mkv a.png b.png c.png
}

# Ctrl-C ends a worker that does not answer.
test_ctrl_c_of_a_film_that_hangs() { # quick
    cp "$(sample)" hang.mkv
    LD_PRELOAD=$BAD_READS_SO HANGING_READ=hang.mkv HANGING_FROM=100000 start hang.mkv hang.mkv -n 20 -q -j 1 --dump ./
    find_worker hang.mkv
    sleep 1
    from=$SECONDS
    stopped_with TERM 130
    [ $((SECONDS - from)) -lt 20 ] || fail "it did not end"
    one_sentence
    says "'hang.mkv': interrupted"
    files hang.mkv
}
