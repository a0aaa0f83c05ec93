# Disks that cannot read, and films that change while they are read: a failure, and nothing that --update takes for done.

# failing TEXT FROM TO COMMAND...: the bytes of files whose path contains TEXT are unreadable meanwhile.
failing() {
    local text=$1 from=$2 to=$3
    shift 3
    LD_PRELOAD=$BAD_READS_SO FAILING_READS=$text FAILING_FROM=$from FAILING_TO=$to "$@"
}

size() {
    stat -c %s "$1"
}

# unreadable FILE FROM TO ARG...: barcode ARG... must fail as the disk does, and write nothing.
unreadable() {
    local file=$1 from=$2 to=$3
    shift 3
    failing "$file" "$from" "$to" refuses 1 "$@" -m average -o out.png
    says "cannot read \(a file of \)\?'[^']*': Input/output error"
    [ ! -e out.png ] || fail "it wrote a picture"
}

# heavy NAME [OPTION...]: a film of more than two megabytes, whose id (film_id.h) leaves out the bytes in its middle.
heavy() {
    local name=$1
    shift
    ffmpeg -nostdin -v error -y -f lavfi -i "testsrc2=s=320x180:r=25:d=4,noise=alls=80:allf=t" -g 25 -b:v 6M -maxrate 6M -bufsize 2M -preset veryfast \
        -pix_fmt yuv420p "$@" "$name"
    [ "$(size "$name")" -gt 2200000 ] || fail "$name has only $(size "$name") bytes"
}

# in_the_middle NAME ARG...
in_the_middle() {
    middle=$(($(size "$1") / 2))
    unreadable "$1" $middle $((middle + 1)) "${@:2}"
}

# The segments of HLS, also the first, which is read when the film is opened; and --keep-going skips nothing else.
test_read_error_in_a_segment() { # quick
    ffmpeg -nostdin -v error -f lavfi -i "testsrc2=s=160x90:r=25:d=3,noise=alls=80:allf=t" -g 25 -c:v mpeg2video -b:v 2M -f hls -hls_time 1 -hls_playlist_type vod list.m3u8
    ok list.m3u8 --no-cache -n 1 -m average -o whole.png
    for i in 0 1 2; do
        unreadable list$i.ts 65536 65537 list.m3u8 --no-cache -n 1
        says "cannot read 'list$i.ts': Input/output error (at byte"
        failing list$i.ts 65536 69632 ok list.m3u8 --no-cache --keep-going -n 1 -m average -o going.png
        says "'list.m3u8': 4096 bytes cannot be read (skipped)"
        says "wrote 'going.png': 75 columns"
        failing list$i.ts 65536 69632 exits 1 list.m3u8 --no-cache --keep-going --strict -n 1 -m average -o strict.png
        rm going.png strict.png
    done
    unreadable list.m3u8 0 1 list.m3u8 --no-cache --keep-going
}

test_read_error_in_a_film() {
    local name end
    heavy film.mkv
    for name in film.mkv film.mp4 film.ts film.avi fast.mp4 fragments.mp4; do
        case $name in
            film.avi) heavy $name -c:v mpeg4 ;;
            fast.mp4) ffmpeg -nostdin -v error -i film.mkv -c copy -movflags +faststart $name ;;
            fragments.mp4) ffmpeg -nostdin -v error -i film.mkv -c copy -movflags +frag_keyframe+empty_moov $name ;;
            film.mkv) ;;
            *) ffmpeg -nostdin -v error -i film.mkv -c copy $name ;;
        esac
        # The reader must notice it, not what reads the id.
        for options in "" "--columns 20 --crop=auto"; do
            # shellcheck disable=SC2086  # words
            in_the_middle $name $name $options
            says "(at byte $((middle / 100000))"
        done
        end=$(size $name)
        unreadable $name 0 1 $name
        unreadable $name $((end - 1)) "$end" $name
    done
    FAILING_ERRNO=116 failing film.mkv 0 9 refuses 1 film.mkv
    says "cannot \(open\|read\) 'film.mkv': Stale file handle"
}

# The bytes of the film's id, behind all that a demuxer reads.
test_read_error_in_the_id() {
    cp "$(clip h264-closed.mp4)" film.mp4
    printf '\0\x20\0\0free' >> film.mp4
    truncate -s +2097144 film.mp4
    ok film.mp4 -m average -o whole.png
    unreadable film.mp4 $(($(size film.mp4) - 1000)) $(($(size film.mp4) - 900)) film.mp4
}

