#!/usr/bin/env bash
# make-corpus.sh OUTDIR - seeds for the fuzz targets, in OUTDIR/nal, cli, chunker, film, metadata,
# cache, mpls, matroska, sound, film_sound, film_process, find and exif; seeds that exist already
# are kept.
# BARCODE (out/bin/barcode) makes the cache's entries and what barcode writes.
set -eu
[ $# -eq 1 ] || { echo "usage: make-corpus.sh OUTDIR" >&2; exit 2; }
barcode=$(realpath "${BARCODE:-out/bin/barcode}")
top=$(realpath "$(dirname "$0")/../..")
mkdir -p "$1"/{nal,cli,chunker,film,metadata,cache,mpls,matroska,sound,film_sound,film_process,find,exif}
cd "$1"

# ---- the command line: the first byte picks the parser ----

text() { [ -e "cli/$1" ] || printf '%b' "$2" > "cli/$1"; }
text time1 '\x0090';            text time2 '\x001:02:03.250'; text time3 '\x0059:59.9'
text size1 '\x01320x180';       text size2 '\x011/4';         text size3 '\x01full';      text size4 '\x01320'
text modes1 '\x02kmeans,average'; text modes2 '\x02all';      text modes3 '\x02palette,squeeze'; text modes4 '\x02dominant'; text modes5 '\x02all+sound'
text line1 '\x03-k\n8\n-n\n24\n-o\nout.png\nfilm.mkv'
text line2 '\x03--columns=100\n--start=1:00\n--end\n2:00\n--size=1/4\n-m\nall\nfilm.mkv\nother.mp4'
text line3 '\x03--interval\n0.5\n--json\n-\n--strict\n-vv\nfilm.mkv'
text line4 '\x03--help';        text line5 '\x03--vers';      text line6 '\x03-k8n4\nfilm.mkv'
text line7 '\x03--init=k-means++\n--seed=18446744073709551615\n--max-iter\n100000\n--\n-film.mkv'
text line9 '\x03--cache\n/tmp/x\n--cache-limit=2.5G\n--refresh\nfilm.mkv'; text line10 '\x03--cache-stats\n--cache-verify'
text line8 '\x03--engine=cuda:0,2\n--decode\nnvdec\nx'

# ---- a film without sound, and a row with a peak (SOUND_VERSION first) ----

[ -e film_sound/none ] || printf '%b' '\x03\x01\0\0\0\0\0\0\0\0\0\xf7\x0a\0\xf7\x0a\x01\0\0' > film_sound/none
[ -e film_sound/row ] || printf '%b%096d%b' '\x03\0\x80\xfa\x01\x02\x03aac\x03aac\x04mono\x80\x04\0\0\0\x13\0\x09\x01\x01\x01\x13\x09\xd0\x0f' 0 \
    '\xc9\x01' > film_sound/row

# ---- an index of two films of 4096 frames, the first with key 1, and a clip of eight peaks ----

if [ ! -e find/two ]; then
    film='\0\x10\0\0\x03\0\0\0'
    printf '%b%s%b%s%b%b%b' '\x02\x01\x01' first-film-has-a "$film" second-film-has- "$film" '\x05\x20\0\0\0\0\0\0' \
        '\0\0\x08\x02\0\x09\x02\0\x08\x02\0\x09\x02\0\x08\x02\0\x09\x02\0\x08\x02\0\x09\x05\x81\x20\x07' > find/two
fi

# ---- a photograph turned by 90 degrees, with its time and time zone ----

[ -e exif/photo ] || printf '%b' 'Exif\0\0MM\0*\0\0\0\x08' '\0\x02' '\x01\x12\0\x03\0\0\0\x01\0\x06\0\0' \
    '\x87\x69\0\x04\0\0\0\x01\0\0\0\x22' '\0\x02' '\x90\x03\0\x02\0\0\0\x14\0\0\0\x3c' '\x90\x11\0\x02\0\0\0\x07\0\0\0\x50' \
    '2026:11:26 23:59:58\0' '+01:00\0' > exif/photo

# ---- a playlist of two clips ----

[ -e mpls/two ] || printf '%b' 'MPLS0200\0\0\0\x10\0\0\0\0\0\0\0\x32\0\0\0\x02\0\0' \
    '\0\x1400001M2TS\0\x01\0\0\0\xaf\xc8\0\x02\x0f\x58' '\0\x1600023M2TS\0\x01\0\0\0\0\0\0\0\x57\xe4\x09\x09' > mpls/two

# ---- a Matroska's video that is cropped, and a default edition of ordered chapters ----

[ -e matroska/crop ] || printf '%b' '\0\xae\x97\x83\x81\x01\xe0\x92' '\x54\xcc\x81\x01' '\x54\xbb\x82\0\x02' \
    '\x54\xdd\x81\x03' '\x54\xaa\x82\0\x04' > matroska/crop
[ -e matroska/ordered ] || printf '%b' '\0\x45\xb9\x88\x45\xdb\x81\x01\x45\xdd\x81\x01' > matroska/ordered

# ---- H.264 parameter sets (order counts of 16 bits), then an IDR slice with lengths of one byte ----

[ -e nal/h264-extradata ] || printf '%b' '\x01\x01\x12\0' '\0\0\x01\x67\x4d\0\x1e\xe3\x50\x51\xa2' \
    '\0\0\x01\x68\xce\x38\x80' '\x05\x65\x88\x94\0\x20' > nal/h264-extradata

# ---- what barcode writes: the first byte is the writer's place in writer_table ----

writers=$(sed -n 's/^ *DO(\([a-z_]*\)).*/\1/p' "$top/src/output/writer.c")
told() { # NAME WRITER FILE
    local place
    place=$(grep -nx "$2" <<< "$writers") || { echo "make-corpus: no writer '$2'" >&2; exit 1; }
    printf '%b' "\\x$(printf %02x $((${place%%:*} - 1)))" | cat - "$3" > "metadata/$1"
}

printf '{\n"version": "0.1.0",\n"film": {"id":},\n"size": [433333338,"st}\n}\n' > metadata/.broken
told json-size json metadata/.broken
rm metadata/.broken

if [ ! -e metadata/bif ] && [ -x "$barcode" ] && command -v ffmpeg > /dev/null; then
    made=$PWD/metadata/.made
    mkdir -p "$made"
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=64x48:r=24:d=1 -vf scale=8:6 -c:v ffv1 "$made/x.mkv"
    (
        cd "$made"
        "$barcode" -q --no-cache x.mkv -n 4 -m palette --height 3 -o x.png --json x.json --html x.html
        "$barcode" -q --no-cache x.mkv -n 4 -o y.png --csv x.csv --swatches x.gpl --swatches x.ase --swatches x.css \
            --swatches swatches.json --shot-list shots.csv --shot-list shots.edl --thumbnails sheets --trickplay jellyfin,bif --trickplay-width 8
        for ending in jpg webp; do "$barcode" -q --no-cache x.mkv -n 4 -o x.$ending; done
        for page in svg pdf; do "$barcode" -q --no-cache x.mkv -n 4 --page 200x200 -o x.$page; done
    )
    for ending in png svg pdf json csv gpl ase css webp html; do told $ending $ending "$made/x.$ending"; done
    told picture jpeg "$made/x.jpg"
    told swatches swatches "$made/swatches.json"
    told shots-csv shots_csv "$made/shots.csv"
    told shots-edl shots_edl "$made/shots.edl"
    told vtt thumbnails "$made/sheets/x.vtt"
    told jpg thumbnails "$made/sheets/x-001.jpg"
    told jellyfin jellyfin "$made/x.trickplay/8 - 10x10/0.jpg"
    told bif bif "$made/x-8-10.bif"
    rm -r "$made"
fi

# ---- dice ----

for i in 1 2 3 4 5 6 7 8; do
    [ -e "chunker/dice$i" ] ||
        seq $((i * 1000)) $((i * 1000 + i * 60)) | cksum | cat - <(seq $i 7 $((i * 300))) > "chunker/dice$i"
    [ -e "film_process/dice$i" ] || # compressed numbers are as good as random ones
        seq $((i * 100)) $((i * 300 + 3000)) | gzip -9n | tail -c +20 > "film_process/dice$i"
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
    if ffmpeg -nostdin -hide_banner -v error -y -f lavfi -i testsrc=s=48x32:r=10 -frames:v 12 "$@" -fflags +bitexact "film/.$name" 2> /dev/null; then
        mv "film/.$name" "film/$name"
    else
        rm -f "film/.$name"
        echo "make-corpus: no $name" >&2
    fi
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
sine=(-filter_complex "sine=d=1.2[a]" -map 0:v -map "[a]")
for alone in mp3 flac wav ogg m4a; do film alone.$alone "${sine[@]:0:2}" -map "[a]" -f ${alone/m4a/ipod}; done
film sound.ts "${sine[@]}" -c:v mpeg2video -r 25 -c:a ac3 -f mpegts
film sound.mp4 "${sine[@]}" -c:v mpeg4 -c:a aac -f mp4
film sound.mkv "${sine[@]}" -c:v mpeg4 -c:a flac -f matroska
film sound.avi "${sine[@]}" -c:v mpeg4 -c:a libmp3lame -f avi
if [ -s film/hevc.mkv ] && [ ! -s film/raw.hevc ]; then
    ffmpeg -nostdin -hide_banner -v error -y -i film/hevc.mkv -c copy -f hevc film/raw.hevc
fi

packet() { # NAME CODEC LENGTH-SIZE FROM: the four bytes of fuzz_nal.c, then the bitstream
    [ -s "nal/$1" ] || [ ! -s "film/$4" ] || { printf '%b' "\\x0$2\\x0$3\\0\\0" && cat "film/$4"; } > "nal/$1"
}
packet h264-annexb 1 0 raw.h264
packet hevc-annexb 2 0 raw.hevc
packet mpeg2 3 0 mpeg2.mpg
packet h264-lengths 1 4 h264.mp4
packet vp9 5 0 raw.vp9

sound() { # NAME CODEC FORMAT ARG...: the four bytes of fuzz_sound.c, then the stream
    local name=$1 head="\\x$2\\0\\x02\\0" format=$3
    shift 3
    [ ! -s "sound/$name" ] || return 0
    if ffmpeg -nostdin -hide_banner -v error -f lavfi -i sine=d=0.1 -ac 2 "$@" -fflags +bitexact -f "$format" - 2> /dev/null > sound/.made; then
        { printf '%b' "$head" && cat sound/.made; } > "sound/$name"
    else
        echo "make-corpus: no sound $name" >&2
    fi
    rm -f sound/.made
}
sound aac 00 adts -c:a aac
sound ac3 01 ac3 -c:a ac3
sound eac3 02 eac3 -c:a eac3
sound mp3 03 mp3 -c:a libmp3lame
sound mp2 04 mp2 -c:a mp2
sound dts 05 dts -c:a dca -strict -2
sound flac 06 flac -c:a flac
sound pcm 09 s16le
sound float 0b f32le
[ -e sound/hz ] || { printf '\x0a\x02\x01\0' && seq 2000; } > sound/hz
[ -e sound/rate ] || { printf '\x0b\x0b\x02\0' && seq 2000; } > sound/rate # less than 0

# ---- entries of the cache: as they are, to be signed anew, and the index alone ----

if [ ! -x "$barcode" ]; then
    echo "make-corpus: no program at $barcode: no seeds of cache entries" >&2
    exit 0
fi
entry() { # NAME FILM ARG...
    local name=$1 film=film/$2 size at key blocks
    shift 2
    [ ! -s "cache/$name-0" ] && [ -s "$film" ] || return 0
    rm -rf cache-made
    "$barcode" "$film" "$@" -q -m average --cache cache-made -o cache-made.png && set -- cache-made/*.frames || return 0
    size=$(stat -c %s "$1")
    at=$(od -An -tu8 -j $((size - 64)) -N 8 "$1" | tr -d ' ')
    { printf '\1' && cat "$1"; } > "cache/$name-1"
    key=$(od -An -tu4 -j 12 -N 4 "$1" | tr -d ' ')
    blocks=$((at - 16 - key))
    { printf '\2' && printf '%b' "$(printf '\\0%03o' $((blocks & 255)) $((blocks >> 8 & 255)) $((blocks >> 16)) 0)" && tail -c +$((at + 1)) "$1" | head -c $((size - 64 - at)); } > "cache/$name-2"
    { printf '\0' && cat "$1"; } > "cache/$name-0"
    rm -rf cache-made cache-made.png
}
entry every h264.mkv --size 8 -n 1
entry some h264.mp4 --size 6 -n 5
entry interval mpeg4.avi --size 5 --interval 0.1
entry columns vp8.webm --size 4 --columns 30
