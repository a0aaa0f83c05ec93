# Names of outputs, several films, folders, stdout, what must not be replaced.

test_default_name() { # quick
    f=$(clip h264-closed.mkv)
    ok "$f" -n 20
    files h264-closed.png
    ok "$f" -n 20 -m kmeans,average
    files h264-closed.png h264-closed-average.png h264-closed-kmeans.png
}

# Experiments do not replace each other, and media centres get no poster that nobody wanted.
test_names() { # quick
    copy_clips films/a.mkv h264-closed.mkv films/s1/e.mkv one-frame.mkv
    ok films/a.mkv -q -n 50
    ok films/a.mkv -q -n 50 -m palette
    ok films/a.mkv -q -n 50 -m all
    ok films/a.mkv -q -n 50 -m average --shape ring --poster=svg
    files a-all.png a-average-ring-poster.svg a-palette.png a.png films films/a.mkv films/s1 \
        films/s1/e.mkv
    rm a*
    for _ in 1 2; do
        ok -r films -n 50 -o films/ --json films -v
        says "names in 'films/' end in -barcode, because films are in that folder, too"
    done
    ok -r films -q -n 50 -o films --json films --update
    (
        cd films || exit
        ok . -q -n 50 --overwrite
        files a.mkv a-barcode.png a-barcode.json s1 s1/e.mkv s1/e-barcode.png s1/e-barcode.json
    )
    rm films/*barcode* films/*/*barcode*
    # A folder that a run made for its outputs is not one of films for the next.
    for _ in 1 2; do ok -r films -q -n 50 -o films/made/ --update; done
    (cd films/made && files a.png s1 s1/e.png)
    rm -r films/made
    # Every share gives the names of one run.
    for share in 1 2; do
        ok -r films -q -n 50 -o films --name '{mode} of {stem}' -m kmeans,average --shard $share/2
    done
    files films films/a.mkv "films/kmeans of a.png" "films/average of a.png" films/s1 \
        films/s1/e.mkv "films/s1/kmeans of e.png" "films/s1/average of e.png"
    ok -r films -q -n 50 -o films --name barcode --overwrite
    [ -s films/barcode.png ] && [ -s films/s1/barcode.png ] || fail "made $(find films)"
    cp films/a.mkv films/b.mkv
    refuses 2 -r films -o films --name barcode
    says "'films/a.mkv' and 'films/b.mkv' would have the same name; put {stem} into it$"
    refuses 2 films -o films --name '{stem}' -m kmeans,average
    says "put {mode} into it$"
    refuses 2 films -o films --name 'x/{stem}'
    refuses 2 films/a.mkv -o x.png --name '{stem}'
}

# Folders are made when an output is written there: a run that is refused leaves nothing behind.
test_folders_are_made() { # quick
    f=$(clip one-frame.mkv)
    mkdir films
    cp "$f" films/a.mkv
    cp "$f" films/b.mkv
    refuses 2 films -o pics/ --json json/ --swatches one.css
    refuses 2 films -o pics/ --json json/ --title two
    refuses 1 films -o no/pics/ --json json/
    says "cannot create the folder 'no/pics/': the folder 'no/' does not exist$"
    refuses 1 films -o films/a.mkv/ --json json/
    says "'films/a.mkv/' is not a folder$"
    refuses 3 missing.mkv -o pics/ --json json/
    files films films/a.mkv films/b.mkv
    ok films -q -o pics/ --json json/ --csv csv/ --swatches sw/ --thumbnails th/ --html html/ \
        --dump dump/
    for file in pics/a.png json/b.json csv/a.csv sw/b.gpl th/a.vtt html/b.html dump/a.rgb; do
        [ -s $file ] || fail "$file is missing"
    done
    ok films -q --html gallery/index.html
    [ -s gallery/index.html ] && [ -s gallery/a.html ] || fail "made $(find gallery)"
    ok films/a.mkv -q -o pics/deeper/
    [ -s pics/deeper/a.png ] || fail "made $(find pics)"
}

