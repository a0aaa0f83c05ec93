# Pages for a browser: one film's, and a gallery of many. What they do there: tests/web.py (make test-web).

# The value of an expression over a page's JSON: value PAGE ID EXPRESSION, in which `d` is what the element holds.
value() {
    "$PYTHON" -c '
import json, re, sys
d = json.loads(re.search(r"<script type=\"application/json\" id=\"" + sys.argv[2] + r"\">(.*?)</script>", open(sys.argv[1]).read()).group(1))
print(eval(sys.argv[3]))' "$@"
}

# pages of a gallery, as it names them: pages INDEX
pages() {
    value "$1" cards '" ".join(c["page"] for c in d)'
}

test_html_file() {
    f=$(sample)
    ok "$f" -n 24 -m all -o a.html
    says "wrote 'a.html': 90 columns$"
    files a.html
    [ "$(value a.html film '[m["name"] for m in d["modes"]]')" = "['kmeans', 'dominant', 'palette', 'average', 'squeeze']" ] || fail "other modes"
    [ "$(value a.html film 'd["thumbnails"] is not None and d["columns"]')" = 90 ] || fail "no thumbnails"
    # What is computed for the modes that were asked for is there, too; the one that was asked for comes first.
    ok "$f" -q -n 24 -m palette -o p.png --html p.html
    [ "$(value p.html film '[m["name"] for m in d["modes"]]')" = "['palette', 'kmeans', 'average']" ] || fail "not what was computed"
    ok "$f" -q -n 24 -m average --html - -o none.png > /dev/null
    ok "$f" -q -n 24 -m average -o x.HTM
    cmp "$LOGS/stdout" /dev/null || fail "something came out"
    grep -q 'http[s]*://' a.html p.html x.HTM && fail "an address in a page"
    true
}

test_html_stdout() { # quick
    f=$(sample)
    ok "$f" -q -n 24 --html - -o x.png
    cp "$LOGS/stdout" one.html
    ok "$f" -q -n 24 -o two.html
    cmp one.html two.html || fail "another page"
}

test_html_same_bytes() {
    f=$(sample)
    ok "$f" -q -n 12 -m kmeans,dominant --steady -o a.html --cache c --threads 1
    ok "$f" -q -n 12 -m kmeans,dominant --steady -o b.html --cache c --threads 4
    ok "$f" -q -n 12 -m kmeans,dominant --steady -o c.html --cache - --height 7 --json x.json --csv x.csv
    cmp a.html b.html || fail "from the cache it is another page"
    # The height is no part of a page but of what was asked for.
    sed 's/ height=7 / height=800 /' c.html | cmp - a.html || fail "with other outputs it is another page"
}

test_html_replaces() { # quick
    mkdir o
    copy_clips films/a.mkv h264-closed.mkv films/b.mkv one-frame.mkv
    ok films -q -n 20 -o o --html o
    ok films -q -n 20 -o o --html o
    echo mine > o/a.html
    run films -n 20 -o o --html o
    [ "$STATUS" -eq 1 ] && [ "$(cat o/a.html)" = mine ] || fail "a stranger's page is gone"
    says "'o/a.html': the file exists and was not made by barcode; choose another name with --html$"
    cp o/b.html o/a.html
    run films -n 20 -o o --html o
    says "'o/a.html': the file exists and shows another film"
    ok films -q -n 20 -o o --html o --overwrite
    # A name that the user gave is replaced.
    echo mine > x.html
    ok films/b.mkv -q -o x.html
    refuses 2 films/b.mkv -o x.png --html films/b.mkv
    refuses 2 films -o o --html x.html
    says "one file for 2 films; give a folder (DIR/)$"
}

test_html_update() {
    mkdir o
    copy_clips films/a.mkv h264-closed.mkv films/b.mkv hevc-open.mkv
    set -- films -n 20 -o o --html o/index.html --update -v
    ok "$@"
    cp -r o before
    ok "$@"
    says "skipped 'films/a.mkv'"
    says "skipped 'films/b.mkv'"
    says "a gallery of 2 films$"
    diff -r before o || fail "something changed"
    truncate -s -1 o/a.html
    ok "$@"
    says "rendering 'films/a.mkv': 'o/a.html' is incomplete$"
    diff -r before o || fail "it was not made again"
    ok "$@" --order share
    says "'o/b.html' was made with other options$"
}

