# Length and time of whole films whose containers say little, or wrong things: every column is the
# frame that ffprobe shows then, without a warning. The films are those of public bug reports.

# shellcheck source=tests/support/time.sh
. "${BASH_SOURCE[0]%/*}/../support/time.sh"

# piped FILM: through a pipe as from the file, or one sentence that the length is needed.
piped() {
    local options
    for options in "-n 1" "--columns 20" "--keyframes --columns 20" "--keyframes"; do
        # shellcheck disable=SC2086  # words
        through "$1" - $options -m average --size 16 --json j.json
        if [ "$STATUS" -ne 0 ] && [ "$options" != "-n 1" ]; then
            one_sentence
            says length
        elif [ "$options" = --keyframes ]; then
            says_not warning
            n=$(check get j.json columns | grep -o '"time"\|'"'time'" | wc -l)
            [ "$n" -le 300 ] || fail "$n columns"
        else
            was 0
            judged "$1"
        fi
    done
}

# ---- A: frames that the recorder dropped, in containers that count frames ----

test_time_dropped_frames_in_avi() {
    vfr 1.avi -c:v libx264 -bf 0
    whole 1.avi
}

test_time_dropped_frames_in_avi_with_b_frames() {
    vfr 1.avi -c:v libx264 -bf 2
    whole 1.avi
    vfr 2.avi -c:v mpeg4 -bf 2
    whole 2.avi
}

test_time_dropped_frames_of_other_codecs() {
    for codec in mpeg4 mjpeg msmpeg4 ffv1; do
        vfr $codec.avi -c:v $codec
        whole $codec.avi
    done
    vfr 1.wmv -c:v libx264 -bf 0 -f asf
    whole 1.wmv
}

# ---- B: a pipe, and films whose header was written before them ----

test_time_fragmented_from_a_pipe() {
    base a.mp4 30
    $FF -i a.mp4 -c copy -movflags frag_keyframe+empty_moov 2.mp4
    whole 2.mp4
    piped 2.mp4
}

test_time_live_from_a_pipe() {
    base a.mp4 12
    for f in live.mkv:matroska live.flv:flv live.ts:mpegts live.nut:nut; do
        $FF -i a.mp4 -c copy -f "${f#*:}" - | cat > "${f%:*}"
        piped "${f%:*}"
        whole "${f%:*}"
    done
    for f in avi:mpeg4 asf:wmv2; do
        $FF -f lavfi -i testsrc2=s=96x64:r=24:d=12 -g 24 -c:v "${f#*:}" -f "${f%:*}" - | cat > "live.${f%:*}"
        piped "live.${f%:*}"
        whole "live.${f%:*}"
    done
    $FF -f lavfi -i testsrc2=s=96x64:r=24:d=1 -g 12 -c:v wmv2 -f avi - | cat > unmarked.avi
    refuses 3 unmarked.avi --keyframes
    says "it has no index, and its codec does not mark them"
}

# ---- C: other streams outlast the video ----

test_time_subtitles_outlast_the_video() {
    base a.mp4 30
    printf '1\n00:00:01,000 --> 00:00:55,000\nlong\n' > s.srt
    $FF -i a.mp4 -i s.srt -c copy -c:s srt -write_crc32 0 t.mkv
    sed s/DURATION/XURATION/g t.mkv > 3.mkv
    whole t.mkv
    whole 3.mkv
}

test_time_sound_outlasts_the_video() {
    base a.mp4 20
    $FF -i a.mp4 -f lavfi -i sine=d=55 -map 0:v -map 1:a -c:v copy -c:a aac -write_crc32 0 t.mkv
    sed s/DURATION/XURATION/g t.mkv > 3.mkv
    $FF -i t.mkv -c copy 3.mp4
    $FF -i t.mkv -c copy -movflags frag_keyframe+empty_moov+default_base_moof 3f.mp4
    $FF -i t.mkv -c:v copy -c:a mp2 3.ts
    $FF -i t.mkv -c:v copy -c:a mp3 -ar 44100 3.flv
    $FF -i t.mkv -g 24 -c:v wmv2 -c:a wmav2 3.wmv
    $FF -i t.mkv -g 24 -c:v mpeg4 -c:a mp2 3.avi
    $FF -i t.mkv -g 24 -c:v mpeg2video -c:a mp2 3.wtv
    for f in 3.mkv 3.mp4 3f.mp4 3.ts 3.flv 3.wmv 3.avi 3.wtv; do
        whole $f
    done
}

