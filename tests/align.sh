#!/usr/bin/env bash
# align.sh - an hour of speech and music (align_films.py), and how right `barcode align` is about other versions of it (align_judge.py).
# BARCODE, PYTHON, MUSIC (a folder of .ogg files) and ALIGN_DATA (out/align; what is made there once is kept) come from the environment.
set -u
cd "$(dirname "$0")/.." || exit 1
BARCODE=${BARCODE:-out/bin/barcode} PYTHON=${PYTHON:-/usr/bin/python3} data=${ALIGN_DATA:-out/align}
MUSIC=${MUSIC:-/usr/share/games/wesnoth/1.16/data/core/music}
"$PYTHON" tests/align_films.py "$MUSIC" "$data" || exit 1
status=0
for truth in "$data"/*.json; do
    name=$(basename "$truth" .json)
    case $name in
        pal-dub) least=(95 75 3) ;; # its scene of 3 s is not found
        dub* | pal* | slow* | tape*) least=(95 75 1) ;;
        *) least=(99 90 1) ;;
    esac
    echo "== $name: at least ${least[0]} % of seconds, ${least[1]} % of edits"
    "$BARCODE" align "$data/base.mkv" "$data/$name.mkv" --cache "$data/cache" -o "$data/$name.csv" || status=1
    "$PYTHON" tests/align_judge.py "$truth" "$data/$name.csv" "${least[@]}" || status=1
done
echo "== 60 pairs of films that share their middle: at least 95 % of ends"
for truth in "$data"/pairs/*.json; do
    pair=${truth%.json}
    "$BARCODE" align "$pair-a.mkv" "$pair-b.mkv" -q --cache "$data/cache" -o "$pair.csv" || status=1
done
"$PYTHON" tests/align_judge.py --ends 95 "$data/pairs" || status=1
echo "== another film: refused"
"$BARCODE" align "$data/base.mkv" "$data/other.mkv" --cache "$data/cache" && status=1
exit $status
