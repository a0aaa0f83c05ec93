# Previews for media servers, beside the films: --trickplay.

trickplay() {
    "$PYTHON" "$HERE/trickplay.py" "$@" || fail "trickplay.py $*"
}

test_trickplay_layout() { # quick
    cp "$(clip h264-closed.mkv)" 'a film.mkv'
    ok 'a film.mkv' --trickplay jellyfin,bif --trickplay-interval 1 --sandbox=require -q
    trickplay jellyfin 'a film.trickplay' 320 180 8
    trickplay bif 'a film-320-1.bif' 320 180 8 1000
    trickplay frames 'a film.trickplay' 320 180 'a film.mkv' 1
    trickplay same 'a film-320-1.bif' 'a film.trickplay' 320 180
    files 'a film.mkv' 'a film-320-1.bif' 'a film.trickplay' 'a film.trickplay/320 - 10x10' 'a film.trickplay/320 - 10x10/0.jpg'
}

# Variable rate, turned, samples that are not square, cut by an edit list, shorter than an interval, key frames.
test_trickplay_films() {
    while read -r film height; do
        cp "$(clip "$film")" .
        ok "$film" --trickplay bif --trickplay-interval 1 -q
        trickplay frames "${film%.*}-320-1.bif" 320 "$height" "$film" 1
    done <<'END'
vfr.mkv 180
rotate90.mp4 568
sar.mkv 126
editlist.mp4 180
h264-open.ts 180
odd-size-444.mkv 180
END
    cp "$(clip one-frame.mkv)" .
    ok one-frame.mkv --trickplay jellyfin,bif --trickplay-width 162 -q
    trickplay jellyfin one-frame.trickplay 162 92 1
    trickplay bif one-frame-162-10.bif 162 92 1 10000
    cp "$(clip h264-keyint1.mkv)" k.mkv
    ok k.mkv --keyframes --trickplay bif --trickplay-interval 1 -o k.png --columns 5 -q
    trickplay frames k-320-1.bif 320 180 k.mkv 1
    ok k.mkv --keyframes --trickplay bif --trickplay-interval 1 -o k.png --columns 5 --start 1 --end 2 -q
    trickplay frames k-320-1.bif 320 180 k.mkv 1
    # Previews alone decode the key frames that they show and no others.
    ok k.mkv --keyframes --trickplay bif --trickplay-interval 4 --no-cache -v
    says "'k.mkv' is done: 2 columns"
}

# Bars are cropped in the barcode, and shown in previews. Both come from one decoding, and neither changes the other.
test_trickplay_with_barcode() {
    ffmpeg -v error -i "$(clip h264-closed.mkv)" -vf pad=320:240:0:30:black -c:v libx264 -preset ultrafast -g 30 a.mkv
    ok a.mkv -n 7 -o plain.png --json plain.json --no-cache
    ok a.mkv -n 7 -o both.png --json both.json --no-cache --trickplay jellyfin,bif --trickplay-interval 1
    cmp plain.png both.png || fail "previews change the barcode"
    [ "$(grep -c '"frame"' plain.json)" = "$(grep -c '"frame"' both.json)" ] || fail "previews change the columns"
    trickplay frames a.trickplay 320 240 a.mkv 1
    # The columns come from the cache, the previews from the film, of which they are the whole even with --start and --end.
    rm -r a.trickplay
    ok a.mkv -n 7 -o now.png --cache c
    ok a.mkv -n 7 -o now.png --cache c --trickplay jellyfin --trickplay-interval 1 -v
    says 'cache partial'
    cmp plain.png now.png || fail "cached columns differ"
    trickplay frames a.trickplay 320 240 a.mkv 1
    rm -r a.trickplay
    ok a.mkv -o part.png --start 2 --end 4 --trickplay jellyfin --trickplay-interval 1
    trickplay jellyfin a.trickplay 320 240 8
    trickplay frames a.trickplay 320 240 a.mkv 1
}

