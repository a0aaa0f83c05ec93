# 66-cut.sh - whole films whose containers leave out what others have, or whose demuxers end with an error: no warning.

FF="ffmpeg -nostdin -v error -y"

# make FILE OPTION...: 50 pictures.
make() {
    local name=$1
    shift
    $FF -f lavfi -i testsrc2=s=192x128:r=25:d=2 "$@" "$name" || skip "this ffmpeg makes no $name"
}

whole() {
    ok "$1" --any --strict -n 1 -m average -o p.png
    says_not warning
}

# between FILE N: where in the file packet N of the pictures begins.
between() {
    ffprobe -v error -select_streams v -show_entries packet=pos -of csv=p=0 "$1" | tr -d , | sed -n "$(($2 + 1))p"
}

# What other writers leave out, or say, of films that are whole.
test_what_whole_films_leave_out() {
    make a.ivf -c:v libvpx -deadline realtime -auto-alt-ref 0
    for said in '\0\0\0\0\0\0\0\0' '\377\377\377\377\377\377\377\377' '\1\0\0\0\0\0\0\0' '\0\0\0\0\0\0\0\200' '\377\377\0\0\0\0\0\0'; do
        # shellcheck disable=SC2059  # bytes
        printf "$said" | dd of=a.ivf bs=1 seek=24 conv=notrunc 2> /dev/null
        whole a.ivf
    done
    make part.ivf -c:v libvpx -deadline realtime -auto-alt-ref 0 -vf "select='lt(mod(n\,7)\,3)'" -fps_mode vfr
    whole part.ivf
    make a.flv -c:v flv1 -flvflags no_duration_filesize
    whole a.flv
    head -c "$(between a.flv 20)" a.flv > cut.flv       # what records it stopped
    whole cut.flv
    $FF -f lavfi -i testsrc2=s=192x128:r=25:d=1 -f lavfi -i sine=d=4:r=44100 -c:v flv1 -c:a mp3 longer.flv
    whole longer.flv
    # A server's words on its own file: it is bigger, and as long.
    at=$(grep -abo filesize longer.flv | head -n 1)
    printf '\101\300' | dd of=longer.flv bs=1 seek=$((${at%%:*} + 9)) conv=notrunc 2> /dev/null
    whole longer.flv
    # Sound goes on for seconds; H.264 ends with a tag that says so, last of all.
    for f in over.flv over.wmv; do
        codecs='-c:v libx264 -c:a aac'
        [ $f = over.flv ] || codecs='-c:v wmv2 -c:a wmav2'
        # shellcheck disable=SC2086  # words
        $FF -f lavfi -i testsrc2=s=192x128:r=25:d=1 -f lavfi -i sine=d=5:r=44100 $codecs $f
        whole $f
    done
    for f in a.nut a.mxf a.swf a.rm a.gif a.asf a.avi; do
        options=
        case $f in
            *.nut | *.swf) options='-c:v mjpeg' ;;
            *.mxf) options='-c:v mpeg2video' ;;
            *.rm) options='-c:v rv10' ;;
            *.asf) options='-c:v wmv2' ;;
            *.avi) options='-c:v mpeg4' ;;
        esac
        # Into a pipe: no head can be mended.
        # shellcheck disable=SC2086  # words
        $FF -f lavfi -i testsrc2=s=192x128:r=25:d=1 $options -f ${f#*.} - | cat > $f
        whole $f
    done
}

# Sound that goes on for seconds, and sound that begins before 0.
test_whole_in_other_ways() {
    $FF -f lavfi -i testsrc2=s=192x128:r=25:d=2 -f lavfi -i sine=d=6 -c:v mpeg2video -c:a mp2 a.nut
    whole a.nut
    ok a.nut --strict --columns 20 -m average -o p.png
    says_not warning
    $FF -f lavfi -i testsrc2=s=192x128:r=25:d=6 -f lavfi -i sine=d=6 -c:v libvpx -g 50 -c:a libvorbis all.ogv
    $FF -ss 3.3 -i all.ogv -c copy part.ogv
    whole part.ogv
}

# This demuxer ends with an error.
test_ends_with_an_error() {
    make a.mpjpeg -f mpjpeg
    whole a.mpjpeg
    through a.mpjpeg - --any --strict -n 1 -m average -o p.png
    was 0
}

# The headers of the second of two films in Ogg are no pictures.
test_ogg_behind_ogg() {
    make a.ogv -c:v theora -q:v 7 -serial_offset 1
    make b.ogv -c:v theora -q:v 7 -serial_offset 9
    cat a.ogv b.ogv > both.ogv
    whole both.ogv
    ok both.ogv --any -n 1 -m average --json d.json -o p.png
    check columns d.json 100
    # The second one's headers are others: its pictures are those that it has alone.
    $FF -f lavfi -i testsrc2=s=176x144:r=25:d=2 -c:v theora -q:v 3 -pix_fmt yuv444p -serial_offset 9 b.ogv
    cat a.ogv b.ogv > both.ogv
    ok both.ogv --any --strict -n 1 --size 16x16 --crop off -m average --dump both.rgb -o p.png
    ok b.ogv --any --strict -n 1 --size 16x16 --crop off -m average --dump b.rgb -o p.png
    tail -c $((50 * 768)) both.rgb | cmp - b.rgb
}

# Cameras fill pictures up with zeros, and their streams end with no boundary.
test_pictures_filled_up() {
    make a.mpjpeg -c:v mjpeg -f mpjpeg
    "$PYTHON" - << 'END'
import re
data = open("a.mpjpeg", "rb").read()
pictures = re.findall(b"\xff\xd8.*?\xff\xd9", data, re.S)
parts = [b"--ffmpeg\r\nContent-type: image/jpeg\r\nContent-length: %d\r\n\r\n%s" % (len(p) + 100, p + bytes(100)) for p in pictures]
open("full.mpjpeg", "wb").write(b"\r\n".join(parts))
END
    whole full.mpjpeg
}
