# One clock, the player's, and films that begin, stop or pause where others do not. The films are
# those of public bug reports about time; 42-time.sh has those about length.
# shellcheck source=tests/support/time.sh
. "${BASH_SOURCE[0]%/*}/../support/time.sh"

# different JSON N: N columns, each of a frame of its own.
different() {
    check holds "$1" "len(times) == len(set(times)) == $2"
}

# ---- F: a start in mid-GOP ----

# begins_in_gop PICTURES: 6.ts, without its first ninth, has 100 different columns over what is shown.
begins_in_gop() {
    base a.mp4 30
    $FF -i a.mp4 -c:v mpeg2video -b:v 2M -g "$1" -sc_threshold 1000000000 f.ts
    tail -c +$((188 * ($(stat -c %s f.ts) / 188 / 9) + 1)) f.ts > 6.ts
    right 6.ts 100
    says_not "stops at"
    ok 6.ts --columns 100 -m average --size 16 --json j.json
    says_not "stops at"
    different j.json 100
}

test_clock_ts_begins_in_mid_gop() {
    begins_in_gop 60
    says "before the first key frame"
}

# The first key frame is in the last third.
test_clock_ts_begins_in_a_long_gop() {
    begins_in_gop 480
}

# Raw streams and program streams, of other codecs.
test_clock_others_begin_in_mid_gop() {
    base a.mp4 12
    $FF -i a.mp4 -c:v mpeg2video -b:v 2M -g 60 -sc_threshold 1000000000 a.vob
    $FF -i a.mp4 -c:v mpeg2video -b:v 2M -g 60 -sc_threshold 1000000000 a.m2v
    $FF -i a.mp4 -c:v libx265 -preset ultrafast -x265-params log-level=error:keyint=48 a.hevc
    $FF -i a.mp4 -c:v libx265 -preset ultrafast -x265-params log-level=error:keyint=48 hevc.ts
    $FF -i a.mp4 -c copy a.ts
    for f in a.vob a.m2v a.hevc hevc.ts a.ts; do
        "$PYTHON" - $f "cut-$f" << 'END'
import sys
data = open(sys.argv[1], "rb").read()
at = len(data) // 9
if sys.argv[1].endswith("ts"):
    at -= at % 188
elif sys.argv[1].endswith("vob"):
    at = data.index(b"\0\0\1\xba", at)
open(sys.argv[2], "wb").write(data[at:])
END
        ok "cut-$f" -n 1 -m average --size 16 --json j.json
        says "before the first key frame"
        right "cut-$f"
        says_not "stops at"
    done
}

# ---- G: the video begins after the sound ----

# late NAME CODEC OPTION...: 10 s of sound, then 30 s with video.
late() {
    local name=$1 sound=$2
    shift 2
    [ -e a.mp4 ] || base a.mp4 30
    $FF -itsoffset 10 -i a.mp4 -f lavfi -i sine=d=40:r=48000 -map 0:v -map 1:a -c:v copy \
        -c:a "$sound" "$@" "$name" || skip "this ffmpeg makes no $name"
}

test_clock_video_begins_late() {
    late 7.mp4 aac
    late 7.mkv aac
    late 7.flv aac
    late 7.ts mp2
    late 7.nut mp2
    late 7f.mp4 aac -movflags frag_keyframe+empty_moov+delay_moov
    for f in 7.mp4 7.mkv 7.flv 7.nut 7f.mp4 7.ts; do
        whole $f
    done
}

# The frame at TIME in FILM by ffprobe, its number from 0.
frame_at() {
    ffprobe -v error -select_streams v:0 -of json \
        -show_entries frame=best_effort_timestamp_time:format=start_time "$1" > frames.json
    "$PYTHON" - "$2" << 'END'
import json, sys
data = json.load(open("frames.json"))
start = float(data["format"]["start_time"])
times = [float(f["best_effort_timestamp_time"]) - start for f in data["frames"]]
print(max(i for i, t in enumerate(times) if t <= float(sys.argv[1]) + 1e-6 or i == 0))
END
}

