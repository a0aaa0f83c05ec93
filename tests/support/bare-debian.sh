#!/bin/bash
# Makes a bare Debian of a release in a new folder: by debootstrap (root, and Debian's mirror, which
# MIRROR names), or from the archive in out/bare of a day ago at most, which several tests share.
#
#   bare-debian.sh RELEASE FOLDER
set -euo pipefail

release=${1:?usage: bare-debian.sh RELEASE FOLDER}
root=${2:?usage: bare-debian.sh RELEASE FOLDER}
top=$(cd "$(dirname "$0")/../.." && pwd)
archive=$top/out/bare/$release.tar
[ "$(id -u)" -eq 0 ] || { echo "bare-debian.sh: root is needed, for chroot" >&2; exit 1; }

mkdir -p "$root" "${archive%/*}"
if [ -z "$(find "$archive" -mmin -1440 2> /dev/null)" ]; then
    made=$(mktemp -d "$archive.XXXXXX")
    trap 'rm -rf "$made"' EXIT
    debootstrap --variant=minbase "$release" "$made/root" "${MIRROR:-http://deb.debian.org/debian}"
    # How this machine reaches the mirror; and dpkg need not wait for the disk.
    cp /etc/apt/apt.conf.d/99* "$made/root/etc/apt/apt.conf.d/" 2> /dev/null || true
    echo force-unsafe-io > "$made/root/etc/dpkg/dpkg.cfg.d/unsafe-io"
    tar -C "$made/root" --numeric-owner --xattrs -cf "$made/tar" .
    mv "$made/tar" "$archive"
fi
tar -C "$root" --numeric-owner --xattrs -xf "$archive"
