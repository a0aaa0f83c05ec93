# shellcheck shell=bash
# What a decoder says of damage and shows the picture all the same: told, counted on its picture, and the same every time.
# shellcheck disable=SC2154,SC2034,SC2015  # variables come from and go to lib.sh; fail does not return

# film FILE FRAMES ARG...: a film of so many pictures of 192x128, made by ffmpeg with ARG...
film() {
    local to=$1 frames=$2
    shift 2
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=192x128:r=25 -frames:v "$frames" "$@" "$to"
}

# hurt FROM TO WHAT: in the biggest packet behind the middle of FROM, WHAT is made of bytes: "noise", or one "flip".
hurt() {
    "$PYTHON" - "$@" <<'PY'
import json, random, subprocess, sys
source, target, what = sys.argv[1:]
said = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pos,size", "-of", "json", source],
                      capture_output=True, check=True).stdout
packets = [(int(p["size"]), int(p["pos"])) for p in json.loads(said)["packets"]]
size, at = max(packets[len(packets) // 2:])
data, random = bytearray(open(source, "rb").read()), random.Random(7)
at += size // 2
if what == "flip":
    data[at] ^= 255
else:
    count = min(2000, size // 4)
    data[at:at + count] = bytes(random.randrange(256) for _ in range(count))
open(target, "wb").write(data)
PY
}

# told FILE COLUMNS: it has so many, some of them damaged, with any number of threads and with key frames alone.
told() {
    local threads
    for threads in 1 2 5; do
        ok "$1" -n 1 -m average --trim off --threads $threads --json $threads.json -o $threads.png
        says 'barcode: warning: .* columns come from damaged pictures'
        cmp 1.png $threads.png || fail "$1: another picture with $threads threads"
        check same 1.json $threads.json || fail "$1: another JSON with $threads threads"
    done
    "$PYTHON" -c 'import json, sys; sys.exit(len(json.load(open("1.json"))["columns"]) != int(sys.argv[1]))' "$2" || fail "$1: not $2 columns"
    run "$1" -n 1 -m average --trim off --strict -q -o s.png
    [ "$STATUS" -eq 1 ] || fail "$1: --strict: exit status $STATUS, not 1"
}

# whole FILE: no warning.
whole() {
    ok "$1" --strict -n 1 -m average --trim off -o w.png
    says_not warning
    ok "$1" --strict --keyframes -m average --trim off -o w.png
    says_not damaged
}

# damaged_columns FILE: their numbers.
damaged_columns() {
    "$PYTHON" -c 'import json; print(*[i for i, c in enumerate(json.load(open("1.json"))["columns"]) if c.get("damaged")])'
}

# FFV1 has a checksum for each slice. What refers to the picture is damaged up to the next key.
test_ffv1_checksums() {
    for kind in mkv mov avi; do
        film "crc.$kind" 24 -c:v ffv1 -level 3 -slicecrc 1 -g 6
        whole "crc.$kind"
        hurt "crc.$kind" "bad.$kind" flip
        told "bad.$kind" 24
        case $(damaged_columns) in
            '12 13 14 15 16 17' | '13 14 15 16 17' | '14 15 16 17' | '15 16 17' | '16 17' | 17 | '18 19 20 21 22 23') ;;
            *) fail "$kind: columns $(damaged_columns) are damaged" ;;
        esac
    done
}

test_ffv1_checksums_of_keys() {
    film keys.mkv 12 -c:v ffv1 -level 3 -slicecrc 1 -g 1
    whole keys.mkv
    hurt keys.mkv bad.mkv flip
    told bad.mkv 12
    [ "$(damaged_columns | wc -w)" -eq 1 ] || fail "columns $(damaged_columns) are damaged, not one"
}

test_dv_blocks() {
    film dv.avi 8 -s 720x576 -pix_fmt yuv420p -c:v dvvideo
    whole dv.avi
    hurt dv.avi bad.avi noise
    told bad.avi 8
    [ "$(damaged_columns | wc -w)" -eq 1 ] || fail "columns $(damaged_columns) are damaged, not one"
    "$PYTHON" -c 'd = open("dv.avi", "rb").read(); m = len(d) // 2; open("short.avi", "wb").write(d[:m] + d[m + 2000:])'
    run short.avi -n 1 -m average --strict -q -o s.png
    [ "$STATUS" -eq 1 ] || fail "2,000 bytes are missing and --strict gives $STATUS"
}

test_other_decoders() {
    while read -r kind what arguments; do
        # shellcheck disable=SC2086  # words on purpose
        film "film.$kind" 12 $arguments
        whole "film.$kind"
        hurt "film.$kind" "bad.$kind" "$what"
        told "bad.$kind" 12
        rm -f "film.$kind" "bad.$kind"
    done <<'LIST'
avi flip -c:v zmbv
gif flip -c:v gif
LIST
}

