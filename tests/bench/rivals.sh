#!/bin/sh
# rivals.sh FILM DIR [TURNS] - barcode and two packages of PyPI in turns: time, processor time and
# memory of 1,280 columns. Packages are installed and pictures made in DIR.
set -eu
film=$(realpath "$1") turns=${3:-3} barcode=$(realpath "${BARCODE:-out/bin/barcode}")
mkdir -p "$2"
cd "$2"
if [ ! -x venv/bin/movie-barcodes ]; then
    python3 -m venv venv
    venv/bin/pip install -q movie-barcodes movie-barcode opencv-python-headless
fi
cat > movie-barcode.py << 'END'
import sys
from movie_barcode.movie import Movie
movie = Movie(sys.argv[1])
movie.set_generation_technique("dominant", 800, 1280)
movie.compute_colors()
movie.export_barcode("step", ".")
END

timed() {
    name=$1
    shift
    /usr/bin/time -o time.txt -f "$name: %e s, %U s of the processor, %M KB" "$@" > log.txt 2>&1 || tail -n 2 log.txt
    cat time.txt
}

for _ in $(seq "$turns"); do
    timed 'ffmpeg, decoding alone' ffmpeg -i "$film" -an -f null -
    for mode in average kmeans squeeze; do
        timed "barcode $mode" "$barcode" "$film" -m $mode --width 1280 --no-cache -o barcode-$mode.png
    done
    timed 'movie-barcodes avg' venv/bin/movie-barcodes -i "$film" --width 1280 --height 800 \
        -m avg -d "$PWD/movie-barcodes.png"
    timed 'movie-barcode dominant' venv/bin/python movie-barcode.py "$film"
done
