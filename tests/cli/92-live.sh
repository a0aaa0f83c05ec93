# --live: streams, what is written of them, and how they end. tests/live.sh has servers and faults.

# camera SECONDS [URL]: H.264 in MPEG-TS in real time, of so many seconds of red, then as many of green.
camera() {
    ffmpeg -nostdin -v error -re -f lavfi -i "color=red:s=128x72:r=25:d=$1[a];color=lime:s=128x72:r=25:d=$1[b];[a][b]concat" \
        -c:v libx264 -preset ultrafast -tune zerolatency -g 10 -flush_packets 1 -f mpegts "${2:--}"
}

# begin_camera SECONDS URL: as camera, in the background until end_camera.
begin_camera() {
    (
        ffmpeg() { exec "$(type -P ffmpeg)" "$@"; }
        camera "$@"
    ) &
    source=$!
}

end_camera() {
    kill "$source" 2> /dev/null || true
    wait "$source" 2> /dev/null || true
}

# columns FILE.csv: the days' columns that have a frame, "NUMBER COLOUR" a line.
columns() {
    "$PYTHON" -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    if row["status"] != "missing":
        print(row["column"], row["average"])' "$1"
}

# in_order FILE.csv LEAST: at least so many columns, nearly all in a row, the red ones first. A machine that stands
# still for a moment misses some, so callers try three times.
in_order() {
    columns "$1" > list || return
    "$PYTHON" -c 'import sys
rows = [line.split() for line in open("list")]
numbers = [int(n) for n, _ in rows]
assert len(rows) >= int(sys.argv[1]), f"{len(rows)} columns"
assert numbers == sorted(set(numbers)), "a column twice"
assert len(rows) >= (numbers[-1] - numbers[0] + 1) * 3 // 4, "columns are missing"
red = [int(c[1:3], 16) > 200 and int(c[3:5], 16) < 60 for _, c in rows]
green = [int(c[3:5], 16) > 200 and int(c[1:3], 16) < 60 for _, c in rows]
assert sum(red) >= 3 and sum(green) >= 3, "colours"
assert red[0] and green[-1] and sum(red) + sum(green) >= len(rows) - 1, "order"' "$2"
}

test_live_pipe() { # quick
    local good=
    for _ in 1 2 3; do
        rm -rf day
        logged timeout 300 "$BARCODE" --live=0.2 --sandbox=require -m average -o day --bench - < <(camera 1.5)
        was 0
        says "^barcode: writing 'day/stdin-....-..-...png'; waiting for the first picture of '-'$"
        [ "$(wc -l < "$LOGS/stderr")" -eq 1 ] || fail "stderr: $(cat "$LOGS/stderr")"
        in_order day/stdin-*.csv 12 2> reason && good=1 && break
    done
    [ -n "$good" ] || fail "columns: $(cat list reason)"
    grep -q '"frames":[1-9].*"dropped":0,"refused":' "$LOGS/stdout" || fail "--bench: $(cat "$LOGS/stdout")"
    ffprobe -v error -show_entries stream=width -of csv=p=0 day/stdin-*.png | grep -q '[0-9]' || fail "no picture"
    rm -r day list reason
    files
}

# Stdin that is no stream ends, and so does the program.
test_live_pipe_of_rubbish() { # quick
    logged timeout 300 "$BARCODE" --live=1 -m average -o day - < <(head -c 3000 /dev/zero)
    was 1
    [ "$(wc -l < "$LOGS/stderr")" -eq 2 ] || fail "stderr: $(cat "$LOGS/stderr")"
    files
}

