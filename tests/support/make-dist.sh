#!/bin/sh
# Packs what `make install` put into a folder, with the licences of all that is linked into the
# program. `make dist` calls it.
#
#   make-dist.sh ROOT FFMPEG FOLDER     -> FOLDER/NAME.tar.xz and .sha256; NAME is ROOT's own
#
# FFMPEG is the PREFIX of build-static-ffmpeg.sh. The same commit, compiler and libraries give the
# same bytes: SOURCE_DATE_EPOCH is the time of every file. SBOM is the list of `make sbom`. A program
# with CUDA needs CUDA_HOME, where the licence of CUDA is.
set -eu

usage="usage: make-dist.sh ROOT FFMPEG FOLDER"
root=${1:?$usage}
ffmpeg=${2:?$usage}
folder=${3:?$usage}
: "${SOURCE_DATE_EPOCH:?is not set}" "${SBOM:?is not set}"
top=$(cd "$(dirname "$0")/../.." && pwd)
name=$(basename "$root")

# If .note.* is removed, strip removes GNU_RELRO, too.
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$root/bin/barcode"

doc=$root/share/doc/barcode
rm -rf "$doc"
mkdir -p "$doc/licences"
cp "$top/LICENSE" "$top/SECURITY.md" "$SBOM" "$doc/"
cp -r "$ffmpeg/share/licences/." "$doc/licences/"
{
    echo "FFmpeg (LGPL 2.1 or later) and dav1d are built from these files of Debian by"
    echo "tests/support/build-static-ffmpeg.sh of barcode's sources."
    echo "https://snapshot.debian.org has them all. With changed libraries, or others of Debian,"
    echo "\`make portable\` in barcode's sources links the program again:"
    echo
    sed 1d "$ffmpeg/made-by"
} > "$doc/licences/SOURCES"
for package in libc6 libpng-dev libjpeg62-turbo-dev libwebp-dev libjansson-dev libxxhash-dev libzstd-dev libseccomp-dev zlib1g-dev libffmpeg-nvenc-dev \
    "libstdc++-$(gcc -dumpversion | cut -d. -f1)-dev"; do
    mkdir "$doc/licences/$package"
    cp "/usr/share/doc/$package/copyright" "$doc/licences/$package/"
done
if "$root/bin/barcode" --version | grep -q '^CUDA '; then
    licence=
    for file in "$CUDA_HOME"/EULA.txt /usr/share/doc/libcudart*/copyright \
        "$CUDA_HOME"/dist-info/nvidia_cuda_runtime-*/licenses/License.txt; do
        [ ! -f "$file" ] || licence=$file
    done
    [ -n "$licence" ] || {
        echo "make-dist.sh: cannot find the licence of CUDA: add $CUDA_HOME/EULA.txt" >&2
        exit 1
    }
    mkdir "$doc/licences/cuda"
    cp "$licence" "$doc/licences/cuda/"
fi

tar --format=ustar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
    --numeric-owner --mode=u=rwX,go=rX --use-compress-program='xz -9 -T1' \
    -cf "$folder/$name.tar.xz" -C "$(dirname "$root")" "$name"
(cd "$folder" && sha256sum "$name.tar.xz" > "$name.tar.xz.sha256")
echo "$folder/$name.tar.xz"
