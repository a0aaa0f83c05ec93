#!/bin/bash
# Tries the Debian package as a user of a bare Debian 12 would: in a root folder of its own, by bare-debian.sh (root, and
# Debian's mirror, which MIRROR names; some 200 MB are downloaded). `make test-deb` calls it.
#
#   test-deb.sh PACKAGE.deb FILM
set -euo pipefail

deb=$(readlink -f "${1:?usage: test-deb.sh PACKAGE.deb FILM}")
film=$(readlink -f "${2:?usage: test-deb.sh PACKAGE.deb FILM}")
here=$(cd "$(dirname "$0")" && pwd)
bare=$here/bare-debian.sh
# shellcheck source=tests/support/package.sh
. "$here/package.sh"
root=$work/root

no_file() {
    ! find "$root" -xdev -newer "$root/before" -type f \( -name '*barcode*' ! -name '*.deb' ! -path '*/var/*' \) | grep .
}

check "a bare Debian 12" "$bare" bookworm "$root"
check "it says that it conflicts with GNU barcode" sh -c "dpkg-deb -f '$deb' Conflicts | grep -qx barcode &&
    dpkg-deb -f '$deb' Description | grep -q 'conflicts with barcode (GNU'"
mkdir "$root/try"
cp "$deb" "$film" "$root/try/"
touch "$root/before"
package=/try/$(basename "$deb") name=/try/$(basename "$film")
check "it finds the packages" inside apt-get -qq update
check "it is installed, with what it depends on" inside apt-get -qq install -y --no-install-recommends "$package"
check "it says its version" inside barcode --version
check "it is hardened" "$here/hardened.sh" "$root/usr/bin/barcode"
check "it makes a picture and the rest" inside sh -c "cd /try && barcode $name -n 24 --no-cache -o x.png --json x.json --csv x.csv --swatches x.gpl --thumbnails th"
check "all of it is there" inside sh -c 'cd /try && test -s x.png && test -s x.json && test -s x.csv && test -s x.gpl && test -s th/*.vtt && test -s th/*-001.jpg'
check "the man page" sh -c "gzip -dc '$root/usr/share/man/man1/barcode.1.gz' | man -l - | grep -q thumbnails"
# shellcheck disable=SC2016  # the inner shell expands
check "completions in bash" bash -c '
    . "$0"
    compopt() { :; }
    try() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _barcode; echo "${COMPREPLY[*]}"; }
    [ "$(try barcode --swat)" = --swatches ] && [ "$(try barcode -m kmeans,av)" = kmeans,average ] && [ "$(try barcode --order = l)" = lightness ] &&
        [ -z "$(try barcode --seed "")" ] && [ "$(complete -p barcode)" = "complete -o default -F _barcode barcode" ]' "$root/usr/share/bash-completion/completions/barcode"
check "completions in fish" fish -c "source '$root/usr/share/fish/vendor_completions.d/barcode.fish'
    test (complete -C 'barcode --swat' | string split -f 1 \t) = --swatches; and test (complete -C 'barcode -m kmeans,av' | string split -f 1 \t) = kmeans,average"
check "completions in zsh" zsh -n "$root/usr/share/zsh/vendor-completions/_barcode"
check "GNU barcode takes its place and does not mix with it" inside sh -c "apt-get -qq install -y --no-install-recommends barcode && ! dpkg -s film-barcode | grep -q 'Status: install ok installed'"
check "it comes back" inside apt-get -qq install -y --no-install-recommends "$package"
check "it is removed" inside apt-get -qq purge -y film-barcode
rm -rf "$root/try"
check "it leaves nothing" no_file
echo "$passed passed, 0 failed"