port() {
    "$PYTHON" -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

test_live_udp() {
    local to signal good
    for signal in TERM INT; do
        good=
        for _ in 1 2 3; do
            to=udp://127.0.0.1:$(port)
            start --live=0.2 --sandbox=require -m average -o day "$to"
            sleep 1
            camera 2 "$to?pkt_size=1316"
            [ $signal = TERM ] && stopped_with TERM 0 || stopped_with INT 130
            in_order day/127.0.0.1-*.csv 14 2> reason && good=1
            rm -rf day
            [ -z "$good" ] || break
        done
        [ -n "$good" ] || fail "columns: $(cat list reason)"
    done
}

# The worker and its parent are killed while columns come: each loses the open column, and no other moves.
test_live_killed() {
    local to before after
    to=udp://127.0.0.1:$(port)
    begin_camera 60 "$to?pkt_size=1316"
    for i in 1 2 3; do
        start --live=0.2 -m average -o day "$to"
        until_bytes "day/*.columns" $((64 + i * 4 * 32))
        kill -KILL "$pid"
        wait "$pid" 2> /dev/null || true
        sleep 0.3
        before=$(stat -c %s day/*.columns)
        sleep 0.6
        after=$(stat -c %s day/*.columns)
        [ "$before" -eq "$after" ] || fail "the worker outlives its parent"
    done
    start --live=0.2 -m average -o day "$to"
    until_bytes "day/*.columns" $((before + 64))
    find_worker
    kill -KILL "$worker"
    until_says "was killed .*; starting another in 1 s"
    until_bytes "day/*.columns" $(($(stat -c %s day/*.columns) + 128))
    stopped_with TERM 0
    end_camera
    columns day/*.csv > list
    "$PYTHON" -c 'import glob, os
rows = [int(line.split()[0]) for line in open("list")]
logged = (os.path.getsize(glob.glob("day/*.columns")[0]) - 64) // 32
assert len(rows) == logged >= 15 and rows == sorted(set(rows)), (logged, rows)' || fail "$(cat list)"
}

# A decoder that hangs: it is noticed, and the stream goes on. The end waits for no process that does not answer.
test_live_hangs() {
    local to began
    to=udp://127.0.0.1:$(port)
    begin_camera 60 "$to?pkt_size=1316"
    export BARCODE_SILENCE=2
    start --live=0.2 -m average -o day "$to"
    until_bytes "day/*.columns" 80
    find_worker
    kill -STOP "$worker"
    until_says "'$to': nothing was decoded for 2 s"
    until_says "did not answer and was killed; starting another in 1 s"
    until_bytes "day/*.columns" $(($(stat -c %s day/*.columns) + 128))
    find_worker
    kill -STOP "$worker"
    began=$SECONDS
    stopped_with TERM 0
    [ $((SECONDS - began)) -le 10 ] || fail "it ended after $((SECONDS - began)) s"
    end_camera
    columns day/*.csv > list
    [ "$(wc -l < list)" -ge 5 ] || fail "$(cat list)"
}

# A picture that cannot be read to its end, as on a dead network share.
test_live_read_hangs() {
    mkdir sky
    ffmpeg -nostdin -v error -f lavfi -i color=red:s=64x48 -frames:v 1 sky/a.png
    BARCODE_SILENCE=1 LD_PRELOAD=$BAD_READS_SO HANGING_READ=a.png start --live=60 -m average -o day sky
    until_says "'sky': nothing was decoded for 1 s"
    until_says "starting another in 2 s"
    stopped_with TERM 0
}

test_live_twice() {
    local to
    to=udp://127.0.0.1:$(port)
    start --live=0.2 -m average -o day "$to"
    begin_camera 60 "$to?pkt_size=1316"
    until_bytes "day/*.columns" 80
    exits 1 --live=0.2 -m average -o day "$to"
    says "in use by another process"
    stopped_with TERM 0
    end_camera
}

# A stream that is silent, and those that are not there: opened again and again until a signal, with one warning for each.
test_live_reconnects() {
    local udp tcp rtsp
    udp=udp://127.0.0.1:$(port) tcp=tcp://127.0.0.1:$(port) rtsp=rtsp://127.0.0.1:$(port)/stream
    start --live=1 --timeout 0.5 -v -m average -o day "$udp" "$tcp" "$rtsp"
    until_says "no packet for 0.5 s; opening it again in 1 s"
    until_says "no packet for 0.5 s; opening it again in 2 s"
    until_says "tcp://.*refused; opening it again in 2 s"
    until_says "rtsp://.*refused; opening it again in 2 s"
    stopped_with TERM 0
    [ "$(grep -c "^barcode: warning: .*opening it again" "$LOGS/stderr")" -eq 3 ] || fail "not one warning for each stream"
}

# What comes back after a break is told.
test_live_connected_again() {
    to=udp://127.0.0.1:$(port)
    start --live=0.2 --timeout 0.5 -m average -o day "$to"
    sleep 1
    camera 2 "$to?pkt_size=1316"
    stopped_with TERM 0
    says "udp://.*: connected again"
}

test_live_usage() { # quick
    echo x > film.mkv
    refuses 2 --live=7 -o day rtsp://camera
    says "a day has no whole number"
    refuses 2 --live=0.03 -o day rtsp://camera
    refuses 2 --live=x -o day rtsp://camera
    refuses 2 --live rtsp://camera
    says "-o DIR"
    refuses 2 --live -o day gopher://camera
    says "gopher"
    for url in 'rtsp://admin:pa#ss@host' 'rtsp://admin:12#ss@host' 'rtsp://admin:p@#ss@host'; do
        refuses 2 --live -o day "$url"
        says "'rtsp://host': a # in its password is written %23$"
    done
    refuses 2 --live -o day film.mkv
    says "is a file"
    refuses 2 --live -o day missing
    refuses 2 --live -o day udp://127.0.0.1:1 udp://127.0.0.1:1
    says "same files"
    refuses 2 --live --steady -o day -
    refuses 2 --live -m average+sound -o day -
    says "sound is not read"
    refuses 2 --live -m average -o day.png -
    says "folder of the day's files, not a file"
    for option in --csv=x.csv --html=x.html --columns=50 --interval=1 --every=1 --start=1 --end=9 --dump=x \
        --report=x --verify --sequence --update; do
        refuses 2 --live -m average "$option" -o day -
        says "${option%%=*} is for films"
    done
    refuses 1 --live -o film.mkv/day -
    refuses 2 --live -o day/of/it gopher://camera
    files film.mkv
}

# Outside --live no protocol of the network is opened, and a password is in no message.
test_live_alone() { # quick
    refuses 3 "udp://user:secret@127.0.0.1:9"
    says "'udp://...' is no file: download it, or use --live for a stream"
    says_not secret
    refuses 3 "udp://user:secret@127.0.0.1:9" --report report
    grep -q '"film":"udp://..."' report || fail "$(cat report)"
    ! grep secret report || fail "a secret in the report"
    rm report
    start --live=1 --timeout 0.3 -m average -o day "tcp://user:secret@127.0.0.1:$(port)/a?key=secret"
    until_says "tcp://127.0.0.1"
    stopped_with TERM 0
    says_not secret
    ! find day | grep secret || fail "a secret in a name"
}

# A message of what the stream lacks is without its password, too.
test_live_secret() {
    mkdir www
    camera 1 www/good.ts
    www
    exits 2 --live=1 -m average -o day --stream 7 "http://user:secret@127.0.0.1:$at/good.ts?key=secret"
    says "there is no --stream 7"
    says_not secret
    [ ! -e day ] || fail "an empty folder is left"
    kill $server
}

is_open() {
    (: < "/dev/tcp/127.0.0.1/$at") 2> /dev/null
}

# www: a server of the folder www, in $server, and its address in $at.
www() {
    at=$(port)
    "$PYTHON" -m http.server --bind 127.0.0.1 --directory www "$at" > /dev/null 2>&1 &
    server=$!
    until_true is_open
}

# No part of a secret is in a message, also of FFmpeg's with -vv, in the page and what it loads, or in what is written.
test_live_secrets() {
    local serve url to path='user=USER&password=GEHEIM&channel=1'
    mkdir -p "www/$path"
    camera 1 www/good.ts
    printf '#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n/%s.ts?token=TOKEN\n' good none | tee www/list.m3u8 > "www/$path/list.m3u8"
    www
    to=$(port)
    serve="--serve=$to"
    run --live "$serve" rtsp://h:x/@h
    ! grep -q "has no server" "$LOGS/stderr" || serve=
    for url in "http://USER:GE%20HEIM@127.0.0.1:$at/list.m3u8?key=TOKEN" \
        "http://127.0.0.1:$at/$path/list.m3u8" "http://127.0.0.1:$at/none?key=TOKEN" \
        rtmp://127.0.0.1:1/live/STREAMKEY "srt://127.0.0.1:1?passphrase=GEHEIM" rtsp://127.0.0.1:12/GEHEIM@USER/TOKEN \
        "rtsp://USER:GE#HEIM@127.0.0.1:1/a" "rtsp://USER:GEHEIM@127.0.0.1:1/user=USER_password=TO_KEN"; do
        # shellcheck disable=SC2086  # no word if empty
        start --live=0.2 --timeout 1 -vv -m average -o day $serve "$url"
        until_says "127.0.0.1"
        case $url in *\#*) ;; *) until_says "^barcode: writing 'day/.*png'; waiting for the first picture of '[a-z]*://127.0.0.1" ;; esac
        sleep 1.5
        "$PYTHON" - "$to" > served <<'END' || true
import sys, urllib.request
for path in ("", "strip.png", "columns?since=0", "title"):
    reply = urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/{path}", timeout=5)
    sys.stdout.buffer.write(reply.read())
END
        kill -TERM "$pid" 2> /dev/null || true
        wait "$pid" || true
        case $url in
            *list.m3u8*) [ -z "$serve" ] || grep -q 'list.m3u8' served || fail "no title: $(cat served)" ;;
            *\#*) says "a # in its password is written %23$" ;;
        esac
        ! grep -arlE 'USER|HEIM|\<GE\>|TOKEN|STREAMKEY|\<TO\>|\<KEN\>' "$LOGS/stderr" served day 2> /dev/null > found ||
            fail "$url: in $(cat found): $(cat "$LOGS/stderr")"
        ! find day 2> /dev/null | grep -E 'USER|HEIM|TOKEN|STREAMKEY' || fail "a secret in a name"
    done
    kill $server
}

# watch_list LIST: a list of HLS.
watch_list() {
    start --live=1 --timeout 2 -m average -o "$1" "http://127.0.0.1:$at/$1.m3u8"
}

# An HLS list from a server may name segments there, but no file of this machine.
test_live_hls_names_files() {
    mkdir www
    camera 1 www/good.ts
    printf '#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n%s.ts\n' good > www/good.m3u8
    printf '#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n%s.ts\n' "file://$PWD/www/good" > www/bad.m3u8
    www
    watch_list good
    until_bytes "good/*.columns" 96
    stopped_with TERM 0
    watch_list bad
    until_says "opening it again in 1 s"
    stopped_with TERM 0
    ! compgen -G "bad/*" > /dev/null || fail "it read a file that a list named"
    kill $server
}

# feed FILE URL: writes the file's pictures, 25 a second: to stdout (-), a FIFO, or who connects to tcp:// or http://, where
# they are parts, and the first one has no boundary. http://.../one gives one picture a request.
feed() {
    "$PYTHON" -c 'import os, re, socket, sys, time
name, to = sys.argv[1:]
data = open(name, "rb").read()
starts = [m.start() for m in re.finditer(rb"\xff\xd8\xff|\x89PNG\r\n", data)] + [len(data)]
pictures = [data[a:b] for a, b in zip(starts, starts[1:])]
where = re.match(r"(\w+)://.*:(\d+)(.*)", to)

def play(put):
    begun = time.time()
    for i, picture in enumerate(pictures):
        time.sleep(max(0, begun + i / 25 - time.time()))
        put(picture)

if not where:
    play(open(1 if to == "-" else to, "wb", buffering=0).write)
    sys.exit()
server = socket.create_server(("127.0.0.1", int(where[2])))
if where[1] == "tcp":
    play(server.accept()[0].sendall)
while where[1] == "http":
    client = server.accept()[0]
    client.recv(65536)
    head = b"HTTP/1.0 200 OK\r\nContent-Type: %s\r\n\r\n"
    try:
        if where[3] == "/one":
            client.sendall(head % (b"image/jpeg\r\nContent-Length: %d" % len(data)) + data)
        else:
            client.sendall(head % b"multipart/x-mixed-replace; boundary=part")
            play(lambda p: client.sendall(p + b"\r\n--part\r\nContent-Type: image/jpeg\r\n\r\n"))
    except OSError:
        pass
    client.close()' "$@"
}

# begin_feed FILE URL: as feed, in the background until end_camera.
begin_feed() {
    feed "$@" &
    source=$!
    case $2 in *:*) until_true is_bound "$2" ;; esac
}

is_bound() {
    grep -q "0100007F:$(printf %04X "$(grep -oE '[0-9]{2,}' <<< "${1##*:}")") 00000000:0000 0A" /proc/net/tcp
}

# What raspivid, rpicam-vid and gphoto2 write, and PNG: the pictures of the first connection count.
test_live_pictures() {
    local url codec good
    mkfifo fifo
    for codec in "mjpeg -pix_fmt yuvj420p" png; do
        # shellcheck disable=SC2086  # words
        ffmpeg -nostdin -v error -f lavfi -i "color=red:s=128x72:r=25:d=1[a];color=lime:s=128x72:r=25:d=1[b];[a][b]concat,noise=alls=40:allf=t" \
            -c:v $codec -f image2pipe "pictures.${codec%% *}"
    done
    for url in png:- mjpeg:- png:fifo mjpeg:fifo mjpeg:tcp://127.0.0.1 mjpeg:http://127.0.0.1; do
        good=
        for _ in 1 2 3; do
            rm -rf day
            codec=${url%%:*} to=${url#*:}
            case $to in *//*) to=$to:$(port) ;; esac
            if [ "$to" = - ]; then
                logged timeout 300 "$BARCODE" --live=0.2 -m average -o day - < <(feed "pictures.$codec" -)
                was 0
            else
                begin_feed "pictures.$codec" "$to"
                start --live=0.2 -m average -o day "$to"
                until_says "opening it again in"
                stopped_with TERM 0
                end_camera
            fi
            says_not "Invalid data"
            in_order day/*.csv 8 2> reason && good=1 && break
        done
        [ -n "$good" ] || fail "$url: $(cat list reason)"
    done
}

# A camera that gives one picture a request: its first break is told, and not each one.
test_live_snapshots() {
    ffmpeg -nostdin -v error -f lavfi -i color=red:s=128x72 -frames:v 1 -pix_fmt yuvj420p -c:v mjpeg -f image2pipe pictures.mjpeg
    to=http://127.0.0.1:$(port)/one
    begin_feed pictures.mjpeg "$to"
    start --live=0.2 -m average -o day "$to"
    until_bytes "day/*.columns" $((64 + 4 * 32))
    stopped_with TERM 0
    end_camera
    says "opening it again in 1 s"
    [ "$(wc -l < "$LOGS/stderr")" -eq 2 ] || fail "stderr: $(cat "$LOGS/stderr")"
}

# event COLOUR CODEC PID AT VERSION: 3 s of a channel from AT on, with its video at PID.
event() {
    ffmpeg -nostdin -v error -f lavfi -i "color=$1:s=128x72:r=25:d=3" -f lavfi -i sine=d=3 -c:v "$2" -g 10 -threads 1 \
        -mpegts_start_pid "$3" -output_ts_offset "$4" -f mpegts - | "$PYTHON" "$HERE/pmt.py" "$5"
}

# send PORT FILE...: each file within 3 s, as datagrams.
send() {
    "$PYTHON" -c 'import socket, sys, time
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for name in sys.argv[2:]:
    data, begun = open(name, "rb").read(), time.time()
    for at in range(0, len(data), 1316):
        time.sleep(max(0, begun + 3 * at / len(data) - time.time()))
        out.sendto(data[at : at + 1316], ("127.0.0.1", int(sys.argv[1])))' "$@"
}

# A broadcaster gives the video another PID at each event: it is followed. Another codec is found by another opening.
test_live_pid_changes() {
    local to good=
    event red mpeg2video 0x100 0 0 > red.ts
    event lime mpeg2video 0x200 3 1 > lime.ts
    event lime mpeg4 0x200 3 1 > codec.ts
    for _ in 1 2 3; do
        rm -rf day
        to=$(port)
        start --live=0.2 -m average -o day "udp://127.0.0.1:$to"
        sleep 1
        send "$to" red.ts lime.ts
        stopped_with TERM 0
        in_order day/*.csv 18 2> reason && good=1 && break
    done
    [ -n "$good" ] || fail "columns: $(cat list reason)"
    says_not "opening it again"
    rm -r day
    to=$(port)
    start --live=0.2 --timeout 2 -m average -o day "udp://127.0.0.1:$to"
    sleep 1
    send "$to" red.ts codec.ts codec.ts codec.ts
    until_says "no frame for 2 s; opening it again"
    stopped_with TERM 0
    columns day/*.csv | grep -q '#0' || fail "no green: $(columns day/*.csv)"
}
