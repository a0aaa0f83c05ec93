#!/usr/bin/env bash
# poster.sh - posters as other programs see them: PDF by poppler (pdftoppm, pdfimages, pdftotext, pdfinfo, pdffonts), SVG by librsvg, titles against
# pango-view. `make test-poster` installs these, and the fonts. The last line counts; exit 1 when a check failed.
#
# BARCODE (out/bin/barcode) and PYTHON come from the environment.
# shellcheck disable=SC2015  # good does not fail
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
barcode=$(realpath "${BARCODE:-$top/out/bin/barcode}") || exit 1
film=$top/out/sample.mkv
PYTHON=${PYTHON:-/usr/bin/python3}
passed=0 failed=0
unset "${!BARCODE_@}" BARCODE
export BARCODE_CACHE LC_ALL=C.UTF-8
work=$(mktemp -d "${TMPDIR:-/tmp}/barcode-poster.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
BARCODE_CACHE=$work/cache
cd "$work" || exit 1

good() {
    passed=$((passed + 1))
}
bad() {
    failed=$((failed + 1))
    echo "FAIL: $*"
}

# make ARG...: a run that must say nothing but what it wrote. Every second frame of the sample film.
make() {
    "$barcode" "$film" --every 2 --n-init 3 "$@" 2> said || { bad "barcode $*: $(cat said)"; return; }
    if grep -v -e "^barcode: wrote " -e "^barcode: keeping analysed frames " said > strange; then bad "barcode $* says: $(head -n 3 strange)"; else good; fi
}

# refuses STATUS PART ARG...: ends so, with one sentence that has PART in it, and leaves no file.
refuses() {
    local want=$1 part=$2 status=0
    shift 2
    "$barcode" "$film" --every 2 "$@" > out 2> said || status=$?
    if [ "$status" -eq "$want" ] && [ "$(wc -l < said)" -eq 1 ] && grep -q -- "$part" said && [ ! -s out ]; then
        good
    else
        bad "barcode $*: exit $status, '$(cat said)'; wanted $want and '$part'"
    fi
}

check() {
    local said
    if said=$("$PYTHON" "$top/tests/poster_check.py" "$@" 2>&1); then good; else bad "$said"; fi
}

# is WHAT WANTED GOT
is() {
    if [ "$2" = "$3" ]; then good; else bad "$1: '$3', not '$2'"; fi
}

# shot FILE DPI: FILE.png, as poppler or librsvg draws it.
shot() {
    case $1 in
        *.pdf) pdftoppm -r "$2" -png -singlefile "$1" "$1" ;;
        *.svg) rsvg-convert -d "$2" -p "$2" "$1" -o "$1.png" ;;
    esac || bad "$1 cannot be drawn"
}

# ------------------------------------------------------------------ pixels

# place OPTION...: what the strip's place on such a page has in pixels, as --width W --height H. An SVG's first image says.
place() {
    "$barcode" -q "$film" --every 2 --n-init 3 --page 1200x900 "$@" -o place.svg
    sed -n 's/.*<image x[^>]* width="\([0-9]*\)[.0-9]*" height="\([0-9]*\)[.0-9]*".*/--width \1 --height \2/p' place.svg | head -n 1
}

# On a page of 1200 pixels the strip is 1064 wide: 2 pixels a column of 532. librsvg interpolates whatever it enlarges.
page=(--page 1200x900)
is "the strip's place" "--width 1064" "$(place | cut -d' ' -f1,2)"
make --width 532 --height 1 -o narrow.png
make --width 1064 --height 1 -o wide.png
make "${page[@]}" --poster -o page.png
check flat page.png wide.png 1 400
make "${page[@]}" --width 532 -o page.pdf
shot page.pdf 96
check flat page.pdf.png narrow.png 2 400
# shellcheck disable=SC2046 # words
make "${page[@]}" $(place) -o page.svg
shot page.svg 96
check flat page.svg.png wide.png 1 400
for drawn in page.png page.pdf.png page.svg.png; do
    check margins $drawn 0.07
