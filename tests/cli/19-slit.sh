# The mode slit: a line through each frame, against the frames of --dump.

# The middle of 320 x 180: every row of column 160, as high as the picture.
test_slit_is_a_column() { # quick
    f=$(sample)
    ok "$f" -n 30 -m slit --size 320x180 --height 180 --crop off --dump all.rgb --json all.json -o slit.png
    check slit slit.png all.json all.rgb 50 0
    ok "$f" -n 30 -m slit --size 320x180 --height 180 --crop off --rotate 90 -o row.png
    check slit row.png all.json all.rgb 50 90
}

test_slit_rotated_and_scaled() {
    f=$(sample)
    for place in 0:0 100:0 12.34:0 50:-33.3 30:17.25 71:180 50:269.99; do
        ok "$f" -n 60 -m "slit=${place%:*}%" --rotate "${place#*:}" --size 200 --height 77 --dump all.rgb --json all.json -o slit.png
        check slit slit.png all.json all.rgb "${place%:*}" "${place#*:}"
        rm all.rgb all.json slit.png
    done
    ok "$f" -n 60 -m slit=40 --rotate 5 --size 100x40 --height 300 --dump all.rgb --json all.json -o slit.png
    check slit slit.png all.json all.rgb 40 5
}

# Frames as high as the strip, but never larger than the film; with others, all modes have them.
test_slit_decides_the_size() {
    f=$(sample)
    ok "$f" -n 60 -m slit,average --height 150 --crop off --json big.json -o two.png
    [ "$(check get big.json size)" = "[267, 150]" ] || fail "the frames are $(check get big.json size)"
    ok "$f" -n 60 -m slit --size 320 --json given.json -o given.png
    check get given.json size | grep -q '^.320, ' || fail "--size is not obeyed"
    ok "$f" -n 60 -m slit --crop off --json full.json -o full.png
    [ "$(check get full.json size)" = "[768, 432]" ] || fail "larger than the film"
}

test_slit_from_the_cache() {
    f=$(sample)
    ok "$f" -n 30 -m slit=20 --cache c -o first.png
    ok "$f" -n 30 -m slit=20 --cache c -o second.png --json j.json
    [ "$(check get j.json cache)" = hit ] || fail "decoded again"
    cmp first.png second.png || fail "the cached slit differs"
    ok "$f" -n 30 -m slit=20% --rotate 10 --cache c -o other.png
    ! cmp -s first.png other.png || fail "--rotate changes nothing"
}

test_slit_update() {
    f=$(sample)
    ok "$f" -n 60 -m slit -o s.png
    ok "$f" -n 60 -m slit=50 -o s.png --update
    says_not "wrote"
    ok "$f" -n 60 -m slit=50.01 -o s.png --update
    says "wrote 's.png'"
    ok "$f" -n 60 -m slit=50.01 --rotate 1 -o s.png --update
    says "wrote 's.png'"
}

test_slit_alone_is_asked_for() { # quick
    f=$(sample)
    ok "$f" -n 100 -m all -o all.png
    head -c 4096 all.png | tr '\0' ' ' | grep -aq 'slit' && fail "-m all has a slit"
    refuses 2 "$f" -m kmeans --rotate 3
    says "rotate"
    refuses 2 "$f" -m slit=101%
    says "100%"
    files all.png
}
