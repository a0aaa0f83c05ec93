# Orientation in the bitstream: as the ffmpeg program turns the first frame.

make_film() {
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=320x180:r=24:d=3 "$@" || skip "no clip: ffmpeg $*"
}

# first FILM TO: writes the analysis frame of FILM's first frame.
first() {
    ok "$1" -n 100 --size 64 --dump "$2" -q --no-cache --overwrite -o first.png
}

# turned FILM: the first frame of FILM is the one that ffmpeg shows, in turned.rgb.
turned() {
    ffmpeg -nostdin -v error -y -i "$1" -frames:v 1 -c:v ffv1 reference.mkv
    first reference.mkv reference.rgb
    first "$1" turned.rgb
    cmp turned.rgb reference.rgb || fail "$1 is not turned as ffmpeg turns it"
}

differ() {
    ! cmp -s "$1" "$2" || fail "$1 and $2 are alike"
}

test_orientation_of_h264() {
    make_film -t 1 -c:v libx264 -g 24 a.mp4
    first a.mp4 plain.rgb
    for how in ts:rotate=90 ts:rotate=180 mp4:rotate=270 mkv:flip=horizontal h264:flip=vertical ts:rotate=90:flip=horizontal; do
        film=t.${how%%:*}
        ffmpeg -nostdin -v error -y -i a.mp4 -c copy -bsf:v "h264_mp4toannexb,h264_metadata=display_orientation=insert:${how#*:}" "$film"
        turned "$film"
        differ turned.rgb plain.rgb
    done
}

# The bitstream's orientation goes before the container's.
test_orientation_twice() {
    make_film -t 1 -c:v libx264 -g 24 a.mp4
    "$PYTHON" "$HERE/turn.py" tkhd a.mp4 container.mp4
    ffmpeg -nostdin -v error -y -i container.mp4 -c copy -bsf:v h264_metadata=display_orientation=insert:rotate=90 both.mp4
    ffprobe -v error -show_streams both.mp4 | grep -q 'rotation=-180' || fail "both.mp4 has no matrix"
    for film in container.mp4 both.mp4; do turned $film; done
    first container.mp4 container.rgb
    differ turned.rgb container.rgb
}

test_orientation_of_hevc() {
    make_film -t 1 -c:v libx265 -x265-params log-level=error:bframes=0 a.hevc
    "$PYTHON" "$HERE/turn.py" hevc a.hevc t.hevc
    first a.hevc plain.rgb
    for to in t.hevc t.ts t.mp4; do
        [ -e $to ] || ffmpeg -nostdin -v error -y -fflags +genpts -r 24 -i t.hevc -c copy $to
        turned $to
        differ turned.rgb plain.rgb
    done
}

# A recording that begins between two key frames: its first message is in the second one.
test_orientation_after_the_start() {
    make_film -c:v libx265 -x265-params log-level=error:bframes=0:keyint=24:min-keyint=24:scenecut=0:repeat-headers=1 a.hevc
    "$PYTHON" "$HERE/turn.py" hevc a.hevc t.hevc
    ffmpeg -nostdin -v error -y -fflags +genpts -r 24 -i t.hevc -c copy whole.ts
    tail -c +$((188 * 50 + 1)) whole.ts > cut.ts
    for film in whole cut; do
        ok $film.ts -n 1 --json $film.json -q --no-cache -o $film.png
        grep -q '"rotation":270,"mirror":true' $film.json || fail "$film.ts is not turned: $(grep -o '"rotation":[^,]*' $film.json)"
    done
    through cut.ts - -n 1 --json pipe.json -q -o pipe.png
    was 0
    for film in cut pipe; do grep -o '"rotation":[0-9]*\|^{"frame":.*"rgb":.*' $film.json > $film.facts; done
    [ "$(wc -l < cut.facts)" -gt 48 ] || fail "cut.ts has too few columns"
    cmp cut.facts pipe.facts || fail "a pipe gives other columns"
}

test_orientation_of_jpeg() {
    make_film -frames:v 2 -q:v 2 -c:v mjpeg -f image2 j%d.jpg
    for value in 1 2 3 4 5 6 7 8; do
        for i in 1 2; do "$PYTHON" "$HERE/turn.py" exif j$i.jpg t$i.jpg $value; done
        cat t1.jpg t2.jpg > t.mjpeg
        ffmpeg -nostdin -v error -y -f jpeg_pipe -i t.mjpeg -frames:v 1 -vf scale=in_range=pc:out_range=pc,format=yuv420p -color_range pc -c:v ffv1 reference.mkv
        first reference.mkv reference.rgb
        "$BARCODE" - -n 100 --size 64 --dump $value.rgb -q -o first.png --overwrite < <(cat t.mjpeg)
        cmp $value.rgb reference.rgb || fail "EXIF $value is not turned as ffmpeg turns it"
        [ $value = 1 ] || differ $value.rgb 1.rgb
    done
    ffmpeg -nostdin -v error -y -f jpeg_pipe -i t.mjpeg -c copy t.avi
    first t.avi avi.rgb
    cmp avi.rgb reference.rgb || fail "EXIF in an AVI counts otherwise"
}
