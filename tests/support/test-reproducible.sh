#!/bin/bash
# Builds the program and the Debian package from the last commit in two folders: their bytes must be the same. Optimized less
# than usual, for two builds from scratch take long. `make test-reproducible` calls it.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q "$top" "$work/a"
git clone -q "$work/a" "$work/another/folder"
for name in a another/folder; do
    if ! env -u MAKEFLAGS CCACHE_DISABLE=1 make --no-print-directory -j"$(nproc)" -C "$work/$name" CUDA=0 CFLAGS='-O1 -g' \
        out/bin/barcode deb > "$work/log" 2>&1; then
        echo "FAIL  the build in $work/$name"
        tail -n 20 "$work/log"
        exit 1
    fi
done
deb=$(cd "$work/a/out" && echo film-barcode_*.deb)
passed=0
for file in bin/barcode "$deb"; do
    cmp "$work/a/out/$file" "$work/another/folder/out/$file" || {
        echo "FAIL  $file depends on the folder where it is built"
        exit 1
    }
    echo "ok    $file has the same bytes from two folders"
    passed=$((passed + 1))
done
echo "$passed passed, 0 failed"
