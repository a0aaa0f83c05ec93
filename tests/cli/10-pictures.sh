# What the program is for: the sample film in every mode, and that the pictures and numbers are right.

test_sample_answers() {
    f=$(sample)
    ok "$f" -n 1 -m kmeans --json out.json -o out.png
    check cropped out.json 768:320:0:56
    check answers out.json "${f%.*}.answers.tsv"
    check shape out.json
    check png out.png 2142 800
    check picture out.png out.json kmeans
    files out.json out.png
}

# With its bars: black lines and nothing else are added to the same answers.
test_sample_answers_with_bars() {
    f=$(sample)
    ok "$f" -n 1 -m average --crop off --json off.json -o off.png
    check cropped off.json
    check answers off.json "${f%.*}.answers.tsv"
}

test_sample_answers_other_starts() {
    f=$(sample)
    for init in k-means++ random scalable; do
        ok "$f" -n 7 --init "$init" --seed 3 -k 12 --json "$init.json" -o out.png
        check answers "$init.json" "${f%.*}.answers.tsv"
    done
}

test_every_mode_alone() {
    f=$(sample)
    for mode in kmeans dominant palette average; do
        ok "$f" -n 9 -m "$mode" -k 5 --height 90 --json "$mode.json" -o "$mode.png"
        check png "$mode.png" 238 90
        # Modes without k-means write no colours: their numbers come from a run that has them.
        [ "$mode" = average ] || check picture "$mode.png" "$mode.json" "$mode"
        check shape "$mode.json"
    done
    check picture average.png average.json average
    grep -q '"colours"' average.json && fail "the JSON of average alone has colours"
    ok "$f" -n 50 -m squeeze --height 180 --json down.json --dump down.rgb -o down.png
    check rows down.png down.json down.rgb
}

test_modes_from_one_staging() {
    f=$(sample)
    ok "$f" -n 30 -m kmeans,dominant,palette,average,squeeze -o all.png
    files all-average.png all-dominant.png all-squeeze.png all-kmeans.png all-palette.png
    for mode in kmeans dominant palette average squeeze; do
        # Beside a palette no restart races.
        ok "$f" -n 30 -m "$mode" --no-race -o one.png
        cmp "all-$mode.png" one.png || fail "$mode differs when it is made together with others"
    done
    ok "$f" -n 30 -m kmeans,average -o two.png
    ok "$f" -n 30 -o one.png
    cmp two-kmeans.png one.png
}

# -m also takes downsample for squeeze.
test_alias() { # quick
    f=$(sample)
    ok "$f" -n 30 -m average,downsample --json j.json -o p.png
    files j.json p-average.png p-squeeze.png
    [ "$(check get j.json fingerprint | grep -o 'mode=[^ ]*')" = mode=average,squeeze ] || fail "the fingerprint has another name"
    head -c 4096 p-squeeze.png | tr '\0' ' ' | grep -aq 'barcode:mode squeeze' || fail "the PNG has another name"
}

test_stacked() { # quick
    f=$(sample)
    ok "$f" -n 3 -m all --height 100 -o stacked.png
    files stacked.png
    w=$(ffprobe -v error -show_entries stream=width -of csv=p=0 stacked.png)
    h=$(ffprobe -v error -show_entries stream=height -of csv=p=0 stacked.png)
    [ "$w" -ge 714 ] || fail "the stacked picture is $w wide"
    [ "$h" -ge 500 ] || fail "the stacked picture is $h high: five strips of 100 do not fit"
}

test_picture_size() {
    f=$(sample)
    ok "$f" -n 20 --width 300 --height 77 -o a.png
    check png a.png 300 77
    ok "$f" -n 20 --width 3000 --height 1 -o b.png
    check png b.png 3000 1
    ok "$f" -n 20 --width 1 -m palette -o c.png
    check png c.png 1 800
}

test_few_colours_or_one_cluster() { # quick
    f=$(sample)
    ok "$f" -n 100 -k 1 --json one.json -o one.png
    check shape one.json
    ok "$f" -n 100 -k 64 --n-init 2 --json many.json -o many.png -m palette
    check shape many.json
    check picture many.png many.json palette
}

test_two_frames_and_one() { # quick
    f=$(clip two-frames.mp4)
    ok "$f" --json two.json -o two.png
    check count "$f" two.json
    check png two.png 1280 800
    f=$(clip one-frame.mkv)
    ok "$f" --json one.json -o one.png -m all
    check count "$f" one.json
}

test_dump() { # quick
    f=$(clip h264-open.mkv)
    ok "$f" -n 9 --size 100x50 --dump d.rgb --json d.json -o d.png
    check size d.json 100 50
    check dump d.json d.rgb
    ok "$f" -n 9 --size 100x50 --dump - -o e.png
    cmp "$LOGS/stdout" d.rgb || fail "--dump - is not what --dump FILE is"
}