test_gallery_tree() { # quick
    mkdir -p g
    copy_clips films/s1/e1.mkv h264-closed.mkv films/s2/e1.mkv hevc-open.mkv \
        'films/a "b" <i>.mkv' one-frame.mkv
    ok -r films -n 20 -q -o g --html g/index.html
    [ "$(cd g && find . -name '*.html' | sort | tr '\n' ' ')" = "$(printf '%s ' './a "b" <i>.html' ./index.html ./s1/e1.html ./s2/e1.html)" ] || fail "made $(find g)"
    [ "$(pages g/index.html)" = "a%20%22b%22%20%3Ci%3E.html s1/e1.html s2/e1.html" ] || fail "shows $(pages g/index.html)"
    # One film of them anew, another gone: the gallery is of what is there.
    rm g/s2/e1.html
    ok films/s1 -n 30 -q -o g/s1 --html g/s1/index.html --overwrite
    [ "$(pages g/s1/index.html)" = "e1.html" ] || fail "shows $(pages g/s1/index.html)"
    ok -r films -n 30 -q -o g --html g/index.html --update
    [ "$(pages g/index.html)" = "a%20%22b%22%20%3Ci%3E.html s1/e1.html s2/e1.html" ] || fail "shows $(pages g/index.html)"
}

test_gallery_refuses() {
    mkdir g
    copy_clips films/index.mkv one-frame.mkv films/b.mkv one-frame.mkv
    echo mine > g/index.html
    refuses 1 films -o g --html g/index.html
    says "'g/index.html': the file exists and is not a barcode gallery; choose another folder with --html$"
    [ "$(cat g/index.html)" = mine ] || fail "a stranger's page is gone"
    rm g/index.html
    refuses 1 films -o g --html no/such/index.html
    says "cannot create the folder 'no/such/': the folder 'no/' does not exist$"
    # A film that is called as the gallery is; the others are made.
    for folder in g made; do
        exits 1 films -o g --html $folder/index.html
        says "'$folder/index.html' is the gallery, and this film's page would have its name"
        [ "$(pages $folder/index.html)" = b.html ] || fail "shows $(pages $folder/index.html)"
    done
    # Of one film that is no folder, index.html is its page.
    ok films/index.mkv -q -o x.png --html index.html
    [ "$(value index.html film 'd["film"]["name"]')" = index.mkv ] || fail "no page"
}

# One film more: its page does not take the place of the gallery.
test_gallery_grows() { # quick
    copy_clips films/a.mkv one-frame.mkv b.mkv h264-closed.mkv
    ok films -q --html g/index.html
    ok b.mkv -q -n 20 --html g/index.html
    [ "$(pages g/index.html)" = "a.html b.html" ] || fail "shows $(pages g/index.html)"
    cp g/index.html before.html
    refuses 1 b.mkv -n 20 -o g/index.html
    says "'g/index.html' is a gallery; --html 'g/index.html' adds the film to it"
    cmp g/index.html before.html || fail "the gallery is gone"
}

# Shards at once, each of which writes the gallery: the one that is there in the end has them all.
test_gallery_shards() {
    mkdir films g
    for i in $(seq 8); do
        ffmpeg -nostdin -v error -f lavfi -i "testsrc2=size=128x72:rate=12:duration=1,hue=h=$((i * 17))" -g 6 "films/e$i.mkv"
    done
    for i in 1 2 3 4; do
        "$BARCODE" films -q -n 4 -o g --html g/index.html --shard $i/4 2> "$LOGS/shard$i" &
    done
    wait
    cat "$LOGS"/shard?
    [ "$(pages g/index.html | wc -w)" -eq 8 ] || fail "shows $(pages g/index.html)"
    cp g/index.html before.html
    ok films -q -n 4 -o g --html g/index.html --update --shard 2/4
    cmp before.html g/index.html || fail "another gallery of the same pages"
}

# A film that fails costs no other its place.
test_gallery_failures() {
    mkdir films g
    cp "$(clip one-frame.mkv)" films/a.mkv
    echo no film > films/b.mkv
    exits 3 films -o g --html g/index.html
    [ "$(pages g/index.html)" = a.html ] || fail "shows $(pages g/index.html)"
}

# A page says what the film lost, as the picture does.
test_html_damaged() {
    f=$(clip damaged/corrupt-hevc.mkv)
    ok "$f" -q -n 2 -m average -o x.html --json x.json
    missing=$("$PYTHON" -c 'import json; print(json.load(open("x.json"))["missing"])')
    [ "$missing" -gt 0 ] && [ "$(value x.html film 'd["missing"]')" = "$missing" ] || fail "of $missing missing columns the page has $(value x.html film 'd["missing"]')"
    grep -q '<meta name="barcode:partial" content="yes">' x.html || fail "the page does not say that it shows a part"
    exits 1 "$f" -q -n 2 -m average -o x.html --update --strict
}
