#!/bin/sh
# Builds a small static FFmpeg for the portable program: decoders, dav1d, demuxers, NVDEC and the
# JPEG encoder, without filters, network and devices. The sources are Debian's, with its patches.
#
#   build-static-ffmpeg.sh PREFIX [JOBS]
#
# CC is the compiler, HARDENED more flags for it (the Makefile has them). SOURCES is a sources.list of
# apt to take them from instead of this machine's. Without the headers of NVDEC, FFmpeg has none.
#
# Takes about five minutes on two cores. PREFIX is rebuilt when this script or the flags change or
# when apt offers other sources. Without a network, an existing PREFIX is kept. `install-packages.sh
# portable` installs the packages that the build needs.
set -eu

prefix=${1:?usage: build-static-ffmpeg.sh PREFIX [JOBS]}
jobs=${2:-$(nproc)}
export CC="${CC:-gcc}"
flags=${HARDENED:-}
script=$({ cat "$0"; echo "$CC $flags"; } | cksum)
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# apt's own configuration lists binary packages only. A private copy lists sources, for any user.
mkdir -p "$work/etc" "$work/lists/partial"
if [ -n "${SOURCES:-}" ]; then
    list=$(realpath "$SOURCES")
elif [ -s /etc/apt/sources.list.d/debian.sources ]; then
    list=$work/etc/debian.sources
    sed 's/^Types: .*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources > "$list"
else
    list=$work/etc/debian.list
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list > "$list"
fi
fetch() {
    apt-get -oDir::Etc::sourcelist="$list" -oDir::Etc::sourceparts=- \
        -oDir::State::Lists="$work/lists" -oAPT::Sandbox::User=root -qq "$@"
}
cd "$work"
if ! { fetch update && fetch source --print-uris ffmpeg dav1d > uris; } > update.log 2>&1; then
    cat update.log >&2
    [ -s "$prefix/made-by" ] || exit 1
    echo "build-static-ffmpeg.sh: warning: keeping $prefix, cannot look for newer sources" >&2
    exit 0
fi
# The stamp names this script with its flags, and each source file with its hash.
{
    echo "$script"
    sed "s/^'[^']*' //" uris
} > made-by
! cmp -s made-by "$prefix/made-by" || exit 0

step() { # NAME COMMAND...
    log=$work/$1.log
    shift
    "$@" > "$log" 2>&1 || {
        tail -n 20 "$log" >&2
        exit 1
    }
}
version_of() { # SOURCE: its Debian version, without the epoch
    sed -n "s/^$1_\(.*\)\.dsc .*/\1/p" made-by
}
keep_licence() { # SOURCE FILE...: from the current folder
    to=$prefix/share/licences/$1
    shift
    mkdir -p "$to"
    cp "$@" "$to/"
}
# Unpacks the sources and applies debian/patches/series.
step unpack fetch source ffmpeg dav1d
rm -rf "${prefix:?}"/*

# dav1d: AV1 in software, for the GPUs whose NVDEC has no AV1.
cd "$work"/dav1d-*/
step dav1d-version meson rewrite kwargs set project / version "$(cd .. && version_of dav1d)"
step dav1d-setup meson setup build --prefix="$prefix" --libdir=lib --buildtype=release \
    --default-library=static -Denable_tools=false -Denable_tests=false -Dc_args="$flags"
step dav1d ninja -C build install
keep_licence dav1d debian/copyright

cd "$work"/ffmpeg-*/
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
extra=$(cd .. && version_of ffmpeg)
nvdec=
! pkg-config --exists ffnvcodec || nvdec="--enable-ffnvcodec --enable-nvdec --enable-cuvid"
# libswresample: the decoder of Opus needs it.
# shellcheck disable=SC2086 # several options
step configure ./configure --pkg-config-flags=--static --prefix="$prefix" \
    --extra-version="${extra#*-}" --enable-static --disable-shared --enable-pic \
    --disable-programs --disable-doc --disable-debug --disable-network --disable-autodetect \
    --disable-avdevice --disable-avfilter --disable-postproc \
    --disable-encoders --disable-muxers --disable-filters --disable-devices \
    --disable-protocols --enable-protocol=concat,data,file \
    --disable-demuxer=rtsp,rtp,sdp,sap,tty,ffmetadata,webm_dash_manifest \
    --cc="$CC" --extra-cflags="$flags" \
    --enable-zlib --enable-libdav1d $nvdec
# The program contains the options of configure. The same sources give the same bytes in any folder.
sed -i "s|$prefix|/usr/local|g" config.h
step make make -j"$jobs"
step install make install
keep_licence ffmpeg debian/copyright COPYING.LGPLv2.1
cp "$work/uris" "$prefix/sources"
cp "$work/made-by" "$prefix/made-by"
