# --shard: several processes share a tree of films and a folder of pictures.

# A tree with films of one name in one folder, in which shards would be at odds if they named their outputs alone.
tree() {
    mkdir -p films/a films/b/deep
    local i
    for i in 1 2 3 4 5 6 7 8 9 10; do
        ffmpeg -nostdin -v error -f lavfi -i "testsrc2=size=128x72:rate=12:duration=$i,hue=h=$((i * 17))" -g 6 -y films/a/e$i.mkv
    done
    cp films/a/e3.mkv films/b/e1.mkv
    ffmpeg -nostdin -v error -i films/a/e4.mkv -c copy films/b/e1.mp4
    ffmpeg -nostdin -v error -i films/a/e5.mkv -c copy films/b/e1.mov
    cp films/a/e6.mkv films/b/deep/e1.mkv
}

test_shards_make_what_one_run_makes() {
    tree
    mkdir right o
    ok -r films -q -n 1 -o right --dump right
    # At once, with one cache and one report: on a local disk appended lines are whole.
    local pids='' i
    for i in 1 2 3; do
        "$BARCODE" -v -r films -n 1 -o o --dump o --shard $i/3 --report r --cache cache > /dev/null 2> "$LOGS/shard$i" &
        pids="$pids $!"
    done
    for pid in $pids; do wait "$pid" || fail "a shard failed: $(cat "$LOGS"/shard*)"; done
    diff -r right o || fail "another tree"
    [ "$(wc -l < r)" -eq 14 ] && [ "$(sed 's/,"status.*//' r | sort -u | wc -l)" -eq 14 ] || fail "not every film once: $(cat r)"
    cat "$LOGS"/shard* > "$LOGS/stderr"
    for i in 1 2 3; do says "^barcode: shard $i/3: [4-5] films: [4-5] done, 0 skipped, 0 failed, in"; done
    for i in 1 2 3; do grep -c "wrote 'o/[^']*\.png'" "$LOGS/shard$i"; done > counts
    # One of them once more, requeued: nothing is left to do.
    ok -r films -n 1 -o o --dump o --shard 2/3 --update
    says "^barcode: shard 2/3: $(sed -n 2p counts) films: 0 done, $(sed -n 2p counts) skipped, 0 failed"
    # What one shard left is found by a run over all.
    rm o/b/e1-2.* o/a/e7.*
    ok -r films -n 1 -o o --dump o --update
    says '^barcode: 14 films: 2 done, 12 skipped, 0 failed'
    diff -r right o || fail "another tree"
}

test_shard_of_few_films() { # quick
    cp "$(clip one-frame.mkv)" a.mkv
    mkdir empty
    ok a.mkv --shard 2/2
    says '^barcode: shard 2/2: 0 films: 0 done'
    files a.mkv empty
    # A node that does not see the films is not one that has nothing to do: each tells.
    for i in 1 2; do
        exits 3 a.mkv empty --shard $i/2
        says "no films in the folder 'empty'"
        exits 3 -r nowhere -o . --shard $i/2
        says "'nowhere'"
    done
    # A name for one film is too little for all of them, in each shard.
    for i in 1 2; do refuses 2 a.mkv a.mkv -o p.png --shard $i/2; done
    for bad in 0/2 3/2 1 1/ /1 1/0 a/b 1/2/3 ' 1/2' 1/999999 -1/2 ''; do refuses 2 a.mkv --shard "$bad"; done
    files a.mkv a.png empty
}
