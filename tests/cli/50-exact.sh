# The same bytes from every number of threads and instruction set, and from both ways of decoding.

test_threads() {
    for f in "$(sample)" "$(clip h264-open.mkv)" "$(clip hevc-temporal.mkv)" "$(clip mpeg2.ts)" "$(clip vp9.webm)" "$(clip ffv1.mkv)"; do
        for n in 1 2 5 16; do
            ok "$f" -n 12 -k 7 --n-init 5 -m palette --threads $n --json $n.json -o $n.png
        done
        for n in 2 5 16; do
            cmp 1.png $n.png || fail "$f: --threads 1 and $n give different pictures"
            check same 1.json $n.json
        done
    done
}

# Each run on so many threads as it would get of a film that has few, and not one.
test_frame_threads() {
    for name in h264-open.mkv h264-closed.ts h264-interlaced.ts h264-intra-refresh.mkv h264-422-10bit-open.mkv hevc-open.mkv \
        hevc-radl.mkv hevc-temporal.ts hevc-10bit.mkv vp9.webm av1-svt.mkv vp8-altref.webm mpeg2.ts editlist-open.mp4 size-change.ts; do
        f=$(clip $name)
        for n in off 3 16; do
            BARCODE_FRAME_THREADS=$n ok "$f" -n 3 --size 96 -m average --threads 3 -vv --json $n.json -o $n.png
            case $n:$name in
                off:* | *:vp8* | *:mpeg2* | *:size*) ;;
                *) says "a chunk of [0-9]* pictures on $n threads$" ;;
            esac
            [ $n = off ] && continue
            cmp off.png $n.png || fail "$name: another picture when its runs have $n threads"
            check same off.json $n.json
        done
    done
}

# Of a film of five runs more than five cores are used, and all that there are of one run. As ever, where it is told so.
test_few_runs_share_all_threads() { # quick
    shared() { grep -o 'pictures on [0-9]* threads$' "$LOGS/stderr" | awk '{n += $3} END {print n + 0}'; }
    f=$(clip h264-closed.mp4)
    ok "$f" -n 2 -m average --threads 16 --engine cpu -vv -o p.png
    [ "$(shared)" -ge 14 ] || fail "its runs have $(shared) threads of 16"
    BARCODE_FRAME_THREADS=off ok "$f" -n 2 -m average --threads 16 --engine cpu -vv -o p.png
    [ "$(shared)" -eq 0 ] || fail "its runs have $(shared) threads though they are to have none"
    ok "$f" -n 2 -m average --threads 1 --engine cpu -vv -o p.png
    [ "$(shared)" -eq 0 ] || fail "its runs have $(shared) threads of one"
}

# Headers that change in mid-film and are said once: whoever starts behind the change must have them. The third recording has those of
# the first again.
test_headers_said_once() {
    recording a.h264 5 -c:v libx264 -qp 20
    recording b.h264 5 -c:v libx264 -qp 34 -x264-params cabac=0
    recording c.h264 5 -c:v libx264 -profile:v baseline -qp 24
    recording a.hevc 5 -c:v libx265 -x265-params log-level=error:qp=22
    recording b.hevc 5 -c:v libx265 -x265-params log-level=error:qp=36:cbqpoffs=4:sign-hide=0
    recording d.h264 5 -c:v libx264 -qp 30 -x264-params sps-id=1
    joined qp.h264 7 8 -- a.h264 b.h264 a.h264
    joined profile.h264 7 8 -- a.h264 c.h264 a.h264
    joined pps.h264 8 -- a.h264 d.h264 b.h264
    joined all.h264 -- a.h264 d.h264 a.h264
    joined qp.hevc 32 33 34 -- a.hevc b.hevc a.hevc
    ffmpeg -nostdin -v error -y -i profile.h264 -c copy profile.mp4 2> /dev/null
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=192x108:r=25:d=4 -g 10 -c:v mpeg2video -q:v 3 a.m2v
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=192x108:r=25:d=4 -g 10 -c:v mpeg2video -q:v 5 -intra_matrix "$(printf '8%.0s,' {1..32})$(printf '60,%.0s' {1..31})60" b.m2v
    joined matrix.m2v -- a.m2v b.m2v a.m2v
    for f in qp.h264 profile.h264 pps.h264 all.h264 qp.hevc profile.mp4 matrix.m2v; do
        for n in 1 2 8; do
            ok "$f" -n 3 -m average --strict --verify --threads $n --json $n.json -o $n.png
            cmp 1.png $n.png || fail "$f: another picture with $n threads"
            check same 1.json $n.json
            ok "$f" --keyframes --columns 20 -m average --strict --threads $n -o k$n.png
            cmp k1.png k$n.png || fail "$f: other key frames with $n threads"
        done
    done
    ffmpeg -nostdin -v error -y -i all.h264 -c copy all.mp4 2> /dev/null
    ok all.mp4 --keyframes -m average --strict -o k.png
    says_not warning
}

