#!/bin/bash
# Builds the Python wheel: the portable program with posters, what it needs beside glibc, and
# src/python. `make wheel` calls it. Needs root, for chroot, and Debian's mirror, which MIRROR names.
#
#   make-wheel.sh FOLDER      -> FOLDER/film_barcode-VERSION-py3-none-manylinux_2_NN_ARCH.whl
#
# It builds in a Debian 11, the oldest that the mirror has, with Debian 12's FFmpeg, because Debian
# 11's is older than 5.1. FOLDER/wheel keeps FFmpeg and objects. NN is the newest glibc that a file of
# the wheel needs. The wheel has Debian's libraries as they are: auditwheel would leave out glib and
# X11, which it expects everywhere. The program finds them by its RPATH.
set -euo pipefail

folder=$(readlink -f "${1:?usage: make-wheel.sh FOLDER}")
: "${SOURCE_DATE_EPOCH:?is not set}"
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/support/chroot.sh
. "$top/tests/support/chroot.sh"
version=$(sed -n 's/^#define BARCODE_VERSION "\(.*\)"/\1/p' "$top/src/base/version.h")
machine=$(uname -m)
mirror=${MIRROR:-http://deb.debian.org/debian}
root=$work/root
environment=(SOURCES=/root/sources.list SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH")
step() { # COMMAND...
    "$@" > "$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
}

linked="libpng-dev libjpeg62-turbo-dev libwebp-dev libzstd-dev libxxhash-dev libjansson-dev
    libseccomp-dev zlib1g-dev"
step "$top/tests/support/bare-debian.sh" bullseye "$root"
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mkdir -p "$root/root/barcode/out" "$folder/wheel"
mount --bind "$folder/wheel" "$root/root/barcode/out"
git -C "$top" ls-files -z | tar -C "$top" --null -T - -c | tar -C "$root/root/barcode" -x
printf 'deb-src %s main\n' "$mirror bookworm" "$mirror-security bookworm-security" \
    > "$root/root/sources.list"
step inside apt-get -qq update
# shellcheck disable=SC2086 # a list
step inside apt-get -qq install -y --no-install-recommends make g++ pkg-config dpkg-dev patch \
    xz-utils nasm meson ninja-build help2man python3 $linked libcairo2-dev libpango1.0-dev \
    fonts-dejavu-core
build="make --no-print-directory -C /root/barcode -j$(nproc) CUDA=0 PORTABLE=1 POSTERS=1"
# shellcheck disable=SC2086 # a command line
step inside $build static-ffmpeg
# shellcheck disable=SC2086
step inside $build DESTDIR=/root/tree PREFIX= install

# The tree of the wheel, as `wheel pack` wants it.
name=film_barcode-$version
wheel=$work/$name
package=$wheel/film_barcode
licences=$wheel/$name.dist-info/licenses
mkdir -p "$package/share/fonts" "$package/lib" "$licences" "$wheel/$name.data/data"
cp -r "$top/src/python/film_barcode/." "$package/"
rm -rf "$package/__pycache__"
mv "$package/fonts.conf" "$package/share/"
cp "$root/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf" "$package/share/fonts/"
mv "$root/root/tree/bin" "$package/bin"
mv "$root/root/tree/share" "$wheel/$name.data/data/share"
program=$package/bin/barcode
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$program"

packages="$linked libc6 fonts-dejavu-core"
mkdir "$root/root/tree/bin" && cp "$program" "$root/root/tree/bin/"
while read -r library; do
    owner=$(inside dpkg-query -S "*$(dirname "${library#/usr}")/${library##*/}")
    owner=${owner%%:*}
    [ "$owner" != libc6 ] || continue
    cp -L "$root$library" "$package/lib/"
    packages+=" $owner"
done < <(inside ldd /root/tree/bin/barcode | sed -n 's|.* => \(/[^ ]*\) (.*|\1|p')

cp "$top/LICENSE" "$top/SECURITY.md" "$licences/"
cp -r "$folder/wheel/ffmpeg/share/licences/." "$licences/"
for owner in $packages; do
    mkdir -p "$licences/$owner"
    cp "$root/usr/share/doc/$owner/copyright" "$licences/$owner/"
done
{
    echo "FFmpeg (LGPL 2.1 or later) and dav1d are built from these files of Debian by"
    echo "tests/support/build-static-ffmpeg.sh of barcode's sources, where \`make wheel\` links the"
    echo "program again, with changed libraries too:"
    echo
    sed 1d "$folder/wheel/ffmpeg/made-by"
    echo
    echo "Files of film_barcode/lib are Debian's own, from the packages of these sources, and can be"
    echo "replaced. https://snapshot.debian.org has all sources."
    echo
    # shellcheck disable=SC2016,SC2086 # dpkg-query expands; a list
    inside dpkg-query -W -f '${source:Package} ${source:Version}\n' $packages | sort -u
} > "$licences/SOURCES"

needed=$(objdump -T "$program" "$package"/lib/* | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -n 1)
cat > "$wheel/$name.dist-info/METADATA" << END
Metadata-Version: 2.1
Name: film_barcode
Version: $version
Summary: Movie barcodes: a film's colours in one picture
License: MIT, and those of the libraries inside (licenses/)
Requires-Python: >=3.8
Description-Content-Type: text/markdown

$(sed -n '3,4p' "$top/README.md")

\`barcode --help\` and \`pydoc film_barcode\` show what it can do.
END
cat > "$wheel/$name.dist-info/WHEEL" << END
Wheel-Version: 1.0
Generator: make-wheel.sh
Root-Is-Purelib: false
Tag: py3-none-manylinux_${needed/GLIBC_2./2_}_$machine
END
printf '[console_scripts]\nbarcode = film_barcode:main\n' > "$wheel/$name.dist-info/entry_points.txt"
chmod -R u=rwX,go=rX "$wheel"
rm -f "$folder/$name"-*.whl
step /usr/bin/python3 -m wheel pack -d "$folder" "$wheel"
ls "$folder/$name"-*.whl
