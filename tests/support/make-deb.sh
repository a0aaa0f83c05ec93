#!/bin/sh
# Makes a Debian package of what `make install` put under a folder, and has lintian look at it. `make deb` calls it.
#
#   make-deb.sh ROOT FOLDER       -> FOLDER/film-barcode_VERSION_ARCH.deb
#
# The package is called film-barcode, for Debian has a package barcode: GNU barcode, which prints the bars of shops and also
# has a program of that name. So the two cannot be installed together.
#
# For another architecture: DEB_HOST_ARCH, STRIP, and SHLIBDEPS_ADMINDIR, dpkg's data base of that architecture's libraries.
#
# DEBFULLNAME and DEBEMAIL name who is answerable for it, as for Debian's own tools; else it is who committed last. The same commit
# gives the same bytes: dates are SOURCE_DATE_EPOCH, or the commit's.
set -eu

root=${1:?usage: make-deb.sh ROOT FOLDER}
folder=${2:?usage: make-deb.sh ROOT FOLDER}
top=$(cd "$(dirname "$0")/../.." && pwd)
version=$(sed -n 's/^#define BARCODE_VERSION "\(.*\)"/\1/p' "$top/src/base/version.h")
arch=${DEB_HOST_ARCH:-$(dpkg --print-architecture)}
from_git() {
    git -C "$top" log -1 --format="$1" 2> /dev/null || echo "$2"
}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(from_git %ct "$(stat -c %Y "$top/src/base/version.h")")}
export SOURCE_DATE_EPOCH
who="${DEBFULLNAME:-$(from_git %cn 'The barcode authors')} <${DEBEMAIL:-$(from_git %ce barcode@localhost)}>"

doc=$root/usr/share/doc/film-barcode
mkdir -p "$doc" "$root/DEBIAN"
"${STRIP:-strip}" --strip-unneeded --remove-section=.comment --remove-section=.note "$root/usr/bin/barcode"
gzip -9nf "$root/usr/share/man/man1/barcode.1"

{
    echo "film-barcode ($version) bookworm; urgency=medium"
    echo
    echo "  * As of $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%d)."
    echo
    echo " -- $who  $(date -u -R -d "@$SOURCE_DATE_EPOCH")"
} | gzip -9n > "$doc/changelog.gz"

{
    echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
    echo "Upstream-Name: barcode"
    echo
    echo "Files: *"
    sed -n 's/^Copyright (c) /Copyright: /p' "$top/LICENSE"
    echo "License: Expat"
    sed -n '/^Permission/,$p' "$top/LICENSE" | sed 's/^$/./; s/^/ /'
} > "$doc/copyright"

# Which packages have its libraries; dpkg-shlibdeps wants to stand beside a folder `debian`.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/debian"
printf 'Source: film-barcode\nMaintainer: %s\n\nPackage: film-barcode\nArchitecture: any\n' "$who" > "$work/debian/control"
program=$(readlink -f "$root/usr/bin/barcode")
depends=$(cd "$work" && dpkg-shlibdeps ${SHLIBDEPS_ADMINDIR:+--admindir="$SHLIBDEPS_ADMINDIR"} -O "$program" 2> "$work/log" | sed -n 's/^shlibs:Depends=//p') || {
    cat "$work/log" >&2
    exit 1
}
[ -n "$depends" ] || {
    echo "make-deb.sh: dpkg-shlibdeps finds no packages for the program's libraries" >&2
    exit 1
}

cat > "$root/DEBIAN/control" << END
Package: film-barcode
Version: $version
Architecture: $arch
Maintainer: $who
Installed-Size: $(du -k -s --apparent-size --exclude=DEBIAN "$root" | cut -f1)
Depends: $depends
Recommends: fonts-dejavu-core | fonts-noto-core
Conflicts: barcode
Section: video
Priority: optional
Description: one picture of a film's colours
 Every sampled frame of a film goes through k-means, and the centroid of its
 largest cluster becomes one column of a picture: a movie barcode. Frames are
 decoded exactly, in parallel, and kept in a cache, so that the next picture of
 the same film is there in a second.
 .
 The film's colours also come as JSON, CSV and swatches for drawing programs,
 and its frames as sheets of thumbnails for players.
 .
 The package conflicts with barcode (GNU barcode, for labels), whose program
 has the same name.
END
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) > "$root/DEBIAN/md5sums"
find "$root" -type d -exec chmod 755 {} +
chmod 644 "$root/DEBIAN/control" "$root/DEBIAN/md5sums" "$doc"/*
find "$root" -newermt "@$SOURCE_DATE_EPOCH" -print0 | xargs -0 -r touch --no-dereference --date="@$SOURCE_DATE_EPOCH"

deb=$folder/film-barcode_${version}_$arch.deb
dpkg-deb -Zxz --root-owner-group --build "$root" "$deb" > /dev/null
lintian --allow-root --fail-on error,warning "$deb"
echo "note: the package conflicts with Debian's barcode (GNU barcode): either is installed" >&2
echo "$deb"
