# A film from stdin: through a pipe it is read once, from a file it is like any other.

refused() {
    was "$1"
    one_sentence
}

# The pixels alone: the texts of a picture name its film.
pixels() {
    ffmpeg -nostdin -v error -i "$1" -f rawvideo -pix_fmt rgb24 - | sha256sum
}

same_pixels() {
    [ "$(pixels "$1")" = "$(pixels "$2")" ] || fail "$1 and $2 differ"
}

test_stdin_is_a_film() {
    for name in h264-open.mkv hevc-open.ts mpeg4.avi vp9.webm ffv1.mkv h264-closed.h264 fragmented.mp4 mpeg2.mpg; do
        f=$(clip $name)
        ok "$f" -n 7 -m average -o plain.png
        for way in "through $f -" "through $f /dev/stdin" "from $f -"; do
            $way -n 7 -m average -q -o sent.png
            was 0
            same_pixels plain.png sent.png
        done
    done
}

test_stdin_names_its_outputs() {
    f=$(clip h264-closed.mkv)
    mkdir o
    through "$f" - -n 20
    was 0
    files o stdin.png
    through "$f" - -n 20 -o o --json - -q
    was 0
    files o o/stdin.png stdin.png
    [ "$("$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["film"]["path"])' < "$LOGS/stdout")" = /dev/stdin ] || fail "the JSON names another film"
    through "$f" - -n 20 -q -o -
    was 0
    cmp "$LOGS/stdout" stdin.png || fail "-o - is not what stdin.png is"
}

# Everything that reads a film twice.
test_stdin_from_a_file() {
    for name in h264-closed.mp4 h264-open.ts mpeg4.avi; do
        f=$(clip $name)
        ok "$f" --columns 33 -o plain.png
        from "$f" - --columns 33 -q -o sent.png
        was 0
        same_pixels plain.png sent.png
        from "$f" - --verify -n 5 -o sent.png
        was 0
        says "identical"
    done
    # The whole file, wherever the last reader left it.
    { head -c 1000 > /dev/null; logged "$BARCODE" - --columns 33 -q -o sent.png; } < "$f"
    was 0
    same_pixels plain.png sent.png
    cp "$f" copy.avi
    touch -d '1 hour ago' copy.avi
    for want in miss hit; do
        from copy.avi - -n 5 -q --cache cache --json now.json -o sent.png
        was 0
        [ "$(check get now.json cache)" = $want ] || fail "no $want"
    done
    ok copy.avi -n 5 -q --cache cache --json now.json -o sent.png
    [ "$(check get now.json cache)" = hit ] || fail "it is another film by its name"
    from copy.avi - -o copy.avi
    refused 2
    says "is the film itself"
    cmp copy.avi "$f" || fail "the film was overwritten"
}

test_stdin_cannot_be_read_twice() {
    f=$(clip h264-closed.mkv)
    through "$f" - --verify -o p.png
    refused 3
    says "'/dev/stdin': --verify decodes a film twice, and a pipe can be read only once"
    through "$f" - --columns 20 -q -o p.png       # its head says how long it is
    was 0
    rm p.png
    f=$(clip h264-closed.ts)
    through "$f" - --columns 20 -o p.png
    refused 3
    says "'/dev/stdin': --columns needs the film's length, and a pipe can be read only once"
    through "$f" - --interval 0.001 -o p.png
    refused 3
    says "so short an --interval needs the film's length"
    through "$f" - --interval 0.5 -q -o p.png
    was 0
    rm p.png
    f=$(clip h264-closed.mp4)
    through "$f" - -n 20 -o p.png
    refused 3
    says "cannot read '/dev/stdin' from a pipe: this MP4 has its index (moov) at the end"
    ffmpeg -nostdin -v error -i "$f" -c copy -movflags faststart front.mp4
    through front.mp4 - -n 20 -q -o p.png
    was 0
    mkfifo film.mp4
    cat "$f" > film.mp4 2> /dev/null &
    refuses 3 film.mp4 -o p.png
    says "cannot read 'film.mp4' from a pipe: this MP4 has its index"
    wait
    files film.mp4 front.mp4 p.png
}

# Damage is not found out by a second reading: what is there is shown, and the rest told.
test_stdin_damaged() {
    for name in damaged/corrupt-asp.avi damaged/corrupt-msmpeg4.avi damaged/corrupt.ts damaged/corrupt-vp9.webm damaged/truncated.mkv; do
        f=$(clip $name)
        ok "$f" -n 5 -o plain.png
        cp "$LOGS/stderr" plain.said
        through "$f" - -n 5 -o piped.png
        was 0
        same_pixels plain.png piped.png
        [ "$(grep -c warning plain.said)" -eq "$(grep -c warning "$LOGS/stderr")" ] || fail "$name: other warnings through a pipe"
    done
}

test_stdin_is_no_film() { # quick
    through /dev/null -
    refused 3
    says "'/dev/stdin' is not a film"
    from /dev/null -
    refused 3
    through "$(clip bad/text.mkv)" -
    refused 3
    logged "$BARCODE" - <&-
    refused 3
    says "stdin.*closed"
    : > empty
    from empty -
    refused 3
    says "empty"
    through "$(clip h264-closed.mkv)" - -
    was 2
    says "stdin is given twice"
    command -v script > /dev/null || return 0
    script -qec true /dev/null < /dev/null > /dev/null 2>&1 || return 0
    STATUS=0 COMMAND="barcode - on a terminal"
    timeout 300 script -qec "'$BARCODE' -" /dev/null > "$LOGS/terminal" 2>&1 < /dev/null || STATUS=$?
    [ "$STATUS" -eq 2 ] || fail "exit status $STATUS, not 2"
    grep -q "from stdin: it is a terminal" "$LOGS/terminal" || fail "it is not said why"
}

# ssh and others give a socket, which no name opens.
test_stdin_is_a_socket() { # quick
    f=$(clip h264-open.mkv)
    ok "$f" -n 7 -o plain.png
    logged timeout 300 "$PYTHON" - "$BARCODE" "$f" << 'PY'
import socket, subprocess, sys, threading
ours, theirs = socket.socketpair()
program = subprocess.Popen([sys.argv[1], "-", "-n", "7", "-q", "-o", "piped.png"], stdin=theirs)
theirs.close()
ours.sendall(open(sys.argv[2], "rb").read())
ours.close()
sys.exit(program.wait())
PY
    was 0
    same_pixels plain.png piped.png
}

# One film among others, and one from a process.
test_stdin_among_films() { # quick
    f=$(clip h264-closed.mkv)
    g=$(clip hevc-open.mkv)
    through "$f" "$g" - -n 20 -q
    was 0
    ok <(cat "$f") -n 20 -q -o p.png
    same_pixels p.png stdin.png
    files hevc-open.png p.png stdin.png
}

# An NVDEC session decodes in software what it gives up, from packets that it holds: also of a pipe.
test_stdin_by_nvdec() {
    for name in damaged/corrupt.mkv vp9-sizes.webm; do
        f=$(clip $name)
        ok "$f" -n 7 -m average --decode cpu -o p.png
        export BARCODE_NVDEC=software
        through "$f" - -n 7 -m average -o stdin.png
        unset BARCODE_NVDEC
        was 0
        same_pixels p.png stdin.png
    done
}

# Nobody knows how many frames will come: the usual rule is taken, and said.
test_stdin_says_what_it_takes() {
    f=$(clip h264-open.ts)
    through "$f" - -m average -o p.png
    was 0
    says "does not declare its length: using every 24th frame"
    through "$f" - -n 5 -m average -o p.png
    says_not "its length"
}
