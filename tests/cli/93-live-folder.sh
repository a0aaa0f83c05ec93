# --live of a folder in which pictures appear. tests/judge_keogram.py judges the pixels of a whole night.

# picture NAME COLOUR TIME: a picture that appears by rename and was modified then (UTC).
picture() {
    ffmpeg -nostdin -v error -y -f lavfi -i "color=$2:s=64x48:d=0.04:r=25" -frames:v 1 -update 1 "${1%/*}/.new.${1##*.}"
    [ -z "${3:-}" ] || TZ=UTC touch -d "${3:-}" "${1%/*}/.new.${1##*.}"
    mv "${1%/*}/.new.${1##*.}" "$1"
}

# watch ARG...: barcode in the background, in $pid, when it has read what is there.
watch() {
    : > "$LOGS/stderr" # of an earlier run
    start -v "$@"
    until_says ': connected$'
}

# frames FILE: the rows with a frame, "CLOCK COLOUR" in one line.
frames() {
    "$PYTHON" -c 'import csv, sys
print(*(r["clock"][:16] + " " + r["average"] for r in csv.DictReader(open(sys.argv[1])) if r["status"] == "ok"))' "$1"
}

test_live_folder() { # quick
    mkdir sky
    picture sky/b.png red 2026-03-01T20:00:30
    picture sky/a.png blue 2026-03-01T21:00:00
    picture sky/c.bmp white 2026-03-02T01:00:00
    watch --live=60 sky -o day -m average --height 20 --sandbox=require
    stopped_with TERM 0
    says_not warning
    [ "$(frames day/sky-2026-03-01.csv)" = "2026-03-01T20:00 #fd0000 2026-03-01T21:00 #0000fe" ] || fail "$(frames day/sky-2026-03-01.csv)"
    [ "$(frames day/sky-2026-03-02.csv)" = "2026-03-02T01:00 #ffffff" ] || fail "$(frames day/sky-2026-03-02.csv)"
    files day day/sky-2026-03-01.columns day/sky-2026-03-01.csv day/sky-2026-03-01.png day/sky-2026-03-02.columns \
        day/sky-2026-03-02.csv day/sky-2026-03-02.png sky sky/a.png sky/b.png sky/c.bmp
    [ "$(ffprobe -v error -show_entries stream=width,height -of csv=p=0 day/sky-2026-03-01.png)" = 1281,20 ] || fail "the day's size"
}

