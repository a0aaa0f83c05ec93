# Films that decode in part: their columns, a warning with counts, exit 0; with --strict exit 1.

# The clip gives between LEAST and MOST columns of every 2nd frame, a warning with a number in it, and fails when strict.
partly() { # CLIP LEAST MOST
    f=$(clip "$1")
    ok "$f" -n 2 --n-init 2 --json d.json -o d.png
    grep '^barcode: warning: ' "$LOGS/stderr" | grep -q '[0-9]' || fail "no warning with counts"
    check shape d.json
    n=$(check columns d.json "$2" "$3")
    "$PYTHON" -c 'import json,sys; sys.exit(0 if json.load(open("d.json"))["warnings"] else 1)' || fail "no warning in the JSON"
    exits 1 "$f" -n 2 -m average --strict -o d.png
    # What damaged frames look like may depend on the number of threads; which columns there are does not.
    for threads in 1 5; do
        ok "$f" -n 2 -m average -q --threads $threads --json $threads.json -o $threads.png
        [ ! -s "$LOGS/stderr" ] || fail "-q says something"
        check png $threads.png "$n" 800
    done
    rm -f ./*.png ./*.json
}

test_truncated() {
    partly damaged/truncated.mkv 55 62
    partly damaged/truncated-hevc.mkv 55 65
    partly damaged/truncated-faststart.mp4 55 62
}

test_truncated_without_duration() { # quick
    # Neither says how long it once was: what is there is all there is.
    for f in damaged/truncated.ts damaged/truncated-fragmented.mp4; do
        f=$(clip $f)
        ok "$f" -n 2 --json d.json -o d.png
        check columns d.json 55 65
    done
}

test_corrupt() {
    for f in corrupt.mkv corrupt.ts corrupt-hevc.mkv corrupt.mpg corrupt-vp9.webm; do
        partly damaged/$f 50 100
    done
}

# One decoder goes over all of these.
test_corrupt_in_one_piece() {
    for f in corrupt-asp.avi corrupt-msmpeg4.avi; do
        partly damaged/$f 50 100
    done
}

# What staging threw away is nowhere: not in the dump, the cache, the comparison or the progress.
test_decoded_twice() {
    f=$(clip damaged/corrupt-asp.avi)
    ok "$f" -n 2 -m average --dump plain.rgb --json plain.json -o plain.png
    for state in miss hit; do
        ok "$f" -n 2 -m average --dump $state.rgb --json $state.json -o $state.png --cache cache --progress always
        grep -q "\"cache\": *\"$state\"" $state.json || fail "not a $state"
        [ "$(grep -c '100 %' "$LOGS/stderr")" -eq 1 ] || fail "it was done more than once"
        cmp plain.rgb $state.rgb && cmp plain.png $state.png || fail "another picture with a cache ($state)"
        check same plain.json $state.json
    done
    ok --cache cache --cache-verify
    ok "$f" -n 2 -m average --verify -o verified.png
    says 'are identical, except'
    cmp plain.png verified.png
}

# The two ways of decoding give the same but where damage shows. HEVC's decoder does not report a slice
# that ends early, as those of wrong-bits.hevc do: the rest of the picture is what the memory held.
test_verify_damaged() {
    clip damaged/corrupt.mkv > /dev/null
    for f in "$CLIPS"/damaged/*; do
        [[ $f != */wrong-bits.hevc ]] || continue
        ok "$f" -n 2 -m average --verify -o p.png
        says 'frames are identical'
    done
    ok "$(clip damaged/wrong-bits.hevc)" -n 1 -m average -o p.png
    says '200 columns'
}

# A picture may fill several columns: the warning counts columns.
test_damaged_columns_are_counted() { # quick
    f=$(clip damaged/corrupt.ts)
    for rule in '--columns 1000' '-n 1' '-n 3'; do
        # shellcheck disable=SC2086  # two words on purpose
        ok "$f" $rule -m average --json d.json -o d.png
        n=$("$PYTHON" -c 'import json; print(sum(c.get("damaged", False) for c in json.load(open("d.json"))["columns"]))')
        [ "$n" -gt 0 ] || fail "$rule: no damaged column"
        says " $n of [0-9]* columns comes\\? from damaged frames"
    done
}

test_begins_in_the_middle() { # quick
    f=$(clip damaged/middle-of-gop.ts)
    ok "$f" -n 2 --json d.json -o d.png
    check shape d.json
    check columns d.json 50 200
}

test_whole_film_has_no_warning() {
    clip h264-open.mkv > /dev/null
    for name in h264-open.mkv h264-closed.avi hevc-open.ts mpeg2.mpg vp9.webm editlist-open.mp4 h264-intra-refresh.mkv wrap.ts \
        offset.mkv two-frames.mp4 one-frame.mkv vfr.mkv fragmented.mp4 audio-longer.mp4 mpeg4-packed.avi; do
        f=$(clip $name)
        ok "$f" --strict -n 5 -o w.png
        says_not warning
    done
}

# However often the film is opened, and in the JSON too.
test_unknown_matrix_warns_once() {
    f=$(clip odd-matrix.mkv)
    for also in '-n 20' '-n 20 --verify' '--columns 10 --verify'; do
        # shellcheck disable=SC2086  # words on purpose
        ok "$f" $also -o m.png --json m.json
        [ "$(grep -c "warning.*matrix 'ictcp' is read as bt2020nc" "$LOGS/stderr")" -eq 1 ] || fail "$also: not exactly one warning of the matrix"
        "$PYTHON" -c 'import json, sys; w = json.load(open("m.json"))["warnings"]; sys.exit(sum("is read as" in x for x in w) != 1)' ||
            fail "not exactly one warning of the matrix in the JSON"
    done
}

# Half of the bytes cut off anywhere: never a crash, never a hang, never a half-written picture.
test_cut_anywhere() {
    for name in h264-open.mkv hevc-open.mp4 mpeg2.ts vp9.webm; do
        f=$(clip $name)
        size=$(stat -c %s "$f")
        for percent in 3 11 29 47 83 99; do
            head -c $((size * percent / 100)) "$f" > half
            run half -n 4 -m average -o half.png
            case $STATUS in
                0) [ -s half.png ] || fail "$name at $percent %: exit 0 and no picture" ;;
                3) [ ! -e half.png ] || fail "$name at $percent %: exit 3 and a picture" ;;
                *) fail "$name at $percent %: exit status $STATUS" ;;
            esac
            rm -f half.png
            files half
        done
    done
}

test_verify_with_nothing_to_compare() {
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=320x180:r=25 -frames:v 1 -c:v ffv1 -level 3 -slicecrc 1 one.avi
    dd if=/dev/zero of=one.avi bs=1 seek=$(($(stat -c %s one.avi) / 2)) count=3000 conv=notrunc 2> /dev/null
    run one.avi --verify -o p.png        # whether such a frame is shown depends on libavcodec
    [ "$STATUS" -eq 0 ] || [ "$STATUS" -eq 3 ] || fail "exit status $STATUS"
    says 'warning: .*--verify compared nothing: no frame is without damage'
    says_not identical
}
