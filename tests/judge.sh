#!/usr/bin/env bash
# judge.sh - independent judges of what barcode computes, on the sample film, the made films and those of BARCODE_FILMS:
# the ffmpeg program for staged frames (judge.py), scikit-learn for inertia (judge_kmeans.py), SciPy for sound (judge_sound.py),
# NumPy for keograms of --live (judge_keogram.py).
# BARCODE, BENCH_SOUND, BARCODE_FILMS, PYTHON and FRAMES (frames a film whose inertia is judged; 5) come from the environment. Exit 1 when
# one of them objects.
set -u
extra=$("$(dirname "$0")/support/films.sh") || exit 1      # before cd: its folder is named from here
cd "$(dirname "$0")/.." || exit 1
BARCODE=${BARCODE:-out/bin/barcode} BENCH_SOUND=${BENCH_SOUND:-out/bin/bench_sound} PYTHON=${PYTHON:-/usr/bin/python3} FRAMES=${FRAMES:-5}
export BARCODE_CACHE=-
work=out/judge
mkdir -p "$work"
status=0
films=(out/sample.mkv out/clips/film-480p.mp4 out/clips/film-1080p.mp4)
[ -z "$extra" ] || mapfile -t -O ${#films[@]} films <<< "$extra"
"$PYTHON" tests/judge.py --barcode "$BARCODE" "${films[@]}" || status=1
for film in "${films[@]}"; do
    name=$work/$(basename "$film")
    echo "== $film, $FRAMES frames: the best of our 20 against the best of scikit-learn's 50"
    for k in 2 4 8 16 32; do
        "$BARCODE" "$film" -q --columns "$FRAMES" -k $k -o "$name.png" --json "$name.$k.json" --dump "$name.rgb" || exit 1
        "$PYTHON" tests/judge_kmeans.py "$name.rgb" "$name.$k.json" || status=1
    done
done
"$PYTHON" tests/judge_sound.py "$BARCODE" "$BENCH_SOUND" "$work" "${films[@]}" || status=1
"$PYTHON" tests/judge_keogram.py "$BARCODE" "$work/keogram" || status=1
exit $status
