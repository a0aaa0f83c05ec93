# --keyframes: which key frames, that each is the exact run's frame of its time, by an index and without one, and what is told.

# keys FILM RULE...: --keyframes with these options against every frame of the film.
exactly() {
    [ -s exact.json ] || ok "$1" -q -n 1 -m average --size 32 --json exact.json --dump exact.rgb -o exact.png
    rm -f keys.rgb
    ok "$@" -q --keyframes -m average --size 32 --json keys.json --dump keys.rgb -o keys.png
    check keyframes "$1" exact.json exact.rgb keys.json keys.rgb
}

# Default and rules, on one film.
all_rules() {
    rm -f exact.json exact.rgb
    exactly "$1"
    exactly "$1" -n 24
    exactly "$1" --interval 0.7
    exactly "$1" --columns 13
    exactly "$1" --interval 0.31 --start 1.3 --end 4.1
    exactly "$1" --columns 9 --start 2 --end 4.5
}

test_keyframes_by_index() {
    for name in h264-closed.mp4 h264-open.mp4 hevc-open.mp4 h264-open.mkv h264-closed.avi mpeg4.avi mpeg4.mp4 ffv1.mkv; do
        all_rules "$(clip $name)"
    done
}

test_keyframes_read_through() {
    for name in h264-open.ts hevc-open.ts mpeg2.mpg fragmented.mp4 hevc-open.hevc; do
        all_rules "$(clip $name)"
    done
}

test_keyframes_of_other_codecs() {
    for name in vp8.webm vp9.webm av1-aom.mp4 mjpeg.avi raw-palette.avi qtrle-grey.mov prores.mov h264-interlaced-open.mkv mpeg2-interlaced.mpg; do
        f=$(clip $name)
        rm -f exact.json exact.rgb
        exactly "$f" --interval 0.4
    done
}

test_keyframes_edit_list_and_late_start() {
    for name in editlist.mp4 editlist-open.mp4 offset.mkv wrap.ts audio-first.mkv; do
        all_rules "$(clip $name)"
    done
}

# A pipe cannot be sought in: it gives the same columns.
test_keyframes_from_a_pipe() { # quick
    f=$(clip h264-open.mkv)
    ok "$f" -q --keyframes --interval 0.9 -m average --size 32 --dump file.rgb -o file.png
    through "$f" - -q --keyframes --interval 0.9 -m average --size 32 --dump pipe.rgb -o pipe.png
    was 0
    cmp file.rgb pipe.rgb
    # Without a rule and a count of its key frames: by its length.
    through "$f" - -q --keyframes -m average --json pipe.json -o pipe.png
    was 0
}

