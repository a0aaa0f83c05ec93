# Folders as people have them: folders below folders, numbers in names, loops, files of any ending.

# A link that leads to no file is no free name: writing to it would make a file elsewhere.
test_dangling_links() { # quick
    mkdir films out elsewhere
    cp "$(clip h264-closed.mkv)" films/a.mkv
    refused_as() { # NAME ARG...
        ln -s "$PWD/elsewhere/x" "out/$1"
        exits 1 films -n 20 "${@:2}"
        says "cannot write 'out/$1': it is a link that leads to no file"
        rm "out/$1"
    }
    refused_as a.png -o out/
    refused_as a.json --json out/
    refused_as a.vtt --thumbnails out/
    refused_as a-001.jpg --thumbnails out/
    refused_as index.html --html out/index.html
    [ -z "$(ls elsewhere)" ] || fail "elsewhere holds $(ls elsewhere)"
    ln -s elsewhere/named.png named.png            # a link that the user names is followed
    ok films/a.mkv -n 20 -o named.png
    [ "$(ls elsewhere)" = named.png ] || fail "elsewhere holds $(ls elsewhere)"
}

# A gallery lists pages of any name.
test_gallery_of_a_line_feed() { # quick
    mkdir films out
    cp "$(clip h264-closed.mkv)" films/a.mkv
    cp films/a.mkv $'films/b\nc.mkv'
    ok films -m average -n 20 --html out/index.html
    says 'a gallery of 2 films'
}

test_folder_recursive() { # quick
    mkdir -p o j
    copy_clips films/s2/e01.mkv h264-closed.mkv films/s10/e01.mkv hevc-open.mkv \
        films/s2/e01.mp4 h264-open.mp4 films/s2/extras/e2.mkv one-frame.mkv \
        films/s2/extras/e10.mkv one-frame.mkv films/.hidden/x.mkv one-frame.mkv
    ok -v -r films -n 20 -o o --json j --dump j/ -j 1
    grep -o "wrote 'o/[^']*'" "$LOGS/stderr" | tr '\n' ' ' > order
    [ "$(cat order)" = "wrote 'o/s2/e01.png' wrote 'o/s2/e01-2.png' wrote 'o/s2/extras/e2.png' wrote 'o/s2/extras/e10.png' wrote 'o/s10/e01.png' " ] ||
        fail "in this order: $(cat order)"
    for name in s2/e01 s2/e01-2 s2/extras/e2 s2/extras/e10 s10/e01; do
        [ -s "o/$name.png" ] && [ -s "j/$name.json" ] && [ -s "j/$name.rgb" ] || fail "$name lacks something"
    done
    [ "$(find o j -type f | wc -l)" -eq 15 ] || fail "made $(find o j -type f)"
    ok films/s10/e01.mkv -n 20 -o alone.png
    cmp alone.png o/s10/e01.png || fail "in a tree it is another picture"
    # The same again, over what is there; and without -o below the working folder.
    ok --recursive films -q -n 20 -o o
    ok -r films -q -n 20
    cmp s2/extras/e10.png o/s2/extras/e10.png
    refuses 3 -r films/.hidden/../s2/nowhere
    mkdir -p none/below
    refuses 3 -r none
    says "no films in the folder 'none' or below it$"
}

test_folder_loops() { # quick
    mkdir -p films/a/b o
    cp "$(clip one-frame.mkv)" films/a/b/x.mkv
    ln -s ../.. films/a/b/up
    ln -s . films/self
    ln -s ../../elsewhere films/a/side
    copy_clips elsewhere/y.mkv one-frame.mkv
    LIMIT=20 ok -r films -o o
    says "warning: skipped the folder 'films/a/b/up': it leads back to 'films', which contains it$"
    says "warning: skipped the folder 'films/self'"
    [ "$(cd o && find . -type f | sort | tr '\n' ' ')" = "./a/b/x.png ./a/side/y.png " ] || fail "made $(find o)"
}

test_folder_natural_order() { # quick
    mkdir films
    for n in 10 2 1 009; do cp "$(clip one-frame.mkv)" films/e$n.mkv; done
    ok films -j 1 -v
    [ "$(grep -o "^barcode: wrote 'e[0-9]*\.png" "$LOGS/stderr" | sed "s/.*'//" | tr '\n' ' ')" = "e1.png e2.png e009.png e10.png " ] || fail "another order"
}

test_folder_any_ending() {
    mkdir films o
    f=$(clip h264-closed.mkv)
    ffmpeg -nostdin -v error -i "$f" -frames:v 12 films/a.gif
    ffmpeg -nostdin -v error -i "$f" -frames:v 5 -f apng films/b.apng
    cp "$f" films/noending
    cp "$f" films/.hidden
    echo notes > films/notes.txt
    refuses 3 films -o o
    rm films/notes.txt
    ok --any films -n 2 -o o
    check png o/a.png 6 800
    files films films/.hidden films/a.gif films/b.apng films/noending o o/a.png o/b.png o/noending.png
    # Its own pictures do not become films.
    for _ in 1 2; do (cd films && ok --any . -n 2 -o . --json .); done
    files films films/.hidden films/a-barcode.json films/a-barcode.png films/a.gif films/b-barcode.json films/b-barcode.png films/b.apng \
        films/noending films/noending-barcode.json films/noending-barcode.png o o/a.png o/b.png o/noending.png
    echo notes > films/notes.txt
    exits 3 --any films -n 2 -o o
    says notes.txt
}

# A film that has the name which its picture would get.
test_folder_of_pictures() {
    mkdir films
    ffmpeg -nostdin -v error -i "$(clip h264-closed.mkv)" -frames:v 5 -f apng films/a.png
    cp "$(clip one-frame.mkv)" films/b.mkv
    cp films/a.png before.png
    (
        cd films
        exits 1 --any . -n 2 --name '{stem}'
        says "the output 'a.png' is the film itself; choose another name with -o"
        files a.png b.mkv b.png
    )
    cmp before.png films/a.png || fail "the film was replaced"
    mkdir o
    ok --any films -n 2 -o o
    [ -s o/a.png ] || fail "no picture of it"
}
