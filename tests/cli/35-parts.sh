# One film in several files: --join, image sequences, chapters, a DVD's VOBs, a Blu-ray's playlist.

# piece NAME SECONDS HUE OPTION...: a film with sound, 24 pictures a second.
piece() {
    local name=$1 seconds=$2 hue=$3
    shift 3
    ffmpeg -nostdin -v error -y -f lavfi -i "testsrc2=s=160x90:r=24:d=$seconds,hue=h=$hue" -f lavfi -i "sine=d=$seconds" \
        -c:v libx264 -preset veryfast -g 24 -pix_fmt yuv420p "$@" "$name"
}

# columns NAME: number, time in milliseconds, and average of every column, without the name of the film.
columns() {
    awk -F, 'NR > 1 { printf "%s %s %.0f %s %s\n", $1, $2, $3 * 1000, $4, $5 }' "$1"
}

# same_rows A B: the same colours and times: all up to the names of the films.
same_rows() {
    cut -d, -f1-13 "$1" | cmp - <(cut -d, -f1-13 "$2")
}

# same_columns A B: as many, of the same frames and colours, with times a millisecond apart at most, from the first on.
same_columns() {
    columns "$1" > a.columns
    columns "$2" > b.columns
    [ -s a.columns ] || fail "'$1' has no columns"
    paste -d' ' a.columns b.columns | awk 'NR == 1 { first = $3 - $8 } { d = $3 - $8 - first } $1 != $6 || $2 != $7 || d > 1 || d < -1 || $4 != $9 || $5 != $10 { exit 1 }' ||
        fail "'$1' and '$2' differ: $(diff a.columns b.columns | head -n 6)"
}

test_join_is_the_concatenated_film() { # quick
    piece a.mp4 3 0
    piece "it's b.mp4" 2 90
    printf "file 'a.mp4'\nfile 'it'\\\\''s b.mp4'\n" > list
    ffmpeg -nostdin -v error -f concat -safe 0 -i list -c copy both.mp4
    for how in "-n 1" "--columns 17" "--keyframes" "--keyframes --columns 9" "--start 2.5 --end 4 -n 1"; do
        # shellcheck disable=SC2086
        ok $how --join a.mp4 "it's b.mp4" --csv join.csv
        says_not warning
        # shellcheck disable=SC2086
        ok $how both.mp4 --csv both.csv
        same_columns join.csv both.csv
        rm join.csv both.csv
    done
    ok --verify --join a.mp4 "it's b.mp4"
    [ -s a.png ] || fail "it is not named after the first"
}

test_join_cached() {
    piece a.mp4 2 0
    piece b.mp4 1 90
    ok --cache c -v --join a.mp4 b.mp4 -o x.png
    says "'a.mp4': cache miss"
    ok --cache c -v --join a.mp4 b.mp4 -o x.png
    says "'a.mp4': cache hit"
    ok --cache c -v a.mp4 -o y.png
    says "'a.mp4': cache miss"
    ok --update -v --join a.mp4 b.mp4 -o x.png
    says "skipped 'a.mp4'"
    piece b.mp4 1 180
    ok --cache c -v --overwrite --join a.mp4 b.mp4 -o x.png
    says "'a.mp4': cache miss"
}

test_join_refused() { # quick
    piece a.mp4 1 0
    piece b.mp4 1 90 -c:v mpeg4
    echo text > c.mp4
    refuses 3 --join a.mp4 gone.mp4
    says "'a.mp4': its part 'gone.mp4' is missing$"
    refuses 3 --join a.mp4 b.mp4
    says "cannot join 'b.mp4' to 'a.mp4'"
    refuses 3 --join a.mp4 c.mp4
    says "'c.mp4'"
    refuses 2 --join a.mp4 .
    refuses 2 --join --no-join a.mp4
    refuses 2 --rate 0 a.mp4
    refuses 2 --rate 12 a.mp4
    says "--rate is for films of images"
    ok --join a.mp4 -o o.png
    refuses 2 --join b.mp4 a.mp4 -o a.mp4
    says "is the film itself"
}