test_only_what_is_asked_for() { # quick
    f=$(clip one-frame.mkv)
    for words in '--json x' '--csv x' '--html x' '--swatches x.gpl' '--swatches x.json'; do
        # shellcheck disable=SC2086
        ok "$f" -q $words
        files "${words#* }"
        rm x*
    done
    ok "$f" -q --thumbnails x
    [ ! -e one-frame.png ] || fail "a picture was made"
    rm -r x
    ok "$f" -q --json - > /dev/null
    files
    ok "$f" -q --json x --poster
    files one-frame-poster.png x
    rm ./*
    ok "$f" -q --dump x.rgb --bench
    files one-frame.png x.rgb
    rm ./*
    # A dump's film is known by the JSON beside it.
    for _ in 1 2; do ok "$f" -q --json d/ --dump d/ --update; done
    rm d/one-frame.json
    refuses 1 "$f" -q --json d/ --dump d/ --update
}

test_default_name_over_own_picture() { # quick
    f=$(clip h264-closed.mkv)
    ok "$f" -n 20
    ok "$f" -n 10
    check png h264-closed.png 20 800
}

test_default_name_over_other_file() {
    f=$(clip h264-closed.mkv)
    echo precious > h264-closed.png
    refuses 1 "$f" -n 20
    [ "$(cat h264-closed.png)" = precious ] || fail "somebody else's file was overwritten"
    files h264-closed.png
    ok "$f" -n 20 -o h264-closed.png
    check png h264-closed.png 10 800
}

test_output_file_folder_stdout() { # quick
    f=$(clip h264-closed.mkv)
    mkdir there
    ok "$f" -n 20 -o there
    ok "$f" -n 20 -o there/
    ok "$f" -n 20 -o there/named.png
    ok "$f" -n 20 -o -
    cmp "$LOGS/stdout" there/named.png || fail "-o - is not what -o FILE is"
    files there there/h264-closed.png there/named.png
}

test_stdout_by_other_names() {
    f=$(clip h264-closed.mkv)
    ok "$f" -n 20 -o p.png
    for name in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
        refuses 2 "$f" -o - --json $name
        refuses 2 "$f" -o $name --dump -
        ok "$f" -n 20 -o $name
        cmp "$LOGS/stdout" p.png || fail "-o $name is not what -o FILE is"
    done
    files p.png
}

# A slip in the order of the words must not cost a film.
test_output_named_like_a_film() {
    f=$(clip h264-closed.mkv)
    cp "$f" other.mkv
    mkdir d.e d.jpg
    refuses 2 -o other.mkv "$f"
    says "-o 'other.mkv' is the name of a film"
    for option in --json --dump; do
        refuses 2 $option other.mkv "$f"
        says "$option 'other.mkv' is the name of a film"
    done
    for name in picture.eps picture.gif picture.ppm p.txt "a b." x.tar.gz d.e/x.data; do
        refuses 2 -o "$name" "$f"
        says "'$name': the name of a picture ends in .png, .jpg, .webp, .svg, .pdf or .html"
    done
    refuses 2 -o picture.json "$f"
    says "json writes data"
    cmp other.mkv "$f" || fail "the film was overwritten"
    files other.mkv d.e d.jpg
    for name in jpg .x x.PNG x.JPG d.e/x d.jpg/x; do
        ok "$f" -q -n 50 -o "$name"
        [ -s "$name" ] || fail "there is no $name"
    done
    ok "$f" -q -n 50 -o d.jpg
    [ -s d.jpg/h264-closed.png ] || fail "d.jpg is not a folder any more"
}

# JPEG and WebP show what the PNG shows: WebP exactly, JPEG nearly, with all colours of narrow columns.
test_jpeg_and_webp() {
    decoded_once
    f=$(sample)
    pixels() {
        ffmpeg -nostdin -v error -i "$1" -pix_fmt rgb24 -f rawvideo -
    }
    for options in "-m palette -n 24" "-m squeeze -n 5 --width 301 --height 103" "--shape ring --width 300 --background teal"; do
        # shellcheck disable=SC2086
        for name in p.png p.jpg p.webp; do
            ok "$f" $options -o $name
            says "wrote '$name'"
            ok "$f" $options -o $name --update
            says_not wrote
        done
        cmp <(pixels p.png) <(pixels p.webp) || fail "$options: the WebP has other pixels"
        "$PYTHON" - <(pixels p.png) <(pixels p.jpg) << 'EOF' || fail "$options: the JPEG is another picture"
import sys
a, b = (open(name, "rb").read() for name in sys.argv[1:])
sys.exit(len(a) != len(b) or sum(abs(x - y) for x, y in zip(a, b)) > 3 * len(a))
EOF
    done
    [ "$(ffprobe -v error -show_entries stream=pix_fmt -of csv=p=0 p.jpg)" = yuvj444p ] || fail "the chroma of the JPEG is subsampled"
    for name in p.jpg p.webp; do
        ok "$f" -n 24 -m palette -o $name
        ok "$f" -n 24 -m palette -o $name --seed 5 --update
        says wrote
        truncate -s -1 $name
        ok "$f" -n 24 -m palette -o $name --seed 5 --update
        says wrote
    done
    ok "$f" -n 24 --shape ring --width 99 -o ring.webp
    [ "$(ffprobe -v error -show_entries stream=pix_fmt -of csv=p=0 ring.webp)" = argb ] || fail "the ring is not transparent"
    refuses 2 "$f" -o big.webp --width 16384
    says "a WebP is at most 16383 pixels wide and high"
    [ ! -e big.webp ] || fail "something was written"
}

# The ending of --name is that of the pictures, and is not doubled.
test_names_with_endings() { # quick
    cp "$(clip one-frame.mkv)" a.mkv
    mkdir p
    ok a.mkv -o p --name '{stem}.png'
    ok a.mkv -o p --name '{stem}-{mode}.JPEG' -m kmeans,average --csv p/ --json p/
    ok a.mkv -o p --name '{stem}.webp'
    ok a.mkv -o p --name 'v1.5 of {stem}' --html p/
    files a.mkv p p/a.png p/a-kmeans.jpg p/a-average.jpg p/a-kmeans-average.csv p/a-kmeans-average.json p/a.webp "p/v1.5 of a.png" "p/v1.5 of a.html"
    ffprobe -v error -show_entries stream=codec_name -of csv=p=0 p/a-kmeans.jpg | grep -q mjpeg || fail "p/a-kmeans.jpg is no JPEG"
}

test_every_file_is_told() {
    f=$(clip one-frame.mkv)
    ok "$f" -o p.png --json p.json --dump p.rgb
    says "wrote 'p.png': 1 column$"
    says "wrote 'p.json': 1 column$"
    says "wrote 'p.rgb': 1 frame$"
    ok "$f" -q -o p.png --json p.json --dump p.rgb
    [ ! -s "$LOGS/stderr" ] || fail "-q says something"
}

test_several_films() { # quick
    a=$(clip h264-closed.mkv)
    b=$(clip hevc-open.mkv)
    mkdir o
    ok "$a" "$b" "$a" -n 20 -o o
    files o o/h264-closed.png o/hevc-open.png o/h264-closed-2.png
    cmp o/h264-closed.png o/h264-closed-2.png || fail "the same film gives two pictures"
}

test_several_films_one_bad() { # quick
    a=$(clip h264-closed.mkv)
    b=$(clip bad/text.mkv)
    c=$(clip hevc-open.mkv)
    exits 3 "$a" "$b" missing.mkv "$c" -n 20
    files h264-closed.png hevc-open.png
    says "text.mkv"
    says "missing.mkv"
}

test_several_films_one_name() {
    a=$(clip h264-closed.mkv)
    b=$(clip hevc-open.mkv)
    while IFS='|' read -r words sentence; do
        # shellcheck disable=SC2086  # words on purpose
        refuses 2 "$a" "$b" $words
        says "$sentence"
    done << 'END'
-o one.png|one name for 2 films
-o -|one name for 2 films
-o one.jpg|give a folder, as in -o DIR/ --name '{stem}.jpg'
-o one.html|--html DIR/index.html makes a page for each
--json j.json|--json j.json: one file for 2 films; give a folder (DIR/)
--json -|--json -: one file for 2 films
--dump -|--dump -: one file for 2 films
END
    refuses 2 "$a" -m kmeans,average -o -
    says 'stdout can carry one picture, not 2'
    files
    # A folder without films is no second film, and lines of --bench are no file.
    mkdir empty
    run "$a" empty -n 20 -o one.png --bench
    [ "$STATUS" -eq 3 ] && [ -s one.png ] || fail "exit status $STATUS, not 3, or no picture"
    ok "$a" "$b" -n 20 -q -o ./ --bench
    [ "$(wc -l < "$LOGS/stdout")" -eq 2 ] || fail "not a line for each film"
}

# --json and --dump name their files in a folder as -o does.
test_several_films_with_extras() {
    a=$(clip h264-closed.mkv)
    b=$(clip hevc-open.mkv)
    mkdir o j
    ok "$a" "$b" "$a" -q -n 20 -o o --json j --dump o/
    files j j/h264-closed-2.json j/h264-closed.json j/hevc-open.json o o/h264-closed-2.png o/h264-closed-2.rgb o/h264-closed.png \
        o/h264-closed.rgb o/hevc-open.png o/hevc-open.rgb
    ok "$b" -q -n 20 -o p.png --json p.json --dump p.rgb
    cmp p.rgb o/hevc-open.rgb || fail "another dump in a folder"
    [ "$(check get j/hevc-open.json film.path)" = "$b" ] || fail "the JSON is another film's"
    rm p.*
    # JSON says of which film it is, raw pictures do not.
    ok "$a" "$b" -q -n 10 -o o --json j
    echo '{"mine": 1}' > j/hevc-open.json
    exits 1 "$a" "$b" -q -n 10 -o o --json j
    says "'j/hevc-open.json': the file exists and was not made by barcode; choose another name with --json"
    [ "$(cat j/hevc-open.json)" = '{"mine": 1}' ] || fail "somebody else's JSON was replaced"
    cp o/hevc-open.rgb old.rgb
    refuses 1 "$b" -q -n 10 -o o --dump o
    says "'o/hevc-open.rgb': the file exists, and a dump does not name its film"
    cmp o/hevc-open.rgb old.rgb || fail "a dump was replaced"
}

# The films of two seasons have the same names: none loses its picture to another, in one run or in several.
test_films_of_one_name() {
    mkdir o
    copy_clips s1/e01.mkv h264-closed.mkv s2/e01.mkv hevc-open.mkv
    ok s1 -q -n 20 -o o --json o
    cp o/e01.png first.png
    refuses 1 s2 -q -n 20 -o o
    says "'o/e01.png': the file exists and shows another film, or this one before it was modified; choose another name with -o, or --overwrite"
    cmp o/e01.png first.png || fail "the picture of another film was replaced"
    ok s2 -q -n 20 -o o --overwrite
    ! cmp -s o/e01.png first.png || fail "--overwrite did not"
    ok s2 -q -n 20 -o o --dump o/
    refuses 1 s2 -q -n 20 -o o --dump o/
    says "or --overwrite"
    ok s2 -q -n 20 -o o --dump o/ --overwrite
    rm o/e01.rgb
    echo mine > o/e01.png
    refuses 1 s2 -q -n 20 -o o --overwrite
    says "'o/e01.png': the file exists and was not made by barcode"
    rm o/e01.png
    refuses 1 s2 -q -n 20 -o o --json o
    says "'o/e01.json': the file exists and shows another film"
    rm o/*
    for _ in 1 2; do
        ok s1 s2 -q -n 20 -o o
        cmp o/e01.png first.png || fail "another picture"
        files first.png o o/e01-2.png o/e01.png s1 s1/e01.mkv s2 s2/e01.mkv
    done
    # Also where only the ending differs.
    cp s1/e01.mkv a.mkv
    cp "$(clip h264-open.mp4)" a.mp4
    ok a.mkv -q -n 20
    refuses 1 a.mp4 -q -n 20
    ok a.mp4 -q -n 20 -o a.png        # the user said so
    refuses 1 a.mkv -q -n 20
}

# The film may move, and its picture stays the same to the byte; one that was changed is another.
test_a_film_and_its_picture() {
    mkdir d
    cp "$(clip h264-closed.mkv)" film.mkv
    ok film.mkv -q -n 20
    cp film.png first.png
    touch -d yesterday film.mkv
    mv film.mkv d/film.mkv
    ok d/film.mkv -q -n 20
    cmp film.png first.png || fail "another place, another picture"
    ok d/film.mkv -q -n 10
    ! grep -q "$PWD" film.png || fail "the picture gives away where the film lies"
    cat "$(clip h264-open.ts)" >> d/film.mkv
    refuses 1 d/film.mkv -q -n 20
    says "or this one before it was modified"
    "$PYTHON" - film.png << 'PY' || fail "the picture does not say which film it shows"
import re, sys
sys.exit(not re.search(rb"tEXtbarcode:film\0[0-9]+-[0-9a-f]{32}", open(sys.argv[1], "rb").read()))
PY
}

# What came through a pipe has no name and no bytes to be known by.
test_a_picture_of_a_pipe_stays() {
    f=$(clip h264-closed.mkv)
    mkfifo film.mkv
    for want in 0 1; do
        cat "$f" > film.mkv 2> /dev/null &
        run film.mkv -q -n 20
        kill $! 2> /dev/null || true
        [ "$STATUS" -eq $want ] || fail "exit status $STATUS, not $want"
    done
    says "'film.png': the file exists and may show another film"
    files film.mkv film.png
}

test_folder() { # quick
    a=$(clip h264-closed.mkv)
    b=$(clip hevc-open.mkv)
    mkdir films films/deeper empty
    cp "$a" films/a.mkv
    cp "$b" films/b.mkv
    cp "$b" films/.hidden.mkv
    cp "$b" films/deeper/c.mkv
    echo notes > films/notes.txt
    ok films -n 20 -o empty
    [ "$(cd empty && echo *)" = "a.png b.png" ] || fail "made $(ls -A empty)"
    rm empty/*
    refuses 3 empty
}

# A pipe in a folder would be waited for.
test_folder_with_pipes() {
    a=$(clip h264-closed.mkv)
    mkdir films films/dir.mp4 none
    cp "$a" films/z.mkv
    mkfifo films/a.mkv none/b.mkv
    ln -s a.mkv films/b.mkv
    ln -s /dev/zero films/c.mkv
    LIMIT=20 ok films -n 20 -v
    says "skipped 'films/a.mkv'"
    [ "$(echo ./*.png)" = ./z.png ] || fail "made $(ls)"
    LIMIT=20 refuses 3 none
    ln -s nowhere none/d.mkv # opening it says so
    LIMIT=20 refuses 3 none
    says "none/d.mkv"
}

# What stands in the way of one film, or of one folder, does not stop the others.
test_batch_goes_on() { # quick
    a=$(clip h264-closed.mkv)
    b=$(clip hevc-open.mkv)
    mkdir empty
    exits 3 empty "$a" "$b" -n 20
    says "no films in the folder 'empty'"
    files empty h264-closed.png hevc-open.png
    rm ./*.png
    echo precious > h264-closed.png
    LIMIT=20 exits 1 "$a" "$b" -n 20
    head -n 1 "$LOGS/stderr" | grep -q "'h264-closed.png': the file exists" || fail "it is not said before the work"
    [ "$(cat h264-closed.png)" = precious ] || fail "somebody else's file was overwritten"
    files empty h264-closed.png hevc-open.png
    rm ./*.png
    mkfifo h264-closed.png
    LIMIT=20 exits 1 "$a" "$b" -n 20
    files empty h264-closed.png hevc-open.png
}

test_output_is_input() { # quick
    a=$(clip h264-closed.mkv)
    cp "$a" film.mkv
    ln -s film.mkv link.mkv
    ln film.mkv hard.mkv
    for out in film.mkv ./film.mkv link.mkv hard.mkv "$PWD/film.mkv"; do
        refuses 2 film.mkv -o "$out"
        refuses 2 film.mkv --json "$out"
        refuses 2 film.mkv --dump "$out"
    done
    cmp film.mkv "$a" || fail "the film was overwritten"
    files film.mkv link.mkv hard.mkv
}

test_two_outputs_one_file() { # quick
    a=$(clip h264-closed.mkv)
    mkdir d
    for words in '-o x.png --json x.png' '-o x.png --dump ./x.png' '-o x.png --json d/.././x.png'; do
        # shellcheck disable=SC2086  # words on purpose
        refuses 2 "$a" $words
        says 'is requested twice: as the picture and as another output'
    done
    refuses 2 "$a" --json d --dump d/h264-closed.json
    says "requested twice: by --json and by --dump"
    rmdir d
    ok "$a" -q -n 50 -o ./- --json - > /dev/null # a file, and stdout is none
    rm ./-
    files
}

test_failed_run_keeps_old_output() { # quick
    b=$(clip bad/noise.mp4)
    echo old > p.png
    echo old > p.json
    refuses 3 "$b" -o p.png --json p.json
    [ "$(cat p.png p.json)" = "$(printf 'old\nold')" ] || fail "an old output was replaced by a run that failed"
    files p.json p.png
}

test_odd_names() { # quick
    a=$(clip h264-closed.mkv)
    mkdir d
    cp "$a" "d/a film, 50% & more.mkv"
    cp "$a" d/noending
    cp "$a" d/-dash.mkv
    cp "$a" "d/$(printf 'new\nline.mkv')"
    (cd d && ok "a film, 50% & more.mkv" -n 50 && ok noending -n 50 && ok -n 50 -- -dash.mkv && ok "$(printf 'new\nline.mkv')" -n 50)
    [ -s "d/a film, 50% & more.png" ] && [ -s d/noending.png ] && [ -s d/-dash.png ] || fail "made $(ls d)"
}

test_output_to_device() {
    a=$(clip h264-closed.mkv)
    ok "$a" -n 20 -o /dev/null
    files
    mkfifo pipe
    cat pipe > got.png &
    ok "$a" -n 20 -o pipe
    wait
    check png got.png 10 800
}

test_no_pixels_on_a_terminal() { # quick
    a=$(clip h264-closed.mkv)
    command -v script > /dev/null || skip "no script(1) to make a terminal"
    script -qec true /dev/null < /dev/null > /dev/null 2>&1 || skip "no pseudo-terminals here"
    for words in '-o -' '--dump - -o p.png'; do
        STATUS=0 COMMAND="barcode $words on a terminal"
        script -qec "'$BARCODE' '$a' -n 50 $words" /dev/null < /dev/null > "$LOGS/terminal" || STATUS=$?
        [ "$STATUS" -eq 2 ] || fail "exit status $STATUS, not 2"
        [ "$(wc -c < "$LOGS/terminal")" -lt 300 ] || fail "pixels went to the terminal"
    done
    files
}