done

# A strip of two dimensions, at another resolution, pixel by pixel; and as it lies in the file.
make -m palette --width 266 --height 100 -o palette.png
for format in pdf svg; do
    make "${page[@]}" -m palette --width 266 --height 100 -o palette.$format
done
shot palette.pdf 192
check centres page.pdf.png narrow.png 2 palette.pdf.png palette.png
pdfimages -png palette.pdf inside
check same inside-000.png palette.png
check embedded palette.svg embedded.png
check same embedded.png palette.png

# Without --width every column is a pixel, and the strip is 1080 high.
make --height 1080 -o own.png
make -o own.pdf
pdfimages -png own.pdf own
check same own-000.png own.png

# Where the strip has as many pixels as the page has for it, the three formats differ by their letters' edges alone.
for options in "" "--shape ring" "--shape vertical -m palette" "-m all" "--smooth 3 --steady"; do
    # shellcheck disable=SC2046,SC2086
    {
        make "${page[@]}" $options --poster -o shape.png
        make "${page[@]}" $options $(place $options) -o shape.pdf
        make "${page[@]}" $options $(place $options) -o shape.svg
    }
    # pdftoppm gives an image a pixel more than its place has, and interpolates below four times its size, whatever the PDF says.
    pdftocairo -r 96 -png -singlefile shape.pdf shape.pdf
    shot shape.svg 96
    check near shape.png shape.pdf.png 0.5
    check near shape.png shape.svg.png 0.5
done

# Live text lies where its outlines do, in every script; on a dark page too. JPEG and WebP posters are the PNG's.
for words in "Le Fabuleux Destin d'Amélie, une histoire qui continue sur une deuxième ligne, parce qu'elle est longue" "花樣年華 <&>" "كفرناحوم فيلم من لبنان" "ואלס עם באשיר"; do
    make "${page[@]}" --title "$words" --background '#102030' -o outlines.svg
    make "${page[@]}" --title "$words" --background '#102030' --svg-text live -o live.svg
    shot outlines.svg 192
    shot live.svg 192
    check near outlines.svg.png live.svg.png 0.05
    if [ "$(grep -c '<text ' live.svg)" -gt 10 ] && ! grep -q aria-label live.svg; then good; else bad "live.svg has outlines"; fi
    check ground live.svg.png 16 32 48
done
make "${page[@]}" -m palette --background khaki --poster -o dark.png
make "${page[@]}" -m palette --background khaki --poster -o dark.webp
make "${page[@]}" -m palette --background khaki --poster -o dark.jpg
make "${page[@]}" -m palette --background khaki -o dark.pdf
pdftocairo -r 96 -png -singlefile dark.pdf dark.pdf
check same dark.png dark.webp
check near dark.png dark.jpg 1.5
check near dark.png dark.pdf.png 3
for drawn in dark.png dark.pdf.png; do check ground $drawn 240 230 140; done

# ------------------------------------------------------------------ pages

# size PAGE WIDTHxHEIGHT in points, as pdfinfo has it
size() {
    make --page "$1" -m average -o size.pdf
    is "page $1" "$2" "$(pdfinfo size.pdf | sed -n 's/^Page size: *\([0-9.]*\) x \([0-9.]*\) pts.*/\1x\2/p')"
}
size A2 1683.78x1190.55
size A2-portrait 1190.55x1683.78
size Letter 792x612
size 500x700mm 1417.32x1984.25
size 8x10in 576x720
size 800x600 600x450
is "the page's name" "(A2)" "$(make --page A2 -m average -o a2.pdf; pdfinfo a2.pdf | grep -o '(A2)')"
make --page A4 --dpi 100 --poster -m average -o a4.png
is "A4 at 100 dpi" 1169,827 "$(ffprobe -v error -show_entries stream=width,height -of csv=p=0 a4.png)"
for odd in 160x160 3000x160 160x3000 40x40mm 5000x300mm A6; do
    make --page $odd -m all -o odd.pdf
    shot odd.pdf 30
    make --page $odd --dpi 72 --poster --shape vertical -m average -o odd.png 2> /dev/null ||
        make --page $odd --poster --shape vertical -m average -o odd.png