# More than a sheet, and more than one preview of a frame.
test_trickplay_sheets() {
    ffmpeg -v error -f lavfi -i testsrc2=s=64x36:r=0.8:d=230 -vf 'hue=H=2*PI*t/50' -c:v ffv1 long.mkv
    ok long.mkv --trickplay jellyfin,bif --trickplay-interval 1 --trickplay-width 96 -q
    trickplay jellyfin long.trickplay 96 54 230
    trickplay bif long-96-1.bif 96 54 230 1000
    trickplay frames long.trickplay 96 54 long.mkv 1
    # Another interval makes other previews, in the same folder; every sheet must be there and whole.
    set -- long.mkv --trickplay jellyfin --trickplay-width 96 --trickplay-interval
    ok "$@" 2 --overwrite -q
    trickplay jellyfin long.trickplay 96 54 115
    ok "$@" 1 --update -q
    trickplay jellyfin long.trickplay 96 54 230
    ok "$@" 1 --update -v
    says "skipped 'long.mkv'"
    truncate -s -2 'long.trickplay/96 - 10x10/2.jpg'
    ok "$@" 1 --update -v
    says 'is incomplete'
    trickplay jellyfin long.trickplay 96 54 230
    cp 'long.trickplay/96 - 10x10/1.jpg' other.jpg
    rm 'long.trickplay/96 - 10x10/1.jpg'
    ok "$@" 1 --update -v
    says 'is incomplete'
    cmp 'long.trickplay/96 - 10x10/1.jpg' other.jpg || fail "the sheet is not the same again"
    files long.mkv long-96-1.bif other.jpg long.trickplay 'long.trickplay/96 - 10x10' 'long.trickplay/96 - 10x10/'{0,1,2}.jpg
}

test_trickplay_update() {
    copy_clips films/s1/a.mkv h264-closed.mkv films/b.mkv vfr.mkv
    set -- -r films --trickplay jellyfin,bif --trickplay-interval 1 --update -v
    ok "$@"
    find films -type f -printf '%p %T@\n' | sort > before
    ok "$@"
    says "skipped 'films/b.mkv'"
    says "skipped 'films/s1/a.mkv'"
    find films -type f -printf '%p %T@\n' | sort | cmp - before || fail "the second run wrote something"
    cp 'films/b.trickplay/320 - 10x10/0.jpg' 'films/b.trickplay/320 - 10x10/1.jpg' # too many
    ok "$@"
    says "'films/b.trickplay/320 - 10x10/0.jpg' is incomplete"
    trickplay jellyfin films/b.trickplay 320 180 8
    truncate -s -1 films/b-320-1.bif
    ok "$@"
    says "'films/b-320-1.bif' is incomplete"
    [ "$(find films -name '*.tmp*')" = "" ] || fail "left $(find films -name '*.tmp*')"
}

# Both films would have the same previews: the first in the list has them, whatever is there already.
test_trickplay_one_name() {
    copy_clips films/a.mkv h264-closed.mkv films/a.mp4 editlist.mp4 films/b.mkv one-frame.mkv
    for kind in bif jellyfin; do
        for more in --no-cache --overwrite --update; do
            refuses 1 films --trickplay $kind --trickplay-interval 1 $more -q
            says "^barcode: cannot write 'films/a[^']*': the previews of 'films/a.mkv' have that name$"
        done
    done
    trickplay frames films/a-320-1.bif 320 180 films/a.mkv 1
    trickplay frames films/a.trickplay 320 180 films/a.mkv 1
    trickplay bif films/b-320-1.bif 320 180 1 1000
    run films/a.mp4 films/a.mkv --trickplay bif --trickplay-interval 1 --overwrite -q
    says "the previews of 'films/a.mp4' have that name"
    trickplay frames films/a-320-1.bif 320 180 films/a.mp4 1
}

