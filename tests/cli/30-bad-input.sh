# Everything that issue and design name as bad input: the exit status, one sentence, and nothing left behind.

test_usage() { # quick
    f=$(clip h264-closed.mkv)
    local status=0
    "$BARCODE" 2> usage || status=$?
    [ $status -eq 2 ] || fail "status $status without a word"
    [ "$(grep -c barcode usage)" -eq 3 ] || fail "no three lines of usage"
    rm usage
    refuses 2 -q
    refuses 2 "$f" -o ''
    refuses 2 ''
    refuses 2 --nonsense "$f"
    refuses 2 -k
    refuses 3 -      # lib.sh gives it /dev/null
    files
}

test_numbers() { # quick
    f=$(clip h264-closed.mkv)
    for k in 0 65 eight -1 8.5 '' 99999999999999999999 '8 '; do
        refuses 2 "$f" -k "$k"
    done
    for bad in '--every 0' '--every x' '--interval 0' '--interval -1' '--columns 0' '--columns many' '--n-init 0' '--max-iter 0' \
        '--seed -1' '--threads 0' '--threads 100000' '--width 0' '--height 0' '--size 0' '--size 0x10' '--size 10x' \
        '--size 1/0' '--size huge' '--mode sepia' '--mode kmeans,' '--init best' '--start x' '--start -5' '--end 1:99' \
        '--progress maybe' '--decode gpu' '--engine tpu'; do
        # shellcheck disable=SC2086  # two words on purpose
        refuses 2 "$f" $bad
    done
    files
}

# Nobody opens a picture of more than 2^31 pixels, and writing it would take hours.
test_too_many_pixels() {
    f=$(clip h264-closed.mkv)
    LIMIT=20
    refuses 2 "$f" --width 10000000 --height 65535
    says "at most 2147483648 pixels"
    refuses 2 "$f" --width 32769 --height 65535
    refuses 2 "$f" --width 32768 --height 65535 -m all
    refuses 2 "$f" --columns 10000000
    refuses 2 "$f" --interval 0.000001
    refuses 2 "$f" --interval 0.000002 --height 65535
    files
}

test_rules_exclude_each_other() {
    f=$(clip h264-closed.mkv)
    refuses 2 "$f" -n 5 --interval 1
    refuses 2 "$f" -n 5 --columns 10
    refuses 2 "$f" --interval 1 --columns 10
    refuses 2 "$f" --start 5 --end 2
    refuses 2 "$f" --start 5 --end 5
    files
}

test_not_there_yet() {
    f=$(clip h264-closed.mkv)
    refuses 4 "$f" --engine cuda:99
    refuses 4 "$f" --engine cuda:98,99
    refuses 2 "$f" --engine cuda:0,
    if [ ! -e /dev/nvidiactl ]; then
        refuses 4 "$f" --engine cuda
        refuses 4 "$f" --decode nvdec
    fi
    files
}

test_help_and_version() { # quick
    ok --help
    grep -q -- '--clusters' "$LOGS/stdout" || fail "--help says nothing of --clusters"
    [ ! -s "$LOGS/stderr" ] || fail "--help writes to stderr"
    [ "$(awk 'length > 100' "$LOGS/stdout")" = "" ] || fail "--help has lines over 100"
    # -h is short, and every option and example of it works with --help's table.
    cp "$LOGS/stdout" whole
    ok -h
    [ ! -s "$LOGS/stderr" ] || fail "-h writes to stderr"
    [ "$(wc -l < "$LOGS/stdout")" -le 36 ] || fail "-h has $(wc -l < "$LOGS/stdout") lines"
    grep -oE -- '--[a-z-]+' "$LOGS/stdout" | sort -u > options
    [ "$(wc -l < options)" -ge 12 ] || fail "-h lists $(wc -l < options) options"
    while read -r option; do
        grep -q -- " $option" whole || fail "$option of -h is not in --help"
    done < options
    [ "$(grep -c '^  barcode ' "$LOGS/stdout")" -eq 3 ] || fail "-h has not three examples"
    ok --version
    grep -Eq '^barcode [0-9]+\.[0-9]+' "$LOGS/stdout" || fail "--version"
}