# ---- D: Matroska's DURATION tag contradicts its Duration ----

# tagged FILM FROM TO: the tag of the length FROM (seconds) says TO.
tagged() {
    local text
    printf -v text '00:00:%02d' "$2"
    LC_ALL=C grep -aq "$text\.0" "$1" || fail "no DURATION tag of $text in $1"
    sed "s/00:00:$2\.0/00:00:$3.0/g" "$1"
}

test_time_duration_tag_is_wrong() {
    base a.mkv 30 -write_crc32 0
    for said in 14 45; do
        tagged a.mkv 30 $said > $said.mkv
        whole $said.mkv
    done
}

# mkvmerge writes a track's length there, ffmpeg its end.
test_time_duration_tag_is_a_length() {
    base a.mp4 30
    $FF -itsoffset 10 -i a.mp4 -f lavfi -i sine=d=42 -map 0:v -map 1:a -c:v copy -c:a libopus \
        -write_crc32 0 late.mkv
    tagged late.mkv 40 30 > length.mkv
    cmp -s late.mkv length.mkv && fail "the tag is as it was"
    whole late.mkv
    whole length.mkv
}

# ---- E: the header is shorter than the film ----

# lying FILM FACTOR TO: with another length in its header (time_films.py).
lying() {
    "$PYTHON" - "$HERE/.." "$@" << 'END' || fail "no length in $1"
import sys
sys.path.insert(0, sys.argv[1])
import time_films
_, _, source, factor, target = sys.argv
data = bytearray(open(source, "rb").read())
done = time_films.LIES[source.rsplit(".", 1)[1]](data, float(factor))
open(target, "wb").write(data)
sys.exit(not done)
END
}

# Time_films' lengths are 12 s.
test_time_header_is_shorter() {
    base a.mp4 12
    base a.flv 12 -bf 0
    base a.mkv 12 -write_crc32 0
    $FF -f lavfi -i testsrc2=s=96x64:r=24:d=12 -g 24 -c:v mpeg4 a.avi
    for f in a.mp4 a.flv a.mkv a.avi; do
        lying $f 0.5 "half-$f"
        whole "half-$f"
    done
}

test_time_header_is_longer() {
    base a.mp4 12
    $FF -f lavfi -i testsrc2=s=96x64:r=24:d=12 -g 24 -c:v mpeg4 a.avi
    for f in a.mp4 a.avi; do      # whose indexes cover the film
        lying $f 2 "double-$f"
        whole "double-$f"
    done
}

# all_or_told FILM: every frame that ffprobe counts has its column, and 20 columns reach the end; or
# a warning.
all_or_told() {
    ok "$1" -n 1 -m average --size 16 --json j.json
    if ! grep -q '^barcode: warning: ' "$LOGS/stderr"; then
        check count "$1" j.json
    fi
    ok "$1" --columns 20 -m average --size 16 --json c.json
    if ! grep -q '^barcode: warning: ' "$LOGS/stderr"; then
        "$PYTHON" - j.json c.json << 'END' || fail "$1: in silence"
import json, sys
every, some = (json.load(open(p))["columns"] for p in sys.argv[1:])
numbers = [c["frame"] for c in some]
print(numbers)
last = len(every) - 1
sys.exit(not (len(set(numbers)) == 20 and numbers[0] < last / 19 and numbers[-1] > last * 18 / 19))
END
    fi
}

# E and K: a second film behind the first.
test_time_two_films_in_one_file() {
    base a.mkv 12
    base a.flv 12
    $FF -f lavfi -i testsrc2=s=96x64:r=24:d=12 -g 24 -c:v mpeg4 a.avi
    $FF -f lavfi -i testsrc2=s=96x64:r=24:d=12 -g 24 -c:v wmv2 a.wmv
    $FF -f lavfi -i testsrc2=s=96x64:r=24:d=12 a.gif
    for f in a.mkv a.flv a.avi a.wmv a.gif; do
        cat $f $f > "two-$f"
        all_or_told "two-$f"
    done
}
