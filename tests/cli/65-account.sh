# The account that adds up: what a film lost has its place and is told, and a whole film gets no warning.

# Random holes in films of five codecs and four containers, some of each; HOLES=200 tries many.
test_holes_add_up() {
    run_trials() { "$PYTHON" "$HERE/hole-trials.py" "$BARCODE" "$CLIPS/holes" --trials "${HOLES:-42}" --seed "${SEED:-3}"; }
    run_trials > trials.log 2>&1 || fail "$(tail -n 12 trials.log)"
}

# Sound, whichever columns are asked for.
quiet() { # CLIP
    f=$(clip "$1")
    for how in '--columns 1' '--columns 2' '--columns 20' '-n 1' '--interval 7'; do
        # shellcheck disable=SC2086  # two words
        ok "$f" $how -m average --strict -o p.png
        ! grep -q warning "$LOGS/stderr" || fail "$1 $how: $(cat "$LOGS/stderr")"
    done
}

test_few_columns_of_a_whole_film() {
    quiet account/long.mp4
}

test_slides_last() {
    quiet account/slides.mp4
    quiet account/slides.mkv
    f=$(clip account/slides.mp4)
    ok "$f" --interval 7 -m average --json d.json -o p.png
    # The last of ten slides of 30 s is on the screen from 270 s to 300 s.
    check columns d.json 43
}

# Of a transport stream whose packets begin later than at its first byte nothing is missing: AVCHD and Blu-ray store a time before each.
test_whole_transport_streams() {
    for name in h264-open.mp4 mpeg2.ts; do
        f=$(clip $name)
        ffmpeg -nostdin -v error -i "$f" -map 0:v -c copy whole.m2ts
        ffmpeg -nostdin -v error -i "$f" -map 0:v -c copy whole.ts
        (head -c 100 /dev/zero | tr '\0' x && cat whole.ts) > later.ts
        ok whole.ts -n 1 -m average --strict -q -o whole.png --dump whole.rgb
        for film in whole.m2ts later.ts; do
            ok $film -n 1 -m average --strict -o p.png --dump p.rgb
            says_not warning
            cmp whole.rgb p.rgb || fail "$name as $film: other frames"
        done
        rm -f whole.* later.ts p.*
    done
}

# Parameter sets and SEI in blocks of their own are no pictures, and the decoder's complaint about them means nothing.
test_blocks_without_pictures() {
    quiet account/sei-alone.mkv
    quiet parts/sei-alone.flv
}

test_columns_over_what_is_there() {
    f=$(clip account/cut-early.mkv)
    for n in 1 2 5; do
        ok "$f" --columns $n -m average --json d.json -o p.png
        says 'its columns are spread over its real length'
        check columns d.json $n
        exits 1 "$f" --columns $n -m average --strict -o p.png
    done
}

# An I picture without a GOP header or a recovery point begins the film.
test_begins_with_an_intra_picture() {
    f=$(clip account/no-gop-header.m2v)
    ok "$f" -n 1 -m average --json d.json -o p.png
    check columns d.json 200
    ! grep -q warning "$LOGS/stderr" || fail "$(cat "$LOGS/stderr")"
}

# What comes before the first key is told.
test_lead_in_is_told() {
    f=$(clip damaged/middle-of-gop.ts)
    exits 1 "$f" -n 1 -m average --strict -o p.png
    says 'before the first key frame (their references are not in the file)'
    ok "$f" -n 1 -m average --json d.json -o p.png
    grep -q '"lost": {.*"lead_in":[1-9]' d.json || fail "no lead-in in the JSON"
}

# strange FROM TO: writes an element that no reader knows behind every SimpleBlock of a Matroska film whose segment has no size.
strange() {
    "$PYTHON" - "$@" << 'END'
import sys
data = open(sys.argv[1], "rb").read()

def element(at):
    """Its ID, where its content begins and ends."""
    content = at + 9 - data[at].bit_length()
    name, length = data[at:content], 9 - data[content].bit_length()
    size = int.from_bytes(data[content:content + length], "big") & ((1 << 7 * length) - 1)
    return name, content + length, content + length + size

def rewritten(at, end):
    out = b""
    while at < end:
        name, begin, behind = element(at)
        if name == b"\x18\x53\x80\x67":                # a segment
            return out + data[at:begin] + rewritten(begin, end)
        if name == b"\x1f\x43\xb6\x75":                # a cluster
            inside = rewritten(begin, behind)
            out += name + (len(inside) | 1 << 56).to_bytes(8, "big") + inside
        else:
            out += data[at:behind] + b"\x8f\x81\x00" * (name == b"\xa3")
        at = behind
    return out

open(sys.argv[2], "wb").write(rewritten(0, len(data)))
END
}

