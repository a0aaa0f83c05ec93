# The frame cache: the same picture with it, without it and out of it, whatever happens to its files.
# shellcheck disable=SC2086,SC2016  # rules are words; the inner shell expands

# Another byte than the one that is there, which may be any.
spoil() { # FILE AT
    cp "$1" spoilt
    printf x | dd of="$1" bs=1 seek="$2" conv=notrunc 2> /dev/null
    ! cmp -s "$1" spoilt || printf y | dd of="$1" bs=1 seek="$2" conv=notrunc 2> /dev/null
}

# each_of FUNCTION FILM...: the function on each, in a folder of its own.
each_of() {
    local test=$1 film
    for film in "${@:2}"; do
        mkdir "of ${film##*/}"
        (
            cd "of ${film##*/}" || exit
            echo "$film"
            "$test" "$film"
        )
    done
}

# one_film FILM [N]: every mode and three k, cold, warm and without; only the first run decodes.
one_film() {
    local each=kmeans,dominant,palette,average,squeeze want=miss n=${2:-40}
    for k in 3 8 16; do
        for mode in $each all; do
            plain "$1" -n "$n" -k $k --n-init 3 -m $mode
            for again in 1 2; do
                now "$1" -n "$n" -k $k --n-init 3 -m $mode
                state $want
                want=hit
                check same plain.json now.json
                for picture in plain*.png; do
                    cmp "$picture" "now${picture#plain}" || fail "$picture is another picture out of the cache"
                done
            done
            rm -f plain*.png now*.png
        done
    done
    [ "$(entries)" -eq 1 ] || fail "$(entries) entries, not one"
}

test_cache_480p() { one_film "$(clip film-480p.mp4)" 24; }
test_cache_1080p() { one_film "$(clip film-1080p.mp4)" 12; }
test_cache_sample() { one_film "$(sample)" 40; }
# No test where there are none: one of nothing would be counted as passed.
if [ -s "$WORK/films" ]; then
    test_cache_extra() { each_of one_film "${extra[@]}"; }
fi