test_instruction_sets() {
    f=$(sample)
    g=$(clip h264-10bit.mkv)
    done=
    for set in base avx2 vnni; do
        BARCODE_ISA=$set run "$f" -n 100 -o probe.png
        if [ "$STATUS" -ne 0 ]; then
            [ "$STATUS" -eq 2 ] || fail "BARCODE_ISA=$set: exit status $STATUS"
            one_sentence
            echo "not on this processor: $set"
            continue
        fi
        for init in scalable k-means++ random; do
            BARCODE_ISA=$set ok "$f" -n 23 -k 8 --n-init 5 -m palette --init $init --json "f-$init-$set.json" -o "f-$init-$set.png"
            BARCODE_ISA=$set ok "$g" -n 20 -k 33 --n-init 3 --size 200 -m palette --init $init --json "g-$init-$set.json" -o "g-$init-$set.png"
            for film in f g; do
                cmp $film-$init-base.png $film-$init-$set.png || fail "$film, $init: base and $set give different pictures"
                check same $film-$init-base.json $film-$init-$set.json
            done
        done
        done="$done $set"
    done
    echo "identical:$done"
    BARCODE_ISA=mmx refuses 2 "$f"
}

# The race changes some of many clusters, and nothing where there are too few starts for one or a palette is wanted.
test_race() {
    f=$(sample)
    for set in "" --no-race; do
        for threads in 1 2; do
            ok "$f" -n 30 -k 12 --init random $set --threads $threads --json "r$set-$threads.json" --csv "r$set-$threads.csv" --csv-columns all -o "r$set-$threads.png"
        done
        cmp "r$set-1.png" "r$set-2.png" && cmp "r$set-1.csv" "r$set-2.csv" || fail "--threads 1 and 2 give different colours with '$set'"
    done
    grep -q '^"race": true,$' r-1.json && grep -q '^"race": false,$' r--no-race-1.json || fail "the JSON does not tell of the race"
    ! cmp -s r-1.csv r--no-race-1.csv || fail "--no-race changes nothing in 12 clusters from random starts"
    ok "$f" -n 30 -k 12 --init random -m palette,kmeans --json p.json -o p.png
    ok "$f" -n 30 -k 12 --init random -m all --json all.json -o all.png
    check picture p-kmeans.png r--no-race-1.json kmeans
    check picture p-palette.png p.json palette
    grep -q '^"race": false,$' p.json && grep -q '^"race": false,$' all.json || fail "restarts race for a palette"
    ok "$f" -n 30 -k 12 --init random --n-init 4 --csv few.csv --csv-columns all -o few.png
    ok "$f" -n 30 -k 12 --init random --n-init 4 --no-race --csv whole.csv --csv-columns all -o whole.png
    cmp few.csv whole.csv
}

test_order_of_modes_does_not_matter() { # quick
    f=$(clip hevc-open.mkv)
    ok "$f" -n 8 -m palette,kmeans,average --json a.json -o a.png
    ok "$f" -n 8 -m average,kmeans,palette --json b.json -o b.png
    for m in palette kmeans average; do
        cmp a-$m.png b-$m.png || fail "$m depends on the order of -m"
    done
    check same a.json b.json
}

