# shellcheck shell=bash
# Whole films of ordinary sizes, in all modes and both ways of decoding: the made ones, and those of BARCODE_FILMS.
# shellcheck disable=SC2154,SC2034,SC2015  # variables come from and go to lib.sh; fail does not return

films() {
    films=("$(clip film-480p.mp4)" "$(clip film-1080p.mp4)" "${extra[@]}")
}

test_films_all_modes() {
    films
    for f in "${films[@]}"; do
        ok "$f" -n 9 -m kmeans,dominant,palette,average,downsample --json j.json -o p.png
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

test_films_judge() {
    need_numpy
    films
    "$PYTHON" "$HERE/../judge.py" --barcode "$BARCODE" --out judged --every 48 "${films[@]}" || fail "judge.py"
}