# Whole films: 80-frames.sh.
test_cache_damaged() {
    for f in "$(clip size-change.ts)" "$(clip vp8-sizes.webm)" "$(clip vp9-sizes.webm)" "$CLIPS"/damaged/*; do
        rm -rf cache
        for rule in '-n 7' '--columns 11 --start 1'; do
            COMMAND="$f $rule"
            run "$f" $rule -m palette --n-init 2 --size 96 --no-cache --json plain.json -o plain.png
            [ "$STATUS" -eq 0 ] || continue
            for want in cold hit; do
                now "$f" $rule -m palette --n-init 2 --size 96
                like plain.png
                [ $want = cold ] || state hit
                mv now.json $want.json
            done
            check same plain.json cold.json hit.json
        done
    done
}

test_cache_finer_serves_coarser() {
    f=$(clip h264-open.mkv)
    now "$f" -n 3
    for rule in '-n 6' '-n 12 --end 5' '-n 3 --end 4.5' '-n 9'; do
        plain "$f" $rule
        now "$f" $rule
        state hit
        like plain.png
        check same plain.json now.json
    done
    for rule in '-n 2' '-n 1'; do
        plain "$f" $rule
        now "$f" $rule
        like plain.png
        check same plain.json now.json
    done
    for rule in '-n 5' '--interval 0.2' '--columns 40' '--columns 7 --start 2 --end 6' '-n 24 --start 1.5'; do
        plain "$f" $rule
        now "$f" $rule
        state hit                # from the entry of -n 1
        like plain.png
        check same plain.json now.json
    done
}

# Any entry beside any rule: whatever it serves, the picture is that of a run without a cache.
test_cache_any_rule_after_any() {
    local rule other n=0
    rules=('-n 10' '-n 5 --start 2 --end 5' '--interval 0.4' '--interval 0.01 --start 1 --end 1.5' '--columns 7')
    f=$(clip h264-open.mkv)
    for rule in "${rules[@]}"; do
        plain "$f" -m average $rule
        mv plain.png "plain $rule.png"
        mv plain.json "plain $rule.json"
    done
    for rule in "${rules[@]}"; do
        rm -rf cache one
        now "$f" -m average $rule
        state miss
        mv cache one
        for other in "${rules[@]}"; do
            rm -rf cache
            cp -rp one cache
            now "$f" -m average $other
            [ "$other" != "$rule" ] || state hit
            like "plain $other.png"
            check same "plain $other.json" now.json
            n=$((n + 1))
        done
    done
    [ $n -eq 25 ] || fail "$n pairs"
}

# What a pipe's writer says goes to the film, and a playlist's films change without it.
test_cache_keeps_no_pipe_and_no_playlist() {
    mkfifo pipe.mkv
    cat "$(clip h264-closed.mkv)" > pipe.mkv &
    now pipe.mkv
    state off
    cp "$(clip h264-closed.mkv)" part.mkv
    printf 'ffconcat version 1.0\nfile part.mkv\n' > list.ffconcat
    for _ in 1 2; do
        now list.ffconcat
        state off
    done
    [ "$(entries)" -eq 0 ] || fail "$(entries) entries"
}

test_cache_says_why() {
    f=$(clip h264-closed.mkv)
    ok "$f" --cache cache -v -o a.png
    says "cache miss: no frames of this film are cached"
    ok "$f" --cache cache -v -k 5 -o a.png
    says "cache hit"
    ok "$f" --cache cache -v --size 64 -o a.png
    says "cache miss: the cached frames were made with size="
    cp "$f" copy.mkv
    touch -d 2020-01-01 copy.mkv
    ok copy.mkv --cache cache -v -o b.png
    says "cache miss: the cached frames are of a copy, or of the film before it was modified"
    ok "$f" --cache cache -v --size 48 -o a.png
    says "cache miss: the cached frames were made with size="
    ok "$f" --cache cache -v --refresh -o a.png
    says "cache miss: --refresh"
    ok "$f" --no-cache -v -o a.png
    says_not "cache"
    ok "$f" --cache cache --verify -v -o a.png
    says_not "cache hit"
}

test_cache_where() {
    f=$(clip h264-closed.mkv)
    BARCODE_CACHE=$PWD/one ok "$f" -o a.png
    XDG_CACHE_HOME=$PWD/two BARCODE_CACHE='' ok "$f" -o a.png
    HOME=$PWD/three XDG_CACHE_HOME='' BARCODE_CACHE='' ok "$f" -o a.png
    BARCODE_CACHE=$PWD/one ok "$f" --cache four -o a.png
    for folder in one two/barcode three/.cache/barcode four; do
        [ "$(entries $folder)" -eq 1 ] || fail "$folder holds $(entries $folder) entries"
        [ -s $folder/CACHEDIR.TAG ] || fail "$folder has no tag"
    done
    [ "$(stat -c %a one)" = 700 ] || fail "others may read the cache"
}

test_cache_moved_and_edited() {
    cp -p "$(clip h264-closed.mkv)" a.mkv
    now a.mkv
    mkdir folder
    mv a.mkv folder/b.mkv
    now folder/b.mkv
    state hit
    cp -p folder/b.mkv c.mkv
    now c.mkv
    state hit
    printf 'xyz' | dd of=c.mkv bs=1 seek=200000 conv=notrunc 2> /dev/null
    now c.mkv
    state miss
    ok c.mkv --no-cache -o plain.png
    like plain.png
    now c.mkv                                      # known now
    state hit
    cp -p c.mkv stamp
    printf 'abc' | dd of=c.mkv bs=1 seek=500000 conv=notrunc 2> /dev/null
    touch -r stamp c.mkv                           # as if nothing had happened
    now c.mkv
    state miss
    ok c.mkv --no-cache -o plain.png
    like plain.png
}

# As `rsync -t` repairs a film: another file, of the same size and time, other bytes where the fingerprint does not look.
test_cache_repaired() {
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=320x180:r=25:d=16,noise=alls=40:allf=t -c:v libx264 -preset ultrafast -qp 24 -g 25 good.mkv
    size=$(stat -c %s good.mkv)
    [ "$size" -gt 3000000 ] || fail "the film is too small to have bytes outside the fingerprint: $size"
    step=$(((size - 65536) / 15))
    cp -p good.mkv film.mkv
    dd if=/dev/zero of=film.mkv bs=1 seek=$((step * 7 + 70000)) count=20000 conv=notrunc 2> /dev/null
    touch -r good.mkv film.mkv
    now film.mkv
    says 'warning'
    now film.mkv
    state hit                                      # the very same file
    says 'warning'
    cp -p film.mkv copy.mkv
    now copy.mkv                                   # it may as well be a repaired one
    state miss
    now copy.mkv
    state hit
    mv good.mkv film.mkv
    plain film.mkv
    now film.mkv
    state miss
    says_not 'warning'
    like plain.png
    cp -p film.mkv copy.mkv
    now copy.mkv                                   # what was whole serves its copies
    state hit
}

test_cache_admin() { # quick
    f=$(clip h264-closed.mkv)
    ok --cache cache --cache-stats
    grep -q '^entries   0 ' "$LOGS/stdout" || fail "an empty cache is not empty"
    now "$f"
    now "$f" --size 64
    ok --cache cache --cache-stats --cache-verify
    grep -q '^entries   2 ' "$LOGS/stdout" || fail "there are not two entries"
    grep -q '^a column  [0-9]* bytes, 0\.[0-9]* of raw RGB' "$LOGS/stdout" || fail "no bytes a column"
    refuses 2 --cache cache --cache-stats "$f"
    for e in cache/*.frames; do
        spoil "$e" 2000
        break
    done
    exits 1 --cache cache --cache-verify
    says '1 of 2 entries of the cache were damaged'
    ok --cache cache --cache-clear
    [ "$(entries)" -eq 0 ] || fail "entries are left"
}

# At default settings a film's frames take at most half of what they are as raw RGB. How much they take is the film's: the
# made ones' texture was chosen for that (0.41 in 480p, 0.44 in 1080p; Big Buck Bunny 0.42 and 0.46), so that frames packed
# worse are seen here as they would be there.
bytes() {
    local ratio
    now "$1" -m average
    ok --cache cache --cache-stats
    ratio=$(sed -n 's/^a column .* \(0\.[0-9]*\) of raw RGB/\1/p' "$LOGS/stdout")
    echo "$ratio"
    "$PYTHON" -c "import sys; sys.exit(float('$ratio') > 0.5)" || fail "$1: $ratio of raw RGB"
}
test_cache_bytes() { each_of bytes "$(clip film-480p.mp4)" "$(clip film-1080p.mp4)" "${extra[@]}"; }

test_cache_limit() {
    f=$(clip h264-closed.mkv)
    for size in 100 90 80 70; do
        now "$f" --size $size -m average -n 4
    done
    [ "$(entries)" -eq 4 ] || fail "$(entries) entries, not 4"
    total=$(du -cb cache/*.frames | tail -n 1 | cut -f1)
    now "$f" --size 100 -m average -n 4            # the oldest is used again
    state hit
    ok "$f" --cache cache --cache-limit $((total - 1)) --size 20 -m average -n 4 -o a.png
    now "$f" --size 100 -m average -n 4
    state hit
    now "$f" --size 90 -m average -n 4             # and this one had to go
    state miss
    ok "$f" --cache small --cache-limit 1K -m average -o a.png
    says 'exceed --cache-limit'
    [ "$(entries small)" -eq 0 ] || fail "an entry over the limit was kept"
    ok "$f" --cache cache --cache-limit 1K --size 100 -m average -n 4 -o a.png      # a hit: the limit is a new one
    [ "$(entries)" -eq 0 ] || fail "$(entries) entries beyond the limit"
}

# The run that makes the cache says so in one line, with the folder and the real limit.
test_cache_announced() { # quick
    f=$(clip h264-closed.mkv)
    export HOME=$PWD/home XDG_CACHE_HOME='' BARCODE_CACHE=''
    ok "$f" -m average --no-cache -o a.png
    says_not 'cache'
    ok "$f" -m average -o a.png
    says '^barcode: keeping analysed frames in ~/\.cache/barcode, up to [0-9.]* [KMG]iB; --no-cache '
    [ "$(wc -l < "$LOGS/stderr")" -eq 2 ] || fail "it says more than that and 'wrote'"
    ok "$f" -m average -n 3 -o a.png
    says_not 'keeping'
    ok "$f" -m average --cache other --cache-limit 1.5G -o a.png
    says 'keeping analysed frames in other, up to 1\.5 GiB; --no-cache'
    ok "$f" -m average --cache third -q -o a.png
    [ ! -s "$LOGS/stderr" ] || fail "-q does not silence it"
    mkdir films
    ln -s "$f" films/a.mkv
    cp "$f" films/b.mkv
    mkdir pictures
    ok films -m average --cache fourth -o pictures/
    [ "$(grep -c 'keeping analysed frames' "$LOGS/stderr")" -eq 1 ] || fail "not one line for two"
}

# allowed: the limit in bytes, as --cache-stats has it.
allowed() {
    sed -n 's/^bytes .* of \([0-9]*\) allowed$/\1/p' "$LOGS/stdout"
}

# A tenth of the free space, to which the cache's own bytes count: it stays the same while the cache
# fills the disk.
test_cache_default_limit() { # quick
    f=$(clip h264-closed.mkv)
    now "$f" -m average
    ok --cache cache --cache-stats
    "$PYTHON" -c "
import os, sys
fs = os.statvfs('cache')
want = min(10 << 30, fs.f_bavail * fs.f_frsize / 10)
sys.exit(abs($(allowed) - want) > want / 20)" || fail "$(allowed) bytes are allowed"
    ok --cache cache --cache-limit 123 --cache-stats
    [ "$(allowed)" = 123 ] || fail "--cache-limit does not win"
    unshare -m true 2> /dev/null || skip "mounting is not allowed here"
    mkdir small
    unshare -m sh -c 'mount -t tmpfs -o size=20m none small &&
        "$1" --cache small --cache-stats > before &&
        dd if=/dev/zero of=small/1234.frames bs=1M count=15 2> dd &&
        "$1" --cache small --cache-stats > outside &&
        mv small/1234.frames small/"$(basename cache/*.frames)" &&
        "$1" --cache small --cache-stats > inside' \
        sh "$BARCODE" 2> said || fail "it failed: $(cat said dd)"
    for state in before outside inside; do
        cp $state "$LOGS/stdout"
        echo "$state $(allowed)"
        case $state in
            outside) want=$((5 << 20)) ;;
            *) want=$((20 << 20)) ;;
        esac
        [ $(($(allowed) - want / 10)) -lt 20000 ] && [ $(($(allowed) - want / 10)) -gt -20000 ] ||
            fail "$(allowed) bytes are allowed, not a tenth of $want"
    done
}

# What may lie in the cache's folder, under the right name: one of ours, but wrong.
test_cache_wrong_entries() {
    f=$(clip h264-open.mkv)
    plain "$f" -n 5
    now "$f" -n 5
    good=$(echo cache/*.frames)
    cp "$good" good
    size=$(stat -c %s good)
    for way in cut-10 cut-half cut-last empty text zeros head key block index tail; do
        rm -rf "$good"
        cp good "$good"
        case $way in
            cut-10) truncate -s 10 "$good" ;;
            cut-half) truncate -s $((size / 2)) "$good" ;;
            cut-last) truncate -s $((size - 1)) "$good" ;;
            empty) : > "$good" ;;
            text) echo 'not an entry' > "$good" ;;
            zeros) head -c "$size" /dev/zero > "$good" ;;
            head) spoil "$good" 3 ;;
            key) spoil "$good" 100 ;;
            block) spoil "$good" $((size / 2)) ;;
            index) spoil "$good" $((size - 100)) ;;
            tail) spoil "$good" $((size - 5)) ;;
        esac
        now "$f" -n 5
        says "barcode: warning: removing the damaged cache entry '.*'"
        like plain.png
        check same plain.json now.json
        state miss
        now "$f" -n 5
        state hit
        like plain.png
    done
    rm "$good"
    mkdir "$good"                                  # a folder where the entry should be
    now "$f" -n 5
    says "warning: cannot store the frames of"
    like plain.png
}

# No folder, none that can be written to, one that goes away: a warning, and the picture.
test_cache_no_folder() {
    f=$(clip h264-closed.mkv)
    plain "$f"
    : > file
    for folder in /dev/null/cache file/cache /proc/cache; do
        ok "$f" --cache $folder -o now.png
        says 'barcode: warning: cannot store frames in the cache'
        like plain.png
    done
    copy_clips films/a.mkv h264-closed.mkv films/b.mkv one-frame.mkv
    ok films -n 20 -j 1 --cache file/cache -o o/
    [ "$(grep -c 'cannot store frames in the cache' "$LOGS/stderr")" -eq 1 ] || fail "not one warning for two films"
    long_film long.mkv 5
    "$BARCODE" long.mkv -m average -n 20 --cache gone -o now.png 2> said &
    pid=$!
    while [ ! -e gone ] && kill -0 $pid; do sleep 0.02; done
    rm -rf gone || rm -rf gone          # the program may put a file there meanwhile
    wait $pid || fail "the run failed: $(cat said)"
    grep -q 'cannot store .* in the cache' said || fail "nobody said that the folder went away: $(cat said)"
    ok long.mkv -m average -n 20 --no-cache -o plain.png
    like plain.png
}

test_cache_read_only() {
    f=$(clip h264-closed.mkv)
    now "$f"
    mv now.png plain.png
    mkdir mounted
    unshare -m true 2> /dev/null || skip "mounting is not allowed here"
    # A read-only mount, since permissions do not stop root.
    unshare -m sh -c 'mount --bind cache mounted && mount -o remount,ro,bind mounted && cd . &&
        "$1" "$2" --cache mounted -v -o now.png && "$1" "$2" --cache mounted --size 50 -o other.png' sh "$BARCODE" "$f" 2> said ||
        fail "it failed: $(cat said)"
    grep -q 'cache hit' said || fail "what is there was not used: $(cat said)"
    grep -q 'cannot store' said || fail "no warning: $(cat said)"
    like plain.png
}

full_disk() {
    plain "$1" -m average
    mkdir cache
    unshare -m sh -c 'mount -t tmpfs -o size=400k none cache && "$1" "$2" -m average --cache cache --cache-limit 1G -o now.png && ls -A cache' \
        sh "$BARCODE" "$1" > left 2> said || fail "it failed: $(cat said)"
    grep -q 'cannot store .* in the cache .*No space left' said || fail "nobody said that the disk is full: $(cat said)"
    ! grep -q -e frames -e new- left || fail "something was left: $(cat left)"
    like plain.png
}
test_cache_full_disk() {
    unshare -m true 2> /dev/null || skip "mounting is not allowed here"
    each_of full_disk "$(clip film-480p.mp4)" "${extra[@]}"
}

# Ctrl-C: what was staged is not decoded again.
test_cache_continues() {
    long_film long.mkv 7
    set -- long.mkv -n 10 -m average --threads 1
    ok "$@" --no-cache --json plain.json -o plain.png
    # On a busy machine nothing is kept yet when the first signals come.
    for after in 0.7 1.2 2.5 5 10; do
        start "$@" --cache cache -o now.png
        sleep $after
        stopped_with INT 130
        [ $after = 0.7 ] || [ "$(entries)" -eq 0 ] || break
    done
    [ "$(entries)" -eq 1 ] || fail "$(entries) entries, not one"
    ok --cache cache --cache-stats
    grep -q '(1 of interrupted runs' "$LOGS/stdout" || fail "nothing of the interrupted run is there"
    now "$@" -v
    state partial
    says 'frames came from the cache'
    says_not ': 0 frames came from the cache'
    like plain.png
    check same plain.json now.json
    now "$@"
    state hit
    like plain.png
}

# Copies of one film, with one entry: the one that is stopped last leaves the frames of the other.
test_cache_copies_continue() {
    local one kept
    long_film a.mkv
    cp -p a.mkv b.mkv
    set -- -n 1 -m average --threads 1 --cache cache
    # one has begun, and sleeps while the other stores more
    start a.mkv "$@" -q -o a.png
    until_bytes 'cache/.new-*' 300000
    one="$pid $(pgrep -P "$pid")"
    # shellcheck disable=SC2086 # several
    kill -s STOP $one
    start b.mkv "$@" -q -o b.png
    until_bytes 'cache/.new-*' 1500000
    stopped_with INT 130
    kept=$(interrupted_columns)
    [ -n "$kept" ] || fail "no frames of the first are stored"
    pid=${one% *}
    kill -s INT "$pid"
    # shellcheck disable=SC2086
    kill -s CONT $one
    ended_with 130
    [ "$(interrupted_columns)" -ge "$kept" ] || fail "of $kept columns $(interrupted_columns) are left"
}
interrupted_columns() {
    "$BARCODE" --cache cache --cache-stats | sed -n 's/.*(interrupted): \([0-9]*\) column.*/\1/p'
}