# verify_clips NAMES RULE...: --verify on each; with the rule `-n N` ffprobe must count as many frames.
verify_clips() {
    names=$1
    shift
    clip h264-open.mkv > /dev/null
    bad=
    for name in $names; do
        run "$CLIPS/$name" "$@" -m average --size 64 --verify --strict --json v.json -o v.png
        # A clip of a frame or two has nothing after --start, and says so.
        if [ "$STATUS" -eq 1 ] && grep -q 'no frame after --start' "$LOGS/stderr"; then continue; fi
        if [ "$STATUS" -ne 0 ] || ! grep -q 'frames are identical$' "$LOGS/stderr"; then
            echo "$name: status $STATUS: $(cat "$LOGS/stderr")"
            bad="$bad $name"
        elif [ $# -eq 2 ] && [ "$1" = -n ] && ! "$PYTHON" "$HERE/checks.py" count "$CLIPS/$name" v.json "$2"; then
            bad="$bad $name"
        fi
        rm -f v.png v.json
    done
    [ -z "$bad" ] || fail "not identical:$bad"
}

# Every clip goes through one rule (80-frames.sh); the other rules see one clip of each codec and of each structure that decides how a film
# is cut: open and closed groups, leading pictures, recovery points, fields, hidden pictures, no timestamps, jumps.
FEW="h264-open.mkv h264-closed.ts h264-closed.h264 h264-interlaced.ts h264-intra-refresh.mkv h264-long-gop.mp4 hevc-open.mkv
    hevc-radl.mkv hevc-temporal.ts mpeg2.ts mpeg2-interlaced.mpg vp8-altref.webm vp9.webm av1-svt.mkv mjpeg.avi mpeg4-packed.avi
    editlist-open.mp4 vfr.mkv jump.ts size-change.ts one-frame.mkv tags-h264.ts tags-mpeg2.ts
    zmbv-palette.avi vp8-sizes.webm vp9-sizes.webm"
few_clips() {
    for name in $FEW; do
        clip "$name" > /dev/null
    done
    echo "$FEW"
}

test_verify_every_frame() { names=$(few_clips); verify_clips "$names" -n 1; }
test_verify_every_60th() { names=$(few_clips); verify_clips "$names" -n 60; }
test_verify_middle() { names=$(few_clips); verify_clips "$names" -n 3 --start 2.02 --end 5.5; }
test_verify_columns() { names=$(few_clips); verify_clips "$names" --columns 13; }
test_verify_three_threads() { names=$(few_clips); verify_clips "$names" -n 24 --threads 3; }

test_verify_sample() {
    f=$(sample)
    for n in 1 5 24; do
        ok "$f" -n $n -m average --verify -o v.png
        says 'frames are identical$'
    done
}

# A frame is the same whichever rule picked it, and whichever frames the same worker had before.
test_same_frame_by_every_rule() {
    f=$(clip h264-open.mkv)
    for k in 4 9; do
        ok "$f" -n 1 -k $k --n-init 5 --json all.json -o a.png
        n=0
        for rule in '-n 10' '-n 26 --threads 3' '-n 26' '--interval 0.52' '--columns 9' '-n 2 --start 4'; do
            n=$((n + 1))
            # shellcheck disable=SC2086  # two words on purpose
            ok "$f" $rule -k $k --n-init 5 --json some-$n.json -o b.png
        done
        "$PYTHON" - some-*.json <<'PY' || fail "a frame's colours depend on the rule that picked it"
import json, sys
whole = {c["frame"]: (c["average"], c["colours"]) for c in json.load(open("all.json"))["columns"]}
for name in sys.argv[1:]:
    for c in json.load(open(name))["columns"]:
        if whole[c["frame"]] != (c["average"], c["colours"]):
            sys.exit(f"{name}: frame {c['frame']}")
PY
    done
}

# Neither headers nor times tell the order of display: the decoder contradicts what was foreseen, and is believed.
test_contradiction() { # quick
    f=$(clip mpeg2-no-order.mkv)
    g=$(clip mpeg2.ts)
    ok "$f" -n 1 -m average --verify --strict -v --dump d.rgb --json f.json -o f.png
    says 'frames are identical$'
    says 'the frames do not match the headers'
    ok "$g" -n 1 -m average --dump e.rgb -o g.png
    cmp d.rgb e.rgb || fail "the frames are not those of the film with right times"
    "$PYTHON" -c 'import json; c = json.load(open("f.json"))["columns"]; assert [x["frame"] for x in c] == list(range(200))' ||
        fail "the frames are not numbered one after another"
}

# Where the frame size changes: the same frames from any number of threads, and from an NVDEC
# session, which gives up.
test_changing_size() {
    for name in vp8-sizes.webm vp9-sizes.webm; do
        f=$(clip $name)
        for n in 1 2 5; do
            ok "$f" -n 3 -m average --decode cpu --threads $n --dump $n.rgb -o a.png
            cmp 1.rgb $n.rgb || fail "$name: --threads 1 and $n give different frames"
        done
        for decode in nvdec auto; do
            BARCODE_NVDEC=software ok "$f" -n 3 -m average --decode $decode -v --dump b.rgb -o b.png
            says "the size of the frames changes: decoding in software instead$"
            cmp 1.rgb b.rgb || fail "$name: other frames (--decode $decode)"
        done
    done
}

# What NVDEC sessions do with every codec's runs, on software decoders in their place: the same frames.
test_nvdec_sessions() {
    clip h264-open.mkv > /dev/null
    for name in $FEW hevc-bla.hevc h264-keyint1.mkv hevc-10bit.mkv h264-bluray.mkv h264-bluray-interlaced.mkv \
        h264-sets.ts; do
        f=$CLIPS/$name
        for n in 1 24; do
            ok "$f" -n $n -m average --decode cpu --dump a.rgb -o a.png
            for decode in nvdec auto; do
                [ $n:$decode != 24:auto ] || continue
                BARCODE_NVDEC=software ok "$f" -n $n -m average --decode $decode --dump b.rgb -o b.png
                cmp a.rgb b.rgb || fail "$f: other frames from NVDEC sessions (-n $n --decode $decode)"
            done
        done
    done
}