test_png_says_what_it_is() { # quick
    f=$(sample)
    ok "$f" -n 60 -k 6 -m palette -o p.png
    for word in sample.mkv palette barcode; do
        head -c 4096 p.png | grep -aq "$word" || fail "the PNG does not say '$word'"
    done
    cp "$f" "$(printf 'f\303\266hn.mkv')"
    ok "$(printf 'f\303\266hn.mkv')" -n 60
    head -c 4096 "$(printf 'f\303\266hn.png')" | grep -aq "$(printf 'f\303\266hn')" || fail "the PNG does not carry a name in UTF-8"
}

test_same_film_same_bytes() { # quick
    f=$(clip hevc-open.mkv)
    cp "$f" film.mkv
    ok film.mkv -n 3 -m palette --seed 1 -o a.png
    ok ./film.mkv -n 3 -m palette --seed 1 -o b.png
    cmp a.png b.png || fail "two runs give different pictures"
}

# on_terminal ARG...: barcode ARG... on a terminal. Each progress line is a line of $LOGS/stderr.
on_terminal() {
    COMMAND="barcode $*" STATUS=0
    TERM=xterm COLUMNS=80 timeout -k 5 "${LIMIT:-300}" \
        script -qec "$(printf '%q ' "$BARCODE" "$@")" /dev/null > raw < /dev/null || STATUS=$?
    tr '\r' '\n' < raw > "$LOGS/stderr"
}

# The percentage is that of the columns, from the first ones on: chunks of a short film are few and
# end in any order.
test_progress_follows_columns() {
    on_terminal "$(sample)" -n 1 -o p.png
    [ "$STATUS" -eq 0 ] || fail "exit status $STATUS"
    sed -n 's/.* \([0-9]*\) %.* \([0-9]*\)\/\([0-9]*\) columns.*/\1 \2 \3/p' "$LOGS/stderr" > shown
    [ "$(sort -u shown | wc -l)" -ge 5 ] || fail "too few lines"
    while read -r percent columns total; do
        [ "$percent" -eq $((100 * columns / total)) ] ||
            fail "$percent % of $columns/$total columns"
    done < shown
}

# watched NAME ARG...: a run on a terminal that takes minutes. It is ended once it names --keyframes
# or is at 4 %: the first columns are dark, and take no time.
watched() {
    local name=$1 job
    shift
    COMMAND="barcode $* -o $name.png"
    (exec env TERM=xterm COLUMNS=80 script -qfec \
        "$(printf '%q ' "$BARCODE" "$@" -o "$name.png")" /dev/null > "$name" < /dev/null) &
    job=$!
    for _ in $(seq 1200); do
        kill -0 $job 2> /dev/null || break
        ! grep -q -e 'keyframes would' -e ' [4-9] %' "$name" || break
        sleep 0.1
    done
    sleep 1
    kill $job 2> /dev/null || true
    wait $job || true
    tr -d '\r' < "$name" > "$LOGS/stderr"
}

# A film that takes minutes: a line says what --keyframes would take, once, only on a terminal.
test_keyframes_hint() {
    f=$(clip film-480p.mp4)
    slow=(-n 1 -k 64 --n-init 1000 --no-race --threads 1)
    watched plain "$f" "${slow[@]}"
    says 'barcode: --keyframes would take about [1-9][0-9]* s'
    [ "$(grep -c 'keyframes would' "$LOGS/stderr")" -eq 1 ] || fail "more than once"
    # Without an index it is not known how long reading takes.
    ffmpeg -nostdin -v error -i "$f" -c copy film.ts
    watched stream film.ts "${slow[@]}"
    says_not 'keyframes would'
    STATUS=0 COMMAND="barcode $f ${slow[*]} --progress always"
    timeout -s INT 12 "$BARCODE" "$f" "${slow[@]}" --progress always -o log.png \
        2> "$LOGS/stderr" || STATUS=$?
    says ' columns  ETA [0-9]*[2-9]:'
    says_not 'keyframes would'
}

test_progress_and_quiet() {
    f=$(sample)
    ok "$f" -n 1 --n-init 2 --progress always -o p.png
    grep -q ': sample.mkv  *100 %.* 2142/2142 columns' "$LOGS/stderr" || fail "--progress always does not say how it ended"
    grep -q "$(printf '\r')" "$LOGS/stderr" && fail "a log gets lines, not a line drawn over"
    ok "$f" -n 50 -o p.png
    [ "$(wc -l < "$LOGS/stderr")" -eq 1 ] || fail "more than the one line that says what was written"
    ok "$f" -n 50 -q -o p.png
    [ ! -s "$LOGS/stderr" ] || fail "-q says something"
    ok "$f" -n 50 -v -o p.png
    says h264
}
