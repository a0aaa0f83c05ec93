# Films with several video streams: which one is taken, --stream, and what is said of it.

# two.mkv: red 160x90, marked as default, then blue 640x360; two.mp4 and two.ts with the same. Sound lies between.
make_two() {
    ffmpeg -nostdin -v error -f lavfi -i color=red:s=160x90:r=25:d=2 -f lavfi -i sine=d=2 -f lavfi -i color=blue:s=640x360:r=25:d=2 \
        -map 0 -map 1 -map 2 -c:v mpeg4 -q:v 2 -c:a pcm_s16le -disposition:v:0 default -disposition:v:1 0 two.mkv
    ffmpeg -nostdin -v error -i two.mkv -map 0 -c copy -disposition:v:0 0 unmarked.mkv
    ffmpeg -nostdin -v error -i two.mkv -map 0 -c:v copy -c:a aac two.mp4
    ffmpeg -nostdin -v error -i two.mkv -map 0 -c:v mpeg2video -q:v 2 -c:a mp2 two.ts
}

# shows COLOUR STREAM NUMBER ARG...: the film has this mean colour, and the JSON names this stream.
shows() {
    local colour=$1 stream=$2 number=$3
    shift 3
    ok "$@" -q -n 1 --json now.json -o now.png
    "$PYTHON" - "$colour" "$stream" "$number" << 'PY' || fail "it is not the $1 one"
import json, sys
got = json.load(open("now.json"))
r, g, b = got["columns"][5]["average"]
colour = "red" if r > 200 and b < 50 else "blue" if b > 200 and r < 50 else f"{r},{g},{b}"
film = got["film"]
sys.exit([colour, str(film["stream"]), str(film["video_stream"])] != sys.argv[1:] and print(colour, film) is None)
PY
}

test_which_stream() { # quick
    make_two
    shows red 0 0 two.mkv
    shows red 0 0 two.mkv --stream 0
    shows blue 2 1 two.mkv --stream 1
    shows blue 2 1 unmarked.mkv
    shows red 0 0 unmarked.mkv --stream 0
    shows blue 2 1 two.mp4 --stream 1
    shows blue 2 1 two.ts
    shows red 0 0 two.ts --stream 0
    ok two.mkv -v -n 10 -o now.png
    says "'two.mkv': video stream 0: mpeg4, 160x90, default: this is the film$"
    says "'two.mkv': video stream 1: mpeg4, 640x360$"
}

test_no_such_stream() { # quick
    make_two
    refuses 2 two.mkv --stream 2
    says "'two.mkv' has 2 video streams, numbered from 0: there is no --stream 2"
    f=$(clip h264-closed.mkv)
    refuses 2 "$f" --stream 1
    says "has one video stream"
    for bad in -1 x '' 0.5 99999; do
        refuses 2 two.mkv --stream "$bad"
    done
    # Of several films the others are made.
    exits 2 two.mkv "$f" --stream 1 -n 20
    files two.mkv two.mp4 two.ts unmarked.mkv two.png
}

# A cover picture is no film among films, and the only thing to show where there is nothing else.
test_covers_have_no_number() {
    f=$(clip cover-and-film.mp4)
    ok "$f" -n 20 --stream 0 --json s.json -o s.png
    ok "$f" -n 20 -o plain.png
    check pixels s.png plain.png
    refuses 2 "$f" --stream 1
    f=$(clip bad/cover-only.m4a)
    refuses 3 "$f"
    ok "$f" --stream 0 -m average -o cover.png
    check png cover.png 1280 800
}

# Two programs in one transport stream.
test_programs() {
    make_two
    ffmpeg -nostdin -v error -i two.ts -map 0:v:0 -map 0:v:1 -c copy -program program_num=1:st=0 -program program_num=2:st=1 programs.ts
    shows blue 1 1 programs.ts
    shows red 0 0 programs.ts --stream 0
    ok programs.ts -v -n 10 -o now.png
    says "video stream 0: mpeg2video, 160x90, program 1"
    says "video stream 1: mpeg2video, 640x360, program 2: this is the film"
}

