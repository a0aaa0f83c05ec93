# What others take further: --csv, --swatches, --thumbnails.

exports() {
    "$PYTHON" "$HERE/exports.py" "$@" || fail "exports.py $*"
}

test_exports_csv() {
    local names=column,frame,time,status,average,dominant,colour_N,share_N,film,r,g,b,lightness,chroma,hue,contrast,title,file
    ok "$(sample)" -n 12 -m kmeans,dominant --csv f.csv --csv-columns $names --json f.json -k 5
    exports csv f.csv f.json 5
    # The ending says it too, and both tell what their mode needs: without clusters nothing is clustered.
    ok "$(sample)" -n 12 -m average -k 5 -o other.csv --json average.json
    cmp <(cut -d, -f1-5,17 f.csv) <(cut -d, -f1-6 other.csv | tr -d '\r') || fail "another mode gives other averages"
    ! grep -q '"colours"\|"dominant"' average.json || fail "the JSON of -m average has more because of --csv"
    LIMIT=100 ok "$(sample)" -n 12 -m average --csv - -q -k 64 --n-init 1000 --no-race       # which would take an hour
    cmp "$LOGS/stdout" other.csv || fail "on stdout it is another file"
    files average.json f.csv f.json other.csv          # and nobody asked for a picture
    for f in "$CLIPS"/holes/* "$CLIPS"/damaged/*; do
        run "$f" -n 10 --n-init 1 -m kmeans,dominant --csv d.csv --csv-columns $names --json d.json
        [ "$STATUS" -ne 0 ] || { exports csv d.csv d.json 8; cat d.csv >> all.csv; }
    done
    grep -q ',missing,,,' all.csv && grep -q ',damaged,#' all.csv || fail "no column of these is missing, or none is damaged"
}

test_exports_swatches() {
    ok "$(sample)" -n 12 --dump f.rgb --swatches f.gpl --swatches f.ase --swatches f.css --swatches f.json
    for e in json gpl ase css; do mv f.$e f-palette.$e; done
    exports swatches f.rgb f-palette 8
    # The same from other modes, and by -o.
    ok "$(sample)" -n 12 -m average -o o.gpl
    cmp <(sed 5d o.gpl) <(sed 5d f-palette.gpl) || fail "another mode gives another palette"
    ok "$(sample)" -n 12 --swatches - -o x.png -q
    cmp "$LOGS/stdout" f-palette.gpl
    refuses 2 "$(sample)" --swatches f.txt
    says "^barcode: --swatches: 'f.txt' does not end in one of .gpl, .ase, .css, .json$"
    refuses 2 "$(sample)" --swatches f.gpl --json f.gpl
    refuses 2 "$(sample)" --swatches ''
    f=$(clip one-frame.mkv)
    ok "$f" --swatches one.gpl --swatches one.ase --swatches one.css --swatches one.json -k 1
    ok "$f" --dump told.rgb -o one.png
    exports swatches told.rgb one 8
}

# A hundredth of a grey film is green: in every frame, or in two of its 200 frames.
test_exports_colours() {
    grey="gradients=s=320x180:r=20:d=10:c0=black:c1=white:n=2:seed=1:speed=0.02,format=gray,format=yuv444p"
    green="color=0x10b040:t=fill"
    ffmpeg -nostdin -v error -f lavfi -i "$grey,drawbox=x=40:y=30:w=32:h=18:$green" -c:v ffv1 place.mkv
    ffmpeg -nostdin -v error -f lavfi -i "$grey,drawbox=$green:enable='between(n,101,102)'" -c:v ffv1 time.mkv
    for film in place time; do
        for n in 8 32; do
            ok $film.mkv -n 1 --colours $n --dump f.rgb --swatches $film.json -q -o $film-$n.png --no-cache --overwrite
            exports swatches f.rgb $film $n
            exports swatch $film.json 16 176 64 0.01
        done
    done
    for n in 1 33 x 8.5 ''; do
        refuses 2 "$(sample)" --colours "$n" -o x.png
        says "^barcode: --colours: '$n' is not a whole number from 2 to 32$"
    done
    files f.rgb place-32.png place-8.png place.json place.mkv time-32.png time-8.png time.json time.mkv
}

# Whichever way the frames come, their palette is the same.
test_exports_colours_any_way() {
    set -- -n 6 -q -m average --swatches
    ok "$(sample)" "$@" cold.json --cache c --threads 3
    ok "$(sample)" "$@" warm.json --cache c -v
    says 'frames .*from the cache'
    ok "$(sample)" "$@" alone.json --no-cache --threads 1
    ok "$(sample)" "$@" verified.json --no-cache --verify
    cp "$(sample)" f.mkv
    ok f.mkv "$@" previews.json --no-cache --trickplay jellyfin --trickplay-interval 1
    for other in warm alone verified; do cmp cold.json $other.json || fail "$other gives another palette"; done
    cmp <(sed 1,3d cold.json) <(sed 1,3d previews.json) || fail "previews give another palette"
    # Frames of fewer columns, from those of more.
    ok "$(sample)" -n 12 -q --swatches fewer.json --cache c -m average -o x.png
    ok "$(sample)" -n 12 -q --swatches decoded.json --no-cache -m average -o x.png --overwrite
    cmp fewer.json decoded.json || fail "frames of another selection give another palette"
    for f in "$CLIPS"/holes/* "$CLIPS"/damaged/*; do
        run "$f" -n 3 --no-cache --dump f.rgb --overwrite --swatches d.json --swatches d.gpl --swatches d.ase --swatches d.css
        # A missing frame is black in a dump.
        [ "$STATUS" -ne 0 ] || grep -q 'missing' "$LOGS/stderr" || exports swatches f.rgb d 8
    done
}

test_exports_thumbnails() {
    ok "$(sample)" -n 2 --thumbnails th --json f.json --dump f.rgb -m average
    exports thumbnails th/sample.vtt f.json f.rgb > count
    [ "$(cat count)" = "90 1" ] || fail "cues and sheets: $(cat count)"
    exports shape th/sample.vtt 160 66
    [ "$(find th | wc -l)" -eq 3 ] || fail "made $(find th)"
    # More than a sheet, and frames less than once a second.
    ffmpeg -v error -f lavfi -i testsrc2=s=64x36:r=0.8:d=190 -vf 'hue=H=2*PI*t/50' -c:v ffv1 long.mkv
    ok long.mkv -n 1 --thumbnails long --json long.json --dump long.rgb -m average
    exports thumbnails long/long.vtt long.json long.rgb > count
    [ "$(cat count)" = "152 2" ] || fail "cues and sheets: $(cat count)"
    # Every way of staging gives the same bytes.
    ok "$(sample)" -n 2 --thumbnails cold -m average --cache c --dump cold.rgb
    says "^barcode: wrote 'cold/sample.vtt': $(grep -c xywh cold/sample.vtt) thumbnails$"
    says "^barcode: wrote 'cold.rgb': [0-9]* frames$"
    ok "$(sample)" -n 2 --thumbnails warm -m average --cache c --threads 3
    ok "$(sample)" -n 2 --thumbnails verified -m average --verify
    for other in cold warm verified; do diff -r th $other || fail "$other sheets differ"; done
}

# Samples that are not square, films that are turned, smaller than a thumbnail, damaged, or not at the start.
test_exports_thumbnails_of_films() {
    ok "$(clip sar.mkv)" -n 20 --thumbnails sar/ -q
    exports shape sar/sar.vtt 160 64          # 320x180 samples of 64:45
    for film in damaged/*.mkv one-frame.mkv vfr.mkv mirror.mp4; do
        for f in "$CLIPS"/$film; do
            [ -e "$f" ] || continue
            run "$f" -n 3 --thumbnails t --json f.json --dump f.rgb -m average --overwrite -o x.png
            [ "$STATUS" -eq 0 ] || continue
            exports thumbnails "t/$(basename "${f%.*}").vtt" f.json f.rgb > /dev/null
        done
    done
    ok "$(sample)" --start 30 --end 40 --columns 500 --thumbnails part -m average -q
    sed -n '/-->/{p;q}' part/sample.vtt | grep -q '^00:00:30\.0' || fail "begins with $(grep -m1 -e '-->' part/sample.vtt)"
}

test_exports_names() {
    mkdir -p o
    copy_clips films/s1/e01.mkv h264-closed.mkv films/s2/e01.mkv hevc-open.mkv \
        'films/a b#1.mkv' one-frame.mkv
    set -- -r films -n 20 -o o --csv o --swatches o --thumbnails thumbs/ -q
    ok "$@"
    for name in s1/e01 s2/e01 'a b#1'; do
        [ -s "o/$name.csv" ] && [ -s "o/$name.gpl" ] && [ -s "thumbs/$name.vtt" ] && [ -s "thumbs/$name-001.jpg" ] || fail "$name lacks something"
    done
    grep -q '^a%20b%231-001.jpg#xywh=0,0,' 'thumbs/a b#1.vtt' || fail "the sheet's URL: $(grep jpg 'thumbs/a b#1.vtt')"
    # Its own files of the same films are replaced, a stranger's are not, and are told.
    ok "$@"
    echo mine > thumbs/s1/e01-001.jpg
    exits 1 "$@"
    says "'thumbs/s1/e01-001.jpg': the file exists and was not made by barcode"
    [ "$(cat thumbs/s1/e01-001.jpg)" = mine ] || fail "a stranger's file is gone"
    rm thumbs/s1/e01-001.jpg
    for kind in o/s2/e01.csv o/s2/e01.gpl thumbs/s2/e01.vtt; do
        cp "$kind" saved
        echo mine > "$kind"
        run "$@"
        [ "$STATUS" -eq 1 ] && says "'$kind': the file exists and was not made by barcode" || fail "$kind was replaced"
        mv saved "$kind"
        cp "${kind/s2/s1}" "$kind"
        run "$@"
        [ "$STATUS" -eq 1 ] && says "'$kind': the file exists and shows another film" || fail "$kind of another film was replaced"
        ok "$@" --overwrite
    done
    # What it made does not become a film.
    run --any -r thumbs -v
    [ "$STATUS" -eq 3 ] && says "no films in the folder 'thumbs' or below it" || fail "exit status $STATUS"
}

test_exports_update() {
    mkdir films o
    cp "$(clip h264-closed.mkv)" films/a.mkv
    set -- films -n 20 -o o --swatches o --thumbnails o --update -v
    ok "$@"
    ok "$@"
    says "skipped 'films/a.mkv'"
    truncate -s -1 o/a-001.jpg
    ok "$@"
    says "rendering 'films/a.mkv': 'o/a.vtt' is incomplete"
    rm o/a-001.jpg
    ok "$@"
    ok "$@" -k 4
    says "rendering 'films/a.mkv': 'o/a.png' was made with other options"
    ok "$@" -k 4
    says "skipped 'films/a.mkv'"
}

test_exports_refused() {
    f=$(clip one-frame.mkv)
    refuses 2 "$f" --thumbnails -
    says "^barcode: --thumbnails: '-' is not a folder$"
    touch file
    run "$f" --thumbnails file -o x.png
    [ "$STATUS" -eq 1 ] && says "'file' is not a folder" || fail "exit status $STATUS"
    run "$f" --thumbnails no/such/folder -o x.png
    [ "$STATUS" -eq 1 ] && says "cannot create the folder 'no/such/folder': the folder 'no/such/' does not exist" || fail "exit status $STATUS"
    [ ! -e x.png ] || fail "a picture was made all the same"
    cp "$f" other.mkv
    refuses 2 "$f" other.mkv --json one.json
    says "^barcode: --json one.json: one file for 2 films; give a folder (DIR/)$"
    refuses 2 "$f" other.mkv --swatches one.ase
    files file other.mkv
}
