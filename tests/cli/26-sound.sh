# Reading sound: which stream, and the same sound whichever way the film is read.
# shellcheck disable=SC2153

SOUND='(0.4*sin(2*PI*900*t)+0.4*sin(2*PI*(2000+300*t)*t))*between(mod(t,1),0.4,0.6)'

# film NAME ARG...: 6 s of colours with a beep every second.
film() {
    local name=$1
    shift
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc=s=96x64:r=25:d=6 -f lavfi -i "aevalsrc='$SOUND|$SOUND':s=48000:d=6" \
        "$@" "$name"
}

# peaks FILM ARG...: writes the peaks of its sound to peaks.csv, without a word.
peaks() {
    ok "$@" -q --landmarks peaks.csv
}

# shown FILM ARG...: the same peaks as in peaks.csv, beside pictures.
shown() {
    ok "$@" -m sound --landmarks beside.csv -o now.png
    cmp peaks.csv beside.csv || fail "other sound: $*"
}

test_sound_is_read_in_every_way() { # quick
    film a.mkv -c:v mpeg4 -g 10 -bf 2 -c:a ac3
    film a.ts -c:v mpeg2video -g 10 -bf 2 -c:a ac3
    film a.mp4 -c:v mpeg4 -g 10 -c:a aac
    for f in a.mkv a.ts a.mp4; do
        peaks $f --no-cache
        [ "$(wc -l < peaks.csv)" -gt 12 ] || fail "no sound in $f"
        shown $f --no-cache
        shown $f --no-cache --end 2 -n 1
        shown $f --no-cache --start 3
        shown $f --no-cache --keyframes
        shown $f --no-cache --columns 10 --threads 1
        shown $f --no-cache --verify -n 5
        shown $f --cache c
        shown $f --cache c --keyframes
        peaks $f --cache c
        [ $f != a.mp4 ] || continue
        through $f -q - --no-cache -m sound --landmarks beside.csv -o now.png
        was 0
        cmp peaks.csv beside.csv || fail "other sound in a pipe: $f"
    done
}

test_sound_of_a_film_in_parts() {
    film 1.mkv -c:v mpeg4 -c:a flac -t 4
    film 2.mkv -c:v mpeg4 -c:a flac -ss 1 -t 3
    peaks --join 1.mkv 2.mkv --no-cache
    shown --join 1.mkv 2.mkv --no-cache
    ok --join 1.mkv 2.mkv --no-cache -m sound --json a.json -o now.png -n 1
    # Beeps at 0.4, 1.4, 2.4 and 3.4 s, and those of the second part, which begins at 4 s, at 4.4, 5.4 and 6.4 s.
    "$PYTHON" - << 'PY' || fail "beeps at other times"
import json
film = json.load(open("a.json"))
loud = [c["time"] for c in film["columns"] if c["peak"] > -15]
begins = [t for i, t in enumerate(loud) if i == 0 or t - loud[i - 1] > 0.3]
assert len(begins) == 7 and all(abs(t - 0.4 - i) < 0.05 for i, t in enumerate(begins)), begins
PY
}

test_which_sound() { # quick
    ffmpeg -nostdin -v error -f lavfi -i testsrc=s=64x48:d=1 -f lavfi -i sine=d=1 -f lavfi -i sine=r=8000:d=1 -map 1 -map 0 -map 2 \
        -c:v mpeg4 -c:a pcm_s16le -disposition:a:0 0 -disposition:a:1 default two.mkv
    for trial in ":1 8000" "--sound-stream 0:0 44100" "--sound-stream 1:1 8000"; do
        # shellcheck disable=SC2086
        ok two.mkv ${trial%:*} -m sound --json now.json -o now.png
        [ "$("$PYTHON" -c 'import json; s = json.load(open("now.json"))["sound"]; print(s["stream"], s["rate"])')" = "${trial#*:}" ] ||
            fail "another stream: $trial"
    done
    rm now.*
    refuses 2 two.mkv --sound-stream 2 -m sound
    says "'two.mkv' has 2 streams of sound, numbered from 0: there is no --sound-stream 2"
    refuses 2 two.mkv --sound-stream -1 -m sound
    # Nothing asks for sound.
    ok two.mkv --sound-stream 2 -o now.png
    # A film without sound is silent whatever the number is.
    ffmpeg -nostdin -v error -f lavfi -i testsrc=s=64x48:d=1 -c:v mpeg4 none.mkv
    ok none.mkv --sound-stream 2 -m sound --json now.json -o now.png
    grep -q '"sound": null' now.json || fail "sound in a film without any"
}