done 2>&1 | grep -v "has no inches" > complaints
is "odd pages" "" "$(cat complaints)"

# ------------------------------------------------------------------ titles

# title NAME SIDE FONT TEXT: the title is drawn as pango-view draws it, and the PDF has its letters.
title() {
    make --page A3 --title "$4" -o "$1.pdf"
    make --page 3508x2480 --title "$4" --poster -o "$1.png"
    make --page A3 --title "$4" -o "$1.svg"
    pango-view -q --no-display --font "Noto Sans,Noto Sans Arabic,Noto Naskh Arabic,Noto Sans Hebrew,Sans 120" --dpi 72 --hinting=none --hint-metrics=off --subpixel-positions --margin 20 --align left --language "$5" --text "$4" -o "$1-view.png"
    shot "$1.pdf" 212
    shot "$1.svg" 212
    for drawn in "$1.pdf.png" "$1.svg.png" "$1.png"; do
        check title "$drawn" "$1-view.png" "$2"
    done
    is "title $1 in the PDF's facts" "$4" "$(pdfinfo "$1.pdf" | sed -n 's/^Title: *//p')"
    if pdffonts "$1.pdf" | grep -q "+$3.* yes yes yes "; then good; else bad "$1.pdf has no font $3: $(pdffonts "$1.pdf")"; fi
}
title latin left NotoSans "Le Fabuleux Destin d'Amélie" en
title chinese left NotoSansCJK "花樣年華 王家衛" zh-cn
title arabic right '\(NotoNaskh\|NotoSansArabic\|DejaVu\)' "كفرناحوم فيلم من لبنان" en
title hebrew right '\(NotoSansHebrew\|DejaVu\)' "ואלס עם באשיר" en
case $(pdftotext chinese.pdf - | tr -d ' ') in
    *花樣年華王家衛*) good ;;
    *) bad "pdftotext finds no Chinese title" ;;
esac

long="A film with a title that is as long as titles of the eighteenth century were, in which the heroine's whole life is told at once, "
for text in "$long$long$long" "$(printf 'W%.0s' $(seq 300))" "$(printf '花%.0s' $(seq 90))"; do
    make --page 800x600 --title "$text" --poster -o long.png
    check margins long.png 0.07
    make --page A5 --title "$text" -o long.svg
    shot long.svg 96
    check margins long.svg.png 0.07
done

# The film's own title; a name where it has none; markup that is none.
is "the film's own title" "One day, in known colours" "$(pdfinfo own.pdf | sed -n 's/^Title: *//p')"
ffmpeg -nostdin -v error -t 4 -i "$film" -map 0:v -c copy -map_metadata -1 '<script>alert(1)<.x.mkv'
"$barcode" -q '<script>alert(1)<.x.mkv' -o named.pdf
"$barcode" -q '<script>alert(1)<.x.mkv' -o named.svg
is "the film's name" '<script>alert(1)<.x' "$(pdfinfo named.pdf | sed -n 's/^Title: *//p')"
if "$PYTHON" -c 'import sys, xml.dom.minidom as m; d = m.parse("named.svg"); sys.exit(bool(d.getElementsByTagName("script")))'; then good; else bad "named.svg is not sound XML"; fi
printf '\xff\xfe' > bytes
"$barcode" -q "$film" --every 9 --title "$(cat bytes)x" -o bytes.svg && "$PYTHON" -c 'import xml.dom.minidom as m; m.parse("bytes.svg")' && good || bad "a title of any bytes"
"$barcode" "$film" --every 9 --title $'a\xf4\x80\x80\x81' -o private.pdf 2>&1 | grep -q "no installed font has 1 of the title's characters" && good || bad "a letter that no font has is not told"

