#!/usr/bin/env bash
# The figures of README.md that need a GPU: programs alternate in one run, RUNS (3) times; every line is one run.
#
#   run_gpu.sh BIN FILM.mp4 HEVC.mp4
#
# BIN holds barcode (make portable-tests); FILM is half a minute of 1080p, video alone (ffmpeg -i F -an
# -c copy), and is repeated to HOURS (2); HEVC is 10 s of it in HEVC Main10, repeated to half an hour. WORK (/tmp) takes 6 GB.
set -uo pipefail

bin=${1:?usage: run_gpu.sh BIN FILM.mp4 HEVC.mp4} film=${2:?} hevc=${3:?}
here=$(cd "$(dirname "$0")" && pwd)
work=${WORK:-/tmp} runs=${RUNS:-3}
export BARCODE_CACHE=-      # none: every run decodes

python3 "$here/repeat_mp4.py" "$film" "$((120 * ${HOURS:-2}))" "$work/long.mp4"
python3 "$here/repeat_mp4.py" "$hevc" 180 "$work/hevc.mp4"
cat "$work/long.mp4" "$work/hevc.mp4" > /dev/null      # into the page cache

picture() { # WHAT OPTION...: one run of barcode, in a line
    local what=$1
    shift
    "$bin/barcode" -q --engine cuda -n 24 -o "$work/picture.png" --bench "$@" > "$work/bench.json" || return
    python3 - "$what" "$work/bench.json" <<'PY'
import json, sys
b = json.load(open(sys.argv[2]))
wall = sum(b["wall"].values())
print(f"{sys.argv[1]:34} {wall:7.3f} s  {b['counts']['displayed'] / wall:7.0f} pictures/s  "
      + " ".join(f"{k} {v:.3f}" for k, v in b["wall"].items()) + " | busy "
      + " ".join(f"{k} {v:.2f}" for k, v in b["busy"].items()) + f" | {b['counts']['hardware']} of {b['counts']['decoded']} by NVDEC")
PY
}

round() { # what alternates
    for _ in $(seq "$runs"); do "$@"; done
}

staging() {
    picture "H.264 nvdec average" "$work/long.mp4" --decode nvdec -m average
}
modes() {
    picture "H.264 auto average" "$work/long.mp4" -m average
    picture "H.264 auto kmeans" "$work/long.mp4" -m kmeans
}
original() {
    picture "H.264 auto average 1/4" "$work/long.mp4" -m average --size 1/4 -k 8 --n-init 20
    picture "H.264 auto kmeans 1/4" "$work/long.mp4" -m kmeans --size 1/4 -k 8 --n-init 20
}
ten_bits() {
    picture "HEVC Main10 nvdec average" "$work/hevc.mp4" --decode nvdec -m average
    picture "HEVC Main10 auto average" "$work/hevc.mp4" -m average
    picture "HEVC Main10 auto kmeans" "$work/hevc.mp4" -m kmeans
}
for what in ${PARTS:-staging modes original ten_bits}; do
    round "$what"
done
