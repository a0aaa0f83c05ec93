#!/usr/bin/env bash
# Packs what gpu-session.sh needs into one folder, to be carried to a host with a GPU and nothing else.
#
#   pack-gpu.sh [OUTDIR]     default out/gpu; below the 64 MB that a call carries
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
cp "$clips/film-480p.mp4" "$out/films/"
cp "$here/out/sample.mkv" "$out/"
# One clip of every kind that a GPU's decoders might treat in a way of their own.
find "$clips" -maxdepth 1 -type f -size -400k -exec cp {} "$out/clips/" \;
cp "$clips"/{h264-open.mkv,h264-closed.h264,h264-interlaced.ts,h264-crop.mp4,rotate90.mp4,h264-slices.mkv,h264-intra-refresh.mkv} \
    "$clips"/{h264-long-gop.mp4,vfr.mkv,vp8.webm,vp9.webm,av1-svt.mkv} \
    "$clips/mpeg2.mpg" "$out/clips/"
cp "$clips"/damaged/{corrupt.ts,corrupt-hevc.mkv,wrong-bits.hevc,corrupt-vp9.webm} "$out/clips/damaged/"
# One dictionary over all: the programs hold the same libraries, and most clips the same pictures in another container.
tar -C "$out" -cf - bin clips | xz -9 --lzma2=preset=9,dict=256MiB > "$out/pack.tar.xz"
rm -r "${out:?}/bin" "${out:?}/clips"

# cuFile's library and header, from NVIDIA's wheel, for cuda/lab/cufile_read.cu. Nothing else fails without it.
if python3 -m pip download -q --no-deps -d "$out/whl" nvidia-cufile 2> /dev/null; then
    (cd "$out/whl" && python3 -m zipfile -e ./*.whl .)
    include=$(dirname "$(find "$out/whl" -name cufile.h)") lib=$(find "$out/whl" -name 'libcufile.so.0')
    nvcc -O3 -arch=sm_90 -I"$include" -o "$out/cufile_read" "$here/cuda/lab/cufile_read.cu" \
        -L"$(dirname "$lib")" -l:libcufile.so.0 && cp "$lib" "$out/"
fi
rm -rf "$out/whl"
du -sm "$out"
[ "$(du -sm "$out" | cut -f1)" -le 62 ] || { echo "pack-gpu.sh: $out is too large for a call, which carries 64 MiB" >&2; exit 1; }
