#!/usr/bin/env bash
# Folders of short films in software on CORES (16) cores that need not be there (slow_cores.c): milliseconds of each program in turns, RUNS (3) times.
#
#   folder_cores.sh FILM BARCODE...    FILM: half a minute and more; BARCODE: programs of this machine's own libraries (make), not portable ones
#
# Clips are the film at 48x272, of five runs of 36 to 250 pictures, or of one of 240. Nothing but decoding takes time here, and more threads than cores cost
# nothing: of two programs' difference a few hundredths are no evidence.
set -euo pipefail
shopt -s inherit_errexit

film=${1:?usage: folder_cores.sh FILM BARCODE...}
shift
here=$(cd "$(dirname "$0")" && pwd)
work=${WORK:-$(mktemp -d)}
export BARCODE_CACHE=- CORES=${CORES:-16} ROW_NS=${ROW_NS:-190000}
FF=(ffmpeg -nostdin -v error -y)

for program; do
    ldd "$program" | grep -q libavcodec.so || { echo "folder_cores.sh: '$program' has no shared libavcodec" >&2; exit 1; }
done
cc -O2 -D_GNU_SOURCE -shared -fPIC -o "$work/slow_cores.so" "$here/slow_cores.c" -ldl -lpthread
"${FF[@]}" -i "$film" -map 0:V:0 -vf scale=48:272 -frames:v 720 -c:v libx264 -preset fast -x264-params keyint=1000:scenecut=0:merange=8 \
    -force_key_frames "expr:eq(n,250)+eq(n,286)+eq(n,380)+eq(n,553)" "$work/clip.mp4"
"${FF[@]}" -i "$work/clip.mp4" -frames:v 240 -c:v libx264 -preset fast -x264-params keyint=1000:scenecut=0 "$work/one.mp4"
python3 "$here/repeat_mp4.py" "$work/clip.mp4" 24 "$work/sum.mp4"

folder() { # NAME COUNT CLIP
    mkdir -p "$work/$1"
    for n in $(seq "$2"); do ln -sf "$3" "$work/$1/film$n.mp4"; done
}
folder "24 clips" 24 "$work/clip.mp4"
folder "8 clips" 8 "$work/clip.mp4"
folder "3 clips of one run" 3 "$work/one.mp4"
folder "24 clips of one run" 24 "$work/one.mp4"

timed() {
    local from
    from=$(date +%s%N)
    rm -rf "$work/out"
    mkdir "$work/out"
    LD_PRELOAD=$work/slow_cores.so "$@" -q -n 24 -m average --engine cpu --threads "$CORES" -o "$work/out/"
    echo "$((($(date +%s%N) - from) / 1000000))"
}

for what in "24 clips" "8 clips" "3 clips of one run" "24 clips of one run" sum.mp4; do
    for _ in $(seq "${RUNS:-3}"); do
        for program; do
            ms=$(timed "$program" "$work/$what")
            echo "$program $ms"
        done
    done | awk -v what="$what" '{if (!($1 in all)) order[++n] = $1; all[$1] = all[$1] " " $2} END {for (i = 1; i <= n; i++) print what ", " order[i] ":" all[order[i]]}'
done
