#!/usr/bin/env bash
# data.sh - CSV and JSON as researchers read them: samples/python/barcode.py alone and with pandas, and
# samples/r/barcode.R; with PYPI=1 shot lists as opentimelineio and mkvmerge do. `make test-data` installs these. The last
# line counts; exit 1 when a check failed.
#
# BARCODE (out/bin/barcode) and PYTHON come from the environment.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
barcode=$(realpath "${BARCODE:-$top/out/bin/barcode}") || exit 1
PYTHON=${PYTHON:-/usr/bin/python3}
passed=0 failed=0
unset "${!BARCODE_@}" BARCODE
export BARCODE_CACHE=- LC_ALL=C.UTF-8
work=$(mktemp -d "${TMPDIR:-/tmp}/barcode-data.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
cd "$work" || exit 1

# works WHAT COMMAND...: succeeds.
works() {
    local what=$1
    shift
    if "$@" > said 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL: $what: $(tail -n 5 said)"
    fi
}

# film NAME COLOUR ARG...: two seconds of a moving picture with a box of a colour.
film() {
    local name=$1 colour=$2
    shift 2
    ffmpeg -nostdin -v error -y -f lavfi -i "testsrc2=s=192x108:r=25:d=2,drawbox=c=$colour:t=fill:w=100" "$@" "$name"
}

mkdir films
film films/NA.mkv red
film 'films/b, "c".mkv' blue -metadata title='=1+1'
film films/é.mkv gray
works "the table" "$barcode" -q films --csv all.csv -n 5 -k 4
works "all columns" "$barcode" -q films --csv wide.csv -n 5 -k 4 -m kmeans,dominant --csv-columns all
works "few columns" "$barcode" -q films/NA.mkv --csv few.csv -n 5 -k 4 --csv-columns time,r,g,b,hue
works "JSON" "$barcode" -q films/NA.mkv --json na.json --csv na.csv --csv-columns all -n 5 -k 4 -m kmeans,dominant --steady
works "barcode.py without pandas" "$PYTHON" -I -S "$top/samples/python/barcode.py" all.csv wide.csv few.csv na.json
mv said printed
works "what it prints" grep -q "^films/NA.mkv: 10 columns to 1.8 s, mean colour #" printed
works "barcode.py" "$PYTHON" "$top/tests/data_check.py" "$top/samples/python"
works "the table of two films" "$barcode" -q films/NA.mkv films/é.mkv -m average --csv two.csv -n 5 \
    --csv-columns title,time,luminance,saturation
works "two-films.py" env MPLBACKEND=Agg "$PYTHON" "$top/samples/python/two-films.py" two.csv two.png
works "the plot of two films" test -s two.png
works "R" Rscript "$top/samples/r/barcode.R" all.csv plot.pdf
mv said printed
works "R's means" "$PYTHON" "$top/tests/data_check.py" --r printed all.csv
works "R's plot" test -s plot.pdf
works "R with all columns" Rscript -e "source('$top/samples/r/barcode.R'); d <- read_barcode('wide.csv');
    stopifnot(nrow(d) == 30, levels(d\$title) == c('NA', '=1+1', 'é'), is.numeric(d\$ok_hue_4),
              is.character(d\$colour_1), max(d\$share_1) <= 1, !any(is.na(d\$r)))"
works "a shot list" "$barcode" -q films/NA.mkv --shot-list shots.csv --json shots.json -n 5
works "shots.py" env MPLBACKEND=Agg "$PYTHON" "$top/samples/python/shots.py" shots.csv shots-py.png
mv said by_python
works "shots.R" Rscript "$top/samples/r/shots.R" shots.csv shots-r.png
mv said by_r
works "the same from both" cmp <(head -n 2 by_python) by_r
works "their plots" test -s shots-py.png -a -s shots-r.png
if [ -n "${PYPI:-}" ]; then
    works "opentimelineio" eval "'$PYTHON' -m venv venv && venv/bin/pip install -q opentimelineio otio-cmx3600-adapter"
    works "shot lists" venv/bin/python "$top/tests/shot_list_check.py" "$barcode" shots
fi
mkdir package
film package/film.mkv green -metadata title=1917
film package/long.mkv red -vf scale=640:-2,loop=9:50
works "the package film_barcode" env -C package PATH="$(dirname "$barcode"):$PATH" \
    PYTHONPATH="$top/src/python:$top/tests" "$PYTHON" "$top/tests/python_check.py" "$top/README.md"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
