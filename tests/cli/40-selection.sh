# Which frames: every rule on films of constant and of variable rate, against ffprobe's own list of frames.

# picks CLIP RULE... : the rule's words are options (every=7 -> --every 7) and checks.py's rule at once.
picks() {
    f=$(clip "$1")
    shift
    args=()
    for word in "$@"; do
        args+=("--${word%%=*}" "${word#*=}")
    done
    ok "$f" -q -m average --size 32 "${args[@]}" --json s.json -o s.png
    check selection "$f" s.json "$@"
    rm -f s.json s.png
}

test_every() { # quick
    for n in 1 2 7 24 25 48 199 200 1000; do
        picks h264-open.mkv every=$n
    done
}

test_every_start_end() {
    for name in h264-open.mkv hevc-open.ts mpeg2.mpg vp9.webm ffv1.mkv; do
        picks $name every=5 start=1.3
        picks $name every=7 end=4.1
        picks $name every=3 start=2 end=5.99
        picks $name every=1 start=7.9
        picks $name every=50 start=3.33 end=3.5
    done
}

test_interval() { # quick
    for s in 0.04 0.1 0.333 1 2.5 100; do
        picks h264-closed.mkv interval=$s
    done
    picks h264-closed.mkv interval=0.7 start=1.1 end=6
    # Shorter than a frame: frames repeat.
    picks h264-closed.mkv interval=0.01 start=1 end=2
}

test_columns() { # quick
    for c in 1 2 7 99 199 333; do
        picks h264-open.mkv columns=$c
    done
    picks h264-open.mkv columns=10 start=2 end=3.5
}

test_variable_rate() { # quick
    for rule in every=1 every=7 interval=0.13 interval=1 columns=11 columns=150 columns=500; do
        picks vfr.mkv $rule
    done
    picks vfr.mkv interval=0.25 start=3.5 end=5.01
    picks vfr.mkv every=2 start=3.9
    picks vfr.mkv columns=9 start=3 end=8
}

test_ntsc_rate() {
    picks ntsc.mkv every=24
    picks ntsc.mkv interval=1.001
    picks ntsc.mkv columns=17
}

test_time_does_not_begin_at_zero() {
    for name in offset.mkv h264-open.ts wrap.ts mpeg2.mpg; do
        picks $name every=10
        picks $name interval=0.9
        picks $name columns=13
        picks $name every=4 start=4 end=6
    done
}

test_edit_list() { # quick
    for name in editlist.mp4 editlist-open.mp4; do
        picks $name every=1
        picks $name every=10 start=1
        picks $name interval=0.5
        picks $name columns=13
    done
}

test_without_timestamps() {
    for name in h264-closed.avi h264-closed.h264 hevc-open.hevc; do
        picks $name every=9
    done
    picks h264-closed.avi interval=0.5
    picks h264-closed.h264 columns=11
}

# Two recordings in one file: the container gives the length of one of them only.
test_timestamps_that_jump() {
    f=$(clip jump.ts)
    ok "$f" -m average -n 1 --start 9 --json s.json -o s.png
    check png s.png 175 800
    ok "$f" -m average --columns 40 --json c.json -o c.png
    "$PYTHON" - <<'PY' || fail "--columns leaves a part of the film out"
import json, sys
times = [c["time"] for c in json.load(open("c.json"))["columns"]]
sys.exit(len(times) != 40 or not 15.5 < times[-1] < 16)
PY
    ok "$f" -m average --columns 40 --start 4 --end 12 -o c.png
    check png c.png 40 800
    refuses 1 "$f" --start 16.5
    refuses 1 "$f" --start 16.5 --columns 4
    # An --end behind the film's own end spreads nothing beyond it.
    for name in jump.ts h264-closed.h264 h264-open.ts; do
        f=$(clip $name)
        ok "$f" -m average --columns 30 --end 1:00 --json c.json -o c.png
        check png c.png 30 800
        says_not warning
    done
}

# The film's length is its pictures', not its sound's.
test_sound_longer_than_picture() { # quick
    for name in audio-longer.mp4 audio-longer.mkv; do
        picks $name columns=20
        picks $name interval=0.5
        f=$(clip $name)
        ok "$f" -n 10 -o s.png
        says_not warning
    done
}

test_start_behind_the_picture_but_not_the_sound() {
    f=$(clip audio-longer.mkv)
    refuses 1 "$f" --start 6 -n 1
    files
}

# -n is chosen so that at most 2,040 columns come: every second of 2,142 frames.
test_default_rule() {
    f=$(sample)
    ok "$f" --json d.json -o d.png
    check columns d.json 1071
}

# Raw streams and APNG do not tell how long they are; an MPEG-2 header's bit rate tells something wrong. Short ones are counted.
test_default_without_a_length() {
    for codec in 'libx264 -f h264' 'mpeg2video -b:v 1M -maxrate 9M -bufsize 2M -f mpeg2video' 'mpeg4 -f m4v'; do
        # shellcheck disable=SC2086  # several words
        ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=64x36:r=25:d=4 -c:v $codec raw
        ok raw -m average -o p.png
        check png p.png 1300 800
        says_not warning
    done
    ok "$(clip h264-closed.h264)" -m average --json j.json -o p.png
    [ "$(grep -c '"frame":' j.json)" -eq 200 ] || fail "$(grep -c '"frame":' j.json) columns, not 200"
}

test_size_beyond_the_film() {
    f=$(clip h264-closed.mkv)
    ok "$f" -n 50 --size 640x360 --dump d.rgb -o p.png
    says 'warning: .* 320x180, which --size 640x360 does not enlarge: the analysis size is 320x180'
    [ "$(stat -c %s d.rgb)" -eq $((4 * 320 * 180 * 3)) ] || fail "the dump has $(stat -c %s d.rgb) bytes"
    ok "$f" -n 50 --size 100x360 -o p.png
    says 'the analysis size is 100x180'
    for size in 320x180 100x50 full 640; do
        ok "$f" -n 50 --size $size -o p.png
        says_not warning
    done
}
