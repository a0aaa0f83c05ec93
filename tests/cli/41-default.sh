# What a film gives without an option: the number of columns, and the size of the picture.

# grey NAME RATE SECONDS: uncompressed frames of 8x8 pixels.
grey() {
    # shellcheck disable=SC2086  # NAME may be several words
    head -c $(($2 * $3 * 64)) /dev/zero | tr '\0' '\200' |
        ffmpeg -nostdin -v error -y -f rawvideo -pixel_format gray -video_size 8x8 -framerate "$2" -i - -c copy $1
}

# size PICTURE: width and height.
size() {
    ffprobe -v error -show_entries stream=width,height -of csv=p=0:s=x "$1"
}

# sized PICTURE SIZE
sized() {
    [ "$(size "$1")" = "$2" ] || fail "$1 is $(size "$1"), not $2"
}

# Each film of a run has an N of its own.
test_default_two_hours() {
    mkdir films
    for rate in 24 25 30 60; do
        grey films/$rate.mkv $rate 7200
    done
    grey films/short.mkv 24 60
    grey films/longer.mkv 25 200 # 5,000 frames
    ok films -m average -o o/ --json o/
    for film in 24,90,1920 25,94,1915 30,113,1912 60,225,1920 short,1,1440 longer,3,1667; do
        IFS=, read -r name every width <<< "$film"
        [ "$(check get "o/$name.json" selection.every)" = "$every" ] || fail "$name: another N"
        check columns "o/$name.json" "$width"
        sized "o/$name-average.png" "${width}x800"
    done
    ok films/60.mkv -m average --start 10:00 --end 20:00 -o part.png
    sized part.png 1895x800
    ok films/24.mkv -m average -n 24 -o every.png
    sized every.png 7200x800
    ok films/24.mkv -m average --interval 10 --height 5 -o interval.png
    sized interval.png 720x5
}

test_default_stack_and_shapes() {
    grey film.mkv 25 80 # 2,000 columns
    ok film.mkv -o strip.png
    sized strip.png 2000x800
    ok film.mkv -m all -o all.png
    case $(size all.png) in
        1920x18?? | 1920x19?? | 1920x20??) ;;
        *) fail "all modes are $(size all.png)" ;;
    esac
    ok film.mkv -m all -n 1 -o all.png
    case $(size all.png) in
        2000x*) ;;
        *) fail "with -n 1 all modes are $(size all.png)" ;;
    esac
    ok film.mkv --shape vertical -o v.png
    sized v.png 800x2000
    ok film.mkv --shape ring -o c.png
    sized c.png 1080x1080
}

# Whole pixels are repeated, unless an option gives the width or selects the frames; data stay as they are.
test_default_few_frames() { # quick
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=64x36:r=5:d=20 -c:v mpeg4 -g 5 film.avi
    ok film.avi --end 6 -m average,squeeze -o p.png --csv p.csv --dump p.rgb --size 16x9
    sized p-average.png 1290x800
    sized p-squeeze.png 1290x800
    [ "$(wc -l < p.csv)" -eq 31 ] || fail "$(wc -l < p.csv) lines of 30 columns"
    [ "$(stat -c %s p.rgb)" -eq $((30 * 16 * 9 * 3)) ] || fail "the dump has $(stat -c %s p.rgb) bytes"
    for mode in average squeeze; do
        ok film.avi --end 6 -m $mode --size 16x9 -n 1 -o own.png
        sized own.png 30x800
        ffmpeg -nostdin -v error -y -i own.png -vf scale=1290:800:flags=neighbor own-large.png
        check pixels own-large.png p-$mode.png
    done
    ok film.avi --end 6 --width 30 -o w.png
    sized w.png 30x800
    ok film.avi --columns 7 -o c.png
    sized c.png 7x800
    ok film.avi --interval 2 -o i.png
    sized i.png 10x800
    ok film.avi --end 0.1 -o one.png
    sized one.png 1280x800
    ok film.avi --end 6 --shape vertical -o v.png
    sized v.png 800x1290
    ok film.avi --keyframes -o k.png --json k.json
    sized k.png 1280x800
    check columns k.json 20
    ok film.avi --keyframes --start 5 --end 10 --json k.json
    check columns k.json 5
}