# Their headers are in the files' header only, so a decoder of the first cannot go on with the second.
test_join_other_headers() {
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=160x90:d=1 -c:v libx265 -x265-params log-level=error a.mp4 || skip "no libx265"
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=160x90:d=1 -c:v libx265 -x265-params log-level=error:bframes=0:ref=1 b.mp4
    cp a.mp4 c.mp4
    refuses 3 --join a.mp4 b.mp4
    says "encoded with other settings$"
    ok --strict -n 1 --join a.mp4 c.mp4 --csv x.csv
    [ "$(columns x.csv | wc -l)" -eq 50 ] || fail "$(columns x.csv | wc -l) columns"
    # a transport stream repeats them
    for n in a b; do ffmpeg -nostdin -v error -i $n.mp4 -c copy $n.ts; done
    ok --strict -n 1 --join a.ts b.ts --csv y.csv
    for n in a b; do ok -n 1 $n.mp4 --csv $n.csv; done
    cat <(columns a.csv) <(columns b.csv) | cut -d' ' -f5 > apart
    columns y.csv | cut -d' ' -f5 | cmp - apart
}

# Where the demuxer opens the next part nothing is damaged.
test_join_transport_streams() {
    piece a.ts 2 0
    piece b.ts 2 90
    ok --strict -n 1 --join a.ts b.ts --csv join.csv
    says_not warning
    printf "ffconcat version 1.0\nfile 'a.ts'\nfile 'b.ts'\n" > list.ffconcat
    ok --strict -n 1 list.ffconcat --csv list.csv
    says_not warning
    same_columns join.csv list.csv
}

