# shellcheck disable=SC2086  # options are words
# --update: what is there is left out, and a run that was stopped is taken up.

# Which of its films the latest run made, by the pictures that it wrote.
made() {
    grep -o "wrote '[^']*\.png'" "$LOGS/stderr" | sed "s/wrote '//; s/'//" | tr '\n' ' '
}

# makes PICTURES ARG...: the run makes exactly these.
makes() {
    local want=$1
    shift
    ok "$@" -v --jobs 1      # in the films' order
    [ "$(made)" = "$want" ] || fail "made '$(made)', not '$want'"
}

# A tree of different films, small and soon done: tree COUNT
tree() {
    mkdir -p films/a/deep films/b
    local i folder=films
    for i in $(seq "$1"); do
        case $((i % 3)) in 0) folder=films/a ;; 1) folder=films/a/deep ;; 2) folder=films/b ;; esac
        ffmpeg -nostdin -v error -f lavfi -i "testsrc2=size=128x72:rate=12:duration=2,hue=h=$((i * 17))" -g 6 "$folder/e$i.mkv"
    done
}

test_update_leaves_out() { # quick
    mkdir o
    copy_clips films/a.mkv h264-closed.mkv films/b.mkv hevc-open.mkv
    set -- films -n 20 -o o --update
    makes 'o/a.png o/b.png ' "$@"
    stat -c %Y.%i o/* > before
    makes '' "$@"
    ok "$@" -v
    says "skipped 'films/a.mkv': 'o/a.png' is up to date$"
    stat -c %Y.%i o/* | cmp - before || fail "a picture was written"
    # What is missing, changed or broken is made again.
    rm o/a.png
    makes 'o/a.png ' "$@"
    truncate -s -1 o/b.png
    makes 'o/b.png ' "$@"
    printf x | dd of=o/b.png bs=1 seek=700 conv=notrunc 2> /dev/null
    makes 'o/b.png ' "$@"
    cp o/a.png old.png
    touch films/a.mkv
    ok "$@" -v
    [ "$(made)" = 'o/a.png ' ] || fail "a film that was written to: made '$(made)'"
    says "rendering 'films/a.mkv': 'o/a.png' is older than the film"
    cmp old.png o/a.png
    touch -d tomorrow films/a.mkv # says nothing
    makes '' "$@"
    # Without --update everything is made, and a stranger's file stays.
    makes 'o/a.png o/b.png ' films -n 20 -o o
    echo mine > o/a.png
    exits 1 "$@"
    [ "$(cat o/a.png)" = mine ] || fail "a stranger's file is gone"
    # Another film of that name is told, and its picture is not replaced.
    cp films/b.mkv films/a.mkv
    mv old.png o/a.png
    touch -d yesterday films/a.mkv
    exits 1 "$@"
    says "'o/a.png': the file exists and shows another film"
}

test_update_and_options() {
    cp "$(clip h264-closed.mkv)" a.mkv
    ok a.mkv -n 20 --update
    makes '' a.mkv -n 20 --update --threads 1 --decode cpu --engine cpu --no-cache
    for option in '-n 20 -k 5' '-n 20 --seed 3' '-n 20 --no-race' '-n 20 --height 99' '-n 20 --width 7' '-n 20 --size 100' '-n 20 --crop off' \
        '-n 20 --start 1' '-n 20 --end 3' '-n 20 --steady' '-n 19' '--columns 3' '--interval 1' '-n 20 --keyframes' \
        '-n 20 --stream 0' '-n 20 --tone-map off' '-n 20 --hdr-peak 500' '-n 20 --light linear' '-n 20 --smooth 2'; do
        makes 'a.png ' a.mkv $option --update
        makes '' a.mkv $option --update
    done
    # Another mode or shape has a name of its own, so that both stay.
    for option in '-m palette' '-m all' '--shape ring'; do
        makes "a-${option#* }.png " a.mkv -n 20 $option --update
        makes '' a.mkv -n 20 $option --update
    done
    # What shows the film's palette obeys --colours, and nothing else does.
    for out in '--poster -o p.png' '--html p.html' '--swatches p.css'; do
        for colours in 5 8; do
            # shellcheck disable=SC2086
            ok a.mkv -n 20 --colours $colours $out --update
            says "wrote '${out##* }'"
        done
        ok a.mkv -n 20 $out --update
        ! grep "wrote '" "$LOGS/stderr" || fail "--colours 8 is not the default of $out"
    done
    ok a.mkv -n 20 -o b.png
    makes '' a.mkv -n 20 --colours 5 -o b.png --update
    rm b.png
    # What a mode does not obey.
    ok a.mkv -n 20 -m average -o b.png
    makes '' a.mkv -n 20 -m average -k 3 --seed 4 --order share -o b.png --update
}

# All outputs have to be there, and one that is missing is made in their company.
test_update_with_several_outputs() { # quick
    mkdir o j
    copy_clips films/a.mkv h264-closed.mkv films/b.mkv hevc-open.mkv
    set -- films -n 20 -m kmeans,average -o o --json j --dump j --update
    both='o/a-kmeans.png o/a-average.png '
    makes "${both}o/b-kmeans.png o/b-average.png " "$@"
    makes '' "$@"
    rm j/a.rgb
    makes "$both" "$@"
    rm o/a-average.png
    makes "$both" "$@"
    # Stopped before the JSON: the dump beside a picture of the film is its own.
    rm j/a.json
    makes "$both" "$@"
    truncate -s 5 j/a.json
    exits 1 "$@"
    rm j/a.json
    ok "$@"
    truncate -s -3 j/a.json
    makes "$both" "$@"
    # A dump of other options is nobody's.
    exits 1 "$@" -n 10
    says "'j/a.rgb': the file exists, and a dump does not name its film"
    # What goes to stdout is not there.
    makes 'o/a-kmeans.png ' films/a.mkv -n 20 -o o/a-kmeans.png --json - --update
}

test_update_strictly() {
    mkdir o
    f=$(clip damaged/corrupt.mkv)
    exits 1 "$f" -n 2 -o o --strict
    makes '' "$f" -n 2 -o o --update
    exits 1 "$f" -n 2 -o o --update --strict
}

test_update_after_ctrl_c() {
    tree 12
    mkdir right o
    ok -r films -q -n 1 -o right
    start -r films -n 1 -o o --update --cache cache
    for _ in $(seq 200); do
        [ "$(find o -name '*.png' | wc -l)" -lt 3 ] || break
        sleep 0.02
    done
    stopped_with INT 130
    says '^barcode: finished [0-9]* of 12 films; frames are kept, repeat the command to go on$'
    [ -z "$(find o -name '*.tmp')" ] || fail "left behind: $(find o -name '*.tmp')"
    there=$(find o -name '*.png' | wc -l)
    ok -r films -n 1 -o o --update -v
    [ "$(made | wc -w)" -eq $((12 - there)) ] || fail "there were $there, and it made $(made)"
    diff -r right o || fail "another tree"
}

# Killed at any moment, again and again.
test_update_after_kill() {
    tree 20
    mkdir right o
    ok -r films -q -n 1 -m kmeans,average -o right --dump right
    local round
    for round in $(seq 8); do
        "$BARCODE" -r films -n 1 -m kmeans,average -o o --dump o --json o --update > /dev/null 2>&1 &
        pid=$!
        sleep "0.$((RANDOM % 60 + 10))"
        kill -s KILL $pid 2> /dev/null || true
        wait $pid 2> /dev/null || true
    done
    find o -name '.*.tmp' -delete
    ok -r films -n 1 -m kmeans,average -o o --dump o --json o --update
    find o -name '*.json' -delete
    diff -r right o || fail "another tree"
}

# A log file has a line at the end for several films, and those of failures. -v has the outputs, and a film alone has its own.
test_update_log() { # quick
    copy_clips films/a.mkv one-frame.mkv films/b.mkv one-frame.mkv
    ok films -o o/ --json o/ --update
    one_line '2 films: 2 done, 0 skipped, 0 failed'
    copy_clips films/c.mkv one-frame.mkv
    echo no film > films/d.mkv
    exits 3 films -o o/ --json o/ --update
    [ "$(wc -l < "$LOGS/stderr")" -eq 2 ] || fail "not two lines"
    says "^barcode: .*d\.mkv"
    says "^barcode: 4 films: 1 done, 2 skipped, 1 failed"
    rm films/d.mkv
    ok films -o o/ --json o/ --update
    one_line '3 films: 0 done, 3 skipped, 0 failed'
    ok films -o o/ --json o/ -v
    says "wrote 'o/b.png'"
    ok films/a.mkv -o one.png
    one_line "wrote 'one.png'"
}

# one_line TEXT: stderr has this alone.
one_line() {
    [ "$(wc -l < "$LOGS/stderr")" -eq 1 ] || fail "stderr has $(wc -l < "$LOGS/stderr") lines, not one"
    says "^barcode: $1"
}

# What cannot be read is not tried again each night, until it, the options or the program change, or with --retry. The status
# is that of new failures.
test_update_failed_before() {
    export BARCODE_CACHE=cache
    copy_clips films/a.mkv one-frame.mkv films/bad.mp4 bad/no-moov.mp4
    exits 3 films -o o/ --update
    says "^barcode: .*films/bad.mp4"
    says '2 films: 1 done, 0 skipped, 1 failed, in'
    ok films -o o/ --update --report r
    one_line '2 films: 0 done, 1 skipped, 0 failed, 1 failed before and is unchanged (--retry tries it), in'
    grep -q 'bad.mp4","status":"left_out","reason":"it failed before and is unchanged' r || fail "$(cat r)"
    ok films/bad.mp4 -o o/ --update
    one_line '1 film: 0 done, 0 skipped, 0 failed, 1 failed before'
    exits 3 films -o o/ --update --retry
    exits 3 films -o o/
    exits 3 films -o o/ --update -n 7
    exits 3 films/a.mkv -o small.png --update --max-pixels 100
    ok films/a.mkv -o small.png --update
    one_line "wrote 'small.png'"
    ok films -o o/ --update
    exits 3 films -o o/ --update --no-cache
    cp "$(clip bad/text.mkv)" films/c.mkv
    exits 3 films -o o/ --update
    says_not bad.mp4
    says '3 films: 0 done, 1 skipped, 1 failed, 1 failed before and is unchanged'
    ok films -o o/ --update
    says '2 failed before and are unchanged (--retry tries them)'
    # mended, and broken as before
    cp films/bad.mp4 keep.mp4
    cp "$(clip one-frame.mkv)" films/bad.mp4
    ok films -o o/ --update
    says '1 done, 1 skipped, 0 failed, 1 failed before'
    # a list that is garbage is none
    echo garbage > cache/failed-films
    exits 3 films -o o/ --update
    ok films -o o/ --update
    [ "$(stat -c %a cache/failed-films)" = 600 ] || fail "others read it"
    "$BARCODE" --cache-clear > /dev/null
    [ ! -e cache/failed-films ] || fail "it is not cleared"
    exits 3 films -o o/ --update
}

# A film that may not be read, or whose disk is full: tried each night.
test_update_tries_again() {
    export BARCODE_CACHE=$PWD/cache
    copy_clips films/a.mkv one-frame.mkv
    chmod 0 films/a.mkv
    for _ in 1 2; do refuses_bound 3 films/a.mkv -o a.png --update; done
    chmod 644 films/a.mkv
    mkdir small
    for _ in 1 2; do exits 1 films/a.mkv -o small --dump missing/a.rgb --update; done
    ok films/a.mkv -o a.png --update
}

# What failed is tried again with --playlists, and after it was mended, which may keep its size and time.
test_update_failed_and_mended() { # quick
    export BARCODE_CACHE=$PWD/cache
    mkdir films
    cp "$(clip one-frame.mkv)" good.mkv
    cp good.mkv films/a.mkv
    printf 'ffconcat version 1.0\nfile a.mkv\n' > films/l.txt
    exits 3 films/l.txt -o o/ --update
    makes 'o/l.png ' films/l.txt -o o/ --update --playlists
    dd if=/dev/zero of=films/a.mkv bs=40 count=1 conv=notrunc 2> /dev/null
    touch -d '2 days ago' good.mkv
    touch -r good.mkv films/a.mkv
    exits 3 films/a.mkv -o o/ --update
    ok films/a.mkv -o o/ --update
    says '1 failed before'
    cp -p good.mkv films/a.mkv
    makes 'o/a.png ' films/a.mkv -o o/ --update
}

# night STATUS LINE: cron runs the same command, which exits so and says this last.
night() {
    STATUS=0 COMMAND="cron: barcode lib"
    timeout 300 env -i HOME="$PWD/home" PATH=/usr/bin:/bin LOGNAME=root SHELL=/bin/sh "${as[@]}" "$BARCODE" \
        -r lib -n 20 -o out/ --json out/ --trickplay jellyfin --trickplay-interval 1 --trickplay-dir previews/ --update \
        > "$LOGS/stdout" 2> "$LOGS/stderr" < /dev/null || STATUS=$?
    was "$1"
    [ ! -s "$LOGS/stdout" ] || fail "something came out on stdout"
    [ "$(tail -n 1 "$LOGS/stderr" | sed 's/, in [0-9.]* s$//')" = "barcode: $2" ] || fail "the last line is '$(tail -n 1 "$LOGS/stderr")'"
}

# Three nights of a library that may only be read: 20 films, 2 of them broken, and a new one in the third night.
test_update_nights() {
    local as=() i clips caps=-dac_override,-dac_read_search
    if [ "$(id -u)" -eq 0 ]; then
        command -v setpriv > /dev/null || skip "permissions do not bind root, and setpriv is not there"
        as=(setpriv "--bounding-set=$caps" "--inh-caps=$caps")
    fi
    mkdir -p home out lib/series
    clips=(h264-closed.mkv hevc-open.mkv h264-open.mp4 one-frame.mkv)
    for i in $(seq 18); do
        copy_clips "lib/$([ "$i" -lt 9 ] || echo series/)e$i.mkv" "${clips[$((i % 4))]}"
    done
    copy_clips lib/bad.mp4 bad/no-moov.mp4 lib/series/text.mkv bad/text.mkv
    trap 'chmod -R u+w lib' EXIT
    chmod -R a-w lib
    night 3 '20 films: 18 done, 0 skipped, 2 failed'
    says "^barcode: .*lib/bad.mp4"
    says "^barcode: .*lib/series/text.mkv"
    [ "$(grep -vc -e 'bad.mp4' -e 'text.mkv' -e 'keeping analysed frames' "$LOGS/stderr")" -eq 1 ] || fail "more is said"
    find out previews -type f -exec stat -c '%n %Y %i' {} + | sort > first
    [ "$(wc -l < first)" -eq $((18 * 3)) ] || fail "there are $(wc -l < first) outputs: $(cat first)"
    night 0 '20 films: 0 done, 18 skipped, 0 failed, 2 failed before and are unchanged (--retry tries them)'
    [ "$(wc -l < "$LOGS/stderr")" -eq 1 ] || fail "more is said"
    find out previews -type f -exec stat -c '%n %Y %i' {} + | sort | diff first - || fail "outputs were written again"
    chmod u+w lib
    copy_clips lib/new.mkv h264-open.mp4
    chmod a-w lib
    night 0 '21 films: 1 done, 18 skipped, 0 failed, 2 failed before and are unchanged (--retry tries them)'
    [ "$(wc -l < "$LOGS/stderr")" -eq 1 ] || fail "more is said"
    # what lies there is what one run of the whole library makes
    exits 3 -q -r lib -n 20 -o whole/ --json whole/ --no-cache
    [ "$(cd out && find . -type f | sort)" = "$(cd whole && find . -type f | sort)" ] || fail "not the same files"
    for i in $(cd whole && find . -name '*.png'); do check pixels "whole/$i" "out/$i"; done
}
