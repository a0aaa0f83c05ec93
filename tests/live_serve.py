"""live_serve.py - the server by itself, with a made feed: what it answers, and what hostile clients get and cost."""
import os
import pathlib
import random
import resource
import socket
import subprocess
import time

from cases import check, same, wait_for
from live_cases import Feed, Reader, ask, figure, processor_seconds, records, resident_kib, test, test_alone


@test
def answers_and_their_headers():
    feed = Feed()
    for path, kind in (("/", "text/html"), ("/live.css", "text/css"), ("/common.css", "text/css"), ("/live.js", "text/javascript"), ("/strip.png", "image/png"), ("/title", "text/plain"), ("/columns", "application/octet-stream")):
        status, fields, body = ask(feed.port, path)
        same((status, fields["content-type"].split(";")[0]), (200, kind), path)
        check(len(body) > (10 if path == "/title" else 200), f"{path} has {len(body)} bytes")
        for name, value in (("x-content-type-options", "nosniff"), ("cross-origin-resource-policy", "same-origin"), ("cache-control", "no-store")):
            same(fields.get(name), value, f"{path}: {name}")
        policy = fields["content-security-policy"]
        check("default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy and "*" not in policy, policy)
        check(not [name for name in fields if name.startswith("access-control")], f"{path} allows others: {fields}")
        status, _, nothing = ask(feed.port, path, method="HEAD")
        same((status, nothing), (200, b""), f"HEAD {path}")
    same(ask(feed.port, "/../etc/passwd")[0], 404, "another path")
    same(ask(feed.port, "/favicon.ico")[0], 404, "another path")
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "FOO"):
        status, fields, _ = ask(feed.port, "/", method=method, headers=["Content-Length: 0"])
        same((status, fields.get("allow")), (405, "GET, HEAD"), method)
    same(feed.stop(), 0, "the exit status")


@test
def other_names_and_origins_are_refused():
    feed = Feed()
    mine = f"127.0.0.1:{feed.port}"
    for host, status in (("localhost", 200), (mine, 200), ("127.0.0.1", 200), ("[::1]:80", 200), ("evil.example", 403), (f"evil.example:{feed.port}", 403), ("192.168.0.1", 403), ("127.0.0.1.evil.example", 403), ("", 403)):
        for path in ("/", "/columns"):
            same(ask(feed.port, path, host=host)[0], status, f"{path} of '{host}'")
        strip = ask(feed.port, "/strip.png", host=host)[0]  # 404 before the first column
        same(strip == 403, status == 403, f"/strip.png of '{host}': {strip}")
    check(ask(feed.port, "/", host=None)[0] in (400, 403), "a request without a name")
    same(ask(feed.port, "/columns", host=mine, headers=[f"Origin: http://{mine}"])[0], 200, "its own origin")
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{feed.port + 1}", "http://localhost"):
        same(ask(feed.port, "/columns", host=mine, headers=[f"Origin: {origin}"])[0], 403, origin)
    feed.stop()
    everywhere = Feed("0.0.0.0:0")
    same(ask(everywhere.port, host="10.1.2.3:80")[0], 200, "any address of 0.0.0.0")
    same(ask(everywhere.port, host="evil.example")[0], 403, "a name of 0.0.0.0")
    everywhere.stop()


@test
def listens_where_it_should():
    feed = Feed("[::1]:0")
    with socket.create_connection(("::1", feed.port), timeout=5):
        pass
    try:
        socket.create_connection(("127.0.0.1", feed.port), timeout=1).close()
        check(False, "[::1] is also on 127.0.0.1")
    except OSError:
        pass
    feed.stop()


