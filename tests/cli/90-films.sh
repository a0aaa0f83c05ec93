# Whole films of ordinary sizes, in all modes and both ways of decoding: the made ones, and those of BARCODE_FILMS.

films() {
    films=("$(clip film-480p.mp4)" "$(clip film-1080p.mp4)" "${extra[@]}")
}

test_films_all_modes() {
    films
    for f in "${films[@]}"; do
        ok "$f" -n 9 -m kmeans,dominant,palette,average,squeeze --json j.json -o p.png
        check shape j.json
        check picture p-kmeans.png j.json kmeans
        check picture p-dominant.png j.json dominant
        check picture p-palette.png j.json palette
        check picture p-average.png j.json average
        ok "$f" -n 24 -m all -o all.png
    done
}

test_films_verify() {
    films
    for f in "${films[@]}"; do
        for n in 1 24; do
            ok "$f" -n $n -m average --verify --strict -o v.png
            says 'frames are identical$'
        done
    done
}

test_films_threads() {
    films
    for f in "${films[@]}"; do
        for n in 1 2 5; do
            ok "$f" -n 24 -m palette --threads $n --json $n.json -o $n.png
        done
        cmp 1.png 2.png && cmp 1.png 5.png || fail "$f: the picture depends on --threads"
        check same 1.json 2.json
        check same 1.json 5.json
    done
}

# Software stands in for NVDEC, whose decoders go from film to film. Each film's bytes are those that it has alone; its bench says
# whose decoders it had.
test_films_share_decoders() {
    local kind i way
    mkdir films alone
    for kind in h264-closed.mp4 h264-open.mkv hevc-open.mkv vp9.webm; do
        for i in 1 2 3; do
            cp "$(clip $kind)" films/$i-$kind
        done
    done
    cp "$CLIPS/damaged/corrupt.ts" films/2-z.ts
    ok films --engine cpu --decode cpu -q -n 6 --size full --dump alone/ -o alone/
    for way in "-j 1 --decode nvdec" "-j 4 --decode nvdec" "-j 4"; do
        rm -rf some
        mkdir some
        # shellcheck disable=SC2086
        BARCODE_NVDEC=software ok films --engine cpu $way -q -n 6 --size full --dump some/ --bench -o some/
        cp "$LOGS/stdout" bench
        diff -rq alone some || fail "$way: a film's frames depend on others"
        [ "$(grep -c '"taken_over": *[1-9]' bench)" -ge 4 ] || fail "$way: hardly a decoder went to another film"
    done
}

test_films_judge() {
    need_numpy
    films
    "$PYTHON" "$HERE/../judge.py" --barcode "$BARCODE" --out judged --every 48 "${films[@]}" || fail "judge.py"
}
