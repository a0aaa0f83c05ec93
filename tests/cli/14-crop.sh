# Black bars: left out where they are, and nowhere else.

# encode NAME FILTER ARG...: eight seconds of the sample's brightest part through a filter.
encode() {
    name=$1 filter=$2
    shift 2
    f=$(clip film-480p.mp4)
    ffmpeg -nostdin -v error -y -ss 5 -t 8 -i "$f" -vf "$filter" -an -c:v libx264 -preset veryfast -crf 23 -g 24 "$@" "$name"
}

# near ONE TWO MOST: the averages of two JSON files' columns differ by at most MOST.
near() {
    "$PYTHON" - "$@" <<'PY' || fail "the colours of $1 are not those of $2"
import json, sys
one, two = (json.load(open(n))["columns"] for n in sys.argv[1:3])
assert len(one) == len(two), (len(one), len(two))
worst = max(abs(x - y) for a, b in zip(one, two) for x, y in zip(a["average"], b["average"]))
print("worst", worst)
assert worst <= int(sys.argv[3])
PY
}

# The sizes of film-480p.mp4 are 854x480.
test_crop_bars() {
    encode plain.mp4 crop=854:356:0:62
    ok plain.mp4 -n 8 -m average --json plain.json -o plain.png
    encode scope.mp4 crop=854:356:0:62,pad=854:480:0:62:black
    encode noise.mp4 "crop=854:356:0:62,pad=854:480:0:62:black,geq=lum='if(lt(Y,62)+gte(Y,418),16+random(1)*8.9,lum(X,Y))':cb='cb(X,Y)':cr='cr(X,Y)'"
    encode logo.mp4 "crop=854:356:0:62,pad=854:480:0:62:black,drawbox=x=740:y=20:w=60:h=24:c=white:t=fill,drawbox=x=300:y=440:w=6:h=24:c=white:t=fill,drawbox=x=320:y=440:w=200:h=4:c=white:t=fill"
    for film in scope noise logo; do
        ok $film.mp4 -v -n 8 -m average --json $film.json -o $film.png
        says "cropped to 854:356:0:62 of 854x480"
        check cropped $film.json 854:356:0:62
        near plain.json $film.json 2
        ok $film.mp4 -n 8 -m average --crop off --json off.json -o off.png
        cmp $film.png off.png > /dev/null && fail "$film: --crop off changes nothing"
        check cropped off.json
    done
    encode pillar.mp4 crop=640:480:107:0,pad=854:480:106:0:black
    ok pillar.mp4 -n 8 -m average --json pillar.json -o pillar.png
    check cropped pillar.json 640:480:106:0
    encode window.mp4 crop=640:400:107:40,pad=854:480:106:40:black
    ok window.mp4 -n 8 -m average --json window.json -o window.png
    check cropped window.json 640:400:106:40
}

test_crop_invents_nothing() {
    encode night.mp4 "lutyuv=y=16+(val-16)/10:u=128+(val-128)/10:v=128+(val-128)/10"
    encode plain.mp4 null
    ffmpeg -nostdin -v error -y -f lavfi -i color=black:s=320x180:r=25:d=4 -c:v libx264 -g 25 black.mp4
    for film in night plain black; do
        ok $film.mp4 -n 8 -m all --n-init 2 --dump a.rgb --json $film.json -o a.png
        ok $film.mp4 -n 8 -m all --n-init 2 --crop off --dump b.rgb -o b.png
        cmp a.rgb b.rgb
        check pixels a.png b.png
        check cropped $film.json
    done
}

# Half of the film has bars: each half is right.
test_crop_a_film_of_two_shapes() {
    encode scope.mp4 crop=854:356:0:62,pad=854:480:0:62:black
    encode whole.mp4 null
    printf "file '%s'\n" scope.mp4 whole.mp4 > list
    ffmpeg -nostdin -v error -y -f concat -i list -c copy both.mp4
    ok both.mp4 -n 8 --dump both.rgb --json both.json -o both.png
    check cropped both.json 854:356:0:62
    ok scope.mp4 -n 8 --dump scope.rgb -o scope.png
    ok whole.mp4 -n 8 --dump whole.rgb -o whole.png
    cat scope.rgb whole.rgb | cmp - both.rgb
}

