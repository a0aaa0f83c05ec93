#!/usr/bin/env bash
# sanitized-films.sh ASAN-BINARY TSAN-BINARY - whole runs under the sanitizers: sound, damaged and unreadable films.
# A sanitizer's report makes the program exit with 66; every documented status is fine here, the CLI tests judge them.
set -u
cd "$(dirname "$0")/../.." || exit 1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export ASAN_OPTIONS=exitcode=66 UBSAN_OPTIONS=exitcode=66 TSAN_OPTIONS=exitcode=66
passed=0 failed=0
try() {
    timeout 300 "$@" > "$out/log" 2>&1
    local status=$?
    if [ $status -gt 4 ]; then
        echo "FAIL (status $status): $*"
        head -n 40 "$out/log"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}
for film in out/clips/h264-open.mkv out/clips/h264-closed.ts out/clips/hevc-open.mkv out/clips/vp9*.webm out/clips/mpeg2.ts \
            out/clips/av1-svt.mkv out/clips/mjpeg.avi out/clips/vfr.mkv out/clips/rotate*.mp4 out/clips/damaged/* out/clips/bad/*; do
    [ -f "$film" ] || continue
    try "$1" "$film" -m all --every 7 --size 64 --n-init 3 -o "$out/a.png" --json "$out/a.json" --threads 3
    try "$2" "$film" -m kmeans --every 7 --size 64 --n-init 3 -o "$out/t.png" --threads 3 --verify
done
try "$1" synth:320x180,500 -m all --size 64 -o "$out/a.png" --dump "$out/a.rgb"
try "$2" synth:320x180,500 -m all --size 64 -o "$out/t.png" --dump "$out/t.rgb"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
