#!/usr/bin/env bash
# sanitized-films.sh ASAN-BINARY TSAN-BINARY - whole runs under the sanitizers: every test clip under ASan and UBSan, a choice of
# them under TSan, and both through the cache.
# A sanitizer's report makes the program exit with 66. A sound film must give 0, and a file that is no film 3; a film that is
# damaged on purpose may also give 1, because --verify then meets what a buffer held before.
set -u
cd "$(dirname "$0")/../.." || exit 1
asan=$1 tsan=$2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export ASAN_OPTIONS=exitcode=66 UBSAN_OPTIONS=exitcode=66:print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/tests/support/lsan.supp:print_suppressions=0
export TSAN_OPTIONS=exitcode=66:suppress_equal_addresses=0:suppressions=$PWD/tests/support/tsan.supp
export BARCODE_CACHE=-
passed=0 failed=0

# try "STATUS..." COMMAND...: the exit status must be one of these.
try() {
    local fine=" $1 " status
    shift
    timeout 300 "$@" > "$out/log" 2>&1
    status=$?
    if [[ $fine == *" $status "* ]] && ! grep -q 'the worker process' "$out/log"; then
        passed=$((passed + 1))
    else
        echo "FAIL (status $status, not$fine): $*"
        head -n 40 "$out/log"
        failed=$((failed + 1))
    fi
}

both() { # "STATUS..." FILM
    if [ ! -e "$2" ]; then
        echo "FAIL: $2 is not there: run 'make clips'"
        failed=$((failed + 1))
        return
    fi
    try "$1" "$asan" "$2" -m all --every 7 --size 64 --n-init 3 -o "$out/a.png" --json "$out/a.json" --threads 3
    try "$1" "$tsan" "$2" -m kmeans --every 7 --size 64 --n-init 3 -o "$out/t.png" --threads 3 --verify
}

for name in h264-open.mkv h264-closed.ts h264-closed.h264 h264-interlaced.ts hevc-open.mkv hevc-10bit.mkv vp8-altref.webm vp9.webm \
            av1-svt.mkv mpeg2.ts mjpeg.avi vfr.mkv rotate90.mp4 jump.ts; do
    both 0 "out/clips/$name"
done
for film in out/clips/damaged/*; do
    both "0 1" "$film"
done
for film in out/clips/bad/*; do
    both 3 "$film"
done
while read -r film; do                                # the choice above says which status each kind must have
    try "0 1 3" "$asan" "$film" -m all --every 5 --size 64 --n-init 2 -o "$out/a.png" --json "$out/a.json" --threads 2
    try "0 1 3" "$asan" "$film" -m kmeans --keyframes --size 64 --n-init 2 -o "$out/a.png" --threads 2
done < <(find out/clips -type f ! -name SKIPPED ! -name '*.png' | sort)
# More threads than runs.
for name in h264-closed.mp4 h264-open.ts hevc-open.mkv vp9.webm av1-svt.mkv damaged/corrupt.mkv damaged/wrong-bits.hevc; do
    for sanitized in "$asan" "$tsan"; do
        try 0 "$sanitized" "out/clips/$name" -m average --every 5 --size 64 --engine cpu --threads 16 -o "$out/t.png"
    done
done
# Lengths that must be measured, several films over one engine, a dump that waits.
try 0 "$tsan" out/clips/jump.ts -m average --columns 40 --size 64 -o "$out/t.png" --threads 3
try 3 "$asan" out/clips/h264-open.mkv out/clips/bad out/clips/vp9.webm -q --every 20 --size 64 -m average -o "$out/"
try 0 "$asan" out/clips/vp9.webm -m all --size 64 -o "$out/a.png" --dump - -q
try 0 "$tsan" out/clips/vp9.webm -m all --size 64 -o "$out/t.png" --dump "$out/t.rgb"
for film in out/clips/h264-open.mkv out/clips/vfr.mkv out/clips/damaged/*; do      # into the cache and out of it
    for sanitized in "$asan" "$tsan"; do
        rm -rf "$out/cache"
        for rule in '--every 7' '--every 7' '--every 14' '--columns 9'; do
            # shellcheck disable=SC2086  # two words
            try "0" "$sanitized" "$film" $rule --size 64 --n-init 3 --cache "$out/cache" -o "$out/a.png" --threads 3
        done
    done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
