# A film's shots: --shots, --shot-list, --columns shots.

# Seven scenes of 30 frames, of 320x180 at 25 frames a second.
scenes() { # NAME ENCODER...
    local name=$1 source inputs=() n=0 graph=
    shift
    for source in testsrc2=s mandelbrot=end_scale=0.1:s smptebars=s rgbtestsrc=s yuvtestsrc=s testsrc=s pal75bars=s; do
        inputs+=(-f lavfi -i "$source=320x180:rate=25")
        graph+="[$n]trim=end_frame=30,format=yuv420p,setsar=1[s$n];"
        n=$((n + 1))
    done
    graph+="$(seq -f '[s%g]' -s '' 0 $((n - 1)))concat=n=$n:v=1:a=0"
    ffmpeg -nostdin -v error -y "${inputs[@]}" -filter_complex "$graph${filter:+,$filter}" "$@" "$name"
}
exports() {
    "$PYTHON" "$HERE/exports.py" "$@" || fail "exports.py $*"
}

right='0 30 60 90 120 150 180'

# What the list says of each shot but for the file's name and colours.
listed() { cut -d, -f1-10 "$1"; }

pixels() { ffmpeg -nostdin -v error -i "$1" -f md5 -; }

is_right() { # FILE WHAT
    local first
    first=$(listed "$1" | sed 1d | cut -d, -f2 | paste -sd' ')
    [ "$first" = "$right" ] || fail "$2: shots begin at $first, right is $right"
}

test_shots_to_the_frame() { # quick
    scenes a.mp4 -c:v libx264 -preset fast -g 50
    ok a.mp4 -n 10 -v --shot-list a.csv -o a.png
    says "decoding every frame to find its shots"
    says "7 shots"
    is_right a.csv a.mp4
    ok a.mp4 -n 10 -o plain.png
    [ "$(pixels a.png)" = "$(pixels plain.png)" ] || fail "--shot-list changes the picture"
    ok a.mp4 -n 10 --columns shots --csv rows.csv --shot-list b.csv -o b.png
    cmp <(listed a.csv) <(listed b.csv) || fail "--columns shots gives other shots"
    [ "$(wc -l < rows.csv)" -eq 8 ] || fail "not a row a shot: $(cat rows.csv)"
}

# The same shots from any number of threads, way of decoding, container and selection; with bars and from the cache.
test_shots_are_the_same() {
    scenes a.mp4 -c:v libx264 -preset fast -g 50
    for name in a.mkv a.ts; do ffmpeg -nostdin -v error -y -i a.mp4 -c copy $name; done
    filter=pad=320:240:0:30 scenes bars.mkv -c:v libx264 -preset fast -g 50
    filter=fps=50 scenes fast.mkv -c:v libx265 -x265-params log-level=error -preset ultrafast
    ok a.mp4 --shot-list a.csv -o a.png
    is_right a.csv a.mp4
    for name in a.mkv a.ts bars.mkv; do
        ok $name --shot-list b.csv -o b.png
        cmp <(listed a.csv) <(listed b.csv) || fail "$name has other shots: $(listed b.csv)"
    done
    for options in '--threads 1' '--threads 3' '--threads 16' '-n 1' '-n 100' '--columns 7' '--interval 1' '--crop off' \
        '--trickplay bif --trickplay-dir .' --verify; do
        # shellcheck disable=SC2086 # several words
        ok a.mp4 $options --shot-list b.csv -o b.png
        cmp <(listed a.csv) <(listed b.csv) || fail "$options gives other shots: $(listed b.csv)"
    done
    through a.ts - --shot-list b.csv -o b.png
    was 0
    cmp <(listed a.csv) <(listed b.csv) || fail "a pipe has other shots"
    ok fast.mkv --shot-list b.csv -o b.png
    right='0 60 120 180 240 300 360' is_right b.csv fast.mkv
    ok a.mp4 --start 1.2 --end 3.6 --shot-list b.csv -o b.png
    right='30 60' is_right b.csv "--start and --end"
}