# The picture of the night ends with the night, in the owner's time, by EXIF and turned as it says.
test_live_folder_of_photographs() {
    mkdir sky
    ffmpeg -nostdin -v error -f lavfi -i "color=red:s=1280x960:d=0.04,drawbox=0:0:1280:480:lime:fill,noise=alls=20" -frames:v 1 -q:v 2 plain.jpg
    "$PYTHON" - <<'PYTHON'
import struct
text = b"2026:07:10 01:30:00\0"
first = struct.pack(">H", 2) + struct.pack(">HHIHH", 0x112, 3, 1, 3, 0) + struct.pack(">HHII", 0x8769, 4, 1, 38) + bytes(4)
second = struct.pack(">H", 1) + struct.pack(">HHII", 0x9003, 2, len(text), 56) + bytes(4)
exif = b"Exif\0\0MM\0*" + struct.pack(">I", 8) + first + second + text
data = open("plain.jpg", "rb").read()
open("sky/photo.jpg", "wb").write(data[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + data[2:])
PYTHON
    TZ=Europe/Berlin watch --live=60 sky -o day -m slit --height 2 --day 12:00
    stopped_with TERM 0
    clock=$(frames day/sky-2026-07-09.csv)
    [ "${clock%% *}" = 2026-07-09T23:30 ] || fail "taken at $clock"
    ffmpeg -nostdin -v error -i day/sky-2026-07-09.png -vf crop=1:2:810:0 -f rawvideo -pix_fmt rgb24 top.rgb
    "$PYTHON" -c 'd = open("top.rgb", "rb").read(); assert d[0] > 200 > 60 > d[1] and d[4] > 200 > 60 > d[3], d' || fail "it is not turned by half"
}

# The night when summer time ends: a picture every ten minutes, by a clock without an offset. Their files' times tell the two hours
# apart, whatever their names are; if the files were copied without them, the order of the names does.
test_live_folder_when_an_hour_comes_twice() {
    mkdir sky copied
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=64x48:r=1:d=19 -q:v 2 plain%02d.jpg
    "$PYTHON" - > true <<'PYTHON'
import datetime, os, struct, zoneinfo
for i in range(19):
    taken = datetime.datetime(2026, 10, 24, 23, 30, tzinfo=datetime.timezone.utc) + datetime.timedelta(minutes=10 * i)
    text = taken.astimezone(zoneinfo.ZoneInfo("Europe/Berlin")).strftime("%Y:%m:%d %H:%M:%S\0").encode()
    first = struct.pack(">H", 1) + struct.pack(">HHII", 0x8769, 4, 1, 26) + bytes(4)
    second = struct.pack(">H", 1) + struct.pack(">HHII", 0x9003, 2, len(text), 44) + bytes(4)
    exif = b"Exif\0\0MM\0*" + struct.pack(">I", 8) + first + second + text
    data = open(f"plain{i + 1:02}.jpg", "rb").read()
    made = data[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + data[2:]
    for name in (f"sky/{i * 7 % 19:02}.jpg", f"copied/{i:02}.jpg"):
        open(name, "wb").write(made)
    os.utime(f"sky/{i * 7 % 19:02}.jpg", (taken.timestamp() + 20, taken.timestamp() + 20))
    print(taken.strftime("%Y-%m-%dT%H:%M"))
PYTHON
    ok -n 1 --sequence copied -m average --csv colours.csv
    awk -F, 'NR > 1 { print $5 }' colours.csv | paste -d' ' true - > expected
    for folder in sky copied; do
        TZ=Europe/Berlin watch --live=60 $folder -o $folder.day --day 12:00 -m average --height 2
        stopped_with TERM 0
        frames $folder.day/$folder-2026-10-24.csv | xargs -n 2 | diff expected - || fail "$folder"
    done
}

# A folder for each night, as allsky and indi-allsky have it: those that are there, and those that appear while it runs.
test_live_folder_of_dated_folders() {
    now=$(date +%s)
    at() { date -u -d "@$((now - $1 * 60))" +%Y-%m-%dT%H:%M; }
    taken() { [ "$(find day -name '*.csv' | sort | while read -r f; do frames "$f"; done | xargs)" = "$1" ]; }
    mkdir -p sky/1/night sky/2/night sky/.hidden moved/night
    picture sky/1/night/1.png red "$(at 200)"
    picture sky/2/night/1.png blue "$(at 190)"
    picture sky/.hidden/1.png white "$(at 180)"
    picture moved/night/1.png lime "$(at 170)"
    watch -r --live=60 sky -o day -m average --height 2 --sandbox=require
    all="$(at 200) #fd0000 $(at 190) #0000fe"
    mv moved sky/3
    mkdir -p sky/4/night
    picture sky/4/night/1.png white "$(at 160)"
    rm -r sky/1
    picture sky/4/night/2.png red "$(at 150)"
    picture sky/2.png blue "$(at 140)"
    picture sky/4/3.png white "$(at 130)"
    for next in "$(at 170) #00fe00" "$(at 160) #ffffff" "$(at 150) #fd0000" "$(at 140) #0000fe" "$(at 130) #ffffff"; do all+=" $next"; done
    until_true taken "$all"
    stopped_with TERM 0
    says_not "is gone"
    taken "$all" || fail "$(cat day/*.csv | grep '#')"
    refuses 2 -r --live=60 sky -o sky/out
    says "cannot be in the folder of the pictures"
    rm -r day
    watch --live=60 sky -o day -m average
    stopped_with TERM 0
    taken "$(at 140) #0000fe" || fail "without -r: $(cat day/*.csv | grep '#')"
}

# A folder is renamed, and those below it stay watched, though it has not changed for long.
test_live_folder_of_renamed_folders() {
    now=$(date +%s)
    at() { date -u -d "@$((now - $1 * 60))" +%Y-%m-%dT%H:%M; }
    taken() { [ "$(find day -name '*.csv' | sort | while read -r f; do frames "$f"; done | xargs)" = "$1" ]; }
    mkdir -p sky/old/{1,2,3,4}
    touch -d "1 hour ago" sky/old sky/old/*
    picture sky/1.png red "$(at 200)"
    all="$(at 200) #fd0000"
    watch -r --live=60 sky -o day -m average --height 2
    until_true taken "$all"
    mv sky/old sky/new
    sleep 12
    for n in 1 2 3 4; do
        picture sky/new/$n/1.png blue "$(at $((190 - n)))"
        all+=" $(at $((190 - n))) #0000fe"
    done
    until_true taken "$all"
    stopped_with TERM 0
    taken "$all" || fail "$(cat day/*.csv | grep '#')"
}

# A restart goes on; pictures that are in the log are not read again. Then the folder is away for a time.
test_live_folder_restarts() {
    mkdir sky
    picture sky/1.png red 2026-03-01T20:00:00
    watch --live=60 sky -o day -m slit=10% --height 48
    stopped_with TERM 0
    picture sky/2.png blue 2026-03-01T20:02:00
    rm sky/1.png
    ffmpeg -nostdin -v error -f lavfi -i color=lime:s=64x48 -frames:v 1 sky/1.png
    TZ=UTC touch -d 2026-03-01T20:00:10 sky/1.png
    watch --live=60 sky -o day -m slit=10% --height 48
    mv sky away
    until_says "'sky': the folder is gone; opening it again in 1 s"
    picture away/3.png white 2026-03-01T20:04:00
    mv away sky
    until_true grep -qs '20:04:00Z,.*#ffffff' day/sky-2026-03-01.csv
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
    [ "$(frames day/sky-2026-03-01.csv)" = "2026-03-01T20:00 #fd0000 2026-03-01T20:02 #0000fe 2026-03-01T20:04 #ffffff" ] ||
        fail "$(frames day/sky-2026-03-01.csv)"
}

# find_writer: the process that writes the day's files, in $writer: it has one thread, and the worker more.
find_writer() {
    local child children=()
    read -ra children < "/proc/$pid/task/$pid/children" || true # without a newline at the end
    for child in "${children[@]}"; do
        [ "$(find "/proc/$child/task" -mindepth 1 -maxdepth 1 2> /dev/null | wc -l)" -ne 1 ] || { writer=$child && return; }
    done
    return 1
}

# The process that writes the day's files hangs, as on a dead disk: the end waits some seconds for it.
test_live_disk_hangs() {
    local began
    mkdir sky
    picture sky/1.png red 2026-03-01T20:00:00
    picture sky/2.png blue 2026-03-01T20:02:00
    watch --live=60 sky -o day -m average --width 16000 --height 4000
    until_true find_writer
    kill -STOP "$writer"
    began=$SECONDS
    stopped_with TERM 0
    [ $((SECONDS - began)) -le 10 ] || fail "it ended after $((SECONDS - began)) s"
    says "the files of the day were not written: .*did not answer"
    picture sky/3.png white 2026-03-01T20:04:00
    watch --live=60 sky -o day -m average
    stopped_with TERM 0
    [ "$(frames day/sky-2026-03-01.csv)" = "2026-03-01T20:00 #fd0000 2026-03-01T20:02 #0000fe 2026-03-01T20:04 #ffffff" ] ||
        fail "$(frames day/sky-2026-03-01.csv)"
}

# One file that the camera writes again and again.
test_live_picture() {
    mkdir tmp
    picture tmp/image.png red
    picture tmp/other.png blue
    watch --live=1 tmp/image.png -o day -m average --height 10 --sandbox=require
    sleep 1.1 # each in a second of its own; the next one closes the column of the one before
    picture tmp/image.png lime
    until_bytes "day/*.columns" 96
    sleep 1.1
    picture tmp/image.png white
    until_bytes "day/*.columns" 128
    stopped_with TERM 0
    colours=$(cut -d, -f6 day/image.png-*.csv | grep '#' | uniq | tr '\n' ' ')
    [ "$colours" = "#fd0000 #00ff00 #ffffff " ] || [ "$colours" = "#fd0000 #00fe00 #ffffff " ] || fail "$colours"
}

# What is there and not barcode's stays, and its own picture is no picture of the sky.
test_live_folder_loses_nothing() { # quick
    mkdir sky day
    picture sky/a.png blue 2026-03-01T21:00:00
    refuses 2 --live=60 sky -o sky
    says "cannot be in the folder of the pictures"
    cp sky/a.png day/sky-2026-03-01.png
    watch --live=60 sky -o day -m average
    stopped_with TERM 0
    says "'day/sky-2026-03-01.png' is not a file that barcode made"
    cmp sky/a.png day/sky-2026-03-01.png
}

test_live_crop() { # quick
    mkdir sky
    ffmpeg -nostdin -v error -f lavfi -i "color=red:s=64x48,drawbox=32:0:32:48:blue:fill" -frames:v 1 sky/a.png
    TZ=UTC touch -d 2026-03-01T20:00:30 sky/a.png
    watch --live=60 sky -o day -m average --crop 32:40:32:4
    stopped_with TERM 0
    [ "$(frames day/sky-2026-03-01.csv)" = "2026-03-01T20:00 #0000fe" ] || fail "$(frames day/sky-2026-03-01.csv)"
    exits 2 --live=60 sky -o other -m average --crop 32:40:33:4
    says "'sky': --crop 32:40:33:4 is outside its frames of 64x48"
    [ ! -e other ] || fail "an empty folder is left"
}
