# The frame cache and strangers: entries and folders that others have made.

# as_nobody ARG...: the program in ./others as another user. The working folder may be closed to them.
as_nobody() {
    setpriv --reuid 65534 --regid 65534 --clear-groups "$others/barcode" "$@" 2>> "$LOGS/nobody"
}
with_others() {
    [ "$(id -u)" -eq 0 ] || skip "only root can be two users"
    others=$(mktemp -d /tmp/barcode-others.XXXXXX)
    trap 'rm -rf "$others"' EXIT
    chmod 755 "$others"
    cp "$BARCODE" "$others/barcode"
    cp "$(clip h264-closed.mkv)" "$others/film.mkv"
    chmod 644 "$others/film.mkv"
    f=$others/film.mkv
    plain "$f" -m average
}

# Entries of other users are not believed, nor can they lead writes elsewhere.
test_cache_entries_of_others() { # quick
    with_others
    mkdir -m 1777 "$others/cache"
    as_nobody "$f" -m average --cache "$others/cache" -o /dev/null
    [ "$(entries "$others/cache")" -eq 1 ] || fail "nobody's run kept nothing: $(cat "$LOGS/nobody")"
    ln -sf "$others/elsewhere" "$others/cache/lock"
    ok "$f" -m average --cache "$others/cache" --json now.json -o now.png -v
    state miss
    [ "$(grep -c 'ignored 1 entry of other users' "$LOGS/stderr")" -eq 1 ] || fail "not told once"
    like plain.png
    [ ! -e "$others/elsewhere" ] || fail "a link was followed"
    ok --cache "$others/cache" --cache-stats
    grep -q '^entries   1 ' "$LOGS/stdout" || fail "$(cat "$LOGS/stdout")"
    ok "$f" -m average --cache "$others/cache" --json now.json -o now.png
    state hit                                      # the run's own one
}

# A folder that another user made beforehand: one warning for all films, and no cache.
test_cache_folder_of_others() { # quick
    with_others
    mkdir -m 755 "$others/cache" films
    chown 65534 "$others/cache"
    cp "$f" films/a.mkv
    cp "$f" films/b.mkv
    ok films -m average --cache "$others/cache" -o pictures/
    [ "$(grep -c warning "$LOGS/stderr")" -eq 1 ] || fail "not one warning: $(cat "$LOGS/stderr")"
    says "barcode: warning: the cache '.*/cache' is not used: another user made it"
    [ -z "$(ls -A "$others/cache")" ] || fail "something was written: $(ls -A "$others/cache")"
    ok "$f" -m average --cache "$others/cache" --json now.json -o now.png
    state off
    like plain.png
    refuses 1 --cache "$others/cache" --cache-stats
}

# A cache that cannot be written, with the tag in it and an entry that cannot be read, costs a warning.
test_cache_of_others_to_read() { # quick
    with_others
    ok "$f" -m average --cache "$others/cache" -o now.png
    chmod 755 "$others/cache"
    as_nobody "$f" -m average --cache "$others/cache" -o - > now.png || fail "it failed: $(cat "$LOGS/nobody")"
    check pixels plain.png now.png
    [ "$(grep -c . "$LOGS/nobody")" -eq 1 ] || fail "not one line: $(cat "$LOGS/nobody")"
    grep -q "warning: cannot store frames in the cache '.*/cache': Permission denied" "$LOGS/nobody" || fail "$(cat "$LOGS/nobody")"
}

# Shared on purpose, by the set-group-ID bit: both ways.
test_cache_of_a_group() { # quick
    with_others
    mkdir "$others/cache"
    chgrp 65534 "$others/cache"
    chmod 2770 "$others/cache"
    ok "$f" -m average --cache "$others/cache" -o now.png
    for e in "$others/cache"/*.frames; do
        [ "$(stat -c %a:%g "$e")" = 640:65534 ] || fail "$e is $(stat -c %a:%g "$e")"
    done
    as_nobody "$f" -v -m average --cache "$others/cache" -o /dev/null
    grep -q 'cache hit' "$LOGS/nobody" || fail "no hit of nobody: $(cat "$LOGS/nobody")"
    as_nobody "$f" -m average --size 64 --cache "$others/cache" -o /dev/null
    ok "$f" -m average --size 64 --cache "$others/cache" --json now.json -o now.png
    state hit
}
