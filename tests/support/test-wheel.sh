#!/bin/bash
# Installs the wheel in bare Debians, which have Python and its venv besides, and tries the command and
# the package there: pictures, a poster with the wheel's own font, README's lines with pandas and
# Pillow. auditwheel judges the wheel's name. Needs root, for chroot, Debian's mirror and pip's.
# `make test-wheel` calls it.
#
#   test-wheel.sh WHEEL
set -euo pipefail

wheel=$(readlink -f "${1:?usage: test-wheel.sh WHEEL}")
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/support/package.sh
. "$top/tests/support/package.sh"

inside() {
    chroot "$work/$release" /usr/bin/env -i HOME=/root PATH=/try/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "${pip[@]}" sh -c 'cd /try && "$@"' inside "$@"
}
# How this machine reaches PyPI.
mapfile -t pip < <(env | grep '^PIP_')

is_small() {
    [ "$(stat -c %s "$wheel")" -le 60000000 ]
}
check "it has at most 60 MB: $(stat -c %s "$wheel") bytes" is_small
python3 -m venv "$work/venv"
check "auditwheel" "$work/venv/bin/pip" install -q auditwheel
check "auditwheel reads it" "$work/venv/bin/auditwheel" show "$wheel"
cat "$work/log"
newest=$(grep -o 'GLIBC_2\.[0-9]*' "$work/log" | sort -V | tail -n 1)
in_name() {
    [[ $wheel == *-"${newest/GLIBC_2./manylinux_2_}"_* ]]
}
check "its name has the newest glibc that auditwheel reads, $newest" in_name
python3 -m zipfile -l "$wheel" > "$work/list"
for file in LICENSE SECURITY.md SOURCES ffmpeg/COPYING.LGPLv2.1 dav1d/copyright libglib2.0-0/copyright; do
    check "it has $file" grep -q "/licenses/$file" "$work/list"
done

film() { # NAME OPTION...
    ffmpeg -nostdin -v error -y -f lavfi -i "testsrc2=s=192x108:r=25:d=2,drawbox=t=fill:w=100" "${@:2}" "$1"
}
film "$work/film.mkv" -metadata title=1917
film "$work/long.mkv" -vf scale=640:-2,loop=9:50

try() { # with nothing from PyPI
    check "$release: a venv" inside python3 -m venv /try/venv
    check "$release: the wheel, offline" inside pip install -q --no-index "/try/${wheel##*/}"
    check "$release: the command" inside barcode --version
    check "$release: a picture" inside barcode film.mkv -n 5 -o picture.png
    check "$release: a poster" inside barcode film.mkv -n 5 -m palette --title "Łódź, Ωμέγα" -o poster.pdf
    check "$release: a poster of pixels" inside barcode film.mkv -n 5 --poster --page 800x600 -o poster.png
    ! grep -i 'font' "$work/log" || die "$release: a message about fonts"
    check "$release: in letters of DejaVu" sh -c "pdftotext '$work/$release/try/poster.pdf' - | grep Łódź &&
        pdffonts '$work/$release/try/poster.pdf' | grep DejaVuSans"
    check "$release: confined as far as possible" inside barcode film.mkv -n 5 --sandbox=require -o x.png
    check "$release: the manual and completions" inside test -s /try/venv/share/man/man1/barcode.1 -a \
        -s /try/venv/share/bash-completion/completions/barcode
    check "$release: the package" inside python tests/python_check.py
    cat "$work/log"
}

for release in bullseye bookworm trixie; do
    root=$work/$release
    check "$release" "$top/tests/support/bare-debian.sh" "$release" "$root"
    mkdir -p "$root/try/tests"
    mount -t proc proc "$root/proc"
    cp "$wheel" "$work"/*.mkv "$root/try/"
    cp "$top"/tests/{python_check,cases}.py "$top/README.md" "$root/try/tests/"
    inside apt-get -qq update
    check "$release: Python" inside apt-get -qq install -y --no-install-recommends python3-venv
    try
done
mkdir -p "$root/etc/ssl/certs"
cp "${PIP_CERT:-/etc/ssl/certs/ca-certificates.crt}" "$root/etc/ssl/certs/ca-certificates.crt"
check "trixie: pandas and Pillow, of PyPI" inside pip install -q pandas Pillow
check "trixie: README's lines" inside python tests/python_check.py tests/README.md
cat "$work/log"
check "trixie: a newer fontconfig" inside apt-get -qq install -y --no-install-recommends fontconfig-config \
    fonts-noto-core
check "trixie: a poster in a font of the system" inside barcode film.mkv --poster -m palette -o noto.pdf
[ "$(wc -l < "$work/log")" -eq 1 ] || die "it prints more than that it wrote the file"
check "trixie: it has the font" sh -c "pdffonts '$root/try/noto.pdf' | grep NotoSans"
echo "$passed passed, 0 failed"
