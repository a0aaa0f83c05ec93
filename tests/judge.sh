#!/usr/bin/env bash
# judge.sh - independent judges of what barcode computes, on the real clips and the sample film:
# the ffmpeg program for staged frames (judge.py), scikit-learn for inertia (judge_kmeans.py).
# BARCODE, FILMS, PYTHON and FRAMES (frames a film whose inertia is judged; 5) come from the environment. Exit 1 when one of them objects.
set -u
cd "$(dirname "$0")/.." || exit 1
BARCODE=${BARCODE:-out/bin/barcode} FILMS=${FILMS:-../shared/films} PYTHON=${PYTHON:-/usr/bin/python3} FRAMES=${FRAMES:-5}
export BARCODE_CACHE=-
work=out/judge
mkdir -p "$work"
status=0
films=(out/sample.mkv)
for f in "$FILMS"/*.mp4; do
    if [ -f "$f" ]; then films+=("$f"); else echo "SKIPPED: no film in $FILMS"; fi
done
"$PYTHON" tests/judge.py --barcode "$BARCODE" "${films[@]}" || status=1
for film in "${films[@]}"; do
    name=$work/$(basename "$film")
    echo "== $film, $FRAMES frames: the best of our 20 against the best of scikit-learn's 50"
    for k in 2 4 8 16 32; do
        "$BARCODE" "$film" -q --columns "$FRAMES" -k $k -o "$name.png" --json "$name.$k.json" --dump "$name.rgb" || exit 1
        "$PYTHON" tests/judge_kmeans.py "$name.rgb" "$name.$k.json" || status=1
    done
done
exit $status
