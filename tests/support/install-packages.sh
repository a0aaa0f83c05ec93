#!/bin/sh
# Installs the Debian 12 packages that building and testing need, and only those that are missing.
# With none missing it does nothing: no network, no root.
#
#   install-packages.sh [lint] [judge] [portable] [slurm] [poster] [deb] [deb-test] [wheel] [web] [data] [live] [align] [arm64]
#       install-packages.sh --list     prints those of building and testing
#
#   lint    also the tools of `make lint` and of the fuzzers
#   portable  also what a static FFmpeg is built with
#   judge   also scikit-learn and SciPy, the independent judges of the clustering and of sound
#   poster  also what renders posters, and fonts for Chinese and Arabic
#   slurm   also what a Slurm cluster of one machine is made of
#   deb     also what a Debian package is made with
#   deb-test  also what tries it in a Debian of its own, and the shells that it has completions for
#   wheel   also what the Python wheel is made and tried with
#   web     also a browser, and what drives it
#   data    also pandas, matplotlib, Pillow, R, venv and mkvmerge
#   live    also what real live streams are made with: an RTSP server, false clocks, lossy networks, and a browser
#   align   also speech and music, of which versions of a film are made
#   arm64   also a compiler for arm64, and what its programs run in
set -eu

packages="build-essential pkg-config libavformat-dev libavcodec-dev libswscale-dev libavutil-dev libpng-dev libjpeg-dev libwebp-dev libzstd-dev
    libxxhash-dev libjansson-dev libseccomp-dev libebur128-dev libmicrohttpd-dev libcairo2-dev libpango1.0-dev fonts-dejavu-core libcmocka-dev ffmpeg
    help2man python3 python3-numpy python3-jsonschema git strace"

for group in "$@"; do
    case $group in
    --list)
        # shellcheck disable=SC2086 # a line of words
        echo $packages
        exit 0
        ;;
    lint) packages="$packages clang clang-format clang-tidy shellcheck libclang-rt-14-dev" ;;
    portable) packages="$packages nasm meson ninja-build xz-utils zlib1g-dev libffmpeg-nvenc-dev" ;;
    judge) packages="$packages python3-numpy python3-scipy python3-sklearn" ;;
    poster) packages="$packages poppler-utils librsvg2-bin pango1.0-tools fonts-noto-cjk fonts-noto-core" ;;
    deb) packages="$packages dpkg-dev lintian" ;;
    deb-test) packages="$packages debootstrap bash zsh fish" ;;
    wheel) packages="$packages debootstrap python3-wheel python3-venv poppler-utils" ;;
    slurm) packages="$packages munge slurmctld slurmd slurm-client" ;;
    web) packages="$packages chromium chromium-driver python3-selenium python3-pil" ;;
    data) packages="$packages python3-pandas python3-matplotlib python3-pil r-base-core python3-venv mkvtoolnix" ;;
    align) packages="$packages espeak-ng wesnoth-1.16-music" ;;
    arm64) packages="$packages gcc-aarch64-linux-gnu qemu-user-static mmdebstrap dpkg-dev lintian" ;;
    live) packages="$packages chromium chromium-driver python3-selenium python3-pil faketime iproute2 systemd
        gir1.2-gst-rtsp-server-1.0 python3-gi gstreamer1.0-plugins-good gstreamer1.0-plugins-bad" ;;
    *)
        echo "install-packages.sh: unknown group '$group'; there are lint, judge, portable, slurm, poster, deb, deb-test, wheel, web, data, live, align and arm64" >&2
        exit 2
        ;;
    esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    # Not Debian: its own packages may be there already under other names.
    if pkg-config --exists libavformat libavcodec libswscale libavutil libpng libjpeg libwebp libzstd libxxhash jansson libseccomp cairo pangocairo fontconfig 2>/dev/null; then
        exit 0
    fi
    # shellcheck disable=SC2086 # one line of words
    echo "install-packages.sh: not Debian; install what matches these packages:" $packages >&2
    exit 1
fi

missing=
for package in $packages; do
    # A package that was removed but not purged is known to dpkg too, hence the state (a line for each architecture).
    state=$(dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null || true)
    case $state in
    installed*) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null; then
    as_root=sudo
else
    echo "install-packages.sh: root or sudo is needed to install:$missing" >&2
    exit 1
fi

echo "installing:$missing" >&2
# shellcheck disable=SC2086 # both lists are meant to be split into words
{
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $missing >/dev/null
}
