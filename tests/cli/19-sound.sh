# The modes sound and spectrum, and the sound in CSV, JSON and pages. The sound of a made film is known at every time.

# film NAME: 8 s of orange; 2 s of silence, 4 s of 1000 Hz at -20 dB, 2 s of white noise.
film() {
    ffmpeg -nostdin -v error -y -f lavfi -i "color=0xc86432:s=64x36:r=10:d=8" -f lavfi -i \
        "aevalsrc='if(lt(t,2),0,if(lt(t,6),0.1*sin(2*PI*1000*t),0.25*(2*random(0)-1)))':s=48000:d=8" \
        -c:v ffv1 -c:a flac "$1"
}

# look PICTURE EXPRESSION...: each of python's expressions is true. p(x, y) is a pixel's sum of channels, w and h the size.
look() {
    "$PYTHON" - "$@" << 'END' || fail "$1: not so: $(cat "$LOGS/false")"
import os, struct, sys, zlib
data = open(sys.argv[1], "rb").read()
w, h = struct.unpack(">II", data[16:24])
at, packed = 8, b""
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at:at + 8])
    packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
    at += 12 + size
raw, rows, last = zlib.decompress(packed), [], bytes(3 * w)
for y in range(h):
    kind, line = raw[y * (3 * w + 1)], bytearray(raw[y * (3 * w + 1) + 1:(y + 1) * (3 * w + 1)])
    for i in range(3 * w):
        a, b, c = line[i - 3] if i > 2 else 0, last[i], last[i - 3] if i > 2 else 0
        near = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
        line[i] = (line[i] + (0, a, b, (a + b) // 2, near)[kind]) & 255
    rows.append(bytes(line))
    last = line
def p(x, y):
    return sum(rows[y][3 * x:3 * x + 3])
def column(x):
    return [p(x, y) for y in range(h)]
for text in sys.argv[2:]:
    if not eval(text):
        open(os.environ["LOGS"] + "/false", "w").write(text)
        sys.exit(1)
END
}

# The tone begins at 2 s in every width, also where columns and pixels are not the same; loudness looks 0.2 s ahead.
test_sound_is_at_its_time() {
    export LOGS
    decoded_once
    film a.mkv
    for width in 7 16 80 79 400; do
        ok a.mkv -m sound,spectrum --every 3 --width $width --height 96 -o p.png
        look p-sound.png "w == $width and h == 96" \
            "all(p(x, 48) == 44 for x in range(w) if (x + 1) * 8 <= 1.7 * w)" \
            "all(p(x, 48) == 200 + 101 + 50 + 3 * 13 for x in range(w) if x * 8 >= 2 * w)"
        look p-spectrum.png "all(p(x, y) == 4 for x in range(w) for y in range(h) if (x + 1) * 8 <= 1.8 * w)" \
            "all(abs(column(x).index(max(column(x))) - 37) <= 1 for x in range(w) if 2.1 * w <= x * 8 and (x + 1) * 8 <= 5.9 * w)" \
            "all(min(column(x)[2:60]) > 250 for x in range(w) if x * 8 >= 6.2 * w and (x + 1) * 8 <= 7.8 * w)"
    done
}

test_sound_is_the_same_every_time() {
    film a.mkv
    local -a shown=(-m all+sound+spectrum --csv c.csv --smooth 0.5 -n 16)
    ok a.mkv "${shown[@]}" -o p.png --no-cache
    for way in "--threads 1" "--cache c" "--cache c" "--sandbox=off"; do
        # shellcheck disable=SC2086
        ok a.mkv "${shown[@]}" $way -o q.png
        cmp p.png q.png
    done
    for isa in base avx2; do
        BARCODE_ISA=$isa run a.mkv "${shown[@]}" --no-cache -o q.png
        [ "$STATUS" -ne 0 ] || cmp p.png q.png
    done
}

test_sound_in_numbers() {
    film a.mkv
    ok a.mkv -m sound --every 10 --json a.json --csv a.csv -o p.png
    "$PYTHON" - << 'END' || fail "numbers"
import csv, json
film = json.load(open("a.json"))
sound, columns = film["sound"], film["columns"]
assert (sound["codec"], sound["rate"], sound["channels"], sound["gaps"], sound["errors"]) == ("flac", 48000, 1, 0, 0), sound
assert -23 < sound["loudness"] < -10 and sound["range"] >= 0 and -13 < sound["peak"] <= -12, sound
assert [c["loudness"] for c in columns[:1]] == [-70] and columns[0]["centroid"] is None, columns[0]
for c in columns[3:5]:    # a sine of -20 dB has -23 LUFS (EBU Tech 3341), of one channel
    assert abs(c["loudness"] + 23) < 0.3 and c["peak"] == -20 and abs(c["centroid"] - 1000) < 8, c
assert columns[7]["centroid"] > 3000, columns[7]
rows = list(csv.DictReader(open("a.csv", newline="")))
assert list(rows[0])[-3:] == ["loudness", "peak", "centroid"], list(rows[0])
assert rows[0]["centroid"] == "" and all(float(r["loudness"]) == c["loudness"] for r, c in zip(rows, columns)), rows
END
    # By name, whatever the mode is; and no other run reads sound.
    ok a.mkv -m average --every 10 --csv b.csv --csv-columns frame,loudness,peak,centroid -o q.png
    cmp <(cut -d, -f2,15- a.csv) b.csv || fail "other columns: $(head -n 2 a.csv b.csv)"
    ok a.mkv -m all -v --no-cache --json b.json --csv all.csv --csv-columns all -o q.png
    grep -q '"sound": \|loudness' b.json all.csv && fail "sound that nobody asked for"
    says_not "sound"
}

test_a_stack_of_some() {
    film a.mkv
    ok a.mkv -n 9 -m sound+squeeze
    files a.mkv a-squeeze+sound.png
    grep -aq 'barcode:mode.squeeze+sound' ./*.png || fail "the picture does not say its modes"
    local made
    made=$(stat -c '%i %y' a-squeeze+sound.png)
    ok a.mkv -n 9 -m squeeze+sound --update
    [ "$made" = "$(stat -c '%i %y' a-squeeze+sound.png)" ] || fail "made again"
    ok a.mkv -n 9 -m squeeze+sound --update --sound-stream 0
    [ "$made" != "$(stat -c '%i %y' a-squeeze+sound.png)" ] || fail "not made again"
    ok a.mkv -n 9 -m squeeze,sound -o one.png --height 360 --width 720
    ok a.mkv -n 9 -m squeeze+sound -o stack.png --height 360 --width 720
    local each=$((720 * 360 * 3)) bar
    local size
    size=$(ffmpeg -nostdin -v error -i stack.png -f rawvideo -pix_fmt rgb24 - | tee stack.rgb | wc -c)
    bar=$(((size - 2 * each) / 4))
    for k in 0 1; do
        ffmpeg -nostdin -v error -i "$(echo one-squeeze.png one-sound.png | cut -d' ' -f$((k + 1)))" -f rawvideo -pix_fmt rgb24 one.rgb -y
        tail -c +$((bar + k * (bar + each) + bar + 1)) stack.rgb | head -c $each | cmp - one.rgb || fail "strip $k"
    done
    refuses 2 a.mkv -m squeeze+sound,kmeans
    refuses 2 a.mkv -m squeeze+
    refuses 2 a.mkv -m all,sound
    refuses 2 a.mkv -m squeeze+sound --shape ring
}

test_sound_shapes_and_page() {
    decoded_once
    film a.mkv
    for mode in sound spectrum; do
        ok a.mkv -n 9 -m $mode --width 150 --height 40 -o strip.png
        ok a.mkv -n 9 -m $mode --shape vertical --width 40 --height 150 -o vertical.png
        cmp <(ffmpeg -nostdin -v error -i strip.png -vf transpose=0 -f rawvideo -pix_fmt rgb24 -) \
            <(ffmpeg -nostdin -v error -i vertical.png -f rawvideo -pix_fmt rgb24 -) || fail "$mode: vertical is not the strip turned"
    done
    ok a.mkv -n 9 -m sound,spectrum --shape ring --width 101 -o ring.png
    ok a.mkv -n 9 -m kmeans,sound --html a.html
    for mode in kmeans sound spectrum; do
        grep -q "data-mode=\"$mode\"" a.html || fail "no $mode on the page"
    done
    ok a.mkv -n 9 -m kmeans --html b.html
    grep -q 'data-mode="s[op]' b.html && fail "sound on a page that was not to have it"
    return 0
}

# Files without pictures, or with a cover alone: the waveform is grey, and the spectrum that of the film.
test_sound_alone() {
    export LOGS
    film a.mkv
    ok a.mkv -m spectrum --interval 0.2 --width 400 --height 96 -o film.png
    ffmpeg -nostdin -v error -i a.mkv -f lavfi -i color=red:s=64x64:d=0.04:r=25 -map 0:a -c:a flac a.flac -map 0:a a.wav \
        -map 0:a -c:a libmp3lame a.mp3 -map 0:a -c:a aac a.m4a -map 0:a -c:a libvorbis a.ogg \
        -map 0:a -map 1 -c:a libmp3lame -c:v mjpeg -disposition:v attached_pic cover.mp3 \
        -map 0:a -map 1 -c:a flac -c:v png -disposition:v attached_pic cover.flac
    for f in a.flac a.wav a.mp3 a.m4a a.ogg cover.mp3 cover.flac; do
        ok $f -m sound,spectrum --interval 0.2 --width 400 --height 96 --json p.json --csv p.csv -o p.png
        look p-sound.png "w == 400 and h == 96" "all(p(x, 48) == 44 for x in range(80))" \
            "all(p(x, 48) == 3 * 195 for x in range(110, w))" "all(len(set(rows[48][3 * x:3 * x + 3])) == 1 for x in range(110, w))"
        look p-spectrum.png "all(abs(column(x).index(max(column(x))) - 37) <= 1 for x in range(110, 290))"
        "$PYTHON" - << 'END' || fail "$f: numbers"
import csv, json
film, rows = json.load(open("p.json")), list(csv.DictReader(open("p.csv", newline="")))
columns = film["columns"]
assert abs(film["film"]["duration"] - 8) < 0.05 and film["film"]["width"] == 0 and len(columns) == 40, film["film"]
assert all("average" not in c and c["transparent"] for c in columns) and all(r["r"] == "" for r in rows)
assert all(abs(c["loudness"] + 23) < 0.5 and abs(c["peak"] + 20) < 0.5 for c in columns[12:28]), columns[12:28]
END
        case $f in
        *.flac)
            cmp <(ffmpeg -nostdin -v error -i film.png -f rawvideo -pix_fmt rgb24 -) \
                <(ffmpeg -nostdin -v error -i p-spectrum.png -f rawvideo -pix_fmt rgb24 -) || fail "$f: not the film's spectrum"
            ;;
        esac
    done
    for again in 1 2; do
        ok a.mp3 -m sound+spectrum --interval 1 --start 1 --end 4 --cache cache --json p.json -o p.png
        "$PYTHON" -c 'import json; assert [c["time"] for c in json.load(open("p.json"))["columns"]] == [1, 2, 3]'
    done
    ok a.mp3 -m sound --update
    refuses 3 a.mp3 -m sound,kmeans -o q.png
    says "'a.mp3' has no video stream, only sound"
    refuses 3 cover.mp3 -m sound --html q.html
}

# No integrated loudness below 0.4 s, as ffmpeg has it.
test_short_sound() {
    for seconds in 0.3 0.5; do
        ffmpeg -nostdin -v error -y -f lavfi -i "sine=f=1000:r=48000:d=$seconds" short.wav
        ok short.wav -m sound --json s.json -o s.png
        ffmpeg -nostdin -hide_banner -i short.wav -af ebur128=peak=true -f null - 2>&1 | sed -n 's/^ *I: *\(.*\) LUFS/\1/p' > level
        "$PYTHON" - << 'END' || fail "$seconds s: $(grep '"sound"' s.json), ffmpeg $(cat level)"
import json
level, sound = float(open("level").read().split()[-1]), json.load(open("s.json"))["sound"]
assert (level == -70 and sound["loudness"] is None) or abs(sound["loudness"] - level) < 0.11, sound
END
    done
}

# One warning, and a flat dark strip.
test_a_film_without_sound() {
    export LOGS
    ffmpeg -nostdin -v error -f lavfi -i "color=0xc86432:s=64x36:r=10:d=2" -c:v ffv1 mute.mkv
    for run in 1 2; do
        ok mute.mkv -m sound,spectrum -n 2 --cache cache --width 30 --height 20 --json j.json --csv c.csv -o p.png
        says "warning: 'mute.mkv' has no sound: sound and spectrum are dark$"
        [ "$(grep -c 'no sound' "$LOGS/stderr")" -eq 1 ] || fail "it warns $(grep -c 'no sound' "$LOGS/stderr") times"
        look p-sound.png "all(p(x, y) == 44 for x in range(w) for y in range(h))"
        look p-spectrum.png "all(p(x, y) == 4 for x in range(w) for y in range(h))"
        grep -q '^"sound": null,$' j.json || fail "$(grep '"sound"' j.json)"
        grep -q '"loudness"' j.json && fail "loudness of a film without sound"
        tail -n +2 c.csv | grep -qv ',,,.$' && fail "$(tail -n 1 c.csv)"
    done
    return 0
}