test_image_sequence() { # quick
    mkdir frames
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=160x90:r=12:d=4 frames/img%04d.png
    ffmpeg -nostdin -v error -framerate 12 -i frames/img%04d.png -c:v ffv1 film.mkv
    ok --rate 12 -n 1 'frames/img%04d.png' --csv pattern.csv
    [ "$(columns pattern.csv | wc -l)" -eq 48 ] || fail "$(columns pattern.csv | wc -l) columns"
    ok -n 1 film.mkv --csv film.csv
    same_columns pattern.csv film.csv
    ok --rate 12 -n 1 --sequence frames --csv folder.csv
    same_rows pattern.csv folder.csv
    ok --rate 12 -n 1 --join frames/*.png --csv join.csv
    same_rows pattern.csv join.csv
    ok --rate 12 --columns 5 'frames/img%04d.png' --csv five.csv
    [ "$(columns five.csv | cut -d' ' -f3 | tr '\n' ' ')" = "333 1167 2000 2750 3583 " ] || fail "$(columns five.csv)"
    ok --keyframes --rate 12 'frames/img%04d.png' --csv keys.csv
    same_columns keys.csv pattern.csv
    ok 'frames/img%04d.png' --json 24.json
    grep -q '"duration": *2\.0' 24.json || fail "48 images at 24 a second are not 2 s: $(grep duration 24.json)"
    ok 'frames/img%04d.png'
    [ -s img.png ] || fail "made $(echo *.png)"
    ok --sequence frames
    [ -s frames.png ] || fail "made $(echo *.png)"
    rm frames/img0020.png
    refuses 3 'frames/img%04d.png' -o x.png
    says "its part 'frames/img0020.png' is missing$"
    refuses 3 'frames/other%04d.png' -o x.png
    says "no file has a name such as 'frames/other%04d.png'$"
}

# The formats of astronomers' cameras (bottom row first, 16 bits) and of games.
test_image_sequence_of_fits_and_qoi() {
    mkdir fits qoi
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=160x90:r=12:d=1 -c:v ffv1 -pix_fmt gray16le fits.mkv
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=160x90:r=12:d=1 -c:v ffv1 -pix_fmt bgr0 qoi.mkv
    ffmpeg -nostdin -v error -i qoi.mkv qoi/img%03d.qoi
    for n in $(seq 12); do
        ffmpeg -nostdin -v error -i fits.mkv -vf "trim=start_frame=$((n - 1)):end_frame=$n" -f fits "fits/img$n.fits"
    done
    for format in fits qoi; do
        ok --rate 12 -n 1 --strict --sequence $format --csv sequence.csv
        ok -n 1 $format.mkv --csv film.csv
        same_columns sequence.csv film.csv
    done
}

# A capture that was stopped leaves empty pictures: each is one missing frame, and all others have their own times and colours.
test_image_sequence_with_empty_images() { # quick
    for format in png jpg; do
        mkdir $format
        ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=160x90:r=12:d=2 -q:v 3 "$format/img%03d.$format"
        ok --rate 12 -n 1 --sequence $format --csv whole.csv
        for n in 001 002 007 016; do : > "$format/img$n.$format"; done
        ok --rate 12 -n 1 --sequence $format --csv holes.csv
        says "4 of 24 columns are missing"
        columns whole.csv | awk '$1 == 0 || $1 == 1 || $1 == 6 || $1 == 15 { $4 = "missing"; $5 = ""; $0 = $0; NF = 4 } { print }' |
            cmp - <(columns holes.csv | sed 's/ *$//')
        ok --rate 12 -n 1 "$format/img%03d.$format" --csv pattern.csv
        same_rows holes.csv pattern.csv
        exits 1 --strict --keyframes --rate 12 --sequence $format --csv keys.csv
        says "key frames are damaged or cannot be read"
    done
    for n in png/*; do : > "$n"; done
    refuses 3 --sequence png
    says "cannot open its part 'png/img001.png'"
}

# JPEGs of a phone may contain a second image, which is none of the film's.
test_image_sequence_with_previews() {
    mkdir jpeg
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=160x90:r=12:d=1 -q:v 3 p%d.jpg
    for n in $(seq 12); do cat "p$n.jpg" p1.jpg > "jpeg/p$n.jpg"; done
    ok -n 1 --strict --sequence jpeg --csv two.csv
    ok -n 1 'p%d.jpg' --csv one.csv
    same_columns two.csv one.csv
}

test_dvd_title() {
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=720x576:r=25:d=4 -f lavfi -i sine=d=4 -target pal-dvd title.vob
    mkdir VIDEO_TS o
    half=$(($(stat -c%s title.vob) / 2 / 2048 * 2048))
    head -c $half title.vob > VIDEO_TS/VTS_01_1.VOB
    tail -c +$((half + 1)) title.vob > VIDEO_TS/VTS_01_2.VOB
    ok -n 1 title.vob --csv title.csv
    ok --strict -n 1 VIDEO_TS/VTS_01_1.VOB --csv first.csv
    same_columns first.csv title.csv
    ok -n 1 VIDEO_TS --csv o/
    [ "$(ls o)" = VTS_01_1.csv ] || fail "made $(ls o)"
    same_columns o/VTS_01_1.csv title.csv
    ok --no-join -n 1 VIDEO_TS/VTS_01_1.VOB --csv alone.csv
    [ "$(columns alone.csv | wc -l)" -lt 60 ] || fail "--no-join joins"
    mv VIDEO_TS/VTS_01_2.VOB VIDEO_TS/VTS_01_3.VOB
    refuses 3 VIDEO_TS -o x.png
    says "its part 'VIDEO_TS/VTS_01_2.VOB' is missing$"
}

test_chapters_of_a_camera() { # quick
    mkdir -p card/100GOPRO o
    piece card/100GOPRO/GX010123.MP4 2 0
    piece card/100GOPRO/GX020123.MP4 1 90
    piece card/100GOPRO/GOPR0007.MP4 1 0
    piece card/100GOPRO/GP010007.MP4 1 90
    piece card/100GOPRO/GX010124.MP4 1 180
    ok -r -n 1 card --csv o
    [ "$(cd o/100GOPRO && echo *) " = "GOPR0007.csv GX010123.csv GX010124.csv " ] || fail "made $(ls o/100GOPRO)"
    cd card/100GOPRO || return
    ok -n 1 --join GX010123.MP4 GX020123.MP4 --csv ../../join.csv
    ok -n 1 GX010123.MP4 GX020123.MP4 --csv ../../named.csv
    cd ../..
    same_rows join.csv named.csv
    same_rows join.csv o/100GOPRO/GX010123.csv
    [ "$(columns join.csv | wc -l)" -eq 72 ] || fail "$(columns join.csv | wc -l) columns"
}

# playlist FILE CLIP START END...: times in seconds.
playlist() {
    "$PYTHON" - "$@" << 'END'
import struct, sys
items = [sys.argv[i:i + 3] for i in range(2, len(sys.argv), 3)]
data = b""
for name, start, end in items:
    data += struct.pack(">H", 20) + name.encode() + b"M2TS" + struct.pack(">HBII", 1, 0, round(float(start) * 45000), round(float(end) * 45000))
head = b"MPLS0200" + struct.pack(">II", 40, 0) + bytes(24)
open(sys.argv[1], "wb").write(head + struct.pack(">IHHH", len(data) + 6, 0, len(items), 0) + data)
END
}

test_playlist_of_a_bluray() {
    mkdir -p BDMV/PLAYLIST BDMV/STREAM
    for n in 1 2; do piece "BDMV/STREAM/0000$n.m2ts" 3 $((n * 60)) -c:a ac3 -f mpegts -mpegts_m2ts_mode 1; done
    start=$(ffprobe -v error -select_streams v -show_entries stream=start_time -of csv=p=0 BDMV/STREAM/00001.m2ts | head -n 1)
    end=$(echo "$start" | awk '{ print $1 + 3 }')
    playlist BDMV/PLAYLIST/00800.mpls 00001 "$start" "$end" 00002 "$start" "$end"
    ok --strict -n 1 BDMV/PLAYLIST/00800.mpls --csv list.csv
    says_not warning
    ok -n 1 --join BDMV/STREAM/00001.m2ts BDMV/STREAM/00002.m2ts --csv join.csv
    [ "$(columns list.csv | wc -l)" -eq 144 ] || fail "$(columns list.csv | wc -l) columns"
    columns list.csv | awk '$1 == 72 && ($3 < 3000 || $3 > 3006) { exit 1 }' || fail "the second clip does not begin at 3 s"
    columns list.csv | cut -d' ' -f1,2,4- > list
    columns join.csv | cut -d' ' -f1,2,4- | cmp - list
    ok --strict --columns 12 BDMV/PLAYLIST/00800.mpls --csv twelve.csv
    # The video begins 6 ms after the sound.
    [ "$(columns twelve.csv | awk '{ print $3 - 6 }' | tr '\n' ' ')" = "250 750 1250 1750 2250 2750 3250 3750 4250 4750 5250 5750 " ] ||
        fail "$(columns twelve.csv)"
    ok --strict --keyframes BDMV/PLAYLIST/00800.mpls --csv keys.csv
    [ "$(columns keys.csv | awk '{ print $3 - 6 }' | tr '\n' ' ')" = "0 1000 2000 3000 4000 5000 " ] || fail "$(columns keys.csv)"
    # half of a clip
    playlist BDMV/PLAYLIST/00801.mpls 00001 "$start" "$(echo "$start" | awk '{ print $1 + 1.5 }')" 00002 "$start" "$end"
    ok -n 1 BDMV/PLAYLIST/00801.mpls --csv half.csv
    [ "$(columns half.csv | tail -n 1 | cut -d' ' -f3)" = 4464 ] || fail "it does not end at 4.5 s: $(columns half.csv | tail -n 1)"
    [ "$(columns half.csv | wc -l)" -le 110 ] || fail "$(columns half.csv | wc -l) columns" # B-frames: two more
    playlist BDMV/PLAYLIST/00802.mpls 00001 "$start" "$end" 00007 "$start" "$end"
    refuses 3 BDMV/PLAYLIST/00802.mpls
    says "its part 'BDMV/PLAYLIST/../STREAM/00007.m2ts' is missing$"
    # AVCHD's names
    cp -r BDMV AVCHD
    for n in 1 2; do mv "AVCHD/STREAM/0000$n.m2ts" "AVCHD/STREAM/0000$n.MTS"; done
    mv AVCHD/PLAYLIST/00800.mpls AVCHD/PLAYLIST/00000.MPL
    ok --strict -n 1 AVCHD/PLAYLIST/00000.MPL --csv avchd.csv
    same_rows list.csv avchd.csv
    head -c 60 BDMV/PLAYLIST/00800.mpls > BDMV/PLAYLIST/00803.mpls
    refuses 3 BDMV/PLAYLIST/00803.mpls
    says "is damaged$"
    echo text > BDMV/PLAYLIST/00804.mpls
    refuses 3 BDMV/PLAYLIST/00804.mpls
    says "is not a playlist of a Blu-ray$"
}
