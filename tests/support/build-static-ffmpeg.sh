#!/bin/sh
# Builds a small static FFmpeg (decoders, dav1d, demuxers, NVDEC; JPEG's encoder and no other, no filters or network) from Debian's own
# source package, for one barcode binary that runs on a bare GPU host.
#
#   build-static-ffmpeg.sh PREFIX [JOBS]
#
# About four minutes on two cores; nothing is done when PREFIX holds the libraries already. The packages that it builds
# with come from install-packages.sh portable.
set -eu

prefix=${1:?usage: build-static-ffmpeg.sh PREFIX [JOBS]}
jobs=${2:-$(nproc)}
# By this very script, that is: what it builds in changes with it.
made_by=$(cksum < "$0")
[ ! -f "$prefix/lib/libavcodec.a" ] || [ "$(cat "$prefix/made-by" 2>/dev/null)" != "$made_by" ] || exit 0
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# apt's own configuration lists binary packages only: ask for sources in a private copy, as an ordinary user may.
mkdir -p "$work/etc" "$work/lists/partial"
if [ -s /etc/apt/sources.list.d/debian.sources ]; then
    list=$work/etc/debian.sources
    sed 's/^Types: .*/Types: deb deb-src/' /etc/apt/sources.list.d/debian.sources > "$list"
else
    list=$work/etc/debian.list
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list > "$list"
fi
cd "$work"
fetch() {
    apt-get -oDir::Etc::sourcelist="$list" -oDir::Etc::sourceparts=- -oDir::State::Lists="$work/lists" \
        -oAPT::Sandbox::User=root -qq "$@"
}
fetch update
fetch source --download-only ffmpeg dav1d > /dev/null

step() { # NAME COMMAND...
    log=$work/$1.log
    shift
    "$@" > "$log" 2>&1 || {
        tail -n 20 "$log" >&2
        exit 1
    }
}
# dav1d: AV1 in software, for the GPUs whose NVDEC has no AV1.
tar xf dav1d_*.orig.tar.xz
step dav1d-setup meson setup dav1d-build dav1d-*/ --prefix="$prefix" --libdir=lib --buildtype=release \
    --default-library=static -Denable_tools=false -Denable_tests=false
step dav1d ninja -C dav1d-build install

tar xf ffmpeg_*.orig.tar.xz
cd ffmpeg-*/
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
step configure ./configure --pkg-config-flags=--static --prefix="$prefix" --enable-static --disable-shared --enable-pic \
    --disable-programs --disable-doc --disable-debug --disable-network --disable-autodetect \
    --disable-avdevice --disable-avfilter --disable-swresample --disable-postproc \
    --disable-encoders --enable-encoder=mjpeg --disable-muxers --disable-filters --disable-devices \
    --enable-zlib --enable-libdav1d --enable-ffnvcodec --enable-nvdec --enable-cuvid
step make make -j"$jobs"
step install make install
echo "$made_by" > "$prefix/made-by"
