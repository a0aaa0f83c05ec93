# What a decoder says of damage and shows the picture all the same: told, and counted on its picture.

# film FILE FRAMES ARG...: a film of so many pictures of 192x128, made by ffmpeg with ARG...
film() {
    local to=$1 frames=$2
    shift 2
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=192x128:r=25 -frames:v "$frames" "$@" "$to"
}

# corrupt FROM TO WHAT: copies FROM to TO and corrupts its biggest packet after the middle: bytes
# become "noise", or one is flipped ("flip").
corrupt() {
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
        ok "$1" -n 1 -m average --crop off --threads $threads --json $threads.json -o $threads.png
        says 'barcode: warning: .* columns comes\? from damaged frames'
    done
    check columns 1.json "$2"
    exits 1 "$1" -n 1 -m average --crop off --strict -q -o s.png
}

# whole FILE: no warning.
whole() {
    ok "$1" --strict -n 1 -m average --crop off -o w.png
    says_not warning
    ok "$1" --strict --keyframes -m average --crop off -o w.png
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
        corrupt "crc.$kind" "bad.$kind" flip
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
    corrupt keys.mkv bad.mkv flip
    told bad.mkv 12
    [ "$(damaged_columns | wc -w)" -eq 1 ] || fail "columns $(damaged_columns) are damaged, not one"
}

test_dv_blocks() {
    film dv.avi 8 -s 720x576 -pix_fmt yuv420p -c:v dvvideo
    whole dv.avi
    corrupt dv.avi bad.avi noise
    told bad.avi 8
    [ "$(damaged_columns | wc -w)" -eq 1 ] || fail "columns $(damaged_columns) are damaged, not one"
    "$PYTHON" -c 'd = open("dv.avi", "rb").read(); m = len(d) // 2; open("short.avi", "wb").write(d[:m] + d[m + 2000:])'
    exits 1 short.avi -n 1 -m average --strict -q -o s.png
}

test_other_decoders() {
    while read -r kind what arguments; do
        # shellcheck disable=SC2086  # words on purpose
        film "film.$kind" 12 $arguments
        whole "film.$kind"
        corrupt "film.$kind" "bad.$kind" "$what"
        told "bad.$kind" 12
        rm -f "film.$kind" "bad.$kind"
    done <<'LIST'
avi flip -c:v zmbv
gif flip -c:v gif
LIST
}