# What is missing of a damaged picture is what the memory held: such a picture tells nothing, or each number of threads has other bars.
test_crop_of_a_damaged_film() {
    ffmpeg -nostdin -v error -y -f lavfi -i "testsrc2=s=640x270:r=24,format=yuv420p,pad=640:360:0:44" -t 8 -c:v libx265 -preset ultrafast \
        -x265-params log-level=error:keyint=24 whole.mkv
    for seed in 1 2 3; do
        "$PYTHON" - whole.mkv damaged.mkv $seed <<'END'
import random, sys
data, chance = bytearray(open(sys.argv[1], "rb").read()), random.Random(int(sys.argv[3]))
for _ in range(60):
    data[chance.randrange(40000, len(data))] ^= 1 << chance.randrange(8)
open(sys.argv[2], "wb").write(data)
END
        for threads in 1 2 3 8; do
            run damaged.mkv --every 24 --no-cache --threads $threads -v -o a.png
            grep "crop detection: sampled\|cropped to" "$LOGS/stderr" > "bars-$threads"
            cmp bars-1 "bars-$threads" || fail "seed $seed: $(cat bars-1) with 1 thread, $(cat "bars-$threads") with $threads"
        done
    done
}

# The rectangle is of the displayed picture; every way of staging cuts it alike.
test_crop_by_hand() {
    f=$(clip film-480p.mp4)
    g=$(clip rotate90.mp4)
    encode crop.mkv crop=400:200:100:60 -c:v ffv1
    encode full.mkv null -c:v ffv1
    ok full.mkv -n 8 --crop 400:200:100:60 --size 160x90 --dump a.rgb --json a.json -o a.png
    ok crop.mkv -n 8 --crop off --size 160x90 --dump b.rgb -o b.png
    cmp a.rgb b.rgb
    check cropped a.json 400:200:100:60
    for film in "$f" "$g"; do
        ok "$film" -n 24 --crop 100:60:40:20 --threads 1 --dump 1.rgb --json 1.json -o 1.png
        ok "$film" -n 24 --crop 100:60:40:20 --threads 3 --dump 3.rgb -o 3.png
        cmp 1.rgb 3.rgb
        check cropped 1.json 100:60:40:20
        ok "$film" -n 24 --crop 100:60:40:20 --verify -o v.png
    done
    ffmpeg -nostdin -v error -y -i "$g" -vf "crop=100:60:40:20" -c:v ffv1 turned.mkv
    ok turned.mkv -n 24 --crop off --size 90x54 --dump t.rgb -o t.png
    ok "$g" -n 24 --crop 100:60:40:20 --size 90x54 --dump g.rgb -o g.png
    cmp t.rgb g.rgb || fail "a turned film is cut elsewhere"
}

