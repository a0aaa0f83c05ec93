#!/bin/bash
# Builds and tests the program for arm64 on another machine: cross-compiled against a Debian 13 of its own in out/arm64, run by
# qemu-user. Unit tests, a few cases of the command line, the same bytes as from this machine's program, and the Debian package.
# Needs root, for chroot and binfmt_misc, and Debian's mirror, which MIRROR names. `make test-arm64` calls it.
#
#   test-arm64.sh PROGRAM CLIPS FILM      PROGRAM: this machine's
#
# Debian's packages are unpacked and not configured: an emulated configuration takes ten minutes.
set -euo pipefail

usage="usage: test-arm64.sh PROGRAM CLIPS FILM"
program=$(readlink -f "${1:?$usage}")
clips=$(readlink -f "${2:?$usage}")
film=$(readlink -f "${3:?$usage}")
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/support/package.sh
. "$top/tests/support/package.sh"
root=$top/out/arm64/root
triplet=aarch64-linux-gnu
cases='test_(dump|bad_clips|linear_light|variable_rate|edit_list|truncated_without_duration|which_stream|find|default_name|several_films)$'

make_root() {
    local packages
    packages=$("$top/tests/support/install-packages.sh" --list | tr ' ' '\n' | grep -E '^lib.*-dev$|^fonts-' | paste -sd,)
    rm -rf "${root%/*}"
    mkdir -p "$root"
    # What dpkg unpacks needs a shell before dpkg does.
    mmdebstrap --quiet --arch=arm64 --variant=extract --skip=cleanup/apt --include='?essential' --include="libc6-dev,$packages" \
        trixie "$root" "${MIRROR:-http://deb.debian.org/debian}" &&
        dpkg --root="$root" --force-architecture --force-depends --force-unsafe-io --unpack "$root"/var/cache/apt/archives/*.deb &&
        sed -i 's/^Status: install ok unpacked$/Status: install ok installed/' "$root/var/lib/dpkg/status" &&
        rm "$root"/var/cache/apt/archives/*.deb && touch "${root%/*}/made"
}

# The kernel starts programs for arm64 by qemu-user, in a chroot too (F), until this script ends.
register() {
    local folder=/proc/sys/fs/binfmt_misc
    [ -e $folder/register ] || mount -t binfmt_misc none $folder || return
    [ ! -e $folder/qemu-aarch64 ] || return 0
    trap 'echo -1 > /proc/sys/fs/binfmt_misc/qemu-aarch64; finish' EXIT
    cat /usr/lib/binfmt.d/qemu-aarch64.conf > $folder/register
}

# What qemu-user lacks: it takes no filter of system calls, and passes MSG_CTRUNC on to nobody.
expected='^SKIP  (test_sandbox: |test_link: broken_messages|test_worker: nonsense|test_progress: a_terminal)'
# -O1 has no vectors, which qemu emulates one function call each.
cross() { # TARGET...
    make --no-print-directory -C "$top" -j"$(nproc)" CC="$triplet-gcc --sysroot=$root" CUDA=0 CFLAGS=-O1 BIN=out/bin-arm64 "$@" |
        sed -uE "s/$expected/not under qemu: &/; s/(not under qemu: )SKIP  /\1/"
}
# A file a mode: captions, which -m all has, differ with the versions of fonts and FreeType.
same_bytes() { # FILM OPTION...
    for place in here arm64; do
        rm -rf "${work:?}/$place"
        mkdir -p "$work/$place"
        [ $place = here ] && by=$program || by=$top/out/bin-arm64/barcode
        "$by" "$@" -q --no-cache -o "$work/$place/x.png" --dump "$work/$place/x.rgb" --csv "$work/$place/x.csv" || return
    done
    diff -r "$work/here" "$work/arm64"
}

check "binfmt_misc" register
[ -n "$(find "${root%/*}/made" -mmin -1440 2> /dev/null)" ] || check "a Debian 13 for arm64" make_root

# Only these of the root come before this machine's, for the dynamic loader, and fontconfig.
mkdir "$work/prefix"
ln -s "$root"/{etc,lib,usr} "$work/prefix/"
export QEMU_LD_PREFIX=$work/prefix EMULATED=1
export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/$triplet/pkgconfig:$root/usr/share/pkgconfig
cross out/bin-arm64/barcode
check "it is hardened" "$top/tests/support/hardened.sh" "$top/out/bin-arm64/barcode"

for clip in h264-open.mkv hevc-open.mkv mpeg2.ts vp9.webm ffv1.mkv vfr.mkv bt2020.mkv rotate90.mp4 mpeg1.mpg mjpeg.avi \
    damaged/corrupt.ts damaged/truncated.mkv; do
    check "the same bytes of $clip" same_bytes "$clips/$clip" -n 24 --size 64 -m kmeans,dominant,palette,average,squeeze --n-init 2
done
# FLAC, because aac_fixed differs between versions of FFmpeg.
ffmpeg -nostdin -v error -i "$clips/audio-longer.mkv" -c copy -c:a flac "$work/sound.mkv"
check "the same bytes of sound" same_bytes "$work/sound.mkv" -n 12 --size 64 -m average,sound,spectrum

without=(
    film_process films                              # hostile workers attack what qemu-user lacks: filters of system calls
    live_day                                        # five minutes of a core
    # Portable code, half a minute to four minutes of a core each.
    align_map find_index find_votes frame_probe inputs live_channel nvdec_worker sound_maker sound_reading
)
WITHOUT=$(IFS='|' && echo "test_(${without[*]})") cross unit
WORK=$top/out/test/arm64 cross cli-quick CASES="$cases"

# dpkg-shlibdeps looks for libraries where they will be.
package() {
    mkdir -p /usr/lib/$triplet
    # shellcheck disable=SC2016  # the inner shell expands
    DEB_HOST_ARCH=arm64 STRIP=$triplet-strip SHLIBDEPS_ADMINDIR=$root/var/lib/dpkg unshare -m bash -c '
        mount --bind "$1/usr/lib/'$triplet'" /usr/lib/'$triplet' && shift && "$@"' package "$root" \
        make --no-print-directory -C "$top" CC="$triplet-gcc --sysroot=$root" CUDA=0 CFLAGS=-O1 deb
}
check "make deb" package
cp "$film" "$top"/out/film-barcode_*_arm64.deb "$root/root/"
check "it is installed" inside sh -c 'dpkg -i /root/film-barcode_*_arm64.deb'
check "it renders the film" inside barcode "/root/${film##*/}" -n 12 --no-cache -o /root/arm64.png
check "as this machine does" sh -c "'$program' '$film' -n 12 --no-cache -o '$work/here.png' && cmp '$work/here.png' '$root/root/arm64.png'"
check "it is removed" inside dpkg -P film-barcode
echo "$passed passed, 0 failed"