# The versions are those that the libraries themselves report: FFmpeg's program, and dav1d's function.
test_version_names_the_libraries() {
    ok --version
    [ "$(head -n 1 "$LOGS/stdout" | wc -w)" -eq 2 ] || fail "the first line is not 'barcode VERSION'"
    grep -Eq '^compiler (gcc|clang) [0-9]+\.[0-9]+' "$LOGS/stdout" || fail "no compiler"
    ldd "$BARCODE" | awk '{print $3}' > loaded
    ! grep -q libavcodec loaded || [ "$(sed -n 's/^FFmpeg //p' "$LOGS/stdout")" = "$(ffmpeg -version | awk '
        NR == 1 {version = $3}
        /^lib(avutil|avcodec|avformat) / {sub(/ *\/.*/, ""); name = $1; $1 = ""; gsub(/ /, ""); all = all ", " name " " $0}
        END {print version " (" substr(all, 3) ")"}')" ] || fail "FFmpeg's versions are not the ffmpeg program's"
    ! grep -q libdav1d loaded || [ "$(sed -n 's/^dav1d //p' "$LOGS/stdout")" = "$(python3 -c '
import ctypes, sys
version = ctypes.CDLL(sys.argv[1]).dav1d_version
version.restype = ctypes.c_char_p
print(version().decode())' "$(grep libdav1d loaded)")" ] || fail "dav1d's version is not the library's"
}

# No option of --help is read as another one, or by nobody.
test_every_option_is_read() {
    ok --help
    grep -oE -- '--[a-z-]+' "$LOGS/stdout" | sort -u > options
    [ "$(wc -l < options)" -gt 30 ] || fail "--help lists $(wc -l < options) options"
    while read -r option; do
        [ "$option" != --cache-clear ] || continue
        for value in '' =nonsense; do
            LIMIT=20 BARCODE_CACHE=$PWD/cache run "$option$value" missing.mkv
            says_not "internal error"
            if [ -n "$value" ] && [ "$STATUS" -eq 2 ]; then
                grep -qE -- "'nonsense'|takes no value|$option" "$LOGS/stderr" || fail "$option is read as another"
            fi
        done
    done < options
}

test_no_such_file() { # quick
    refuses 3 missing.mkv
    says "missing.mkv"
    refuses 3 nowhere/missing.mkv
    files
}

test_unreadable() { # quick
    f=$(clip h264-closed.mkv)
    cp "$f" secret.mkv
    chmod 0 secret.mkv
    refuses_bound 3 secret.mkv -o /dev/null
    files secret.mkv
    # That the picture may be another film's is not the reason.
    chmod 600 secret.mkv
    ok secret.mkv -m average -o ./
    chmod 0 secret.mkv
    refuses_bound 3 secret.mkv -m average -o ./
    says "cannot open 'secret.mkv': Permission denied"
}

test_a_folder_is_no_film() { # quick
    mkdir folder.mkv
    refuses 3 folder.mkv
    refuses 3 /dev/null
    files folder.mkv
}

# Every clip in bad/: no film, and said so.
test_bad_clips() { # quick
    clip bad/text.mkv > /dev/null
    for f in "$CLIPS"/bad/*; do
        refuses 3 "$f" --json j.json --dump d.rgb -m all
        says "$(basename "$f")"
        files
    done
}

test_reasons() {
    f=$(clip bad/empty.mkv)
    refuses 3 "$f"
    says 'is not a film: the file is empty'
    for f in audio-only.mp3 audio-only.m4a; do
        f=$(clip bad/$f)
        refuses 3 "$f"
        says "only sound"
    done
    for f in cover-only.mp3 cover-only.m4a; do
        f=$(clip bad/$f)
        refuses 3 "$f"
        says cover
    done
    for f in encrypted.mp4 rights.mp4 rights.mkv rights.wmv rights-extended.wmv; do
        f=$(clip bad/$f)
        refuses 3 "$f"
        says "is encrypted$"
    done
    f=$(clip bad/no-moov.mp4)
    refuses 3 "$f"
    says 'without its index'
}

test_a_picture_is_no_film() { # quick
    f=$(clip h264-closed.mkv)
    ok "$f" -n 50 -o p.png
    refuses 3 p.png -o q.png
    files p.png
}

# Pictures one after another are a film, from a pipe too; a photograph that holds a second one is a picture.
test_pictures_in_a_row_are_a_film() {
    while read -r name arguments; do
        # shellcheck disable=SC2086  # words on purpose
        ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=192x128:r=25 -frames:v 12 $arguments "$name"
        ok "$name" --strict -n 1 -m average --dump file.rgb -o f.png
        says '12 columns'
        says_not warning
        through "$name" - --strict -n 1 -m average --dump pipe.rgb -o f.png
        was 0
        cmp file.rgb pipe.rgb || fail "$name: other pictures from a pipe"
        ok "$name" --strict --verify --columns 5 -m average -o f.png
        says identical
        rm -f file.rgb pipe.rgb f.png
    done <<'LIST'
a.mjpeg -c:v mjpeg -f mjpeg
a.pngs -c:v png -f image2pipe
a.ppms -c:v ppm -f image2pipe
LIST
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=192x128:r=25 -frames:v 1 -c:v mjpeg -f mjpeg one.mjpeg
    refuses 3 one.mjpeg -o f.png
    says 'is an image, not a film'
    through one.mjpeg - -o f.png
    was 3
    says 'is an image, not a film'
    "$PYTHON" -c 'd = open("one.mjpeg", "rb").read(); open("both.jpg", "wb").write(d[:2] + b"\xff\xe2\0\x06MPF\0" + d[2:] + d)'
    cp both.jpg both.mjpeg
    # The second one is of another size: something that belongs to the first.
    ffmpeg -nostdin -v error -i one.mjpeg -s 96x64 -c:v mjpeg -f mjpeg small.mjpeg
    cat one.mjpeg small.mjpeg > thumbnail.mjpeg
    for name in both.jpg both.mjpeg thumbnail.mjpeg; do
        refuses 3 $name -o f.png
        says 'is an image, not a film'
    done
    [ ! -e f.png ] || fail "a picture of a picture"
}

# FFmpeg reads no animated WebP, and says that it is a picture; GIF and APNG are films, when they are named outright.
test_animated_pictures() {
    mkdir folder
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=64x64:r=5:d=2 folder/a.gif -f apng folder/a.png
    if ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=64x64:r=5:d=2 -c:v libwebp_anim a.webp 2> /dev/null; then
        # FFmpeg 9 decodes it.
        if ffmpeg -nostdin -v error -xerror -i a.webp -f null - 2> /dev/null; then
            ok a.webp -m average -o q.png
            rm q.png
        else
            refuses 3 a.webp -o q.png
            says "animated WebP"
        fi
    fi
    if ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=64x64:r=5:d=2 -frames:v 1 -c:v libwebp b.webp 2> /dev/null; then
        refuses 3 b.webp -o q.png
        says "is an image"
    fi
    for f in folder/a.gif folder/a.png; do
        ok $f -m average -o q.png
        check png q.png 1280 800
        says_not warning
    done
    refuses 3 folder
    says "no films in the folder"
}

test_playlist_stays_off_the_network() { # quick
    printf '#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\nhttp://127.0.0.1:9/a.ts\n#EXT-X-ENDLIST\n' > list.m3u8
    printf 'ffconcat version 1.0\nfile /etc/passwd\n' > list.ffconcat
    LIMIT=10 refuses 3 list.m3u8
    LIMIT=10 refuses 3 list.ffconcat
    refuses 3 http://127.0.0.1:9/a.mkv
    files list.m3u8 list.ffconcat
}

test_nothing_selected() { # quick
    f=$(clip h264-closed.mkv)
    refuses 1 "$f" --start 8.5
    refuses 1 "$f" --start 1:00
    refuses 1 "$f" --start 100 --columns 5
    refuses 1 "$f" --start 100 --interval 1
    says "has no frame after --start: it ends at [0-9.]* s"
    refuses 1 "$f" --start 3.981 --end 3.99 -n 1
    says "is selected: --start, --end or the interval leave none"
    # Without a duration in the container, only reading tells.
    f=$(clip h264-closed.h264)
    refuses 1 "$f" --start 20
    refuses 1 "$f" --start 20 --columns 3
    files
}

# Also where the container does not state a length.
test_too_many_columns() {
    ffmpeg -nostdin -v error -f lavfi -i testsrc=s=64x36:r=25:d=12 -c:v mpeg2video long.ts
    ffmpeg -nostdin -v error -i long.ts -c copy long.mkv
    LIMIT=20
    refuses 2 long.mkv --interval 0.000001
    refuses 2 long.ts --interval 0.000001
    says "--interval is too short: it gives 12000000 columns, but at most 2684354 are possible"
    ok long.ts -m average --interval 0.000001 --start 3 --end 3.00001 -o s.png
    check png s.png 10 800
    rm -f s.png
    files long.mkv long.ts
}

test_output_folder() { # quick
    f=$(clip h264-closed.mkv)
    refuses 1 "$f" -o nowhere/p.png
    refuses 1 "$f" -o nowhere/below/
    refuses 1 "$f" -o p.png --json nowhere/p.json
    refuses 1 "$f" -o p.png --dump nowhere/p.rgb
    echo x > plain
    refuses 1 "$f" -o plain/p.png
    refuses 1 "$f" -o p.png --json nowhere/below/
    refuses 1 "$f" -o p.png --dump nowhere/below/
    files plain
}

test_output_folder_not_writable() { # quick
    f=$(clip h264-closed.mkv)
    mkdir locked
    echo old > locked/p.png
    chmod 555 locked
    chmod 444 locked/p.png
    for out in locked/new.png locked/ locked/deeper/ locked/p.png; do
        refuses_bound 1 "$f" -o "$out"
        case $out in
            locked/p.png) says "cannot write 'locked/p.png': Permission denied" ;;
            *) says "cannot write into the folder 'locked/': Permission denied" ;;
        esac
    done
    [ "$(cat locked/p.png)" = old ] || fail "the old picture is gone"
    files locked locked/p.png
}

test_full_disk_device() { # quick
    f=$(clip h264-closed.mkv)
    [ -c /dev/full ] || skip "no /dev/full here"
    refuses 1 "$f" -n 20 -o /dev/full
    # The picture was whole before the other output failed; it may stay.
    refuses 1 "$f" -n 20 -q -o p.png --dump /dev/full
    rm -f p.png
    refuses 1 "$f" -n 20 -q -o p.png --json /dev/full
    rm -f p.png
    for answer in --help --version '--cache-stats --cache cache' "$f -q -n 20 -o -" "$f -q -n 20 -o p.png --dump -" \
        "$f -q -n 20 --html -" "$f -q -n 20 --csv -" "$f -q -n 20 --swatches -"; do
        STATUS=0
        # shellcheck disable=SC2086  # words
        "$BARCODE" $answer > /dev/full 2> "$LOGS/stderr" || STATUS=$?
        was 1
        [ "$(cat "$LOGS/stderr")" = "barcode: cannot write 'standard output': No space left on device" ] ||
            fail "$answer: $(cat "$LOGS/stderr")"
    done
    rm -f p.png
    files
}

# ulimit -f: an error of the write, not a signal; nothing stays behind.
test_file_size_limit() { # quick
    f=$(clip ffv1.mkv)
    logged bash -c 'ulimit -f 8 && exec "$@"' sh "$BARCODE" "$f" -n 1 -q -m squeeze --height 720 -o p.png
    was 1
    one_sentence
    says "File too large"
    files
}

test_full_disk() { # quick
    f=$(clip ffv1.mkv)
    [ "$(id -u)" -eq 0 ] || skip "a small file system takes root"
    mkdir small
    mount -t tmpfs -o size=64k none small 2> /dev/null || skip "tmpfs cannot be mounted here"
    trap 'umount small' EXIT
    echo old > small/p.png
    # 200 columns of real pixels at this size do not fit into 64 KB, whatever zlib does.
    refuses 1 "$f" -n 1 -q -m squeeze --height 1080 --width 1000 -o small/p.png
    says "No space left"
    [ "$(cat small/p.png)" = old ] || fail "the old picture is gone"
    refuses 1 "$f" -n 1 -q -o /dev/null --dump small/d.rgb
    [ "$(find small -mindepth 1 -printf '%P ')" = "p.png " ] || fail "left behind: $(ls -A small)"
}

# closed_early ARG...: the reader of stdout has gone, as head does: SIGPIPE ends the program, and nothing is said.
closed_early() {
    COMMAND="barcode $* | head"
    STATUS=0
    : > "$LOGS/stdout"
    # shellcheck disable=SC2217  # true does not read
    { timeout 300 env --default-signal=PIPE "$BARCODE" "$@" 2> "$LOGS/stderr" || echo $? > "$LOGS/code"; } | true
    STATUS=$(cat "$LOGS/code" 2> /dev/null || echo 0)
    was 141
    [ ! -s "$LOGS/stderr" ] || fail "something is said"
}

test_pipe_closed_early() { # quick
    f=$(clip h264-closed.mkv)
    export BARCODE_CACHE=cache
    ok "$f" -q -n 1 -m average --cache cache -o p.png
    mkdir films
    cp "$f" films/a.mkv
    cp "$f" films/b.mkv
    for answer in --help --version 'find --help' '--cache-stats --cache cache' "$f -q -n 1 --dump -" \
        "$f -n 1 --json - --sandbox off" 'films -q -n 1 --csv -' "$f -q -n 1 -o p.png --report -"; do
        # shellcheck disable=SC2086  # words
        closed_early $answer
    done
    [ -z "$(find . -name '.*.tmp')" ] || fail "left behind: $(find . -name '.*.tmp')"
    # who writes to a file or to stderr alone is not concerned
    { ok "$f" -n 1 -o p.png; } | true
    { refuses 3 missing.mkv; } | true
    says "missing.mkv"
}

test_pipe_closed_early_by_commands() {
    ffmpeg -nostdin -v error -f lavfi -i "sine=f=300:d=30" -f lavfi -i "anoisesrc=d=30:a=0.3:seed=1" -filter_complex amix -c:a pcm_s16le a.wav
    closed_early find a.wav a.wav
    closed_early find -q --same a.wav
    closed_early align -q a.wav a.wav
    closed_early align -q a.wav a.wav -o -
    files a.wav
}

# `--k 5` was taken for --keyframes and a film "5", and a name of an output for one more film.
test_options_are_exact() { # quick
    f=$(clip h264-closed.mkv)
    cp "$f" film.mkv
    ok film.mkv -q -n 20
    cp film.png before.png
    refuses 2 --k 5 film.mkv
    says "^barcode: unknown option '--k'; did you mean -k?$"
    refuses 2 film.mkv -output x.png
    refuses 2 -i film.mkv
    refuses 2 film.mkv out.png
    says "^barcode: 'out.png' is not a film; use -o out.png$"
    refuses 2 film.mkv film.png           # there already
    says "use -o film.png$"
    refuses 2 film.mkv out.svg
    refuses 2 film.mkv pictures/
    refuses 2 film.mkv --poster jpg
    says "^barcode: 'jpg' does not exist; a value of --poster follows '=': --poster=jpg$"
    refuses 2 --steady 20 film.mkv -o x.png
    says "follows '=': --steady=20$"
    cmp film.png before.png || fail "a picture was replaced"
    files before.png film.mkv film.png
    ok film.mkv -h
    ok -help
    ok --version --no-such-option
}

# is_plain FILE: nothing in it can affect a terminal, and Japanese stays as it is.
is_plain() {
    "$PYTHON" - "$1" << 'END' || fail "$1: $(cat -v "$1")"
import sys, unicodedata
text = open(sys.argv[1], "rb").read().decode("utf-8")
bad = {c for c in text if unicodedata.category(c) in ("Cc", "Zl", "Zp") or unicodedata.bidirectional(c) in
       ("RLO", "LRO", "RLE", "LRE", "PDF", "RLI", "LRI", "FSI", "PDI") or c in "\u200e\u200f\u061c"}
sys.exit(bad - {"\n"} != set() or "七人の侍" not in text)
END
}

# A name with C0, C1 (also as bytes), DEL, RLO and FSI, which terminals obey, beside Japanese.
test_names_on_a_terminal() { # quick
    f=$(clip h264-closed.mkv)
    name=$'\e[31m\xc2\x9b31m七人の侍\x9b\xe2\x80\xae\xe2\x81\xa8\xff\x7f.mkv'
    cp "$f" "$name"
    ok "$name" -vv --cache cache --progress always --report report.jsonl -n 4 -o p.png
    is_plain "$LOGS/stderr"
    ok "$name" -v --cache cache -n 4
    is_plain "$LOGS/stderr"
    refuses 3 "missing $name"
    is_plain "$LOGS/stderr"
    refuses 2 "--$name"
    is_plain "$LOGS/stderr"
    ok --cache cache --cache-stats
    is_plain "$LOGS/stdout"
    "$PYTHON" -c 'import json; [json.loads(l) for l in open("report.jsonl", encoding="utf-8")]' || fail "not JSON"
}