# Frames and shots are entries of their own. What is known of the frames gives any threshold.
test_shots_from_the_cache() {
    scenes a.mp4 -c:v libx264 -preset fast -g 50
    export BARCODE_CACHE=$PWD/cache
    ok a.mp4 -n 10 -o a.png
    ok a.mp4 -n 10 -v --shot-list a.csv -o b.png
    says "decoding every frame"
    is_right a.csv "frames from the cache"
    for options in '-n 10' '-n 10 --start 0'; do
        # shellcheck disable=SC2086 # several words
        ok a.mp4 $options -v --shot-list b.csv -o b.png
        says "cache hit: the film's shots"
        says "all frames are cached"
        cmp <(listed a.csv) <(listed b.csv) || fail "$options: other shots from the cache"
    done
    [ "$(pixels a.png)" = "$(pixels b.png)" ] || fail "shots change the picture"
    ok a.mp4 -n 7 -v --shot-list b.csv -o b.png
    says_not "decoding every frame"
    cmp <(listed a.csv) <(listed b.csv) || fail "other shots from the cache"
    ok a.mp4 -n 10 -v --shot-threshold 255 --shot-list b.csv -o b.png
    says_not "decoding every frame"
    right=0 is_right b.csv "a threshold of 255"
    ok a.mp4 -n 10 -v --crop off --shot-list b.csv -o b.png
    says "decoding every frame"
}

# Edit lists name one file.
test_shot_list_of_parts() {
    scenes a.mp4 -c:v libx264 -preset fast -g 50
    cp a.mp4 b.mp4
    for format in edl otio; do
        exits 1 --join a.mp4 b.mp4 -n 10 --shot-list s.$format -o a.png
        says "cannot write 's.$format': the film is in several files"
    done
    ok --join a.mp4 b.mp4 -n 10 --shot-list s.csv -o a.png
    right="$right 210 240 270 300 330 360 390" is_right s.csv "a film in two files"
}

test_shots_refused() { # quick
    for option in '--shots' '--shot-list a.csv' '--columns shots'; do
        # shellcheck disable=SC2086 # two words
        refuses 2 "$(sample)" --keyframes $option -o a.png
        says "--keyframes excludes --shots"
    done
    refuses 2 "$(sample)" --shots --shot-threshold 0 -o a.png
    refuses 2 "$(sample)" --columns shots --shot-width wide -o a.png
    refuses 2 "$(sample)" --shot-threshold 9 -o a.png
    says "^barcode: --shot-threshold applies to --shots; add --shots$"
    refuses 2 "$(sample)" --shots --shot-width equal -o a.png
    says "^barcode: --shot-width applies to --columns shots$"
    refuses 3 "$(clip bad/audio-only.m4a)" --shot-list a.csv -o a.png
    refuses 2 "$(sample)" --shot-list a.txt -o a.png
}

# How many pixels of a row follow one another in one colour.
runs() {
    ffmpeg -nostdin -v error -i "$1" -f rawvideo -pix_fmt rgb24 - | od -An -v -tx1 -w3 | uniq -c | awk '{print $1}' | paste -sd' '
}

# A shot is as wide as its time, or all are the same. The last shot is cut to half.
test_shots_as_columns() { # quick
    scenes a.mp4 -c:v libx264 -preset fast -g 50
    for mode in average kmeans dominant; do
        ok a.mp4 -n 5 --end 7.8 --columns shots -m $mode --width 26 --height 1 -o time.png
        [ "$(runs time.png)" = '4 4 4 4 4 4 2' ] || fail "$mode by time: $(runs time.png)"
        ok a.mp4 -n 5 --end 7.8 --columns shots --shot-width equal -m $mode --width 14 --height 1 -o equal.png
        [ "$(runs equal.png)" = '2 2 2 2 2 2 2' ] || fail "$mode, equal: $(runs equal.png)"
    done
    ok a.mp4 -n 5 --columns shots -m palette --threads 1 --html a.html -o a.png --poster
    ok a.mp4 -n 5 --columns shots -m palette --threads 5 --html b.html -o b.png --poster
    cmp a.png b.png && cmp a.html b.html || fail "threads change columns that are shots"
    ok a.mp4 -n 5 --dump all.rgb -o all.png
    ok a.mp4 -n 5 --columns shots --dump shots.rgb -o shots.png
    cmp all.rgb shots.rgb || fail "--columns shots takes frames from the dump"
}