pixels() {
    ffmpeg -nostdin -v error -i "$1" -f rawvideo -pix_fmt rgb24 -
}

# Packets that cannot be decoded count, read or cached, with and without pictures.
test_sound_strict() {
    film a.mkv -c:v mpeg4 -c:a ac3
    "$PYTHON" -c 'import re; b = bytearray(open("a.mkv", "rb").read())
for m in list(re.finditer(b"\x0b\x77", b))[40:44]: b[m.start():m.start() + 40] = bytes(40)
open("damaged.mkv", "wb").write(b)'
    for again in 1 2; do
        ok a.mkv --strict --cache cache --landmarks a.csv
        for shown in "--landmarks b.csv" "-m sound -n 4 -o b.png"; do
            # shellcheck disable=SC2086
            exits 1 damaged.mkv --strict --cache cache $shown
            says "packets* of its sound cannot be decoded"
            says "'damaged.mkv' decoded only in part (--strict)"
        done
    done
}

# The cached sound of one program is not taken for another's.
test_sound_of_two_programs() {
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=64x48:r=10:d=4 -f lavfi -i smptebars=s=64x48:r=10:d=4 \
        -f lavfi -i sine=300:d=4 -f lavfi -i sine=3000:d=4 -map 0:v -map 1:v -map 2:a -map 3:a \
        -c:v mpeg2video -c:a mp2 -program st=0:st=2 -program st=1:st=3 two.ts
    for stream in 0 1; do
        ok two.ts --stream $stream --no-cache --landmarks own$stream.csv
        ok two.ts --stream $stream --cache cache --landmarks cached$stream.csv
        cmp own$stream.csv cached$stream.csv || fail "stream $stream: another sound"
    done
    ! cmp -s own0.csv own1.csv || fail "both programs have the same sound"
}

test_sound_that_cannot_be_decoded() { # quick
    film a.mov -c:v mpeg4 -c:a pcm_s24le
    LC_ALL=C sed 's/in24/zz24/g' a.mov > b.mov
    ok a.mov -m average,sound --no-cache -o a.png
    ok b.mov -m average,sound --no-cache -o b.png
    says "warning: 'b.mov': its sound (none) cannot be decoded, and is silent"
    cmp <(pixels a-average.png) <(pixels b-average.png) || fail "other colours"
    cmp -s <(pixels a-sound.png) <(pixels b-sound.png) && fail "heard"
    film a.mkv -c:v mpeg4 -c:a flac
    "$PYTHON" -c 'b = bytearray(open("a.mkv", "rb").read())
for i in range(len(b) // 3, len(b) // 3 * 2, 3000): b[i] ^= 90
open("d.mkv", "wb").write(b)'
    ok d.mkv -m sound --no-cache -o d.png
    says "warning: 'd.mkv': .* packets* of its sound cannot be decoded (silent there)"
}

# Two days of silence at 1 Hz: an interruption does not wait for them.
test_interrupted_sound() {
    ffmpeg -nostdin -v error -f lavfi -i testsrc=s=64x48:r=1:d=4 -f lavfi -i anullsrc=r=8000:d=20 -af asetrate=1 -c:v mpeg4 -c:a pcm_u8 long.mkv
    env --default-signal=INT "$BARCODE" long.mkv --no-cache -m sound -o now.png 2> said &
    sleep 1
    local began=$SECONDS status=0
    kill -INT $!
    wait $! || status=$?
    [ $status -eq 130 ] || fail "exit status $status: $(cat said)"
    [ $((SECONDS - began)) -le 4 ] || fail "it took $((SECONDS - began)) s to end"
    [ ! -e now.png ] || fail "a picture"
}
