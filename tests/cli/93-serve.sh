# --serve and --live-format: what is refused. tests/live.sh has the server itself.

test_serve_options() { # quick
    local bad
    for bad in "" x 65536 -1 :80 "[::1]" ::1:80 a: "[::1:80" 127.0.0.1; do
        refuses 2 --live --serve="$bad" -
        says "is not \[ADDR:\]PORT"
    done
    refuses 2 --live --live-format wav -o - -
    says "is not rgb or jsonl"
    refuses 2 --serve 0 -o out.png film.mkv
    says "need --live"
    refuses 2 --live --live-format rgb -o day -
    says "belong together"
    refuses 2 --live -o - -
    says "belong together"
    refuses 2 --live --serve 0 udp://127.0.0.1:1 udp://127.0.0.1:2
    says "show one stream"
    files
}

test_serve_taken() { # quick
    "$PYTHON" -c 'import socket, sys
s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1], flush=True); sys.stdin.read()' > port < <(sleep 20) &
    until_true test -s port
    if "$BARCODE" --live --serve "$(cat port)" - 2>&1 < /dev/null | grep -q "this build has no server"; then
        kill $!
        skip "no libmicrohttpd"
    fi
    refuses 1 --live --serve "$(cat port)" -
    says "cannot listen on '127.0.0.1'.*Address already in use"
    kill $!
    rm port
    files
}

test_live_stdout() {
    ffmpeg -nostdin -v error -re -f lavfi -i color=red:s=64x36:r=25:d=2 -c:v mpeg2video -f mpegts - |
        timeout 300 "$BARCODE" --live=0.2 -m average --height 10 -o - --live-format rgb - > columns || fail "exit status $?"
    [ $(($(stat -c %s columns) % 30)) -eq 0 ] && [ "$(stat -c %s columns)" -ge 210 ] || fail "$(stat -c %s columns) bytes"
    "$PYTHON" -c 'd = open("columns", "rb").read()
rows = [d[i:i + 30] for i in range(0, len(d), 30)]
there = [r for r in rows if any(r)]  # a machine that stands still for a moment misses some
assert len(there) >= len(rows) // 2, len(there)
assert all(r[i] > 240 and r[i + 1] < 12 and r[i + 2] < 12 for r in there for i in range(0, 30, 3)), d[:60]' || fail "colours"
}