# An element of which libavformat says that it does not know it may be newer than libavformat.
test_strange_elements_of_matroska() {
    clip h264-closed.mkv > /dev/null
    for f in mpeg4.avi h264-closed.mkv; do
        ffmpeg -nostdin -v error -y -fflags +genpts -i "$CLIPS/$f" -c copy -f matroska -live 1 -cluster_time_limit 400 live.mkv
        strange live.mkv newer.mkv
        ok newer.mkv --strict -n 1 -m average -o p.png
        says_not warning
    done
}

# Without its head an MP4 passes for a stream that never had a container, which has no times to miss pictures by.
test_a_film_without_its_head() {
    ffmpeg -nostdin -v error -y -i "$(clip mpeg2.mkv)" -c copy -movflags +faststart head.mp4
    ok head.mp4 --strict -n 1 -m average -o p.png
    dd if=/dev/zero of=head.mp4 bs=65536 count=1 conv=notrunc 2> /dev/null
    exits 1 head.mp4 --strict -n 1 -m average -o p.png
    says 'warning: .*the file is damaged'
}

# Films of which nothing is missing, though their times have gaps, begin anywhere, or break off in the middle of a GOP.
test_nothing_is_missing() {
    FF="ffmpeg -nostdin -v error -y"
    vary="testsrc2=s=160x90:r=25:d=8,select='lt(mod(n\,17)\,9)+eq(mod(n\,5)\,1)'"
    for c in 'libx264 -preset veryfast' 'libx265 -preset ultrafast -x265-params log-level=none' 'mpeg2video -q:v 4'; do
        for kind in ts mkv mp4; do
            # shellcheck disable=SC2086  # words
            $FF -f lavfi -i "$vary" -f lavfi -i anoisesrc=d=8.3 -fps_mode vfr -c:v $c -g 30 -c:a mp2 "vary-${c%% *}.$kind"
        done
    done
    for f in h264-open.ts hevc-open.mkv mpeg2.ts; do
        f=$(clip $f)
        name=$(basename "${f%.*}")
        for kind in ts mkv mp4; do
            $FF -ss 1.3 -i "$f" -t 2.5 -map 0 -c copy "cut-$name.$kind"
        done
        $FF -i "$f" -c copy -output_ts_offset -1.5 -avoid_negative_ts disabled "early-$name.mkv"
    done
    cat "$CLIPS/h264-open.ts" "$CLIPS/h264-open.ts" > joined.ts
    for f in vary-* cut-* early-* joined.ts; do
        for how in '-n 1' '-n 3 --end 1.5' '--columns 7'; do
            # shellcheck disable=SC2086  # words
            ok "$f" $how --strict -m average -o p.png
            says_not warning
        done
    done
}

# Indexes are wrong more often than films are damaged: half of one, one whose second half is off, none; and chunks that are not padded.
test_wrong_indexes_of_avi() {
    FF="ffmpeg -nostdin -v error -y"
    $FF -f lavfi -i testsrc2=s=160x90:r=25:d=5 -f lavfi -i sine=d=5.5 -c:v mpeg4 -bf 2 -c:a mp2 whole.avi
    $FF -ss 1.3 -i whole.avi -c copy cut.avi
    $FF -f lavfi -i testsrc2=s=160x90:r=25:d=5 -f lavfi -i sine=d=5.5 -c:v mjpeg -vf "select='mod(n,5)'" -fps_mode vfr drop.avi
    "$PYTHON" - << 'END'
import struct
d = open("whole.avi", "rb").read()
at = d.rfind(b"idx1")
size = struct.unpack("<I", d[at + 4:at + 8])[0]
half = size // 32 * 16

def index(entries):
    return d[:at + 4] + struct.pack("<I", len(entries)) + entries

off = bytearray(d[at + 8:at + 8 + size])
for o in range(half, size, 16):
    off[o + 8:o + 12] = struct.pack("<I", struct.unpack("<I", off[o + 8:o + 12])[0] + 6)
open("none.avi", "wb").write(d[:at])
open("half.avi", "wb").write(index(d[at + 8:at + 8 + half]))
open("off.avi", "wb").write(index(bytes(off)))

# Chunks of odd size without the byte that pads them.
begin = d.find(b"movi") + 4
out, entries, o = b"", b"", begin
while d[o:o + 4] != b"idx1":
    n = struct.unpack("<I", d[o + 4:o + 8])[0]
    entries += d[o:o + 4] + struct.pack("<III", 16, 4 + len(out), n)
    out += d[o:o + 8 + n]
    o += 8 + n + n % 2
open("tight.avi", "wb").write(d[:begin] + out + b"idx1" + struct.pack("<I", len(entries)) + entries)
END
    for f in whole cut drop none half off tight; do
        ok $f.avi --strict -n 1 -m average -o p.png
        says_not warning
    done
}

