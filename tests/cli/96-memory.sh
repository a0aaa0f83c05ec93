# shellcheck shell=bash
# Memory that runs out: exit 1 with a sentence, or the right picture, and nothing wrong in the cache.
# shellcheck disable=SC2154,SC2034,SC2015  # variables come from and go to lib.sh; fail does not return

# trials FILM STEP [FIRST]: a choice of the allocation trials. All of them by hand: tests/support/alloc-trials.sh.
trials() {
    [ -s "$FAILING" ] || skip "$FAILING is not there: run 'make cli'"
    "$HERE/../support/alloc-trials.sh" "$BARCODE" "$FAILING" "$@" > trials 2>&1 || fail "$(cat trials)"
    cat trials
}

test_memory_h264() { f=$(clip h264-open.mp4); trials "$f" 13; }
# Whenever a film is opened, libavcodec 59 itself crashes when memory for a VP9 decoder's tiles is refused.
test_memory_vp9() { f=$(clip vp9.webm); CRASHES=1 trials "$f" 11; }
test_memory_sequential() { f=$(clip mpeg4.avi); trials "$f" 9; }

# A picture without its film's fingerprint would never be known again for this film's.
test_memory_film_id() {
    f=$(clip h264-open.mp4)
    FAILING_ALLOC_LEAST=1000000 trials "$f" 1
}

# Everything from 2 KB on counts as large: what libavcodec keeps of slices and headers.
test_memory_small_allocations() {
    f=$(clip h264-open.mp4)
    FAILING_ALLOC_LEAST=2000 trials "$f" 137
}

test_memory_limit() {
    f=big.mkv
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=1920x1080:r=25:d=6 -c:v libx264 -preset ultrafast -bf 2 -g 25 $f
    ok "$f" -n 10 -m average --threads 2 -o plain.png
    for limit in 250000 300000 350000 400000 450000 500000 600000; do
        STATUS=0 COMMAND="ulimit -v $limit; barcode"
        (ulimit -v $limit && exec "$BARCODE" "$f" -n 10 -m average --threads 2 --cache cache -o now.png) > "$LOGS/stdout" 2> "$LOGS/stderr" || STATUS=$?
        if [ $STATUS -eq 0 ]; then
            cmp plain.png now.png || fail "another picture"
        else
            [ $STATUS -eq 1 ] || fail "exit status $STATUS, not 1"
            grep -q '^barcode: .*\(memory\|bytes\|thread\)' "$LOGS/stderr" || fail "no sentence on memory"
            [ ! -e now.png ] || fail "a picture is left"
        fi
        rm -f now.png
        ok "$f" -n 10 -m average --threads 2 --cache cache -o now.png
        cmp plain.png now.png || fail "another picture out of the cache"
        rm -rf now.png cache
    done
}

# peak -j N: the most memory that the films' worker had
peak() {
    ok films -n 16 -m average --threads 8 --no-cache -o o/ --bench "$@"
    sed -n 's/.*"peak_memory":\([0-9]*\).*/\1/p' "$LOGS/stdout" | sort -n | tail -n 1
}

# The look for bars has a decoder for each of up to eight threads: of one film at a time.
test_memory_of_several_films() {
    mkdir films o
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=2560x1440:r=16:d=2 -c:v libx264 -preset ultrafast -g 1 films/1.mkv
    for n in 2 3 4 5 6 7 8; do ln films/1.mkv films/$n.mkv; done
    one=$(peak -j 1)
    several=$(peak -j 8)
    [ $((several)) -lt $((one * 3)) ] || fail "$several bytes with eight films under way, $one with one"
}

# Another allocator, as jemalloc, sees every block that it is to free.
test_memory_of_another_allocator() {
    [ -s "$OWN_ALLOC" ] || skip "$OWN_ALLOC is not there: run 'make cli'"
    f=$(clip h264-open.mp4)
    ok "$f" -n 10 -o plain.png
    STATUS=0 COMMAND="LD_PRELOAD=$OWN_ALLOC barcode"
    LD_PRELOAD=$OWN_ALLOC "$BARCODE" "$f" -n 10 -o other.png > "$LOGS/stdout" 2> "$LOGS/stderr" || STATUS=$?
    [ "$STATUS" -eq 0 ] || fail "exit status $STATUS"
    cmp plain.png other.png || fail "another picture"
}