# Entries of one film's streams never serve each other, even where the streams are alike in all but their pictures.
test_streams_in_the_cache() {
    ffmpeg -nostdin -v error -f lavfi -i color=red:s=160x90:r=25:d=2 -f lavfi -i color=blue:s=160x90:r=25:d=2 -map 0 -map 1 \
        -c:v mpeg4 -q:v 2 two.mkv
    for want in miss hit; do
        shows red 0 0 two.mkv --cache cache
        [ "$(check get now.json cache)" = $want ] || fail "stream 0: no $want"
        shows blue 1 1 two.mkv --cache cache --stream 1
        [ "$(check get now.json cache)" = $want ] || fail "stream 1: no $want"
    done
    shows red 0 0 two.mkv --cache cache --stream 0
    [ "$(check get now.json cache)" = hit ] || fail "the stream by its number is not the one by itself"
}

# Both ways of decoding, and a second opening of the film, stay with the stream.
test_streams_verified() {
    make_two
    for n in 0 1; do
        ok two.ts --stream $n --verify -n 3 -o now.png
        says "all 17 frames are identical"
        ok two.ts --stream $n --columns 7 --json now.json -o now.png
        [ "$(check get now.json film.video_stream)" = $n ] || fail "another stream"
    done
}

# event COLOUR CODEC SIZE PID AT VERSION [SOUND]: 4 s of a channel from AT on, with its streams at PID and the next.
event() {
    ffmpeg -nostdin -v error -f lavfi -i "color=$1:s=$3:r=25:d=4" -f lavfi -i sine=d=4 -c:v "$2" -g 25 -c:a "${7:-mp2}" \
        -threads 1 -mpegts_start_pid "$4" -output_ts_offset "$5" -f mpegts - | "$PYTHON" "$HERE/pmt.py" "$6"
}

# halves FILE.csv FILM.ts: red columns, then as many green ones, at the times of ffprobe's frames; up to 3 are missing between.
halves() {
    ffprobe -v error -select_streams v -show_entries frame=pts_time -of csv=p=0 "$2" 2> /dev/null | sort -un > list
    "$PYTHON" -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
times = [float(line.strip(",\n")) for line in open("list") if line.strip(",\n")]
shown = [row["average"] for row in rows if row["status"] != "missing"]
red = [colour for colour in shown if int(colour[1:3], 16) > 200 and int(colour[3:5], 16) < 50]
green = [colour for colour in shown if int(colour[3:5], 16) > 200 and int(colour[1:3], 16) < 50]
assert shown == red + green and abs(len(red) - len(green)) <= 3, (len(red), len(green), len(shown))
assert len(times) - 3 <= len(shown) <= len(rows) <= 200, (len(times), len(shown), len(rows))
ends = [float(rows[-1]["time"]) - float(rows[0]["time"]), times[-1] - times[0]]
assert abs(ends[0] - ends[1]) < 0.05, ends' "$1" || fail "$2: other columns"
}

# A broadcaster gives the video another PID at each event; another size, and back.
test_pid_changes() {
    local size
    event red mpeg2video 128x72 0x100 0 0 > red.ts
    for size in 128x72 160x90; do
        event lime mpeg2video $size 0x200 4 1 > lime.ts
        cat red.ts lime.ts > "$size.ts"
        ok "$size.ts" -m average --every 1 --csv now.csv -o now.png
        halves now.csv "$size.ts"
    done
    event lime mpeg2video 128x72 0x200 4 1 > lime.ts
    event red mpeg2video 128x72 0x100 8 2 > again.ts
    cat red.ts lime.ts again.ts > thirds.ts
    ok thirds.ts -m average --every 1 --csv now.csv -o now.png
    "$PYTHON" -c 'import csv
rows = [row for row in csv.DictReader(open("now.csv")) if row["status"] != "missing"]
assert 294 <= len(rows) <= 300 and 11.8 < float(rows[-1]["time"]) - float(rows[0]["time"]) < 12, (len(rows), rows[-1])
red = [int(row["average"][1:3], 16) > 200 for row in rows]
assert red == [True] * red.index(False) + [False] * red.count(False) + [True] * red[::-1].index(False), red' ||
        fail "a PID that comes again: other columns"
    event lime mpeg4 128x72 0x200 4 1 > lime.ts
    cat red.ts lime.ts > codec.ts
    ok codec.ts -m average -o now.png
    says "'codec.ts': it goes on with video in mpeg4, which is not read"
    event lime mpeg2video 128x72 0x200 4 1 ac3 > lime.ts
    cat red.ts lime.ts > sound.ts
    ok sound.ts -m sound -o now.png
    says "'sound.ts': it goes on with audio in ac3, which is not read"
}