# Every format says the same, and other programs take it.
test_shot_list_formats() { # quick
    scenes a.mp4 -c:v libx264 -preset fast -g 50
    set -- csv json edl otio ffmeta xml vtt
    for format; do set -- "$@" --shot-list "s.$format"; shift; done
    ok a.mp4 -n 10 --json a.json "$@"
    says "wrote 's.otio': 7 shots"
    exports shots s.csv s.json a.json
    files a.json a.mp4 s.csv s.edl s.ffmeta s.json s.otio s.vtt s.xml
    [ "$(grep -cE '^00[1-7]  AX       V     C        ([0-9:]{11} ?){4}$' s.edl)" -eq 7 ] || fail "$(cat s.edl)"
    [ "$(grep -cE '^ [|]C:ResolveColor[A-Z][a-z]+ [|]M:Shot [1-7] [|]D:1$' s.edl)" -eq 7 ] || fail "$(cat s.edl)"
    ffmpeg -nostdin -v error -i a.mp4 -f ffmetadata -i s.ffmeta -map_chapters 1 -c copy b.mkv
    exports chapters s.csv b.mkv
    ffprobe -v error -show_entries packet=pts_time -of csv=p=0 s.vtt | cmp - <(cut -d, -f5 s.csv | sed 1d)
    # Only what is needed: no clusters, no picture. Names in folders; the table of columns has another.
    ok a.mp4 -n 10 -m average --shot-list d/ --csv d/ --shot-list -
    head -n 1 "$LOGS/stdout" | grep -q 'title,file.$' || fail "colours without clusters: $(head -n 1 "$LOGS/stdout")"
}

test_shot_list_names() {
    mkdir films
    scenes films/a.mp4 -c:v libx264 -preset fast -g 50
    cp films/a.mp4 films/b.mp4
    ok films -n 10 --shot-list d/ --csv d/ -q
    cmp <(listed d/a.shots.csv) <(listed d/b.shots.csv)
    [ -s d/a.csv ] || fail "made $(find d)"
    ok films/a.mp4 -n 10 --shot-list d/ -q
    echo mine > d/a.shots.csv
    exits 1 films/a.mp4 -n 10 --shot-list d/
    says "'d/a.shots.csv': the file exists and was not made by barcode"
    # The EDL, unlike CSV, has its options.
    set -- films/a.mp4 -n 10 --shot-list s.edl --shot-list s.vtt --update -v
    ok "$@"
    ok "$@"
    says "skipped 'films/a.mp4'"
    ok "$@" --shot-threshold 30
    says "rendering 'films/a.mp4': 's.edl' was made with other options"
    ok "$@" --drop-frame
    says "rendering 'films/a.mp4': 's.edl' was made with other options"
    refuses 2 films -n 10 --shot-list s.edl
    says "^barcode: --shot-list s.edl: one file for 2 films; give a folder (DIR/)$"
    refuses 2 films --drop-frame
    says "^barcode: --drop-frame applies to --shot-list; add --shot-list FILE$"
    refuses 2 films/a.mp4 --shot-list s.txt
    says "^barcode: --shot-list: 's.txt' does not end in one of .csv, .json, .edl, .otio, .ffmeta, .xml, .vtt$"
    for format in edl otio xml; do refuses 2 films/a.mp4 -o s.$format; done
}

# ffmpeg cuts 35 shots by the times of the list into its frames.
test_shot_list_cuts() {
    scenes seven.mkv -c:v ffv1
    ffmpeg -nostdin -v error -stream_loop 4 -i seven.mkv -vf settb=1/24000,setpts=N*1001 -r 24000/1001 -c:v libx264 -preset fast a.mp4
    ok a.mp4 --shot-list s.csv
    right=$(seq -s ' ' 0 30 1020) is_right s.csv a.mp4
    exports cuts s.csv a.mp4 > count
    [ "$(cat count)" -eq 35 ] || fail "$(cat count) shots"
}