# ------------------------------------------------------------------ files

# The same bytes each time, whatever film came before, in whatever number of threads; and no date.
mkdir films together
cp "$film" films/a.mkv
cp '<script>alert(1)<.x.mkv' films/b.mkv
touch -d '1 minute ago' films/*
for format in pdf svg; do
    "$barcode" -q films/b.mkv --poster=$format -o alone.$format --threads 1 --no-cache
    "$barcode" -q films --poster=$format -o together
    cmp alone.$format together/b-poster.$format && good || bad "$format: another film before it changes the bytes"
    "$barcode" films --poster=$format -o together --update > /dev/null 2> said
    if grep -q wrote said; then bad "$format: --update makes a poster anew: $(cat said)"; else good; fi
    "$barcode" films --poster=$format -o together --update --title-that-is-none 2> /dev/null && bad "an unknown option" || good
    "$barcode" films/b.mkv --poster=$format -o together --update --page A5 2>&1 | grep -q wrote && good || bad "$format: --update does not see another page"
    truncate -s -3 together/a-poster.$format
    "$barcode" films/a.mkv --poster=$format -o together --update 2>&1 | grep -q wrote && good ||
        bad "$format: --update does not see a truncated poster"
    printf 'mine' > together/a-poster.$format
    "$barcode" films/a.mkv --poster=$format -o together 2>&1 | grep -q "was not made by barcode" && good || bad "$format: a stranger's file is replaced"
    is "the stranger's $format" mine "$(cat together/a-poster.$format)"
    "$barcode" films/a.mkv --every 50 --poster=$format -o - -q > stdout.$format && "$barcode" films/a.mkv --every 50 -q -o file.$format && cmp stdout.$format file.$format && good ||
        bad "$format on stdout"
done
if pdfinfo own.pdf | grep -qi 'date'; then bad "the PDF has a date"; else good; fi
is "PDFs are sound" "" "$(for f in ./*.pdf; do pdfinfo "$f" 2>&1 > /dev/null; done)"

# ------------------------------------------------------------------ what is refused

refuses 2 "is not a page such as" -o x.pdf --page A9
refuses 2 "is not a page such as" -o x.pdf --page 0x0
refuses 2 "is not a page such as" -o x.pdf --page 9999x9999mm
refuses 2 "is for posters" -o x.png --page A2
refuses 2 "too large" --poster -o x.png --page A0 --dpi 2400
refuses 2 "keeps the strip's own pixels" -o x.svg --dpi 300
refuses 2 "as large as its page" --poster -o x.png --height 5
refuses 2 "at most 16384" -o x.pdf --width 20000
refuses 2 "the title is empty" -o x.pdf --title ""
refuses 2 "different formats" -o x.png --poster=pdf
"$barcode" films --poster=pdf -o together --title one 2>&1 | grep -q "one title for 2 films" && good || bad "one title for two films"
"$barcode" -q "$film" --every 50 -o /dev/full --poster=pdf 2>&1 | grep -q "No space left" && good || bad "a full disk is not told"

# Without any font: posters are refused before the film is read, labels are left out with a warning, pictures without words do not care.
echo '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig></fontconfig>' > none.conf
export FONTCONFIG_FILE=$work/none.conf
refuses 1 "no font is installed" -o x.pdf
refuses 1 "no font is installed" -o x.png --poster
make --width 532 --height 1 -o without.png
check same without.png narrow.png
"$barcode" "$film" --every 50 -m all -o without-all.png 2>&1 | grep -q "warning: the image has no labels: no font is installed" && [ -s without-all.png ] && good ||
    bad "-m all without fonts"
[ ! -e x.pdf ] && [ ! -e x.png ] && [ ! -e x.svg ] && good || bad "a refused poster is there"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