# Each of several films is looked at once, and none that the cache has.
test_crop_of_several_films() {
    mkdir films
    encode films/scope.mp4 crop=854:356:0:62,pad=854:480:0:62:black
    encode films/whole.mp4 null
    touch -d '1 minute ago' films/*
    for n in 2 3 4; do                  # other films to the cache
        cp films/scope.mp4 films/scope$n.mp4
        touch -d "$n minutes ago" films/scope$n.mp4
    done
    mkdir cold warm
    ok films --cache c -vv -n 8 -o cold/
    [ "$(grep -c "crop detection: sampled" "$LOGS/stderr")" = 5 ] || fail "not each film was looked at once"
    [ "$(grep -c "cropped to 854:356:0:62 of" "$LOGS/stderr")" = 4 ] || fail "not all bars were found"
    ok films --cache c -vv -n 8 -o warm/
    says_not "crop detection"
    diff -r cold warm
    ok films/scope.mp4 --no-cache -n 8 -o alone.png
    cmp alone.png cold/scope.png
}

test_crop_in_the_cache() {
    encode scope.mp4 crop=854:356:0:62,pad=854:480:0:62:black
    touch -d '1 minute ago' scope.mp4
    ok scope.mp4 --cache c -n 8 --json cold.json -o cold.png
    ok scope.mp4 --cache c -v -n 8 --json warm.json -o warm.png
    says "cache hit"
    says_not "crop detection"
    cmp cold.png warm.png
    check same cold.json warm.json
    ok scope.mp4 --cache c -v -n 12 --json part.json --dump part.rgb -o part.png
    says "cache partial"
    ok scope.mp4 --no-cache -n 12 --json none.json --dump none.rgb -o none.png
    cmp part.rgb none.rgb
    check same part.json none.json
    ok scope.mp4 --cache c -v -n 8 --crop off --json off.json -o off.png
    says "cache miss"
    check cropped off.json
}

test_crop_of_a_pipe() {
    encode scope.mkv crop=854:356:0:62,pad=854:480:0:62:black
    through scope.mkv - -v -n 8 -m average --json pipe.json -o pipe.png
    was 0
    says "no crop detection in a pipe"
    check cropped pipe.json
}

test_crop_bad_rules() { # quick
    f=$(clip h264-closed.mkv)
    for rule in '' on 10 10:10 10:10:0 10:10:0:0:0 0:10:0:0 10:0:0:0 -1:1:1:1 10:10:0:-1 99999:1:0:0 10x10:0:0 ' 1:1:1:1'; do
        refuses 2 "$f" --crop "$rule"
    done
    refuses 2 "$f" --crop 320:180:1:0
    says "is outside its frames of 320x180"
    files
}

# A film that is alone is looked at while it is staged. What is stopped meanwhile leaves nothing in the cache that was not cut.
test_crop_stopped_while_it_looks() {
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=2560x1068:r=24:d=2 -vf pad=2560:1440:0:186:black -c:v libx264 -preset ultrafast -g 4 big.mp4
    ok big.mp4 -m average --threads 2 -o right.png
    for delay in 0.04 0.08 0.12 0.16 0.2 0.3; do
        "$BARCODE" big.mp4 -m average --cache c --threads 2 -q -o x.png 2> /dev/null &
        pid=$!
        sleep "$delay"
        kill -TERM $pid 2> /dev/null || true
        wait $pid || true
        for round in 1 2; do
            ok big.mp4 -m average --cache c --threads 2 -o "now-$round.png"
            cmp "now-$round.png" right.png || fail "stopped after $delay s: another picture"
        done
        rm -rf c x.png now-*.png
    done
}

# Where threads are few, the film is staged without the look beside it. Fewer than it takes without one are refused as ever.
test_crop_with_few_threads() {
    encode scope.mp4 crop=854:356:0:62,pad=854:480:0:62:black
    ok scope.mp4 -m average --threads 4 -o right.png
    for most in 1 2 3 4 5 6 7 8 9 10 12 16 24; do
        export LD_PRELOAD=$FEW_THREADS_SO FEW_THREADS=$most
        run scope.mp4 -m average --threads 4 --crop off -o off.png
        without=$STATUS
        run scope.mp4 -m average --threads 4 -o now.png
        unset LD_PRELOAD FEW_THREADS
        [ "$STATUS" -eq "$without" ] || fail "$most threads: exit status $STATUS, without a look $without"
        [ "$STATUS" -ne 0 ] || cmp now.png right.png || fail "$most threads: another picture"
        rm -f now.png off.png
    done
}

# PixelCrop of Matroska, against ffmpeg's crop of the same frames: columns, previews, --crop, and samples of chroma that are cut inwards.
test_pixel_crop() {
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=160x90:r=25:d=2 -pix_fmt yuv420p -c:v libx264 -g 25 film.mkv
    for edges in "10 20 30 6 120:64:10:20" "0 0 31 0 128:90:0:0" "0 13 0 13 160:62:0:14"; do
        read -r left top right bottom crop <<< "$edges"
        "$PYTHON" "$HERE/matroska.py" film.mkv pixel.mkv crop "$left" "$top" "$right" "$bottom"
        ffmpeg -nostdin -v error -y -i film.mkv -vf "crop=$crop" -c:v ffv1 true.mkv
        for options in "-n 1" "--columns 7 --crop off" "-n 1 --crop 40:30:6:8"; do
            for film in pixel true; do
                # shellcheck disable=SC2086
                ok $film.mkv --strict $options --csv $film.csv --csv-columns column,frame,time,status,average,colour_N,share_N
            done
            cmp pixel.csv true.csv || fail "$edges, $options"
        done
        for film in pixel true; do ok $film.mkv -m average --overwrite --thumbnails $film.previews -o p.png; done
        cmp <(grep -o 'xywh.*' pixel.previews/*.vtt) <(grep -o 'xywh.*' true.previews/*.vtt) || fail "$edges: the shape of previews"
    done
    "$PYTHON" "$HERE/matroska.py" film.mkv nothing.mkv crop 100 0 100 0
    ok --strict -n 1 nothing.mkv --json n.json
    grep -q '"width": *160' n.json || fail "a crop that leaves nothing"
}
