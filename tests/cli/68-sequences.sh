# shellcheck shell=bash
# 68-sequences.sh - MPEG films whose sequence header changes in mid-film, as television's does at each advert. Decoders lose a picture there,
# or read the new ones as if they were the old, and say nothing.
# shellcheck disable=SC2154  # variables come from lib.sh

FF="ffmpeg -nostdin -v error -y"

# part NAME SOURCE OPTION...: a recording of 50 pictures, its raw stream, and in part.NAME what is seen of it.
part() {
    local name=$1 source=$2
    shift 2
    $FF -f lavfi -i "$source" -frames:v 50 "$@" -g 12 -q:v 3 "$name.ts" || skip "this ffmpeg makes no $*"
    $FF -i "$name.ts" -c copy -f mpeg2video "$name.m2v"
    ok "$name.ts" "${HOW[@]}" --dump "part.$name"
}

HOW=(-n 1 -m average --size 32x20 --trim off --strict -o p.png)

# every FILE RIGHT: each way of decoding sees what is in the file RIGHT, at times a frame apart.
every() {
    local how
    for how in '--threads 1' '--threads 2' '--threads 5' '--cache c' '--cache c' --verify; do
        # shellcheck disable=SC2086  # two words
        ok "$1" "${HOW[@]}" $how --dump d.rgb --json d.json
        says_not warning
        cmp d.rgb "$2" || fail "$1 $how: other pictures"
    done
    export BARCODE_FRAME_THREADS=4
    ok "$1" "${HOW[@]}" --dump d.rgb
    unset BARCODE_FRAME_THREADS
    cmp d.rgb "$2" || fail "$1 with threads of frames: other pictures"
    "$BARCODE" "${HOW[@]}" --dump d.rgb - < "$1" > "$LOGS/stdout" 2> "$LOGS/stderr" || fail "$1 through a pipe: $(cat "$LOGS/stderr")"
    cmp d.rgb "$2" || fail "$1 through a pipe: other pictures"
    "$PYTHON" - "$1" << 'END' || fail "$1: wrong numbers or times"
import json, sys
columns = json.load(open("d.json"))["columns"]
# libavformat has only times of decoding for some of what has no container.
slack = 0.041 if sys.argv[1].endswith("m2v") else 0.001
sys.exit(any(c["frame"] != i or abs(c["time"] - columns[0]["time"] - i * 0.04) > slack for i, c in enumerate(columns)))
END
    ok "$1" "${HOW[@]}" -n 100 --dump d.rgb
    cmp d.rgb <(head -c 1920 "$2" && tail -c +$((100 * 1920 + 1)) "$2" | head -c 1920) || fail "$1 -n 100: other pictures"
    [ "${1##*.}" = m2v ] && return         # with those the numbers of key frames are off, too
    ok "$1" "${HOW[@]}" --keyframes --dump d.rgb --json d.json
    "$PYTHON" - "$2" << 'END' || fail "$1 --keyframes: other pictures"
import json, sys
columns, got, right, size = json.load(open("d.json"))["columns"], open("d.rgb", "rb").read(), open(sys.argv[1], "rb").read(), 32 * 20 * 3
sys.exit(any(got[i * size:][:size] != right[c["frame"] * size:][:size] for i, c in enumerate(columns)))
END
}

# joins FIRST SECOND: one after the other, and back again, in each kind of container.
joins() {
    cat "$1.ts" "$2.ts" "$1.ts" > j.ts
    cat "$1.m2v" "$2.m2v" "$1.m2v" > j.m2v
    cat "part.$1" "part.$2" "part.$1" > right
    $FF -i j.ts -c copy j.mkv
    rm -rf c
    for f in j.ts j.m2v j.mkv; do
        every $f right
    done
}

test_mpeg_aspect_changes() {
    for b in 0 2; do
        part narrow testsrc2=s=160x96:r=25 -c:v mpeg2video -bf $b -aspect 4:3
        part wide mandelbrot=s=160x96:r=25 -c:v mpeg2video -bf $b -aspect 16:9
        joins narrow wide
    done
}

# The headers are said once, at the start of each recording: later keys are given those in force.
test_mpeg_headers_said_once() {
    part narrow testsrc2=s=160x96:r=25 -c:v mpeg2video -bf 2 -aspect 4:3
    part wide mandelbrot=s=160x96:r=25 -c:v mpeg2video -bf 2 -aspect 16:9
    part large mandelbrot=s=192x128:r=25 -c:v mpeg2video -bf 2
    joined j.m2v 179 -- narrow.m2v wide.m2v large.m2v narrow.m2v
    cat part.narrow part.wide part.large part.narrow > right
    every j.m2v right
    $FF -fflags +genpts -r 25 -i j.m2v -c copy j.mkv
    rm -rf c
    every j.mkv right
}

test_mpeg_size_changes() {
    for codec in mpeg1video mpeg2video; do
        part small testsrc2=s=160x96:r=25 -c:v $codec -bf 2
        part large mandelbrot=s=192x128:r=25 -c:v $codec -bf 2
        joins small large
    done
}

# The decoder takes no notice of it.
test_mpeg_chroma_format_changes() {
    part half testsrc2=s=160x96:r=25 -pix_fmt yuv420p -c:v mpeg2video -bf 2
    part full mandelbrot=s=160x96:r=25 -pix_fmt yuv422p -c:v mpeg2video -bf 2
    joins half full
}

# splice FLAGS: a second recording that was cut in an open GOP; two pictures lead its key, and refer to what is not there.
splice() {
    "$PYTHON" - "$1" << 'END'
import sys
second = open("large.m2v", "rb").read()
second = bytearray(second[second.index(b"\0\0\1\xb3", 4):])
second[second.index(b"\0\0\1\xb8") + 7] |= int(sys.argv[1])
open("j.m2v", "wb").write(open("small.m2v", "rb").read() + second)
END
    $FF -fflags +genpts -r 25 -i j.m2v -c copy j.mkv
}

# They are neither shown wrong nor passed over in silence, unless the recording says itself that they are not to be shown.
test_mpeg_open_gop_behind_a_change() {
    for as in 'mpeg1video -s 192x128' 'mpeg2video -s 192x128' 'mpeg2video -aspect 16:9'; do
        codec=${as%% *}
        part small testsrc2=s=160x96:r=25 -c:v "$codec" -bf 2
        # shellcheck disable=SC2086  # several words
        part large mandelbrot=s=160x96:r=25 -bf 2 -c:v $as
        splice 0
        for how in '--threads 1' '--threads 5' --verify; do
            # shellcheck disable=SC2086  # two words
            run j.mkv "${HOW[@]}" $how --json d.json
            [ "$STATUS" -eq 1 ] || fail "exit status $STATUS, not 1"
            says 'warning: .*: 2 of 90 columns are missing'
            [ "$("$PYTHON" -c 'import json; print([c["frame"] for c in json.load(open("d.json"))["columns"] if c.get("missing")])')" = '[50, 51]' ] ||
                fail "$codec $how: other frames are missing"
        done
        splice 32
        ok j.mkv "${HOW[@]}" --verify
        says 'all 88 frames are identical'
        says_not warning
    done
}
