#!/usr/bin/env bash
# Packs what gpu-session.sh needs into one folder, to be carried to a host with a GPU and nothing else.
#
#   pack-gpu.sh [OUTDIR]     default out/gpu. A call carries 64 MiB, of which the tree takes six: where there is no room for
#                            the sample film, it is left out
#
# Programs come from `make portable-tests CUDA_ARCH=90`, films from out/clips, out/sample.mkv, the bench's film (films.sh bench)
# and BARCODE_FILMS. Where that has a 1080p film, it is the bench's, and the made one stays here.
set -euo pipefail

here=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$here/out/gpu}
clips=$here/out/clips
FF=(ffmpeg -nostdin -v error -y)

[ -x "$here/out/bin-portable/check_engine" ] || { echo "pack-gpu.sh: make portable-tests CUDA_ARCH=90 first" >&2; exit 1; }
extra=$("$here/tests/support/films.sh")
bench=$("$here/tests/support/films.sh" bench)
rm -rf "$out"
mkdir -p "$out/bin" "$out/clips/damaged" "$out/films"

for program in "$here"/out/bin-portable/*; do
    strip -o "$out/bin/$(basename "$program")" "$program"
done
# Without sound: smaller, and repeat_mp4.py wants video alone, in MP4.
name=${bench##*/}
name=${name%.*}.mp4
echo "$name" > "$out/bench-film"
"${FF[@]}" -i "$bench" -map 0:V:0 -c copy "$out/films/$name"
while read -r film; do
    [ -z "$film" ] || [ "$film" = "$bench" ] || "${FF[@]}" -i "$film" -map 0:V:0 -c copy "$out/films/${film##*/}"
done <<< "$extra"
"${FF[@]}" -t 10 -i "$bench" -an -c:v libx265 -preset veryfast -x265-params log-level=error \
    -pix_fmt yuv420p10le "$out/films/hevc10.mp4"
# The bench's film may begin with a fade, whose key frames take no time to look at. Repeated, this has key frames of real pictures every few seconds.
"${FF[@]}" -ss 10 -t 10 -i "$bench" -an -c:v libx265 -preset veryfast -x265-params log-level=error \
    -pix_fmt yuv420p10le "$out/hevc-scenes.mp4"
cp "$clips/film-480p.mp4" "$out/films/"
cp "$here/out/sample.mkv" "$out/"
# 20 s with sound of noise in six channels, for the part `sound`.
"${FF[@]}" -t 20 -i "$bench" -f lavfi -i "anoisesrc=r=48000:d=20:seed=7,tremolo=f=3,pan=5.1|FL=c0|FR=0.7*c0|FC=0.5*c0|LFE=0.2*c0|BL=0.3*c0|BR=0.4*c0" \
    -map 0:V:0 -map 1:a:0 -c:v copy -c:a ac3 -shortest "$out/sound.mkv"
# Bars: a scope film, one of two shapes, and none; and HDR.
mkdir "$out/barred"
barred() { # NAME FILTERS
    "${FF[@]}" -t 6 -i "$bench" -an -vf "$2" -c:v libx264 -preset veryfast -crf 35 -g 48 "$out/barred/$1.mp4"
}
barred scope "scale=1920:804,pad=1920:1080:0:138"
barred half "drawbox=y=0:h=138:c=black:t=fill:enable='gte(t,3)',drawbox=y=942:h=138:c=black:t=fill:enable='gte(t,3)'"
barred plain null
# HDR; the bench's film has no more light than SDR, which is stretched to 400 cd/m2.
for transfer in smpte2084 arib-std-b67; do
    "${FF[@]}" -t 3 -i "$bench" -an -vf "setparams=color_primaries=bt709:color_trc=bt709:colorspace=bt709,zscale=t=linear:npl=400,format=gbrpf32le,zscale=p=bt2020,zscale=t=$transfer:m=bt2020nc:r=tv:npl=400,format=yuv420p10le" \
        -c:v libx265 -preset veryfast -crf 30 -x265-params "log-level=error:colorprim=bt2020:transfer=$transfer:colormatrix=bt2020nc" "$out/barred/$transfer.mkv"
done
# One clip of every kind that a GPU's decoders might treat in a way of their own.
find "$clips" -maxdepth 1 -type f -size -400k -exec cp {} "$out/clips/" \;
cp "$clips"/{h264-open.mkv,h264-closed.h264,h264-interlaced.ts,h264-crop.mp4,rotate90.mp4,h264-slices.mkv,h264-intra-refresh.mkv} \
    "$clips"/{h264-long-gop.mp4,vfr.mkv,vp8.webm,vp9.webm,av1-svt.mkv} \
    "$clips/mpeg2.mpg" "$out/clips/"
# Matroska's PixelCrop: what NVDEC leaves on the device is cropped there.
for clip in h264-long-gop.mp4 hevc-10bit.mkv vp9.webm; do
    "${FF[@]}" -i "$clips/$clip" -map 0:V:0 -c copy "$out/whole.mkv"
    "${PYTHON:-/usr/bin/python3}" "$here/tests/cli/matroska.py" "$out/whole.mkv" "$out/clips/pixel-crop-${clip%.*}.mkv" crop 16 6 34 18
done
rm "$out/whole.mkv"
cp "$clips"/damaged/{corrupt.ts,corrupt-hevc.mkv,wrong-bits.hevc,corrupt-vp9.webm} "$out/clips/damaged/"
# Sizes that are no whole number of blocks, or of pairs of samples: each a way to lay planes out wrongly.
odd() { # NAME WxH OPTION...
    local name=$1 size=$2
    shift 2
    "${FF[@]}" -f lavfi -i "testsrc2=s=512x512:r=25,format=rgb24,crop=${size/x/:}:13:17" -frames:v 6 -g 4 "$@" "$out/odd/$name-$size.${ending:-mkv}"
}
mkdir "$out/odd"
for w in 1 2 7 16 17 31 33 48 49 63 64; do
    for h in 1 2 7 16 17 31 33 48 49 63 64; do
        odd vp8 ${w}x$h -pix_fmt yuv420p -c:v libvpx -deadline realtime -cpu-used 8 -b:v 200k
    done
done
for size in 175x143 175x144 176x143 320x213 321x213 321x214 129x129 130x131; do
    odd vp8 $size -pix_fmt yuv420p -c:v libvpx -deadline realtime -cpu-used 8 -b:v 400k
    odd vp9 $size -pix_fmt yuv420p -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 400k
    odd hevc444 $size -pix_fmt yuv444p -c:v libx265 -preset superfast -x265-params log-level=error
done
for size in 322x182 174x142 350x286 130x130 162x130; do
    odd h264 $size -pix_fmt yuv420p -c:v libx264 -preset veryfast
    odd hevc $size -pix_fmt yuv420p -c:v libx265 -preset superfast -x265-params log-level=error
    odd hevc10 $size -pix_fmt yuv420p10le -c:v libx265 -preset superfast -x265-params log-level=error
done
# One dictionary over all: the programs hold the same libraries, and most clips the same pictures in another container.
tar -C "$out" -cf - bin clips odd | xz -9 --lzma2=preset=9,dict=256MiB > "$out/pack.tar.xz"
rm -r "${out:?}/bin" "${out:?}/clips" "${out:?}/odd"

size() { du -sm "$out" | cut -f1; }
[ "$(size)" -le 58 ] || rm "$out/sample.mkv"
echo "$out: $(size) MiB, $(if [ -f "$out/sample.mkv" ]; then echo with; else echo without; fi) the sample film"
[ "$(size)" -le 58 ] || { echo "pack-gpu.sh: $out is too large for a call" >&2; exit 1; }