# kill -9 at any moment, then the same run: the right picture, every time.
killed() {
    local from took
    from=$(date +%s%N)
    set -- "$1" -n 3 -m average --end 15
    plain "$@"
    took=$((($(date +%s%N) - from) / 1000000))         # as long as a run takes, on this machine and beside what else runs now
    for i in $(seq 20); do
        rm -f cache/*.frames
        "$BARCODE" "$@" --cache cache -q -o killed.png &
        pid=$!
        after=$((RANDOM * took / 32768))
        sleep "$(printf '%d.%03d' $((after / 1000)) $((after % 1000)))"
        kill -9 $pid 2> /dev/null || true
        wait $pid 2> /dev/null || true
        now "$@"
        like plain.png
        check same plain.json now.json
    done
    # Twice: on a loaded machine the run behind a kill was once seen not to keep its frames, which is allowed.
    now "$@"
    now "$@"
    state hit
}
test_cache_kill() { each_of killed "$(clip film-480p.mp4)" "${extra[@]}"; }

eight_at_once() {
    plain "$1" -n 4 -m palette --n-init 2
    for round in cold warm; do
        pids=
        for i in 1 2 3 4 5 6 7 8; do
            "$BARCODE" "$1" -n 4 -m palette --n-init 2 --cache cache -o $i.png 2> said-$i &
            pids="$pids $!"
        done
        for pid in $pids; do
            wait $pid || fail "one of eight failed: $(cat said-*)"
        done
        for i in 1 2 3 4 5 6 7 8; do
            cmp plain.png $i.png || fail "$round: picture $i differs"
            ! grep -q warning said-$i || fail "$round: $(cat said-$i)"
        done
        [ "$(entries)" -eq 1 ] || fail "$(entries) entries, not one"
        [ "$(find cache -name '.new-*' | wc -l)" -eq 0 ] || fail "temporaries are left"
    done
}
test_cache_eight_at_once() { each_of eight_at_once "$(clip film-480p.mp4)" "${extra[@]}"; }
