# Memory that runs out: a sentence and exit 1, or a picture; never a crash, a hang or half a file.

# libav may take a failed allocation for damage, or for the end of the film: then there is a picture of what was decoded.
test_memory_limit() {
    f=big.mkv
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=1920x1080:r=25:d=6 -c:v libx264 -preset ultrafast -bf 2 -g 25 $f
    for limit in 250000 300000 350000 400000 450000 500000 600000; do
        logged bash -c "ulimit -v $limit && exec \"\$@\"" sh timeout -k 5 300 "$BARCODE" "$f" -n 10 -m average --threads 2 -o now.png
        if [ "$STATUS" -eq 0 ]; then
            files $f now.png
        else
            # libavformat takes the end of the memory for the end of the film now and then
            [ "$STATUS" -eq 3 ] || [ "$STATUS" -eq 1 ] || fail "exit status $STATUS, not 1"
            grep -q '^barcode: .*\(memory\|bytes\|thread\|no frame\|no video\)' "$LOGS/stderr" || fail "no sentence on memory"
            files $f
        fi
        rm -f now.png
    done
}

# Where threads are few, films that cannot start theirs beside others are rendered again alone, by decoders with fewer threads.
test_few_threads() { # quick
    local most
    mkdir films
    for n in 1 2 3; do cp "$(clip h264-closed.mkv)" films/$n.mkv; done
    ok films -m average -o right/
    for most in 5 6 7 10; do      # one of them watches the memory
        LIMIT=20 LD_PRELOAD=$FEW_THREADS_SO FEW_THREADS=$most ok films -j 3 --threads 2 --no-cache -m average -o now/
        LIMIT=20 LD_PRELOAD=$FEW_THREADS_SO FEW_THREADS=$most ok films/1.mkv --threads 2 --no-cache -m average -o one/
        for n in 1 2 3; do
            cmp right/$n-average.png now/$n-average.png
        done
        cmp right/1-average.png one/1-average.png
        rm -r now one
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
    [ $((several)) -lt $((one * 4)) ] || fail "$several bytes with eight films under way, $one with one"
}

# Each in a sentence, and within the memory; the ten films beside them are as they are alone.
test_bombs() {
    "$PYTHON" "$HERE/../bombs.py" gif-canvas mp4-edits mp4-trun mkv-tracks h264-allowed > said || fail "$(grep -v '^ok' said)"
}

# The worker limits itself also where its sizes cannot be read.
test_memory_without_proc() { # quick
    without_proc
    "$PYTHON" - "$HERE/.." "${no_proc[@]}" "$BARCODE" film.mp4 -q -m average --memory 300M << 'END' || fail "it took more than its limit"
import os, subprocess, sys
sys.path.insert(0, sys.argv[1])
import bombs_make as b
b.mp4("film.mp4", b.SMALL * 10, b.movie(b.trak(b.tables(12000000, len(b.SMALL), 1)))) # takes 840 MiB if it may
_, _, used = os.wait4(subprocess.Popen(sys.argv[2:]).pid, 0)
print(used.ru_maxrss >> 10, "MiB")
sys.exit(not 30 < used.ru_maxrss >> 10 < 360)
END
}

# Each of three films fits, but no two of them. A film that is refused memory fails, once.
test_films_that_fit_alone() {
    mkdir films o alone
    "$PYTHON" -c 'import sys; sys.path.insert(0, sys.argv[1]); import bombs_make as b
for n in range(3): b.mp4(f"films/{n}.mp4", b.SMALL * 10, b.movie(b.trak(b.tables(8000000 + n, len(b.SMALL), 1))))
b.mp4_trun("films/3.mp4")' "$HERE/.."
    for n in 0 1 2; do ok films/$n.mp4 -m average --memory 700M -o alone/ -q; done
    ok films/[0-2].mp4 -m average --memory 700M -j 3 -o o/ -v
    says "was in progress when memory ran out (the limit of --memory is 700 MiB); rendering it again, alone"
    for n in 0 1 2; do cmp "o/$n-average.png" "alone/$n-average.png"; done
    exits 1 films -m average --memory 700M -j 4 -o o/ --report report
    says "out of memory while 'films/3.mp4' was being opened"
    for n in 0 1 2; do cmp "o/$n-average.png" "alone/$n-average.png"; done
    [ "$(grep -c '"status":"done"' report)" -eq 3 ] || fail "$(cat report)"
    [ "$(grep -c '"status":"failed"' report)" -eq 1 ] || fail "$(cat report)"
}

# With less memory there are fewer threads; the picture stays the same.
test_memory_does_not_change_a_picture() {
    f=$(clip h264-closed.mkv)
    ok "$f" -o a.png -q
    ok "$f" -o b.png -q --memory 256M --threads 16
    cmp a.png b.png
    refuses 2 "$f" --memory 100M
}

test_max_pixels() { # quick
    f=$(clip h264-closed.mkv)
    refuses 3 "$f" --max-pixels 100
    says 'has frames of [0-9]*x[0-9]*, more than 100 pixels (see --max-pixels)'
    files
    pixels=$(ffprobe -v error -select_streams v -show_entries stream=width,height -of csv=p=0 "$f" | tr , '*')
    ok "$f" --max-pixels $((pixels)) -o a.png
    refuses 3 "$f" --max-pixels $((pixels - 1)) -o b.png
}

# The first 64 are read. Where the container cannot be read without the others, the film is refused.
test_many_streams() {
    f=$(clip h264-closed.mkv)
    sound=()
    for _ in $(seq 70); do sound+=(-map 1:a); done
    ffmpeg -nostdin -v error -i "$f" -f lavfi -t 1 -i anullsrc=r=8000:cl=mono -map 0:v "${sound[@]}" -c:v copy -c:a mp2 -ar 16000 -shortest many.mp4
    refuses 3 many.mp4
    says "'many.mp4' has more than 64 streams"
}