test_read_error_in_a_pipe() {
    local film from
    heavy film.ts
    film=film.ts
    mkfifo film.fifo
    for from in 0 $(($(size "$film") / 2)); do
        cat "$film" > film.fifo 2> /dev/null &
        unreadable film.fifo "$from" $((from + 1)) film.fifo -n 1
        wait || true
    done
}

# In each part of a film: those that a demuxer joins, and those whose bytes are joined.
test_read_error_in_a_part() {
    local kind i
    for kind in mkv mpg; do
        for i in 1 2 3; do
            heavy part$i.$kind
        done
        for i in 1 2 3; do
            in_the_middle part$i.$kind --join part1.$kind part2.$kind part3.$kind
            [ $kind = mkv ] && says "cannot read a file of 'part1.mkv'" || says "cannot read 'part$i.$kind'.* (at byte"
            unreadable part$i.$kind 0 100 --join part1.$kind part2.$kind part3.$kind
            says "cannot read 'part$i.$kind': Input/output error"
        done
    done
    printf 'ffconcat version 1.0\nfile part1.mkv\nfile part2.mkv\n' > list.ffconcat
    for i in 1 2; do
        in_the_middle part$i.mkv list.ffconcat
    done
}

# A playlist itself, and an image of a sequence.
test_read_error_in_a_list() {
    printf MPLS0200 > list.mpls
    unreadable list.mpls 0 1 list.mpls
    mkdir images
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=160x90:r=25:d=1 images/%03d.png
    ok --sequence images -m average -o whole.png
    for i in 001 013 025; do
        unreadable images/$i.png 500 501 --sequence images
    done
}

# A good entry stays, and the film is decoded.
test_read_error_in_the_cache() {
    local film entry at
    film=$(clip h264-closed.mkv)
    ok "$film" --cache cache -m average -o whole.png
    entry=$(find cache -name '*.frames')
    for at in 0 40 $(($(size "$entry") / 3)) $(($(size "$entry") - 300)) $(($(size "$entry") - 1)); do
        failing .frames "$at" $((at + 1)) ok "$film" --cache cache -m average -o now.png
        says "warning: cannot read the cache entry '.*': Input/output error"
        cmp whole.png now.png || fail "the picture differs"
        [ -e "$entry" ] || fail "the entry was removed"
        failing .frames "$at" $((at + 1)) run --cache-verify --cache cache
        [ "$STATUS" -eq 1 ] || fail "--cache-verify has status $STATUS"
        [ -e "$entry" ] || fail "--cache-verify removed the entry"
    done
    ok "$film" --cache cache -m average -o now.png -v
    says "cache hit"
}

# The others of a batch are done, and the same command with --update does the rest.
test_read_error_in_a_batch() { # quick
    mkdir films
    for i in 1 2 3; do
        cp "$(clip h264-closed.mkv)" films/$i.mkv
    done
    failing films/2.mkv 30000 30100 exits 1 films -m average --update -o out/
    says "cannot read 'films/2.mkv': Input/output error"
    [ "$(ls out)" = "1-average.png
3-average.png" ] || fail "it wrote $(ls out)"
    ok films -m average --update -o out/
    ok films/2.mkv -m average -o whole.png
    cmp whole.png out/2-average.png || fail "the second film's picture differs"
}

test_keep_going() {
    local name at columns
    heavy film.mkv
    for name in film.mkv film.mp4 film.ts film.avi; do
        case $name in
            film.avi) heavy $name -c:v mpeg4 ;;
            film.mkv) ;;
            *) ffmpeg -nostdin -v error -i film.mkv -c copy $name ;;
        esac
        # A whole page, as a disk fails: of a single bad byte's page, only what one read wants of it is lost.
        at=$(($(size "$name") / 2 / 4096 * 4096))
        ok "$name" --no-cache -m average -o whole.png
        columns=$(grep -o '[0-9]* columns$' "$LOGS/stderr")
        failing "$name" $at $((at + 4096)) ok "$name" --keep-going --update --cache cache -m average -o out.png
        says "'$name': 4096 bytes cannot be read (skipped)"
        says "columns comes\\? from damaged frames\|columns \(is\|are\) missing"
        ! grep -q "the file is damaged" "$LOGS/stderr" || fail "the disk is, not the file"
        failing "$name" $at $((at + 4096)) ok "$name" --keep-going --update --cache cache -m average -o out.png
        says "wrote 'out.png': $columns"
        failing "$name" $at $((at + 4096)) run "$name" --keep-going --strict --no-cache -m average -o strict.png
        [ "$STATUS" -eq 1 ] || fail "--strict has status $STATUS"
        ok "$name" --update --cache cache -m average -o out.png -v
        says "cache miss"
        cmp whole.png out.png || fail "$name: on a good disk the picture is another one"
        ok "$name" --update --cache cache -m average -o out.png -v
        says "is up to date"
    done
    at=$(size film.mp4)
    failing film.mp4 $((at - 1000)) "$at" refuses 1 film.mp4 --keep-going
    says "cannot read 'film.mp4': Input/output error"
}