def rows_of(png, height):
    pixels = subprocess.run(["ffmpeg", "-v", "error", "-i", "-", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], input=png, stdout=subprocess.PIPE, check=True).stdout
    return [pixels[y * len(pixels) // height:(y + 1) * len(pixels) // height] for y in range(height)]


@test
def columns_are_as_they_were_made():
    feed = Feed(period_ms=200, before=100)
    height, period, found = records(ask(feed.port, "/columns")[2])
    same((height, period), (feed.height, 200000), "height and period")
    numbers = [c[0] for c in found]
    same(numbers, list(range(numbers[0], numbers[0] + len(numbers))), "the numbers")
    check(len(found) > 100 and abs(numbers[-1] - feed.now()) <= 1, f"{len(found)} columns up to {numbers[-1]} at {feed.now()}")
    for number, us, missing, is_open, average, dominant, pixels in found:
        same((us, missing), (number * 200000, number % 10 == 9), f"column {number}")
        check(not is_open or number == numbers[-1], f"column {number} is open")
        same(pixels, feed.pixels(number), f"the pixels of {number}")
        if not missing:
            same((average, dominant), (bytes((number & 255, number >> 8 & 255, 128)), bytes((number * 7 & 255, 64, 255 - number % 200))), f"the colours of {number}")
    since = numbers[60]
    same(records(ask(feed.port, f"/columns?since={since}")[2])[2][0][0], since + 1, "since")
    rows = rows_of(ask(feed.port, "/strip.png")[2], feed.height)
    for x, number in enumerate(numbers[:100]):
        column = b"".join(row[3 * x:3 * x + 3] for row in rows)
        check(number % 10 == 9 or column == feed.pixels(number), f"column {number} of the picture")
        check(number % 10 != 9 or set(column) == {0x1c, 0x38}, f"column {number} of the picture is not hatched")
    feed.stop()


# ------------------------------------------------------------------ hostile clients


def ends_after(s, limit):
    """Seconds until the server ends the connection, reading what it sends."""
    began = time.monotonic()
    s.settimeout(limit)
    try:
        while s.recv(1 << 16):
            pass
    except ConnectionError:
        pass
    except TimeoutError:
        raise AssertionError(f"still connected after {limit} s") from None
    return time.monotonic() - began


@test
def slow_requests_are_ended():
    feed = Feed()
    began = time.monotonic()
    silent = socket.create_connection(("127.0.0.1", feed.port))
    half = socket.create_connection(("127.0.0.1", feed.port))
    half.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
    body = socket.create_connection(("127.0.0.1", feed.port))
    body.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n")
    for name, s in (("silent", silent), ("half a request", half), ("a slow body", body)):
        ends_after(s, 15)
        check(time.monotonic() - began < 18, f"{name}: ended after {time.monotonic() - began:.0f} s")
    feed.stop()


@test
def huge_and_broken_requests_are_refused():
    feed = Feed()
    memory = resident_kib(feed.process.pid)
    huge = [b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 1000000 + b"\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"".join(b"X%d: a\r\n" % i for i in range(50000)) + b"\r\n",
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: " + b"a=b; " * 100000 + b"\r\n\r\n",
            b"GET /?" + b"a=b&" * 50000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"]
    chance = random.Random(7)
    broken = [bytes(chance.randrange(256) for _ in range(chance.randrange(1, 3000))) + b"\r\n\r\n" for _ in range(100)]
    broken += [b"GET\r\n\r\n", b"\r\n" * 1000, b"GET / HTTP/9.9\r\n\r\n", b"GET /x%00%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\x16\x03\x01\x02\x00" + bytes(500), b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n"]
    for request in huge + broken:
        with socket.create_connection(("127.0.0.1", feed.port), timeout=5) as s:
            answer = b""
            try:
                s.sendall(request)
                s.shutdown(socket.SHUT_WR)
                while piece := s.recv(1 << 16):
                    answer += piece
            except OSError:
                pass
            check(not answer.startswith(b"HTTP/1.1 200") or request[:20] == b"\r\n" * 10, f"{request[:60]}: {answer[:60]}")
    for since in ("", "x", "9" * 40, "-9223372036854775808", "9223372036854775807", "%00", "1&since=2"):
        check(ask(feed.port, f"/columns?since={since}")[0] == 200, f"since={since}")
    same(ask(feed.port)[0], 200, "afterwards")
    check(resident_kib(feed.process.pid) - memory < 4096, f"{resident_kib(feed.process.pid) - memory} KiB more")
    feed.stop()


def sockets(pid):
    """How many sockets a process has."""
    return sum(os.readlink(f).startswith("socket:") for f in pathlib.Path(f"/proc/{pid}/fd").iterdir() if f.is_symlink())


@test
def readers_that_do_not_read_are_ended():
    feed = Feed(period_ms=20, height=2000, before=2000)
    memory, before = resident_kib(feed.process.pid), sockets(feed.process.pid)
    stuck = []
    for path in ("/columns", "/strip.png") * 6:
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.connect(("127.0.0.1", feed.port))
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        stuck.append(s)
    wait_for(lambda: sockets(feed.process.pid) == before + 12, 5, "connections")
    wait_for(lambda: sockets(feed.process.pid) == before, 40, "an end of the connections that do not read")
    same(ask(feed.port)[0], 200, "afterwards")
    for s in stuck:
        s.close()
    more = resident_kib(feed.process.pid) - memory
    check(more < 80000, f"{more} KiB more")
    feed.stop()


@test
def two_addresses_do_not_take_all():
    feed, crowd = Feed("0.0.0.0:0"), []
    for address in ("127.0.0.2", "127.0.0.3"):
        for _ in range(200):
            s = socket.socket()
            s.bind((address, 0))
            s.setblocking(False)
            s.connect_ex(("127.0.0.1", feed.port))
            crowd.append(s)
    for _ in range(10):
        same(ask(feed.port)[0], 200, "a third address")
    for s in crowd:
        s.close()
    feed.stop()


@test_alone
def a_thousand_connections_cost_nothing():
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    feed = Feed(period_ms=50)
    reader = Reader(feed.port)
    reader.complete(60)
    memory, used = resident_kib(feed.process.pid), processor_seconds(feed.process.pid)
    began, crowd, latest = time.monotonic(), [], 0
    while time.monotonic() - began < 6:
        if len(crowd) < 1000:
            for _ in range(25):
                s = socket.socket()
                s.setblocking(False)
                s.connect_ex(("127.0.0.1", feed.port))
                crowd.append(s)
        at = time.monotonic()
        column = reader.complete(1)[0]
        latest = max(latest, time.monotonic() - at)
        late = time.time() - (column[0] + 1) * 0.05
        check(late < 1, f"column {column[0]} came {late:.2f} s late")
    same(len(crowd), 1000, "connections")
    used = processor_seconds(feed.process.pid) - used
    more = resident_kib(feed.process.pid) - memory
    check(latest < 1 and used < 2 and more < 8192, f"the longest wait for a column {latest:.2f} s, {used:.2f} s of a core, {more} KiB more")
    for s in crowd:
        s.close()
    at = time.monotonic()
    wait_for(lambda: answered(feed.port), 5, "an answer afterwards")
    figure(f"1,000 connections: the longest wait of a reader {latest * 1000:.0f} ms, {used:.2f} s of a core in 6 s, {more} KiB more memory, a new reader after {time.monotonic() - at:.2f} s")
    reader.close()
    feed.stop()


def answered(port):
    try:
        return ask(port, timeout=2)[0] == 200
    except OSError:
        return False