# --start and --end are the player's, and so are CSV and WebVTT.
test_clock_options_and_outputs() {
    late 7.mp4 aac
    ok 7.mp4 -n 1 --start 12 --end 13 -m average --size 16 --json j.json
    check holds j.json "c[0]['frame'] == $(frame_at 7.mp4 12) == 48 and abs(times[0] - 12) < 0.05 and len(c) == 24"
    ok 7.mp4 --columns 4 --start 20 --end 24 -m average --size 16 --csv c.csv --json j.json
    "$PYTHON" - << 'END' || fail "CSV is not JSON's clock"
import csv, json
rows = list(csv.DictReader(line for line in open("c.csv") if not line.startswith("#")))
columns = json.load(open("j.json"))["columns"]
key = next(k for k in rows[0] if k.startswith("time"))
print([r[key] for r in rows], [c["time"] for c in columns])
assert len(rows) == len(columns) == 4
for j, (r, c) in enumerate(zip(rows, columns)):
    assert abs(float(r[key]) - c["time"]) < 0.001
    assert -0.001 <= 20.5 + j - c["time"] < 0.05
END
    ok 7.mp4 --columns 30 -m average --thumbnails thumbs --json j.json
    "$PYTHON" - thumbs/*.vtt << 'END' || fail "WebVTT is not the player's clock"
import json, re, sys
def seconds(text):
    parts = [float(p) for p in text.split(":")]
    return sum(p * 60 ** i for i, p in enumerate(reversed(parts)))
found = re.findall(r"([0-9:.]+) --> ([0-9:.]+)", open(sys.argv[1]).read())
cues = [[seconds(t) for t in pair] for pair in found]
columns = json.load(open("j.json"))["columns"]
print(cues[:3], cues[-1])
assert len(cues) == len(columns) == 30
assert all(a < b for a, b in cues) and all(x[1] <= y[0] + 0.002 for x, y in zip(cues, cues[1:]))
assert all(a <= c["time"] + 0.002 and c["time"] < b for (a, b), c in zip(cues, columns))
# The first one is shown from the start on, before the video begins.
assert cues[0][0] == 0 and 10.5 < cues[1][0] < 12 and abs(cues[-1][1] - 40) < 0.2
END
}

# --start before the video's first frame, and a span that ends before it.
test_clock_span_before_the_video() {
    late 7.mp4 aac
    ok 7.mp4 --columns 5 --end 15 -m average --size 16 --json j.json
    check holds j.json "len(times) == 5 and times == sorted(set(times)) and 10 <= times[0] and times[-1] < 15"
    run 7.mp4 -n 1 --end 9 -m average --size 16 --json none.json
    [ "$STATUS" -ne 0 ] || fail "nothing is shown before 9 s"
    one_sentence
}

# ---- H: the header's length is not the frames' ----

test_clock_joined_vobs() {
    base a.mp4 6
    base b.mp4 6 -vf negate
    $FF -i a.mp4 -c:v mpeg2video -b:v 2M -g 24 -f vob a.vob
    $FF -i b.mp4 -c:v mpeg2video -b:v 2M -g 24 -f vob b.vob
    cat a.vob b.vob > 12.vob
    frames=$(ffprobe -v error -count_frames -select_streams v:0 \
        -show_entries stream=nb_read_frames -of csv=p=0 12.vob | tr -dc 0-9)
    for options in "-n 1" "--columns 20" "--keyframes --columns 20"; do
        # shellcheck disable=SC2086  # words
        ok 12.vob $options -m average --size 16 --json j.json
        says_not warning
        "$PYTHON" - "$frames" << 'END' || fail "$options: not the frames' length"
import json, sys
length = int(sys.argv[1]) / 24
data = json.load(open("j.json"))
times = [c["time"] for c in data["columns"]]
print(data["film"]["duration"], times[0], times[-1], length)
assert abs(data["film"]["duration"] - length) < 0.1 and times == sorted(times)
assert len(times) == 20 or len(times) == int(sys.argv[1])
step = 2 if data["selection"].get("keyframes") else length / len(times) + 0.1
assert times[0] < step and length - times[-1] < step
END
    done
}

# ---- I: a pause of over an hour ----

test_clock_pause() {
    for f in 9.mkv 9.mp4 9.nut 9.flv 9.webm; do
        codec="libx264 -bf 0"
        [ $f = 9.webm ] && codec="libvpx -deadline realtime"
        # shellcheck disable=SC2086  # words
        $FF -f lavfi -i testsrc2=s=96x64:r=25:d=4 -vf "setpts='if(lt(N,50),N/25,5400+N/25)/TB'" \
            -fps_mode vfr -c:v $codec $f
        ok $f -n 1 -m average --size 16 --json j.json
        judged $f
        says_not warning
        ok $f --columns 20 -m average --size 16 --json j.json
        judged $f
        says_not warning
    done
}

# ---- L: variable rate in WTV ----

test_clock_vfr_in_wtv() {
    # At this size the muxer spreads a picture over packets that have no time.
    $FF -f lavfi -i testsrc2=s=320x180:r=24:d=30 -vf "select='lt(mod(n,10),3)'" -fps_mode vfr \
        -c:v mpeg2video 16.wtv
    right 16.wtv
    says_not warning
    ok 16.wtv -n 1 --strict -m average --size 16 --json j.json
    check count 16.wtv j.json
}

# ---- M: edit lists ----

# edited FILM TO LENGTH:START...: these parts of the video, in seconds.
edited() {
    "$PYTHON" - "$@" << 'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
parts = [[float(v) for v in word.split(":")] for word in sys.argv[3:]]
def boxes(at, end):
    while at < end:
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        yield kind, at, size
        at += size
def find(outer, kind):
    return next((at, size) for k, at, size in boxes(outer[0] + 8, sum(outer)) if k == kind)
movie = next((at, size) for k, at, size in boxes(0, len(data)) if k == b"moov")
track = find(movie, b"trak")
scale = struct.unpack_from(">I", data, find(movie, b"mvhd")[0] + 20)[0]
ticks = struct.unpack_from(">I", data, find(find(track, b"mdia"), b"mdhd")[0] + 20)[0]
entries = [struct.pack(">IiHH", round(n * scale), round(at * ticks), 1, 0) for n, at in parts]
size = 12 * len(parts)
edits = struct.pack(">I4sI4sII", 24 + size, b"edts", 16 + size, b"elst", 0, len(parts))
edits += b"".join(entries)
at, size = find(track, b"edts")
data[at:at + size] = edits
for box in (movie, track):
    struct.pack_into(">I", data, box[0], box[1] + len(edits) - size)
open(sys.argv[2], "wb").write(data)
END
}

test_clock_edit_lists() {
    base a.mp4 30
    edited a.mp4 8.mp4 1:1.5 1:8
    ok 8.mp4 --columns 10 -m average --size 16 --json j.json
    says_not warning
    judged 8.mp4
    different j.json 10
    edited a.mp4 one.mp4 0.5:7.25
    edited a.mp4 long.mp4 3:1.5 0.75:20.2
    for f in 8.mp4 one.mp4 long.mp4; do
        ok $f -n 1 -m average --size 16 --json j.json
        judged $f
        ok $f --columns 10 -m average --size 16 --json j.json
        judged $f
    done
}

# ---- N: a start offset in a container that keeps it ----

test_clock_start_offset_is_kept() {
    base a.mp4 30
    $FF -copyts -ss 10 -i a.mp4 -g 24 -c:v wmv2 n.wmv
    $FF -copyts -ss 10 -i a.mp4 -c copy n.mkv
    $FF -copyts -ss 10 -i a.mp4 -c copy n.flv
    $FF -copyts -ss 10 -i a.mp4 -c copy n.nut
    $FF -copyts -ss 10 -i a.mp4 -c copy -muxdelay 0 n.ts
    $FF -copyts -ss 10 -i a.mp4 -g 24 -c:v libvpx -deadline realtime n.webm
    for f in n.wmv n.mkv n.flv n.nut n.ts n.webm; do
        whole $f
    done
}