# Joined recordings whose parameter sets come once each, at a key frame that no column shows.
test_keyframes_behind_other_headers() {
    recording a.h264 3 -c:v libx264 -qp 20
    recording b.h264 3 -c:v libx264 -qp 34 -x264-params cabac=0
    recording c.h264 3 -c:v libx264 -profile:v baseline -qp 24
    recording d.h264 3 -c:v libx264 -qp 30 -x264-params chroma-qp-offset=6:ref=1
    recording a.hevc 3 -c:v libx265 -x265-params log-level=error:qp=22:keyint=10:bframes=0
    recording b.hevc 3 -c:v libx265 -x265-params log-level=error:qp=36:cbqpoffs=4:sign-hide=0:keyint=10:bframes=0
    recording a.m2v 3 -c:v mpeg2video -q:v 3
    recording b.m2v 3 -c:v mpeg2video -q:v 5 -intra_matrix "$(printf '8%.0s,' {1..32})$(printf '60,%.0s' {1..31})60"
    joined qp.h264 7 8 -- a.h264 b.h264 a.h264
    joined profile.h264 7 8 -- a.h264 c.h264 d.h264
    joined qp.hevc 32 33 34 -- a.hevc b.hevc a.hevc
    joined matrix.m2v -- a.m2v b.m2v a.m2v
    joined own.h264 -- a.h264 b.h264 a.h264
    for f in qp.h264.mp4 qp.h264.mkv qp.h264.avi profile.h264.mp4 profile.h264.mkv qp.hevc.mp4 qp.hevc.mkv matrix.m2v.mp4 matrix.m2v.mkv matrix.m2v.avi \
        own.h264.mp4 own.h264.mkv own.h264.avi; do
        # Raw streams have no times for a Matroska, and into an AVI ffmpeg would write the MP4's headers with each key frame.
        case $f in
            *.mkv) from=${f%.mkv}.mp4 ;;
            *) from=${f%.*} ;;
        esac
        ffmpeg -nostdin -v error -y -i "$from" -c copy "$f" 2> /dev/null
        rm -f exact.json exact.rgb
        exactly "$f" --strict
        exactly "$f" --strict --columns 7
        exactly "$f" --strict --interval 1.3 --start 4 --end 6.1
        says_not .
        # A film whose every key frame brings its sets is read by the index.
        ok "$f" --keyframes --columns 7 -v -m average -o k.png
        case $f in
            own*) says_not "parameter sets" ;;
            *) says "its parameter sets change within the film" ;;
        esac
    done
    ok qp.h264.mp4 -q --keyframes --columns 7 -m average --dump file.rgb -o file.png
    "$BARCODE" /dev/stdin -q --keyframes --columns 7 -m average --dump stdin.rgb -o stdin.png < qp.h264.mp4 || fail "not from stdin"
    cmp stdin.rgb file.rgb || fail "other key frames from stdin"
}

# Only key frames are read where there is an index.
test_keyframes_read_little() {
    f=$(clip film-1080p.mp4)
    ok "$f" --keyframes --columns 3 -v -m average -o k.png
    says "key frames: read [0-9]* of [0-9]* bytes"
    ok "$f" --keyframes --columns 3 -q -m average --bench -o k.png
    "$PYTHON" - "$LOGS/stdout" "$(stat -c %s "$f")" <<'EOF' || fail "most of the film was read"
import json, sys
counts = json.load(open(sys.argv[1]))["counts"]
assert 0 < counts["bytes_read"] < int(sys.argv[2]) / 2, counts
EOF
}

test_keyframes_any_threads() { # quick
    for name in h264-open.mp4 hevc-open.ts; do
        f=$(clip $name)
        for threads in 1 2 5; do
            ok "$f" -q --keyframes --n-init 2 --threads $threads --json $threads.json -o $threads.png
            cmp 1.png $threads.png
            check same 1.json $threads.json
        done
    done
}

# The frame that is damaged gives way to the key frame before it, which is told, counted, and fails --strict.
test_keyframes_damaged() {
    f=$(clip h264-closed.mkv)
    "$PYTHON" - "$f" broken.mkv <<'EOF'
import json, subprocess, sys
source, target = sys.argv[1:]
text = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pos,size,flags", "-of", "json", source],
                      stdout=subprocess.PIPE, check=True).stdout
keys = [p for p in json.loads(text)["packets"] if "K" in p["flags"]]
data = bytearray(open(source, "rb").read())
at, size = int(keys[2]["pos"]), int(keys[2]["size"])
for i in range(at + size // 2, at + size // 2 + 300):
    data[i] ^= 0x5a
open(target, "wb").write(data)
EOF
    for threads in 1 2 5; do
        ok broken.mkv --keyframes --interval 1.92 -m average --json $threads.json -o $threads.png --threads $threads
        says "1 key frames* .*damaged"
        check same 1.json $threads.json
    done
    "$PYTHON" - 1.json <<'EOF' || fail "the key frame before does not serve"
import json, sys
columns = json.load(open(sys.argv[1]))["columns"]
assert [c["time"] for c in columns[:4]] == [0, 1.92, 1.92, 5.76], columns
assert not any("damaged" in c or "missing" in c for c in columns), columns
EOF
    exits 1 broken.mkv --keyframes --interval 1.92 -m average -o s.png --strict
}

