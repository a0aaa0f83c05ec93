# The cause of a failure, in place of an error of libavformat.

make_film() {
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=320x180:r=10:d=4 "$@" || skip "no clip: ffmpeg $*"
}

# Images are a film by a pattern or --sequence only; the messages say so.
test_cause_is_a_missing_image() {
    mkdir seq
    make_film -frames:v 3 'seq/img%03d.png'
    refuses 3 'seq/none%03d.png' --no-cache
    says "^barcode: no file has a name such as 'seq/none%03d.png'$"
    refuses 3 seq/img001.png --no-cache
    says "is an image, not a film (--sequence makes a film of a folder's images)$"
    refuses 3 seq --no-cache
    says "no films in the folder 'seq' (its images are one film with --sequence)$"
}

# GIF's demuxer seeks back to the start of each frame, APNG's needs the size of a film that repeats.
test_cause_is_a_pipe() {
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc=s=320x240:r=10:d=3 a.gif -f apng -plays 1 once.png -f apng -plays 0 again.png
    [ "$(stat -c %s a.gif)" -gt 65536 ] || fail "a.gif fits into a buffer"
    for film in a.gif once.png again.png; do
        ok $film -n 1 --size 64 --dump file.rgb -q --no-cache --overwrite -o file.png
        [ "$(stat -c %s file.rgb)" -eq $((30 * 64 * 48 * 3)) ] || fail "$film has not 30 columns"
        through $film - -n 1 --size 64 --dump pipe.rgb -q --overwrite -o pipe.png
        if [ $film = again.png ]; then
            was 3
            one_sentence
            says "from a pipe: .* APNG .*; give a file$"
        else
            was 0
            cmp file.rgb pipe.rgb || fail "$film is another film from a pipe"
        fi
    done
}

# scramble FROM TO PID...: what a scrambler leaves of a transport stream; these PIDs stay clear.
scramble() {
    "$PYTHON" - "$@" <<'END'
import random
import sys

random.seed(1)
data, clear = bytearray(open(sys.argv[1], "rb").read()), [int(pid) for pid in sys.argv[3:]]
for at in range(0, len(data), 188):
    if ((data[at + 1] & 31) << 8 | data[at + 2]) not in clear:
        data[at + 3] = data[at + 3] & 0x1f | 0x80
        data[at + 4:at + 188] = random.randbytes(184)
open(sys.argv[2], "wb").write(data)
END
}

test_cause_is_encryption() {
    for codec in libx264 mpeg2video; do
        make_film -f lavfi -i sine=d=4 -map 0 -map 1 -c:v $codec -c:a mp2 clear.ts
        scramble clear.ts film.ts 0 17 4096          # its tables are clear
        scramble clear.ts all.ts
        scramble clear.ts sound.ts 0 17 4096 256     # the sound alone is scrambled
        refuses 3 film.ts --no-cache
        says "^barcode: cannot decode 'film.ts': its frame size is unknown; it may be encrypted$"
        refuses 3 all.ts --no-cache
        says "^barcode: 'all.ts' is not a film: .* encrypted$"
        through film.ts -
        was 3
        says "may be encrypted$"
        ok sound.ts -n 10 -q --no-cache --overwrite -o sound.png
    done
}

test_cause_is_a_missing_part() {
    make_film -c:v mpeg2video part.ts
    printf "ffconcat version 1.0\nfile 'part.ts'\nfile 'missing.ts'\n" > second.ffconcat
    printf "ffconcat version 1.0\nfile 'missing.ts'\nfile 'part.ts'\n" > first.ffconcat
    printf "ffconcat version 1.0\nfile 'part.ts'\nduration 4\nfile 'missing.ts'\nduration 4\n" > long.ffconcat
    refuses 3 first.ffconcat --no-cache
    says "^barcode: cannot open 'first.ffconcat': cannot open its part 'missing.ts': No such file or directory$"
    printf "ffconcat version 1.0\nfile '/etc/passwd'\n" > unsafe.ffconcat
    refuses 3 unsafe.ffconcat --no-cache
    says "'unsafe.ffconcat' is a playlist that names '/etc/passwd': only relative names of files in its folder or below it are read$"
    for film in second long; do
        exits 1 $film.ffconcat -n 10 --strict --no-cache -o $film.png
        says "^barcode: warning: '$film.ffconcat': cannot open its part 'missing.ts'"
        says_not "damaged"
        says_not "stops at"
        [ $film = long ] || says "'missing.ts': the film ends there$"
    done
    says "about 4 of 8 columns are missing"
}

# A player follows ordered chapters; barcode reads the film from end to end.
test_ordered_chapters() {
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=64x36:r=25:d=1 -c:v mpeg4 plain.mkv
    "$PYTHON" "$HERE/matroska.py" plain.mkv ordered.mkv ordered
    [ "$(ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 ordered.mkv)" = 25 ] || fail "ffprobe cannot read it"
    ok -n 1 --strict ordered.mkv -o p.png
    says "^barcode: warning: 'ordered.mkv' has ordered chapters: a player shows it in another order$"
    ok -n 1 --strict plain.mkv -o p.png
    says_not ordered
}
