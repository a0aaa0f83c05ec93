#!/usr/bin/env bash
# make-clips.sh OUTDIR [NAME...] - makes the test clips, or those of these names, with the ffmpeg program; what is there already
# is kept.
#
#   OUTDIR/*           films that decode whole: every kind of stream that a barcode may be asked of
#   OUTDIR/damaged/*   films of which a part decodes
#   OUTDIR/account/*   films whose pictures have to be counted with care: tests/cli/65-account.sh
#   OUTDIR/bad/*       what is no film
#   OUTDIR/parts/*     what the others are made of
#   OUTDIR/SKIPPED     the clips that this machine's ffmpeg cannot make, and why
#
# The pictures are small and the GOPs short, so that a clip of 8 s has many runs, selections and cuts. Two films are of the
# sizes, lengths and texture of real ones: film-480p.mp4 and film-1080p.mp4, by make-film.sh.
set -eu

[ $# -ge 1 ] || { echo "usage: make-clips.sh OUTDIR [NAME...]" >&2; exit 2; }
OUT=$1
shift
WANTED=" $* "
JOBS=${JOBS:-$(nproc)}
HERE=$(cd "$(dirname "$0")" && pwd)
MAKE_FILM=$HERE/make-film.sh
mkdir -p "$OUT/damaged" "$OUT/bad" "$OUT/parts" "$OUT"/.tmp/{damaged,bad,parts}
OUT=$(cd "$OUT" && pwd)
cd "$OUT"
touch SKIPPED
for name in "$@"; do sed -i "\\|^$name: |d" SKIPPED; done
[ $# -gt 0 ] || : > SKIPPED
MASTER=parts/master.nut

FF=(ffmpeg -nostdin -hide_banner -v error -y)

# libx265 3.5 aborts once in a thousand times.
twice() {
    "$@" || { [ $? -ge 128 ] && "$@"; }
}

# The recipe's command writes its last argument; here it gets a place from which it is moved when whole.
# clip NAME COMMAND...: runs `COMMAND... .tmp/NAME` unless NAME is there.
clip() {
    local name=$1
    shift
    [ -s "$name" ] && return 0
    [ "$WANTED" = "  " ] || [[ $WANTED == *" $name "* ]] || return 0
    while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do wait -n || true; done
    {
        if twice "$@" ".tmp/$name" > ".tmp/$name.log" 2>&1 && [ -e ".tmp/$name" ]; then
            mv ".tmp/$name" "$name"
            echo "made $name"
        else
            printf '%s: %s\n' "$name" "$(tail -n 1 ".tmp/$name.log")" >> SKIPPED
            echo "SKIPPED $name: $(tail -n 1 ".tmp/$name.log")" >&2
        fi
    } &
}

# enc NAME ARG...: encodes the master (320x180, 25/s, 200 pictures of moving detail and noise).
enc() {
    local name=$1
    shift
    clip "$name" "${FF[@]}" -i "$MASTER" -map 0:v:0 "$@"
}

# copy NAME FROM ARG...: another container or other flags around a clip that is there, packets untouched.
copy() {
    local name=$1 from=$2
    shift 2
    clip "$name" "${FF[@]}" -i "$from" -map 0 -c copy "$@"
}

x264() { # x264 NAME PARAMS ARG...
    local name=$1 params=$2
    shift 2
    enc "$name" -c:v libx264 -preset veryfast -x264-params "bframes=3:b-pyramid=normal:$params" "$@"
}

x265() {
    local name=$1 params=$2
    shift 2
    enc "$name" -c:v libx265 -preset superfast -x265-params "log-level=error:bframes=4:$params" "$@"
}

py() { /usr/bin/python3 "$@"; }

# ---- helpers that are not ffmpeg; the last argument is the file to write ----

head_of() { # FROM PERCENT TO
    local size
    size=$(stat -c %s "$1")
    head -c $((size * $2 / 100)) "$1" > "$3"
}

tail_of() { # FROM PERCENT-DROPPED TO
    local size
    size=$(stat -c %s "$1")
    tail -c +$((size * $2 / 100)) "$1" > "$3"
}

join() { # FROM FROM TO
    cat "$1" "$2" > "$3"
}

# Flips bytes between 35 % and 65 % of a file, one in `every`, always the same ones.
damage() { # FROM EVERY TO
    py - "$@" <<'PY'
import random, sys
src, every, dst = sys.argv[1], int(sys.argv[2]), sys.argv[3]
data = bytearray(open(src, 'rb').read())
r = random.Random(20)
for _ in range(max(1, len(data) * 3 // 10 // every)):
    data[r.randrange(len(data) * 35 // 100, len(data) * 65 // 100)] ^= r.randrange(1, 256)
open(dst, 'wb').write(data)
PY
}

# One wrong bit in every fourth large NAL unit, after its headers: every picture is still there.
wrong_bits() { # FROM TO
    py - "$@" <<'PY'
import random, re, sys
data = bytearray(open(sys.argv[1], 'rb').read())
r = random.Random(20)
units = [m.end() for m in re.finditer(b'\x00\x00\x01', data)] + [len(data)]
large = [(a, b) for a, b in zip(units, units[1:]) if b - a > 200 and data[a] >> 1 & 63 < 32]
for a, b in large[5::4]:
    data[r.randrange(a + 60, b - 60)] ^= 1 << r.randrange(2, 8)
open(sys.argv[2], 'wb').write(data)
PY
}

# Three stretches of zeros: whole packets are gone.
holes() { # FROM TO
    py - "$@" <<'PY'
import sys
src, dst = sys.argv[1], sys.argv[2]
data = bytearray(open(src, 'rb').read())
for percent in (40, 50, 60):
    at = len(data) * percent // 100
    data[at:at + 6000] = bytes(6000)
open(dst, 'wb').write(data)
PY
}

# Replaces the 3x3 display matrix (A B 0, C D 0, X Y 1) of an MP4's video track.
orient() { # FROM.mp4 A B C D X Y TO.mp4
    py - "$@" <<'PY'
import struct, sys
a, b, c, d, x, y = (int(n) * 65536 for n in sys.argv[2:8])
data = bytearray(open(sys.argv[1], 'rb').read())
at = data.index(b'tkhd') + 4 + 4 + 20 + 8 + 8
data[at:at + 36] = struct.pack('>9i', a, b, 0, c, d, 0, x, y, 1 << 30)
open(sys.argv[8], 'wb').write(data)
PY
}

# Packs a B-frame into the packet of the P-frame before it, with a one-byte picture where it was, as DivX 5 did in AVI.
pack_b() { # FROM.m4v TO.avi
    py - "$@" <<'PY'
import re, struct, sys
data = open(sys.argv[1], 'rb').read()
cuts = [m.start() for m in re.finditer(b'\x00\x00\x01\xb6', data)] + [len(data)]
head, vops = data[:cuts[0]], []
for i, j in zip(cuts, cuts[1:]):
    body = data[i:j]
    tail = re.search(rb'\x00\x00\x01[\x00-\x2f\xb0-\xb5]', body[4:])
    vops.append((body[4] >> 6, body[:tail.start() + 4] if tail else body))
head += b'\x00\x00\x01\xb2DivX503b1393p'
packets, i = [], 0
while i < len(vops):
    kind, body = vops[i]
    if kind != 2 and i + 1 < len(vops) and vops[i + 1][0] == 2:
        packets.append((kind, body + vops[i + 1][1]))
        extra = i + 2
        while extra < len(vops) and vops[extra][0] == 2:      # a second B stands where the first one was
            packets.append((2, vops[extra][1]))
            extra += 1
        packets.append((1, b'\x00\x00\x01\xb6\x5f'))          # N-VOP: nothing coded
        i = extra
    else:
        packets.append((kind, body))
        i += 1
packets[0] = (packets[0][0], head + packets[0][1])
def chunk(tag, body):
    return tag + struct.pack('<I', len(body)) + body + b'\0' * (len(body) & 1)
avih = struct.pack('<14I', 40000, 0, 0, 0x10, len(packets), 0, 1, 1 << 20, 320, 180, 0, 0, 0, 0)
strh = struct.pack('<4s4sIHHIIIIIIIIHHHH', b'vids', b'DX50', 0, 0, 0, 0, 1, 25, 0, len(packets), 1 << 20, 0xffffffff, 0, 0, 0, 320, 180)
strf = struct.pack('<IiiHH4sIiiII', 40, 320, 180, 1, 24, b'DX50', 320 * 180 * 3, 0, 0, 0, 0)
hdrl = chunk(b'LIST', b'hdrl' + chunk(b'avih', avih) + chunk(b'LIST', b'strl' + chunk(b'strh', strh) + chunk(b'strf', strf)))
movi, index = b'movi', b''
for kind, body in packets:
    index += struct.pack('<4sIII', b'00dc', 0x10 if kind == 0 else 0, len(movi), len(body))
    movi += chunk(b'00dc', body)
riff = b'AVI ' + hdrl + chunk(b'LIST', movi) + chunk(b'idx1', index)
open(sys.argv[2], 'wb').write(chunk(b'RIFF', riff))
PY
}

# Takes the order of display out of MPEG-2 pictures: every temporal_reference becomes 0. Lengths stay.
unorder() { # FROM TO
    py - "$@" <<'PY'
import sys
data = bytearray(open(sys.argv[1], 'rb').read())
at = data.find(b'\0\0\1\0')
while at >= 0:
    data[at + 4] = 0
    data[at + 5] &= 0x3f
    at = data.find(b'\0\0\1\0', at + 4)
open(sys.argv[2], 'wb').write(data)
PY
}

# Edits the NALs of a raw HEVC stream: what encoders do not write and broadcasts hold.
hevc_nals() { # FROM WHAT TO
    py - "$@" <<'PY'
import re, sys
data = bytearray(open(sys.argv[1], 'rb').read())
what = sys.argv[2]
at = [m.start() + 3 for m in re.finditer(b'\0\0\1', data)]
kind = lambda i: data[i] >> 1 & 63
keys = [i for i in at if 16 <= kind(i) <= 21]
if what == 'bla':                     # the third key begins anew: what leads it cannot be decoded
    data[keys[2]] = 16 << 1
elif what == 'no-output':             # keys throw away what was not yet put out
    for i in keys[1:]:
        data[i + 2] |= 0x40
elif what == 'eos':                   # the stream ends before the third key, and another begins
    sets = max(i for i in at if kind(i) == 32 and i < keys[2]) - 3
    data[sets:sets] = b'\0\0\1\x48\1'
open(sys.argv[3], 'wb').write(data)
PY
}

# ---- films of ordinary sizes, first since they take longest ----

# Half a minute, as what interrupts, kills and crowds the program needs; and 1080p, as much as its colour matrix, its size and
# the threads that it takes need.
clip film-480p.mp4 "$MAKE_FILM" 854x480 30 -preset veryfast -b:v 1000k
clip film-1080p.mp4 "$MAKE_FILM" 1920x1080 10 -preset superfast -b:v 6000k

# ---- the master ----

if [ ! -s "$MASTER" ]; then
    "${FF[@]}" -f lavfi -i "testsrc2=s=320x180:r=25:d=8" -f lavfi -i "mandelbrot=s=160x180:r=25" \
        -filter_complex "[0][1]overlay=160:0:shortest=1,noise=alls=10:allf=t,hue=H=0.4*t,format=yuv420p" \
        -c:v ffv1 -colorspace unknown "$MASTER.part.nut"
    mv "$MASTER.part.nut" "$MASTER"
fi

# ---- H.264 ----

x264 h264-closed.mkv keyint=48:min-keyint=24:open-gop=0
x264 h264-open.mkv keyint=30:min-keyint=30:open-gop=1
x264 h264-interlaced.ts keyint=30:tff=1:open-gop=0 -flags +ildct+ilme
x264 h264-interlaced-open.mkv keyint=30:min-keyint=30:tff=1:open-gop=1 -flags +ildct+ilme
x264 h264-long-gop.mp4 keyint=infinite:scenecut=0
x264 h264-intra-refresh.mkv keyint=30:intra-refresh=1:bframes=0
x264 h264-10bit.mkv keyint=40 -pix_fmt yuv420p10le
x264 h264-422.mkv keyint=40 -pix_fmt yuv422p
x264 h264-444.mkv keyint=40 -pix_fmt yuv444p
x264 h264-422-10bit-open.mkv keyint=30:open-gop=1 -pix_fmt yuv422p10le
x264 h264-slices.mkv keyint=24:slices=4:b-pyramid=strict
x264 h264-crop.mp4 keyint=40 -vf crop=318:178 -bsf:v h264_metadata=crop_left=6:crop_top=4
x264 h264-keyint1.mkv keyint=1
# As on a Blu-ray: only the first picture is an IDR.
x264 h264-bluray.mkv bluray-compat=1:open-gop=1:keyint=24:min-keyint=1:scenecut=0:slices=4:b-pyramid=strict:level=4.1:vbv-maxrate=40000:vbv-bufsize=30000
x264 h264-bluray-interlaced.mkv bluray-compat=1:open-gop=1:keyint=24:min-keyint=1:scenecut=0:slices=4:b-pyramid=strict:tff=1:level=4.1:vbv-maxrate=40000:vbv-bufsize=30000 \
    -flags +ildct+ilme
x264 parts/other-sets.ts open-gop=1:keyint=24:min-keyint=24:bframes=2:b-pyramid=none:ref=4 -vf hue=h=90 -bsf:v dump_extra=freq=keyframe

# ---- HEVC ----

x265 hevc-open.mkv keyint=30:min-keyint=30:open-gop=1
x265 hevc-closed.mp4 keyint=30:min-keyint=30:open-gop=0 -tag:v hvc1
x265 hevc-radl.mkv keyint=30:min-keyint=30:open-gop=0:radl=2
x265 hevc-10bit.mkv keyint=40:open-gop=1 -pix_fmt yuv420p10le
x265 hevc-temporal.mkv keyint=48:min-keyint=48:b-adapt=0:temporal-layers=1:open-gop=1
x265 hevc-444-12bit.mkv keyint=40 -pix_fmt yuv444p12le
x265 hevc-422-10bit.mkv keyint=40 -pix_fmt yuv422p10le

# ---- older and other codecs ----

enc mpeg2.ts -c:v mpeg2video -g 15 -bf 2 -q:v 4
enc mpeg2.mpg -c:v mpeg2video -g 15 -bf 2 -q:v 4 -f vob
enc mpeg2-closed.ts -c:v mpeg2video -g 12 -bf 2 -q:v 4 -flags +cgop -sc_threshold 1000000000
enc mpeg2-interlaced.mpg -c:v mpeg2video -g 15 -bf 2 -q:v 4 -flags +ildct+ilme -vf setfield=tff -f vob
enc mpeg2-nob.mkv -c:v mpeg2video -g 15 -bf 0 -q:v 4
enc mpeg1.mpg -c:v mpeg1video -g 15 -bf 2 -q:v 4
enc mpeg4.avi -c:v mpeg4 -g 30 -bf 2 -q:v 4
enc mpeg4.mp4 -c:v mpeg4 -g 30 -bf 2 -q:v 4
enc parts/mpeg4.m4v -c:v mpeg4 -g 30 -bf 1 -b_strategy 0 -q:v 4 -f m4v
enc msmpeg4.avi -c:v msmpeg4v3 -g 30 -q:v 4
enc wmv2.wmv -c:v wmv2 -g 30 -q:v 4
enc flv1.flv -c:v flv -g 30 -q:v 4
enc theora.ogv -c:v libtheora -g 30 -q:v 7
enc vp8.webm -c:v libvpx -threads 1 -deadline realtime -cpu-used 8 -g 40 -b:v 600k
enc vp8-altref.webm -c:v libvpx -threads 1 -deadline good -cpu-used 5 -g 40 -b:v 500k -auto-alt-ref 1 -lag-in-frames 12
enc vp9.webm -c:v libvpx-vp9 -deadline good -cpu-used 8 -g 48 -b:v 500k -auto-alt-ref 1 -lag-in-frames 16 -row-mt 1
enc vp9-10bit.webm -c:v libvpx-vp9 -deadline good -cpu-used 8 -g 48 -b:v 500k -pix_fmt yuv420p10le -row-mt 1
for size in 320x180 240x136; do
    enc "parts/vp8-$size.ivf" -vf "scale=${size/x/:}" -c:v libvpx -threads 1 -deadline realtime -cpu-used 8 \
        -g 40 -b:v 400k
    enc "parts/vp9-$size.ivf" -vf "scale=${size/x/:}" -c:v libvpx-vp9 -deadline realtime -cpu-used 8 \
        -g 40 -b:v 300k -error-resilient 1 -aq-mode 0
done
enc av1-svt.mkv -c:v libsvtav1 -preset 12 -g 48 -qp 40
enc av1-aom.mp4 -c:v libaom-av1 -cpu-used 8 -g 48 -crf 40 -b:v 0 -row-mt 1 -usage good -lag-in-frames 16
enc mjpeg.avi -c:v mjpeg -q:v 4 -pix_fmt yuvj420p
enc ffv1.mkv -c:v ffv1
enc prores.mov -c:v prores_ks -profile:v 0
enc png.mov -c:v png -pix_fmt rgb24 -frames:v 40

# ---- pixel formats and tags ----

enc grey-ffv1.mkv -c:v ffv1 -pix_fmt gray -frames:v 60
x264 grey-h264.mkv keyint=40 -pix_fmt gray
enc rgb-h264.mkv -c:v libx264rgb -preset ultrafast -g 40 -crf 20
enc gbrp-ffv1.mkv -c:v ffv1 -pix_fmt gbrp -frames:v 60
enc gbrp10-ffv1.mkv -c:v ffv1 -pix_fmt gbrp10le -frames:v 60
x264 tag709.mkv keyint=40 -vf scale=out_color_matrix=bt709 -colorspace bt709 -color_primaries bt709 -color_trc bt709 -color_range tv
x264 tag601.mkv keyint=40 -colorspace smpte170m -color_primaries smpte170m -color_trc smpte170m -color_range tv
x264 full-range.mp4 keyint=40 -vf scale=out_range=full -pix_fmt yuvj420p -color_range pc -colorspace bt709
x265 bt2020.mkv keyint=40 -vf scale=out_color_matrix=bt2020 -pix_fmt yuv420p10le -colorspace bt2020nc -color_primaries bt2020 -color_trc bt2020-10
x265 pq.mkv keyint=40:hdr10=1 -vf scale=out_color_matrix=bt2020 -pix_fmt yuv420p10le -colorspace bt2020nc -color_primaries bt2020 -color_trc smpte2084
x265 hlg.mkv keyint=40 -vf scale=out_color_matrix=bt2020 -pix_fmt yuv420p10le -colorspace bt2020nc -color_primaries bt2020 -color_trc arib-std-b67
x264 hd-untagged.mkv keyint=24 -vf scale=1280:720 -frames:v 50

# ---- geometry, rates, lengths ----

enc odd-size-ffv1.mkv -vf scale=321:179 -c:v ffv1 -frames:v 60
enc odd-size-vp9.webm -vf scale=321:179 -c:v libvpx-vp9 -cpu-used 8 -deadline realtime -b:v 500k -g 30
x264 odd-size-444.mkv keyint=40 -vf scale=321:179,format=yuv444p
x264 sar.mkv keyint=40 -vf setsar=64/45
x264 vfr.mkv keyint=30 -vf "select='lt(t,4)+not(mod(n,5))'" -fps_mode vfr
x264 two-frames.mp4 keyint=40 -frames:v 2
x264 one-frame.mkv keyint=40 -frames:v 1
x264 parts/small.ts keyint=30 -vf scale=240:136 -t 4
x264 parts/short.mkv keyint=48:min-keyint=24 -frames:v 100
x264 ntsc.mkv keyint=48 -vf fps=24000/1001

wait

# ---- the same packets in other dress ----

copy h264-open.mp4 h264-open.mkv
copy h264-open.ts h264-open.mkv -bsf:v h264_mp4toannexb,dump_extra=freq=keyframe
copy h264-closed.avi h264-closed.mkv -f avi -bsf:v h264_mp4toannexb
copy h264-open.avi h264-open.mkv -bsf:v h264_mp4toannexb
copy h264-closed.h264 h264-closed.mkv -bsf:v h264_mp4toannexb
copy h264-closed.ts h264-closed.mkv
copy h264-closed.mp4 h264-closed.mkv
copy hevc-open.ts hevc-open.mkv
copy hevc-open.mp4 hevc-open.mkv -tag:v hvc1
copy hevc-open.hevc hevc-open.mkv -bsf:v hevc_mp4toannexb
copy hevc-temporal.ts hevc-temporal.mkv
copy parts/hevc-radl.hevc hevc-radl.mkv -bsf:v hevc_mp4toannexb
copy mpeg2.mkv mpeg2.ts
copy fragmented.mp4 h264-closed.mkv -movflags frag_keyframe+empty_moov
copy offset.mkv h264-closed.mkv -output_ts_offset 10
copy odd-matrix.mkv h264-closed.mkv -bsf:v h264_metadata=matrix_coefficients=14
# Presentation times that lie: those of decoding, and a single one that is far off. Decoders never look at them.
copy h264-dts.mkv h264-open.mkv -bsf:v setts=pts=DTS
copy hevc-dts.mkv hevc-open.mkv -bsf:v setts=pts=DTS
copy h264-one-bad-time.mkv h264-open.mkv -bsf:v "setts=pts=if(eq(N\,59)\,PTS+900000\,PTS)"
copy parts/mpeg2-dts.mkv mpeg2.ts -bsf:v setts=pts=DTS
copy wrap.ts h264-open.mkv -bsf:v h264_mp4toannexb,dump_extra=freq=keyframe -output_ts_offset 95440
clip mpeg4-packed.avi pack_b parts/mpeg4.m4v
clip audio-longer.mp4 "${FF[@]}" -i parts/short.mkv -f lavfi -i sine=d=12 -map 0:v -map 1:a -c:v copy -c:a aac
clip audio-longer.mkv "${FF[@]}" -i parts/short.mkv -f lavfi -i sine=d=12 -map 0:v -map 1:a -c:v copy -c:a aac
clip audio-first.mkv "${FF[@]}" -i h264-open.mkv -f lavfi -i sine=d=8 -map 1:a -map 0:v -c:v copy -c:a aac
wait
for what in bla eos; do
    clip "hevc-$what.hevc" hevc_nals hevc-open.hevc $what
done
clip hevc-no-output.hevc hevc_nals parts/hevc-radl.hevc no-output
clip mpeg2-no-order.mkv unorder parts/mpeg2-dts.mkv    # no header and no time tells the order: only a decoder does
clip jump.ts join h264-closed.ts h264-open.ts
clip h264-sets.ts join h264-open.ts parts/other-sets.ts
clip size-change.ts join h264-closed.ts parts/small.ts
clip rotate90.mp4 orient h264-closed.mp4 0 -1 1 0 0 0
clip rotate180.mp4 orient h264-closed.mp4 -1 0 0 -1 0 0
clip rotate270.mp4 orient h264-closed.mp4 0 1 -1 0 0 0
clip mirror.mp4 orient h264-closed.mp4 -1 0 0 1 320 0
# The frame size changes at key frames (VP8), and between them (VP9): frames refer to frames of the
# other size.
for change in vp8:80:120 vp9:60:100; do
    IFS=: read -r codec first end <<< "$change"
    clip "parts/$codec-sizes.ivf" py "$HERE/change_size.py" \
        "parts/$codec-320x180.ivf" "parts/$codec-240x136.ivf" "$first" "$end"
done
wait
copy vp8-sizes.webm parts/vp8-sizes.ivf
copy vp9-sizes.webm parts/vp9-sizes.ivf
clip editlist.mp4 "${FF[@]}" -ss 1.3 -i h264-closed.mp4 -c copy
clip editlist-open.mp4 "${FF[@]}" -ss 2.5 -i h264-open.mp4 -c copy
clip parts/cover.png "${FF[@]}" -f lavfi -i color=red:s=64x64 -frames:v 1
clip parts/sine.m4a "${FF[@]}" -f lavfi -i sine=d=3 -c:a aac
wait
clip cover-and-film.mp4 "${FF[@]}" -i parts/cover.png -i h264-closed.mp4 -map 0 -map 1 -c copy -disposition:v:0 attached_pic

# ---- damaged ----

clip damaged/truncated.mkv head_of h264-closed.mkv 60
clip damaged/truncated.ts head_of h264-open.ts 60
clip damaged/truncated-hevc.mkv head_of hevc-open.mkv 60
copy parts/faststart.mp4 h264-closed.mkv -movflags +faststart
wait
clip damaged/truncated-faststart.mp4 head_of parts/faststart.mp4 60
clip damaged/truncated-fragmented.mp4 head_of fragmented.mp4 60
clip damaged/corrupt.mkv damage h264-closed.mkv 2000
clip damaged/corrupt.ts damage h264-open.ts 2000
clip damaged/corrupt-hevc.mkv holes hevc-open.mkv
clip damaged/wrong-bits.hevc wrong_bits hevc-open.hevc
clip damaged/corrupt-asp.avi damage mpeg4.avi 2000
clip damaged/corrupt-msmpeg4.avi damage msmpeg4.avi 2000
clip damaged/corrupt.mpg damage mpeg2.mpg 2000
clip damaged/corrupt-vp9.webm holes vp9.webm
clip damaged/middle-of-gop.ts tail_of h264-open.ts 37

# ---- the account that adds up ----

mkdir -p account .tmp/account
# Two kinds of surgery on a bitstream: apart FLV OUT puts an SEI of its own in front of every picture; no_gop M2V OUT takes out
# the headers of GOPs.
apart() {
    py - "$@" << 'PY'
import sys
data = open(sys.argv[1], "rb").read()
out, at = bytearray(data[:13]), 13
sei = bytes((0, 0, 0, 5, 6, 0x80, 1, 0, 0x80))     # a payload of an unknown type
while at + 11 <= len(data):
    size = int.from_bytes(data[at + 1:at + 4], "big")
    tag, body = data[at:at + 11], data[at + 11:at + 11 + size]
    if tag[0] == 9 and size > 5 and body[1] == 1:
        body_of_sei = bytes((0x27,)) + body[1:5] + sei
        out += tag[:1] + len(body_of_sei).to_bytes(3, "big") + tag[4:] + body_of_sei + (11 + len(body_of_sei)).to_bytes(4, "big")
    out += data[at:at + 11 + size + 4]
    at += 11 + size + 4
open(sys.argv[2], "wb").write(out)
PY
}
no_gop() {
    py - "$@" << 'PY'
import re, sys
data = open(sys.argv[1], "rb").read()
open(sys.argv[2], "wb").write(re.sub(rb"\x00\x00\x01\xb8....", b"", data, flags=re.S))
PY
}
slides() { "${FF[@]}" -f lavfi -i testsrc2=s=160x90:r=1/30:d=300 -c:v libx264 "$@"; }
clip account/slides.mp4 slides
clip account/slides.mkv slides
clip account/long.mp4 "${FF[@]}" -f lavfi -i testsrc2=s=160x90:r=25:d=40 -c:v libx264 -preset ultrafast
clip parts/long-noise.mkv "${FF[@]}" -f lavfi -i testsrc2=s=160x90:r=25:d=60,noise=alls=30:allf=t -c:v libx264 -preset ultrafast -g 50
clip parts/plain.flv "${FF[@]}" -i h264-closed.mp4 -map 0:v -c copy
clip parts/mpeg2-alone.m2v "${FF[@]}" -i mpeg2-closed.ts -map 0:v -c copy -f mpeg2video
wait
clip parts/sei-alone.flv apart parts/plain.flv
clip account/no-gop-header.m2v no_gop parts/mpeg2-alone.m2v
clip account/cut-early.mkv head_of parts/long-noise.mkv 4
wait
clip account/sei-alone.mkv "${FF[@]}" -i parts/sei-alone.flv -c copy

# ---- no film ----

make_text() { printf 'This is a letter, not a film.\n%.0s' 1 2 3 4 5 6 7 8 9 > "$1"; }
make_noise() { py -c 'import random,sys; open(sys.argv[1],"wb").write(random.Random(7).randbytes(200000))' "$1"; }
make_empty() { : > "$1"; }
[ -e bad/empty.mkv ] || make_empty bad/empty.mkv
clip bad/text.mkv make_text
clip bad/noise.mp4 make_noise
clip bad/no-moov.mp4 head_of h264-closed.mp4 60
clip bad/header-only.mkv head_of h264-closed.mkv 1
clip bad/audio-only.m4a cp parts/sine.m4a
clip bad/audio-only.mp3 "${FF[@]}" -f lavfi -i sine=d=3 -c:a libmp3lame
clip bad/cover-only.mp3 "${FF[@]}" -i parts/sine.m4a -i parts/cover.png -map 0 -map 1 -c:a libmp3lame -c:v copy -id3v2_version 3 -disposition:v attached_pic
clip bad/cover-only.m4a "${FF[@]}" -i parts/sine.m4a -i parts/cover.png -map 0 -map 1 -c copy -disposition:v:0 attached_pic
clip bad/encrypted.mp4 "${FF[@]}" -i h264-closed.mp4 -c copy -encryption_scheme cenc-aes-ctr \
    -encryption_key 00112233445566778899aabbccddeeff -encryption_kid 112233445566778899aabbccddeeff00
wait

# shellcheck source=tests/support/make-clips-formats.sh
. "$HERE/make-clips-formats.sh"
rmdir .tmp/formats 2> /dev/null || true
rm -f .tmp/*.log .tmp/*/*.log
for name in "$@"; do
    [ -e "$name" ] || grep -q "^$name: " SKIPPED || { echo "make-clips: there is no clip '$name'" >&2; exit 1; }
done
if [ -s SKIPPED ]; then
    echo "make-clips: $(wc -l < SKIPPED) clips could not be made (see $OUT/SKIPPED)" >&2
fi
