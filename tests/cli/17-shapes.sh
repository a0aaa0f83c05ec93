# --shape, --smooth, and what of posters needs no other program (tests/poster.sh looks at them).
# shellcheck disable=SC2153

# raw FILE FORMAT [FILTER]: a picture's pixels.
raw() {
    ffmpeg -nostdin -v error -i "$1" -vf "${3:-null}" -f rawvideo -pix_fmt "$2" -
}

facts() {
    ffprobe -v error -show_entries stream=width,height,pix_fmt -of csv=p=0 "$1"
}

test_shape_vertical() {
    decoded_once
    f=$(sample)
    for mode in kmeans palette squeeze; do
        ok "$f" -n 9 -m $mode --width 150 --height 40 -o strip.png
        ok "$f" -n 9 -m $mode --shape vertical --width 40 --height 150 -o vertical.png
        [ "$(facts vertical.png)" = 40,150,rgb24 ] || fail "the picture is $(facts vertical.png)"
        cmp <(raw strip.png rgb24 transpose=0) <(raw vertical.png rgb24) || fail "$mode: vertical is not the strip turned"
    done
    ok "$f" -n 9 --shape vertical --json j.json -o v.png
    [ "$(facts v.png)" = "800,$(grep -c '"frame":' j.json),rgb24" ] || fail "the picture is $(facts v.png)"
    grep -aq 'barcode:shape.vertical' v.png || fail "the picture does not say its shape"
}

test_shape_circle() {
    decoded_once
    f=$(sample)
    ok "$f" -n 9 --shape ring --width 101 -o a.png
    [ "$(facts a.png)" = 101,101,rgba ] || fail "the picture is $(facts a.png)"
    # Corner, margin and middle are clear, the ring is not.
    raw a.png gray alphaextract > alpha
    at() { od -An -tu1 -j $(($2 * 101 + $1)) -N1 alpha | tr -d ' '; }
    for point in "0 0 0" "100 100 0" "50 3 0" "3 50 0" "97 50 0" "50 97 0" "50 50 0" \
        "50 5 255" "5 50 255" "95 50 255" "50 95 255"; do
        # shellcheck disable=SC2086
        set -- $point
        [ "$(at "$1" "$2")" = "$3" ] || fail "alpha at $1, $2 is $(at "$1" "$2"), not $3"
    done
    ok "$f" -n 9 --shape ring --width 101 --threads 1 -o b.png
    cmp a.png b.png
    ok "$f" -n 9 --shape ring -m palette,average -o all.png
    files a.png b.png alpha all-palette.png all-average.png
    [ "$(facts all-palette.png)" = 1080,1080,rgba ] || fail "the picture is $(facts all-palette.png)"
    refuses 2 "$f" --shape ring -m all
    refuses 2 "$f" --shape ring --width 4 --height 5
    refuses 2 "$f" --shape star
}

# On a ground the ring has the same pixels, and nothing is transparent.
test_ring_on_a_ground() {
    decoded_once
    f=$(sample)
    ok "$f" -n 9 --shape ring --width 101 -o clear.png
    ok "$f" -n 9 --shape ring --width 101 --background '#0a141e' -o ground.png --update
    [ "$(facts ground.png)" = 101,101,rgb24 ] || fail "the picture is $(facts ground.png)"
    pixel() { raw "$1" rgb24 | od -An -tu1 -j $((($3 * 101 + $2) * 3)) -N3 | xargs; }
    for point in "0 0" "100 100" "50 50"; do
        # shellcheck disable=SC2086
        [ "$(pixel ground.png $point)" = "10 20 30" ] || fail "the ground at $point is $(pixel ground.png $point)"
    done
    for point in "50 10" "10 50"; do
        # shellcheck disable=SC2086
        [ "$(pixel ground.png $point)" = "$(pixel clear.png $point)" ] || fail "the ring at $point has another colour"
    done
    ok "$f" -n 9 --shape ring --width 101 --background '#0a141e' -o ground.png --update
    says_not wrote
    ok "$f" -n 9 --shape ring --width 101 --background navy -o ground.png --update
    says wrote
    refuses 2 "$f" --background red
    refuses 2 "$f" --shape ring --background reddish
}

