# shellcheck shell=bash
# The account that adds up: what a film lost has its place and is told, and a whole film gets no warning.
# shellcheck disable=SC2154,SC2034,SC2015  # variables come from and go to lib.sh; fail does not return

# Random holes in films of five codecs and three containers, some of each; HOLES=200 tries many.
test_holes_add_up() {
    run_trials() { "$PYTHON" "$HERE/hole-trials.py" "$BARCODE" "$CLIPS/holes" --trials "${HOLES:-26}" --seed "${SEED:-3}"; }
    run_trials > trials.log 2>&1 || fail "$(tail -n 12 trials.log)"
}

# Sound, whichever columns are asked for.
quiet() { # CLIP
    f=$(clip "$1")
    for how in '--columns 1' '--columns 2' '--columns 20' '-n 1' '--interval 7'; do
        # shellcheck disable=SC2086  # two words
        ok "$f" $how -m average --strict -o p.png
        ! grep -q warning "$LOGS/stderr" || fail "$1 $how: $(cat "$LOGS/stderr")"
    done
}

test_few_columns_of_a_whole_film() {
    quiet account/long.mp4
}

test_slides_last() {
    quiet account/slides.mp4
    quiet account/slides.mkv
    f=$(clip account/slides.mp4)
    ok "$f" --interval 7 -m average --json d.json -o p.png
    # The last of ten slides of 30 s is on the screen from 270 s to 300 s.
    n=$("$PYTHON" -c 'import json; print(len(json.load(open("d.json"))["columns"]))')
    [ "$n" -eq 43 ] || fail "$n columns, not 43"
}

# Parameter sets and SEI in blocks of their own are no pictures, and the decoder's complaint about them means nothing.
test_blocks_without_pictures() {
    quiet account/sei-alone.mkv
}

test_columns_over_what_is_there() {
    f=$(clip account/cut-early.mkv)
    for n in 1 2 5; do
        ok "$f" --columns $n -m average --json d.json -o p.png
        says 'its columns are spread over what is there'
        c=$("$PYTHON" -c 'import json; print(len(json.load(open("d.json"))["columns"]))')
        [ "$c" -eq $n ] || fail "$c columns, not $n"
        run "$f" --columns $n -m average --strict -o p.png
        [ "$STATUS" -eq 1 ] || fail "--strict: exit status $STATUS, not 1"
    done
}

# An I picture without a GOP header or a recovery point begins the film.
test_begins_with_an_intra_picture() {
    f=$(clip account/no-gop-header.m2v)
    ok "$f" -n 1 -m average --json d.json -o p.png
    n=$("$PYTHON" -c 'import json; print(len(json.load(open("d.json"))["columns"]))')
    [ "$n" -eq 200 ] || fail "$n columns, not 200"
    ! grep -q warning "$LOGS/stderr" || fail "$(cat "$LOGS/stderr")"
}

# What comes before the first key is told.
test_lead_in_is_told() {
    f=$(clip damaged/middle-of-gop.ts)
    run "$f" -n 1 -m average --strict -o p.png
    [ "$STATUS" -eq 1 ] || fail "--strict: exit status $STATUS, not 1"
    says 'are left out: they refer to others that are not in the file'
    ok "$f" -n 1 -m average --json d.json -o p.png
    grep -q '"lost": {.*"lead_in":[1-9]' d.json || fail "no lead-in in the JSON"
}
