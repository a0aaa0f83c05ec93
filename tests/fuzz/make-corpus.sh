#!/usr/bin/env bash
# make-corpus.sh OUTDIR - seeds for the fuzz targets, in OUTDIR/nal, cli, gather and film; what is there already is kept.
set -eu
[ $# -eq 1 ] || { echo "usage: make-corpus.sh OUTDIR" >&2; exit 2; }
mkdir -p "$1"/{nal,cli,gather,film}
cd "$1"

# ---- the command line: the first byte picks the parser ----

text() { [ -e "cli/$1" ] || printf '%b' "$2" > "cli/$1"; }
text time1 '\x0090';            text time2 '\x001:02:03.250'; text time3 '\x0059:59.9'
text size1 '\x01320x180';       text size2 '\x011/4';         text size3 '\x01full';      text size4 '\x01320'
text modes1 '\x02kmeans,average'; text modes2 '\x02all';      text modes3 '\x02palette,downsample'
text line1 '\x03-k\n8\n-n\n24\n-o\nout.png\nfilm.mkv'
text line2 '\x03--columns=100\n--start=1:00\n--end\n2:00\n--size=1/4\n-m\nall\nfilm.mkv\nother.mp4'
text line3 '\x03--interval\n0.5\n--json\n-\n--strict\n-vv\nfilm.mkv'
text line4 '\x03--help';        text line5 '\x03--vers';      text line6 '\x03-k8n4\nfilm.mkv'
text line7 '\x03--init=k-means++\n--seed=18446744073709551615\n--max-iter\n100000\n--\n-film.mkv'
text line8 '\x03--engine=cuda:0\n--decode\nnvdec\nx'

# ---- dice ----

for i in 1 2 3 4 5 6 7 8; do
    [ -e "gather/dice$i" ] || seq $((i * 1000)) $((i * 1000 + i * 60)) | cksum | cat - <(seq $i 7 $((i * 300))) > "gather/dice$i"
done

# ---- films and packets ----

if ! command -v ffmpeg > /dev/null; then
    echo "make-corpus: no ffmpeg: no seeds of films and packets" >&2
    exit 0
fi
film() { # NAME ARG...
    local name=$1
    shift
    [ -s "film/$name" ] && return 0
    ffmpeg -nostdin -hide_banner -v error -y -f lavfi -i testsrc=s=48x32:r=10 -frames:v 12 "$@" -fflags +bitexact "film/.$name" 2> /dev/null &&
        mv "film/.$name" "film/$name" || { rm -f "film/.$name"; echo "make-corpus: no $name" >&2; }
}
film h264.mp4 -c:v libx264 -x264-params keyint=5:bframes=2:open-gop=1:rc-lookahead=5 -pix_fmt yuv420p -f mp4
film h264.mkv -c:v libx264 -x264-params keyint=5:bframes=2:open-gop=1:rc-lookahead=5 -pix_fmt yuv420p -f matroska
film h264.ts -c:v libx264 -x264-params keyint=5:bframes=2:rc-lookahead=5 -pix_fmt yuv420p -f mpegts
film raw.h264 -c:v libx264 -x264-params keyint=5:bframes=2:rc-lookahead=5 -pix_fmt yuv420p -f h264
film hevc.mkv -c:v libx265 -x265-params log-level=error:keyint=5:open-gop=1:info=0 -pix_fmt yuv420p -f matroska
film mpeg2.mpg -c:v mpeg2video -r 25 -g 5 -bf 2 -f vob
film mpeg4.avi -c:v mpeg4 -g 5 -bf 2 -f avi
film vp8.webm -c:v libvpx -g 5 -pix_fmt yuv420p -f webm
film vp9.webm -c:v libvpx-vp9 -g 5 -pix_fmt yuv420p -f webm
film raw.vp9 -c:v libvpx-vp9 -g 5 -pix_fmt yuv420p -f ivf
film ffv1.nut -c:v ffv1 -f nut
film flv1.flv -c:v flv -f flv
if [ -s film/hevc.mkv ] && [ ! -s film/raw.hevc ]; then
    ffmpeg -nostdin -hide_banner -v error -y -i film/hevc.mkv -c copy -f hevc film/raw.hevc
fi

packet() { # NAME CODEC LENGTH-SIZE FROM: the two bytes of fuzz_nal.c, then the bitstream
    [ -s "nal/$1" ] || [ ! -s "film/$4" ] || { printf '%b' "\\x0$2\\x0$3" && cat "film/$4"; } > "nal/$1"
}
packet h264-annexb 1 0 raw.h264
packet hevc-annexb 2 0 raw.hevc
packet mpeg2 3 0 mpeg2.mpg
packet h264-lengths 1 4 h264.mp4
packet vp9 5 0 raw.vp9