# A film that pauses has no hole, with padding in it or without.
test_pauses_are_no_holes() {
    vary="testsrc2=s=160x90:r=25:d=8,select='lt(mod(n\,17)\,9)+eq(mod(n\,5)\,1)'"
    for f in mpeg1video.mpg mpeg2video.vob wmv2.wmv theora.ogv; do
        ffmpeg -nostdin -v error -y -f lavfi -i "$vary" -f lavfi -i anullsrc -t 8 -fps_mode passthrough -c:v "${f%.*}" "$f"
        ok "$f" --strict -n 1 -m average -o p.png
        says_not warning
    done
    # a pause of two seconds, and an edit: another recording follows, 13 s later
    ffmpeg -nostdin -v error -y -f lavfi -i "testsrc2=s=160x90:r=25:d=8,select='not(between(t\,3\,5))'" -f lavfi -i sine=d=8 -fps_mode passthrough pause.vob
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=160x90:r=25:d=4 -f lavfi -i sine=d=4 -output_ts_offset 17.3 later.vob
    cat mpeg2video.vob later.vob > edit.vob
    for f in pause edit; do
        ok $f.vob --strict -n 1 -m average -o p.png
        says_not warning
    done
}

# libavformat shortens a truncated AVI to what is left of it; its header declares how many frames it had.
test_truncated_avi() {
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=320x180:r=25:d=8 -f lavfi -i sine=d=8 -c:v mjpeg whole.avi
    for f in "$(clip mjpeg.avi)" "$(clip h264-closed.avi)" whole.avi; do
        size=$(stat -c %s "$f")
        # In a packet, near the end (behind it there may be a large index), and between two.
        ffprobe -v error -select_streams v -show_entries packet=pos -of csv=p=0 "$f" | tr -d , > positions
        for bytes in $((size * 60 / 100)) $(($(sed -n 191p positions) + 1000)) "$(sed -n 121p positions)"; do
            head -c "$bytes" "$f" > cut.avi
            exits 1 cut.avi --strict -n 1 -m average --json d.json -o p.png
            check holds d.json 'abs(len(c) + j["missing"] - 200) <= 1 and j["missing"] >= 2'
        done
        ok "$f" --strict -n 1 -m average -o p.png
        says_not warning
    done
}

# A recorder dropped packets and wrote the rest into a sound broadcast: the gap in its even times tells how many.
test_frames_that_a_recorder_dropped() {
    FF="ffmpeg -nostdin -v error -y"
    for codec in 'libx264 -preset veryfast' mpeg2video; do
        # shellcheck disable=SC2086  # words of options
        $FF -f lavfi -i testsrc2=s=160x96:r=25:d=6 -pix_fmt yuv420p -c:v $codec -g 25 -bf 2 whole.ts
        ok whole.ts --strict -n 1 -m average -o p.png
        says_not warning
        $FF -i whole.ts -c copy -bsf:v "noise=drop='between(n\,60\,61)+eq(n\,100)'" lost.ts
        for threads in 1 5; do
            exits 1 lost.ts --strict -n 1 -m average --threads $threads --json $threads.json -o p.png
            says '3 of 150 columns are missing'
        done
        check same 1.json 5.json || fail "$codec: another JSON with other threads"
    done
}