# Packets of nothing but zeros are lost pictures, and keep their places; of codecs that do not compress they are black ones.
test_packets_of_zeros() {
    while read -r kind blank arguments; do
        # shellcheck disable=SC2086  # words on purpose
        film "film.$kind" 12 $arguments
        whole "film.$kind"
        "$PYTHON" - "film.$kind" "bad.$kind" <<'PY'
import json, re, subprocess, sys
said = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=data", "-show_data", "-of", "json", sys.argv[1]],
                      capture_output=True, check=True).stdout
lines = json.loads(said)["packets"][5]["data"].strip().splitlines()
packet = b"".join(bytes.fromhex(line[10:49].replace(" ", "")) for line in lines)
data = open(sys.argv[1], "rb").read()
assert data.count(packet) == 1
open(sys.argv[2], "wb").write(data.replace(packet, bytes(len(packet))))
PY
        ok "bad.$kind" -n 1 -m average --trim off --json z.json -o z.png
        "$PYTHON" -c 'import json, sys; sys.exit(len(json.load(open("z.json"))["columns"]) != 12)' || fail "$arguments: not 12 columns"
        if [ "$blank" = lost ]; then
            says '1 of 12 columns are missing'
            run "bad.$kind" --keyframes -m average --trim off --strict -q -o s.png
            [ "$STATUS" -eq 1 ] || fail "$arguments: --keyframes --strict: exit status $STATUS, not 1"
        else
            says_not warning
        fi
        rm -f "film.$kind" "bad.$kind"
    done <<'LIST'
mov lost -c:v qtrle -g 1
mov lost -c:v rpza -g 1
avi lost -c:v cinepak -g 1
avi lost -c:v utvideo
mkv lost -c:v ffv1 -level 3 -g 1
avi lost -s 720x576 -pix_fmt yuv420p -c:v dvvideo
avi black -c:v rawvideo -pix_fmt bgr24
mkv black -c:v v210
LIST
}

# Raw pictures of a palette that lack bytes are lost, and not what the memory held. SMC whose tag is gone is taken for such a film.
test_raw_pictures_that_are_short() {
    film smc.avi 12 -c:v smc
    "$PYTHON" -c 'd = open("smc.avi", "rb").read(); open("short.avi", "wb").write(d.replace(b"smc ", bytes(4)))'
    for junk in 85 170; do
        MALLOC_PERTURB_=$junk run short.avi -n 1 -m average -o s.png
        [ "$STATUS" -eq 3 ] && [ ! -e s.png ] || fail "exit status $STATUS, not 3"
        says 'no picture of .* could be decoded'
    done
    film smc.mov 12 -c:v smc
    "$PYTHON" -c 'd = open("smc.mov", "rb").read(); open("short.mov", "wb").write(d.replace(b"smc ", b"raw "))'
    run short.mov -v -n 1 -m average -o s.png
    says 'looked for bars in 0 pictures'
    film raw.avi 12 -pix_fmt pal8 -c:v rawvideo
    whole raw.avi
    "$PYTHON" - <<'PY'
import struct
d = open("raw.avi", "rb").read()
at, movi, index, n = d.index(b"movi") + 4, b"movi", b"", 0
while d[at:at + 4] == b"00dc" or d[at:at + 4] == b"00db":
    size = struct.unpack("<I", d[at + 4:at + 8])[0]
    keep = size // 2 if n == 5 else size
    index += b"00db" + struct.pack("<3I", 16, len(movi), keep)
    movi += b"00db" + struct.pack("<I", keep) + d[at + 8:at + 8 + keep]
    at, n = at + 8 + size + size % 2, n + 1
assert n == 12
head = d[12:d.index(b"movi") - 8]
body = b"AVI " + head + b"LIST" + struct.pack("<I", len(movi)) + movi + b"idx1" + struct.pack("<I", len(index)) + index
open("one.avi", "wb").write(b"RIFF" + struct.pack("<I", len(body)) + body)
PY
    ok one.avi -n 1 -m average --trim off --json one.json -o one.png
    says '1 of 12 columns are missing'
    says_not 'damaged pictures'
}

# A JPEG that breaks off is told, unless the film's are mostly like that.
test_jpegs_without_ends() {
    film whole.mjpeg 30 -c:v mjpeg -f mjpeg
    "$PYTHON" - <<'PY'
data = open("whole.mjpeg", "rb").read()
jpegs = [b"\xff\xd8\xff" + part for part in data.split(b"\xff\xd8\xff")[1:]]
assert len(jpegs) == 30
open("cut.mjpeg", "wb").write(data[:-len(jpegs[-1]) // 2])
open("camera.mjpeg", "wb").write(b"".join(j[:-2] for j in jpegs))
open("avid.mjpeg", "wb").write(b"".join(j if i % 10 == 0 else j[:-2] for i, j in enumerate(jpegs)))
PY
    for name in whole camera avid; do whole $name.mjpeg; done
    told cut.mjpeg 30
    [ "$(damaged_columns)" = 29 ] || fail "columns $(damaged_columns) are damaged"
}