# Of a pipe whose film does not declare its length, every 24th frame is taken; the picture has a width to look at.
test_default_unknown_length() {
    grey '-f matroska -' 100 600 > endless.mkv
    mkfifo pipe
    cat endless.mkv > pipe &
    ok pipe -m average -o p.png --json p.json
    says 'does not declare its length: using every 24th frame'
    check columns p.json 2500
    sized p.png 1920x800
    ok endless.mkv -m average -o f.png --json f.json
    sized f.png 1936x800
}

# A header that declares a tenth of the film, or ten times as much.
test_default_wrong_length() {
    ffmpeg -nostdin -v error -f lavfi -i color=gray:s=16x16:r=25:d=400 -c:v flv1 -g 250 film.flv
    for seconds in 40 4000; do
        "$PYTHON" - $seconds << 'END'
import struct, sys
data = bytearray(open("film.flv", "rb").read())
struct.pack_into(">d", data, data.index(b"\0\x08duration\0") + 11, float(sys.argv[1]))
open("lie.flv", "wb").write(data)
END
        for _ in 1 2; do
            ok lie.flv -m average --cache cache -o p.png --json p.json
            sized p.png 2000x800
            check columns p.json 2000
        done
        grep -q '"cache": "hit"' p.json || fail "$seconds s: not found in the cache"
        ok lie.flv -m average -n 50 -o p.png
        sized p.png 200x800
        mkfifo "pipe-$seconds"
        cat lie.flv > "pipe-$seconds" &
        ok "pipe-$seconds" -m average --json p.json
    done
}

# squeeze: rows of two pixels are grey if fewer are analysed than are drawn.
test_squeeze_as_high_as_drawn() {
    ffmpeg -nostdin -v error -f lavfi -i color=c=black:s=64x1080:r=5:d=1 \
        -vf "geq=lum='if(mod(floor(Y/2),2),200,50)':cb=128:cr=128" -c:v ffv1 lines.mkv
    high() { tr -d ' \n' < "$1" | sed -E 's/.*"size":\[[0-9]+,([0-9]+)\].*/\1/'; }
    ok lines.mkv -m squeeze --height 1080 --json s.json -o s.png
    [ "$(high s.json)" = 1080 ] || fail "$(high s.json) rows are analysed"
    ffmpeg -nostdin -v error -i s.png -vf crop=1:1080:0:0 -f rawvideo -pix_fmt gray s.raw
    ffmpeg -nostdin -v error -i lines.mkv -frames:v 1 -vf scale=out_range=pc,crop=1:1080:0:0 \
        -f rawvideo -pix_fmt gray f.raw
    python3 -c 'a, b = (open(f, "rb").read() for f in ("s.raw", "f.raw"))
assert len(a) == 1080 and max(abs(x - y) for x, y in zip(a, b)) < 3' ||
        fail "the rows are not those of the frame"
    ok lines.mkv -m squeeze -o p.pdf --json p.json
    [ "$(high p.json)" = 1080 ] || fail "$(high p.json) rows are analysed for a page"
    ok lines.mkv -m squeeze --poster --page 1200x900 -o p.png --json q.json
    [ "$(high q.json)" = 900 ] || fail "$(high q.json) rows are analysed for a poster"
    for usual in "-m squeeze" "-m squeeze,kmeans --height 1080" "-m squeeze --size 320 --height 1080"; do
        # shellcheck disable=SC2086
        ok lines.mkv $usual --json u.json -o u.png
        [ "$(high u.json)" = 320 ] || fail "$usual: $(high u.json) rows are analysed"
    done
}