test_trickplay_refused() { # quick
    cp "$(clip one-frame.mkv)" a.mkv
    refuses 2 a.mkv --trickplay plex
    says "'plex' is not jellyfin or bif"
    refuses 2 a.mkv --trickplay bif --trickplay-width 321
    refuses 2 a.mkv --trickplay bif --trickplay-interval 0.5
    says "'0.5' is not in whole milliseconds, from 1 second to 49 days$"
    refuses 1 - --trickplay bif
    says 'beside the film'
    # A file on standard input has no name either.
    from a.mkv - --trickplay bif
    rm -f /dev/stdin-320-10.bif
    was 1
    one_sentence
    says "'/dev/stdin' is not a file"
    refuses 2 a.mkv --trickplay-width 160
    says '^barcode: --trickplay-width applies to --trickplay; add --trickplay KIND$'
    refuses 2 a.mkv --thumbnails t --trickplay-interval 5
    ok a.mkv --trickplay 'jellyfin, bif' -q
    rm -r a.trickplay a-320-10.bif
    mkdir locked
    cp a.mkv locked/
    cp a.mkv locked/b.mkv
    mkdir out
    chmod 555 locked
    for kind in bif jellyfin; do
        refuses_bound 1 locked/a.mkv --trickplay $kind --no-cache
        says "'locked/*': Permission denied; --trickplay-dir writes the previews elsewhere$"
        refuses_bound 1 -q locked --trickplay $kind --no-cache
        refuses_bound 1 -q locked --trickplay $kind -o out/ --no-cache --update
        ok -q locked --trickplay $kind --trickplay-dir out/previews --no-cache
    done
    [ "$(ls out)" = "$(printf '%s\n' a.png b.png previews)" ] || fail "out has $(ls out)"
    [ "$(ls out/previews)" = "$(printf '%s\n' a-320-10.bif a.trickplay b-320-10.bif b.trickplay)" ] || fail "$(ls out/previews)"
    ok -v locked --trickplay bif,jellyfin --trickplay-dir out/previews --update
    says "2 films: 0 done, 2 skipped"
    # Previews that exist are not made again there with a new picture.
    chmod 755 locked
    ok -q locked --trickplay bif --no-cache
    chmod 555 locked
    refuses_bound 1 -q locked --trickplay bif -o late/ --no-cache --update
    [ "$(ls late)" = "$(printf '%s\n' a.png b.png)" ] || fail "late has $(ls late)"
    ok -v locked --trickplay bif -o late/ --no-cache --update
    says "2 films: 0 done, 2 skipped"
    rm -r out late
    chmod 755 locked
    rm -r locked
    # The server's own sheets stay.
    mkdir -p 'a.trickplay/320 - 10x10'
    echo mine > 'a.trickplay/320 - 10x10/0.jpg'
    refuses 1 a.mkv --trickplay jellyfin
    says "was not made by barcode; move it away$"
    mv 'a.trickplay/320 - 10x10/0.jpg' 'a.trickplay/320 - 10x10/7.jpg'
    refuses 1 a.mkv --trickplay jellyfin
    says "cannot write 'a.trickplay/320 - 10x10': it has a file that barcode did not make"
    files a.mkv a.trickplay 'a.trickplay/320 - 10x10' 'a.trickplay/320 - 10x10/7.jpg'
}

# HEVC of fields: a picture has half of the frame's rows, and its previews have the frame's shape. A container may say it, too.
test_previews_of_fields() {
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=320x180:r=25:d=1 -vf interlace=lowpass=off,separatefields -pix_fmt yuv420p -c:v libx265 \
        -x265-params interlace=tff:log-level=error:keyint=10 fields.hevc
    ffmpeg -nostdin -v error -framerate 25 -i fields.hevc -c copy fields.mp4 2> /dev/null
    ffmpeg -nostdin -v error -framerate 25 -i fields.hevc -c copy -aspect 16:9 shaped.mp4 2> /dev/null
    [ "$(ffprobe -v error -show_entries stream=height -of csv=p=0 fields.mp4)" = 90 ] || skip "this x265 makes frames"
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=320x180:r=25:d=1 -c:v mpeg4 frames.mp4
    for film in frames.mp4 fields.hevc fields.mp4 shaped.mp4; do
        ok --keyframes $film -m average -o p.png --thumbnails "${film/./-}"
        grep -o 'xywh=0,0,.*' "${film/./-}"/*.vtt | sort -u > shape
        grep -qx 'xywh=0,0,160,90' shape || fail "$film: $(cat shape)"
    done
}
