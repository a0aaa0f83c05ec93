# shellcheck shell=bash
# Memory that runs out: a sentence and exit 1, or a picture; never a crash, a hang or half a file.
# shellcheck disable=SC2154,SC2034,SC2015  # variables come from and go to lib.sh; fail does not return

# libav may take a failed allocation for damage, or for the end of the film: then there is a picture of what was decoded.
test_memory_limit() {
    f=big.mkv
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=1920x1080:r=25:d=6 -c:v libx264 -preset ultrafast -bf 2 -g 25 $f
    for limit in 250000 300000 350000 400000 450000 500000 600000; do
        STATUS=0 COMMAND="ulimit -v $limit; barcode"
        (ulimit -v $limit && exec timeout -k 5 60 "$BARCODE" "$f" -n 10 -m average --threads 2 -o now.png) > "$LOGS/stdout" 2> "$LOGS/stderr" || STATUS=$?
        if [ $STATUS -eq 0 ]; then
            files $f now.png
        else
            [ $STATUS -eq 1 ] || fail "exit status $STATUS, not 1"
            grep -q '^barcode: .*\(memory\|bytes\|thread\)' "$LOGS/stderr" || fail "no sentence on memory"
            files $f
        fi
        rm -f now.png
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