# In a folder outputs replace only those of the same film, and these do not name it: its id could not be read.
test_keep_going_without_an_id() {
    local end
    mkdir films other
    heavy films/film.ts
    cp films/film.ts other
    ok films -m average -o whole/ --json whole/ --csv whole/ --thumbnails whole/
    end=$(size films/film.ts)
    failing film.ts $((end - 100)) "$end" ok films --keep-going --update -m average -o out/ --json out/ --csv out/ --thumbnails out/
    cp out/film-average.png bad.png
    refuses 1 films -m average -o out/
    says "may show another film"
    refuses 1 other --update -m average -o out/     # not this film
    says "may show another film"
    cmp bad.png out/film-average.png
    ok films --update -m average -o out/ --json out/ --csv out/ --thumbnails out/
    for f in film-average.png film.csv film-001.jpg film.vtt; do
        cmp whole/$f out/$f || fail "$f is not that of a good disk"
    done
}

# The bytes of VOBs follow one another, so reading goes on behind the bad ones in any of them.
test_keep_going_in_a_part() {
    heavy whole.mpg
    split -n 2 whole.mpg part --additional-suffix=.mpg
    ok --join partaa.mpg partab.mpg -m average -o whole.png
    for part in partaa partab; do
        failing $part.mpg 196608 200704 ok --join partaa.mpg partab.mpg --keep-going -m average -o out.png
        says ": 4096 bytes cannot be read (skipped)"
        says "wrote 'out.png': 100 columns"
    done
}

# while_read COMMAND...: runs barcode on film.mkv, which writes to $out, and COMMAND when it has opened it.
while_read() {
    start film.mkv --threads 1 --cache cache -m average --update -o "$out"
    find_worker film.mkv
    kill -STOP "$worker"
    readlink "/proc/$worker/fd"/* | grep -q film.mkv || fail "the film was read too fast"
    "$@"
    kill -CONT "$worker"
    ended_with 0
}

test_a_film_that_changes() {
    local how out=out.png
    for how in "truncate -s 2000000 film.mkv" "cp other film.mkv" "mv other film.mkv" "truncate -s +5000 film.mkv"; do
        ffmpeg -nostdin -v error -y -i "$(clip film-480p.mp4)" -c copy film.mkv
        cp film.mkv other
        printf x >> other
        rm -rf out.png cache
        # shellcheck disable=SC2086  # words on purpose
        while_read $how
        [ "$(grep -c "warning: 'film.mkv' changed while it was being read" "$LOGS/stderr")" -eq 1 ] || fail "it does not say once that the film changed"
        [ "$(find . -name '*.frames' | wc -l)" -eq 0 ] || fail "after '$how' frames were kept"
        ok film.mkv --no-cache -m average -o new.png
        ok film.mkv --no-cache -m average -o out.png --update
        cmp new.png out.png || fail "after '$how' --update keeps the old picture"
    done
}

# The next run with --update makes it whole, also in a folder, where outputs replace only those of the same film.
test_a_film_that_grows() {
    local out=out/
    ffmpeg -nostdin -v error -i "$(clip film-480p.mp4)" -c copy -f mpegts whole
    head -c 3000000 whole > film.mkv
    while_read cp whole film.mkv
    says "changed while it was being read"
    ok film.mkv --no-cache -m average -o new.png
    ok film.mkv --no-cache -m average -o out/ --update
    cmp new.png out/film-average.png
}
