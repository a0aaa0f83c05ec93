# Staged frames against ffmpeg's own decoding: every pixel format, tag, turn and size. tests/judge.py does the arithmetic.

judge() { # [--every N] [--size S] [--also N:S]... CLIP...
    need_numpy
    COMMAND="judge.py $*" STATUS=
    "$PYTHON" "$HERE/../judge.py" --barcode "$BARCODE" --out judged "$@" || fail "judge.py $*"
}

# Size changes are left out: there ffmpeg scales what it hands over. 90-films.sh and 95-cache.sh have the long films.
judged_clips() {
    whole_clips | grep -vE "size-change|vp[89]-sizes|^film-" | sed "s#^#$CLIPS/#"
}

# One pass over all clips: the frames that ffmpeg decodes, those of one decoder, and the same out of the cache.
test_every_clip() {
    clip h264-open.mkv > /dev/null
    # shellcheck disable=SC2046
    judge --every 7 --exact $(judged_clips)
}

test_judge_every_format() {
    clip formats/pal8.nut > /dev/null
    judge --every 3 --also 5:47x31 "$CLIPS"/formats/*
}

# Each frame by its own tags, wherever its neighbours come from.
test_judge_changing_tags() {
    for name in tags-h264.ts tags-hevc.ts tags-mpeg2.ts; do
        f=$(clip $name)
        judge --every 1 --also 35 "$f"
        ok "$f" -n 35 -m average -v -o t.png
        [ "$(grep -c 'some frames are read as matrix' "$LOGS/stderr")" -ge 1 ] || fail "-v says nothing of the tags"
    done
    f=$(clip tag709.mkv)
    ok "$f" -n 35 -m average -v -o t.png
    says_not 'some frames are read as'
}

test_judge_full_size() {
    f=$(clip h264-closed.mkv)
    g=$(clip h264-444.mkv)
    h=$(clip odd-size-vp9.webm)
    judge --every 60 --size full --also 60:1/2 --also 60:1x1 --also 60:33 "$f" "$g"
    judge --every 60 --size 1/2 --also 60:1x1 --also 60:33 "$h"
}

test_judge_sample() {
    f=$(sample)
    judge --every 50 "$f"
}

test_sizes() { # quick
    f=$(sample)                                  # 768x432
    while read -r size width height; do
        ok "$f" -n 500 -m average --size "$size" --json s.json -o s.png
        check size s.json "$width" "$height"
    done <<'LIST'
320 320 180
100x50 100 50
1/2 384 216
1/5 154 86
1/1000 1 1
full 768 432
768x432 768 432
64 64 36
1 1 1
LIST
    f=$(clip rotate90.mp4)                       # 180x320 once turned
    ok "$f" -n 100 -m average --size 160 --json s.json -o s.png
    check size s.json 90 160
    ok "$f" -n 100 -m average --size 20x40 --json s.json -o s.png
    check size s.json 20 40
    f=$(clip h264-crop.mp4)
    ok "$f" -n 100 -m average --size full --json s.json -o s.png
    check size s.json 312 174
}

# Never larger than the film.
test_no_enlarging() {
    f=$(clip two-frames.mp4)
    for size in 5000 5000x4000 16384; do
        ok "$f" -m average --size $size --json s.json -o s.png
        check size s.json 320 180
    done
}

# The four turns of one film have the same colours: their averages agree to the level.
test_turns() { # quick
    f=$(clip h264-closed.mkv)
    ok "$f" -n 20 -m average --json 0.json -o 0.png
    for name in rotate90 rotate180 rotate270 mirror; do
        f=$(clip $name.mp4)
        ok "$f" -n 20 -m average --json $name.json -o $name.png
        cmp 0.json $name.json > /dev/null && fail "$name has the same JSON as the film that is not turned"
        "$PYTHON" - $name.json <<'PY' || fail "$name: other averages"
import json, sys
a, b = (json.load(open(n))["columns"] for n in ("0.json", sys.argv[1]))
sys.exit(any(abs(x - y) > 1 for c, d in zip(a, b) for x, y in zip(c["average"], d["average"])))
PY
    done
}

test_tags() {
    while read -r name matrix range; do
        f=$(clip "$name")
        ok "$f" -n 100 -m average --json t.json -o t.png
        [ "$(check get t.json film.matrix)" = "$matrix" ] || fail "$name: matrix $(check get t.json film.matrix), right is $matrix"
        [ "$(check get t.json film.range)" = "$range" ] || fail "$name: range $(check get t.json film.range), right is $range"
    done <<'LIST'
tag709.mkv bt709 limited
tag601.mkv bt601 limited
full-range.mp4 bt709 full
bt2020.mkv bt2020nc limited
pq.mkv bt2020nc limited
h264-closed.mkv bt601 limited
hd-untagged.mkv bt709 limited
vp8-hd.webm bt601 limited
mpeg1-hd.mpg bt601 limited
flv1-hd.flv bt601 limited
theora-hd.ogv bt601 limited
mjpeg.avi bt601 full
tags-h264.ts bt601 limited
odd-matrix.mkv bt2020nc limited
raw-grey.avi bt601 full
ffv1-grey.avi bt601 full
png-palette.mov rgb full
cinema.mxf rgb full
LIST
}
