#!/bin/bash
# Tries the archive of `make dist` in a root folder that has glibc and nothing else. Needs root, for
# chroot. `make test-dist` calls it.
#
#   test-dist.sh ROOT FFMPEG FOLDER FILM     the first three as for make-dist.sh
set -euo pipefail

usage="usage: test-dist.sh ROOT FFMPEG FOLDER FILM"
dist=${1:?$usage}
ffmpeg=${2:?$usage}
folder=$(readlink -f "${3:?$usage}")
film=$(readlink -f "${4:?$usage}")
name=$(basename "$dist")
here=$(dirname "$0")
# shellcheck source=tests/support/package.sh
. "$here/package.sh"
root=$work/root

check "the checksum" env -C "$folder" sha256sum -c "$name.tar.xz.sha256"
pack_again() {
    cp -r "$dist" "$work/$name" &&
        "$here/make-dist.sh" "$work/$name" "$ffmpeg" "$work" &&
        cmp "$folder/$name.tar.xz" "$work/$name.tar.xz"
}
check "packed again, with other times of files, it has the same bytes" pack_again
names_and_owners() {
    ! tar -tvf "$folder/$name.tar.xz" |
        awk -v name="$name/" '$2 != "0/0" || index($6, name) != 1' | grep .
}
check "every file is in one folder and root's" names_and_owners
no_paths() {
    ! strings "$dist/bin/barcode" | grep -F "$PWD"
}
check "the program does not name the folder where it was built" no_paths

check "it is hardened, FFmpeg too" "$here/hardened.sh" "$dist/bin/barcode" 10000

mkdir -p "$root"/{dev,opt,films}
mknod -m 666 "$root/dev/null" c 1 3
loader=$(readelf -p .interp "$dist/bin/barcode" | grep -o '/.*')
glibc=$(dirname "$(ldd /bin/sh | awk '$1 == "libc.so.6" {print $3}')")
mkdir -p "$root$glibc" "$root$(dirname "$loader")"
cp "$loader" "$root$loader"
for library in libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1; do
    cp "$glibc/$library" "$root$glibc/"
done
tar -xf "$folder/$name.tar.xz" -C "$root/opt" --no-same-owner
cp "$film" "$root/films/film.mkv"
chmod 1777 "$root/films"
bare() {
    env -i "$(command -v chroot)" --userspec=4711:4711 --groups= "$root" \
        "/opt/$name/bin/barcode" "$@"
}
check "it runs" bare --version
cp "$work/log" "$work/log.version"
cat "$work/log"
# As build-static-ffmpeg.sh has it in its stamp: with the Debian revision, which names the patches.
for source in ffmpeg dav1d; do
    version=$(sed -n "s/^${source}_\(.*\)\.dsc .*/\1/p" "$ffmpeg/made-by")
    check "it has $source $version" grep -qiF "$source $version" "$work/log.version"
done
check "it makes an image and numbers" bare /films/film.mkv -n 24 --no-cache -o /films/x.png \
    --json /films/x.json
columns() {
    head -c 4 "$root/films/x.png" | grep -q PNG &&
        python3 -c 'import json, sys; sys.exit(len(json.load(open(sys.argv[1]))["columns"]) < 50)' \
        "$root/films/x.json"
}
check "both are whole" columns
check "the man page" sh -c "man -l '$dist/share/man/man1/barcode.1' | grep -q thumbnails"
check "completions in bash" bash -c ". '$dist/share/bash-completion/completions/barcode' &&
    complete -p barcode"
check "the list of what is in it" "$here/sbom_check.py" "$dist/share/doc/barcode/barcode.spdx.json" \
    -l:lib{avformat,avcodec,swscale,avutil,dav1d,png16,jpeg,webp,jansson,xxhash,zstd,z}.a -lc
known_licences() {
    ! grep NOASSERTION "$dist/share/doc/barcode/barcode.spdx.json" | grep -i licen
}
check "each with its licence" known_licences
for file in LICENSE SECURITY.md licences/ffmpeg/COPYING.LGPLv2.1 licences/dav1d/copyright licences/SOURCES; do
    check "$file is there" test -s "$root/opt/$name/share/doc/barcode/$file"
done
echo "$passed passed, 0 failed"