# A film cut short, and ones that are damaged all over, are done, and told.
test_keyframes_of_damaged_films() {
    for name in damaged/truncated-faststart.mp4 damaged/corrupt.mkv damaged/corrupt.ts damaged/truncated.mkv damaged/corrupt-asp.avi; do
        ok "$(clip $name)" --keyframes --interval 0.5 -m average --json d.json -o d.png
        grep -q '^barcode: warning: ' "$LOGS/stderr" || fail "$name: nothing is told"
        check shape d.json
    done
}

# One key frame, or one in a long time: done, and told with what it comes to; no fault of the film.
test_keyframes_far_apart() {
    f=$(clip h264-long-gop.mp4)
    ok "$f" --keyframes --columns 10 -m average -o far.png --strict
    says "has 1 key frame in .* s: its 10 columns show only 1 frame"
    ok "$(clip h264-closed.mp4)" --keyframes -m average -o near.png
    says_not warning
}

test_keyframes_are_named() {
    f=$(clip h264-open.mp4)
    ok "$f" -q --keyframes -m average -o k.png --json k.json
    grep -q "barcode:keyframes" k.png || fail "the PNG does not say keyframes"
    ok "$f" -q -m average -o e.png --json e.json
    if grep -q "keyframes" e.png e.json; then fail "an exact picture says keyframes"; fi
    refuses 2 "$f" --keyframes --verify -o v.png
    says "exclude each other"
}

# Key frames have an entry of their own: exact frames do not serve, nor the other way round.
test_keyframes_in_the_cache() { # quick
    f=$(clip h264-open.mp4)
    cp "$f" film.mp4
    ok film.mp4 --cache c -q -m average --json e.json -o e.png
    ok film.mp4 --cache c -v --keyframes -m average --json first.json -o first.png
    says "cache partial"
    says "frames of a run without --keyframes"
    ok film.mp4 --cache c -v --keyframes -m average --json again.json -o again.png
    says "cache hit"
    check same first.json again.json
    cmp first.png again.png
    ok film.mp4 --cache c -q --keyframes --columns 11 -m average --dump part.rgb -o part.png
    ok film.mp4 --no-cache -q --keyframes --columns 11 -m average --dump none.rgb -o none.png
    cmp part.rgb none.rgb
    ok film.mp4 --cache c -q -m average --json e2.json -o e2.png
    cmp e.png e2.png
}

# An exact run's frames serve one by one, and nothing is decoded that is there.
test_keyframes_from_an_exact_entry() {
    for f in h264-open.mp4 hevc-open.mkv h264-closed.mkv mpeg2.ts h264-interlaced.ts; do
        film=film.${f##*.}
        cp "$(clip "$f")" "$film"
        ok "$film" --no-cache -q --keyframes -n 1 --dump none.rgb --json none.json -o none.png
        ok "$film" --cache c -q -n 1 -m average -o e.png
        ok "$film" --cache c -v --keyframes -n 1 --dump some.rgb --json some.json -o some.png
        says "cache partial"
        cmp none.rgb some.rgb
        check same none.json some.json
        taken=$(sed -n "s/.*: \([0-9]*\) frames came from the cache.*/\1/p" "$LOGS/stderr")
        [ "${taken:-0}" -ge 2 ] || fail "$f: ${taken:-no} frames came from the cache"
        ok "$film" --cache c -v --keyframes -n 1 -m average -o e.png
        says "cache hit"
        rm -rf c
    done
    for f in mpeg4-packed.avi hevc-no-output.hevc; do      # numbers and times are guesses there
        cp "$(clip "$f")" .
        ok "$f" --no-cache -q --keyframes --dump none.rgb -o none.png
        ok "$f" --cache c -q -n 1 -m average -o e.png
        ok "$f" --cache c -q --keyframes --dump some.rgb -o some.png
        cmp none.rgb some.rgb
    done
}
