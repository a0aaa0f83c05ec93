#!/usr/bin/env bash
# films.sh [bench] - the films beside those that the project makes, one absolute path a line.
#
#   films.sh          every film file of the folder BARCODE_FILMS; nothing when that is not set
#   films.sh bench    the film to measure on: the first of them that is 1920x1080, else out/bench/film-1080p.mp4, which is made
#                     when it is not there (a minute)
#
# A BARCODE_FILMS that is no folder or has no film ends it with one sentence and status 1: a user who names films wants them used.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
# As the program takes them from a folder (src/plan/inputs.c).
endings='mkv|mp4|m4v|mov|qt|avi|webm|ts|m2ts|mts|m2t|mpg|mpeg|mpe|m1v|m2v|vob|evo|wmv|asf|flv|f4v|ogv|ogm|3gp|3g2|mxf|gxf|nut|dv'
endings+='|divx|rm|rmvb|h264|264|avc|h265|265|hevc|ivf|obu|av1|vp8|vp9|y4m|mjpg|mjpeg'

films=()
if [ -n "${BARCODE_FILMS:-}" ]; then
    [ -d "$BARCODE_FILMS" ] || { echo "films.sh: BARCODE_FILMS is '$BARCODE_FILMS', which is no folder" >&2; exit 1; }
    mapfile -t films < <(find -L "$(cd "$BARCODE_FILMS" && pwd)" -maxdepth 1 -type f -regextype posix-extended \
        -iregex ".*/[^.].*\.($endings)" | LC_ALL=C sort)
    [ ${#films[@]} -gt 0 ] || { echo "films.sh: BARCODE_FILMS is '$BARCODE_FILMS', in which there is no film" >&2; exit 1; }
fi

if [ "${1:-}" != bench ]; then
    [ ${#films[@]} -eq 0 ] || printf '%s\n' "${films[@]}"
    exit 0
fi
for film in ${films[@]+"${films[@]}"}; do
    if [ "$(ffprobe -v error -select_streams v:0 -show_entries stream=width,height -of csv=p=0 "$film" | head -n 1)" = 1920,1080 ]; then
        echo "$film"
        exit 0
    fi
done
[ ${#films[@]} -eq 0 ] || echo "films.sh: no film of '$BARCODE_FILMS' is 1920x1080: measuring on the made one" >&2
film=$top/out/bench/film-1080p.mp4
if [ ! "$film" -nt "$top/tests/support/make-film.sh" ]; then
    echo "films.sh: making $film" >&2
    mkdir -p "${film%/*}"
    # As films that are sold: closed groups of at most 250 pictures, a quarter of which nothing refers to.
    "$top/tests/support/make-film.sh" 1920x1080 30 -preset medium -b:v 6000k -x264-params keyint=250:bframes=2:b-pyramid=normal "${film%.mp4}.part.mp4"
    mv "${film%.mp4}.part.mp4" "$film"
fi
echo "$film"