# The columns' data are as they are; the picture, and its words, are not.
test_smooth() {
    decoded_once
    f=$(sample)
    ok "$f" -n 5 --n-init 1 --height 3 --json plain.json -o plain.png
    ok "$f" -n 5 --n-init 1 --height 3 --json smooth.json --smooth 2 -o smooth.png
    ok "$f" -n 5 --n-init 1 --height 3 --smooth 0 -o none.png
    cmp plain.png none.png || fail "--smooth 0 changes something"
    ! cmp -s <(raw plain.png rgb24) <(raw smooth.png rgb24) || fail "--smooth 2 changes nothing"
    cmp <(grep '"frame":' plain.json) <(grep '"frame":' smooth.json) || fail "--smooth changes columns"
    grep -aq 'barcode:smooth.2' smooth.png || fail "the picture does not say that it is smooth"
    grep -q 'smooth=2.000000' smooth.json || fail "the fingerprint lacks it"
    # Neighbours differ less than they did.
    "$PYTHON" - <(raw plain.png gray) <(raw smooth.png gray) << 'EOF' || fail "the smooth picture is not smoother"
import sys
a, b = (open(name, "rb").read() for name in sys.argv[1:])
rough = [sum(abs(x[i] - x[i + 1]) for i in range(len(x) // 3 - 1)) for x in (a, b)]
sys.exit(rough[1] * 3 > rough[0])
EOF
    for mode in kmeans dominant palette average squeeze; do
        ok "$f" -n 9 --n-init 1 -m $mode --smooth 2 --width 100 --threads 1 -o one.png
        ok "$f" -n 9 --n-init 1 -m $mode --smooth 2 --width 100 --threads 3 -o three.png
        cmp one.png three.png || fail "$mode: threads change the picture"
    done
    refuses 2 "$f" --smooth 2:00:00
}

# What a poster can look like; --update sees each of these options.
test_poster_looks() {
    cp "$(sample)" film.mkv
    touch -d '1 minute ago' film.mkv
    ok film.mkv -n 50 -o a.svg
    for option in "--subtitle none" "--subtitle a<b>&c" --bare "--font serif" "--background navy" "--svg-text live"; do
        # shellcheck disable=SC2086
        for said in says says_not; do
            ok film.mkv -n 50 -o a.svg --update $option
            $said wrote
        done
    done
    ok film.mkv -n 50 -o a.svg --svg-text live --title '<b>&"x' --font 'serif,"Q"'
    "$PYTHON" - a.svg << 'EOF' || fail "the text of the SVG is not live"
import sys
import xml.etree.ElementTree as tree
svg = "{http://www.w3.org/2000/svg}"
top = tree.parse(sys.argv[1]).getroot()
texts = list(top.iter(svg + "text"))
assert texts[0].text == '<b>&"x', texts[0].text
assert texts[0].get("font-family").startswith('serif,"Q",Noto Sans,'), texts[0].get("font-family")
assert not [p for p in top.iter(svg + "path") if p.get("aria-label")]
x0, y0, width, height = (float(n) for n in top.get("viewBox").split())
assert all(0 < float(t.get("x")) < width and 0 < float(t.get("y")) < height for t in texts)
assert sum(t.text.startswith("#") for t in texts) == 8
EOF
    ok film.mkv -n 50 -o a.png --poster --page A6 --font 'No Such Font'
    says "warning: --font: no font 'No Such Font' is installed; text is drawn with '"
    ok film.mkv -n 50 -o a.png --poster --page A6 --font 'serif'
    says_not "warning"
    ok film.mkv -n 50 -o a.jpg --poster --page 300x200
    ok film.mkv -n 50 -o p.webp --poster --page 300x200 --background black
    [ "$(raw p.webp rgb24 | od -An -tu1 -N3 | xargs)" = "0 0 0" ] || fail "the poster is not black"
    [ "$(facts a.jpg)" = 300,200,yuvj444p ] || fail "the picture is $(facts a.jpg)"
    refuses 2 film.mkv -o x.png --bare
    refuses 2 film.mkv -o x.png --poster --svg-text live
}

test_poster_update() {
    cp "$(sample)" film.mkv
    touch -d '1 minute ago' film.mkv
    set -- film.mkv -n 50 --update
    for output in a.pdf a.svg; do
        ok "$@" -o $output
        says wrote
        ok "$@" -o $output
        says_not wrote
        ok "$@" -o $output --title another
        says wrote
        ok "$@" -o $output --title another --page A4
        says wrote
        ok "$@" -o $output --title another --page 210x297mm
        says wrote
    done
    ok "$@" -o p.png --poster --page 300x200
    ok "$@" -o p.png --poster --page 300x200
    says_not wrote
    ok "$@" -o p.png
    says wrote
}

# In a folder the format comes from --poster; what is there is replaced where it is barcode's, of the same film.
test_poster_folder() {
    mkdir films o
    cp "$(sample)" films/a.mkv
    cp "$(clip h264-closed.mkv)" films/b.mkv
    ok films -n 50 --poster=pdf -o o
    ok films -n 50 --poster=pdf -o o
    [ "$(ls o)" = "$(printf 'a-poster.pdf\nb-poster.pdf')" ] || fail "the folder has $(ls o)"
    cp o/a-poster.pdf o/b-poster.pdf
    exits 1 films -n 50 --poster=pdf -o o
    says "'o/b-poster.pdf': the file exists and shows another film"
    refuses 2 films --poster=pdf -o o --title one
    refuses 2 films/a.mkv -o x.png --page A4
    refuses 2 films/a.mkv -o x.pdf --poster=svg
    refuses 2 films/a.mkv -o x.gif --poster
    [ ! -e x.png ] && [ ! -e x.pdf ] && [ ! -e x.jpg ] || fail "something was written"
}

# The strips of a comparison are the strips alone, row by row.
test_stacked_strips_are_exact() {
    decoded_once
    f=$(sample)
    ok "$f" -n 20 -m all --height 30 --width 400 -o all.png
    ok "$f" -n 20 -m kmeans,dominant,palette,average,squeeze --height 30 --width 400 -o one.png
    height=$(facts all.png | cut -d, -f2)
    bar=$(((height - 5 * 30) / 7))
    y=$((2 * bar))
    for mode in kmeans dominant palette average squeeze; do
        cmp <(raw all.png rgb24 "crop=400:30:0:$y:exact=1") <(raw one-$mode.png rgb24) || fail "$mode differs in the comparison"
        y=$((y + 30 + bar))
    done
}

test_poster_interrupted() {
    f=$(sample)
    ok "$f" -n 1 --cache kept -o warm.png
    start "$f" -n 1 --cache kept --poster --page B0 --dpi 700 -m palette -o big.png
    for _ in $(seq 100); do
        ! compgen -G '.big.png.*' > /dev/null || break
        sleep 0.05
    done
    stopped_with TERM 130
    [ ! -e big.png ] && ! compgen -G '.big.png.*' > /dev/null || fail "something is left"
}
