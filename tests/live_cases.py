"""live_cases.py - what the files of tests/live.py share: the list of tests, programs that are started, and HTTP by hand."""
import http.client
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import time

from cases import TOP, check, same

MADE_FEED = pathlib.Path(os.environ.get("MADE_FEED", TOP / "out/bin/made_feed")).resolve()
WORK = TOP / "out/test/live"

tests, alone, figures, started = [], [], [], []


def test(f):
    """A test that runs beside others."""
    tests.append(f)
    return f


def test_alone(f):
    """A test that measures times, or loads the machine."""
    alone.append(f)
    return f


def figure(text):
    figures.append(text)


def folder(name):
    path = WORK / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def start(*words, **more):
    process = subprocess.Popen([str(w) for w in words], stdin=subprocess.DEVNULL, **more)
    started.append(process)
    return process


def stop(process, kill=False):
    """Ends it; its exit status."""
    if process.poll() is None:
        process.kill() if kill else process.terminate()
    return process.wait(timeout=20)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def resident_kib(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1))


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Feed:
    """A made feed that is served: tests/support/made_feed.c."""

    def __init__(self, address="127.0.0.1:0", period_ms=100, height=40, before=50):
        self.period_ms, self.height = period_ms, height
        self.process = start(MADE_FEED, address, period_ms, height, before, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        found = re.search(r"serving http://(.*):(\d+)/", line)
        check(found, f"no server: {line}")
        self.port = int(found.group(2))
        self.url = f"http://127.0.0.1:{self.port}/"

    def stop(self, kill=False):
        return stop(self.process, kill)

    def pixels(self, number):
        if number % 10 == 9:
            return bytes(3 * self.height)
        return b"".join(bytes((number * 7 % 160 + 40, y * 255 // self.height, number % 97 * 2 + 30)) for y in range(self.height))

    def now(self):
        """The number of the column whose time it is."""
        return int(time.time() * 1000) // self.period_ms


def ask(port, path="/", method="GET", headers=(), host="localhost", timeout=10):
    """(status, {header: value}, body) of one request, made by hand."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as s:
        lines = [f"{method} {path} HTTP/1.1", "Connection: close", *([f"Host: {host}"] if host is not None else []), *headers]
        s.sendall("\r\n".join([*lines, "", ""]).encode())
        data = b""
        while piece := s.recv(1 << 16):
            data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    fields = dict((name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in rest))
    return int(first.split()[1]) if first else 0, fields, unchunk(body) if "chunked" in fields.get("transfer-encoding", "") else body


def unchunk(body):
    whole = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        n = int(size, 16)
        if n == 0:
            break
        whole, body = whole + body[:n], body[n + 2:]
    return whole


def records(body):
    """(height, period in us, [(number, time in us, missing, open, average, dominant, pixels)...]) of /columns"""
    magic, size, height, version, _, period = struct.unpack_from("<8sIIIIq", body)
    same((magic, size, version), (b"barcode\0", 24 + 3 * height, 1), "the head of /columns")
    same((len(body) - 32) % size, 0, "whole records")
    found = []
    for at in range(32, len(body), size):
        number, us, flags = struct.unpack_from("<qqB", body, at)
        found.append((number, us, bool(flags & 1), bool(flags & 2), body[at + 17:at + 20], body[at + 20:at + 23], body[at + 24:at + size]))
    return height, period, found


class Reader:
    """A reader of /columns, which asks on one connection as the page does."""

    def __init__(self, port, last=None, timeout=20):
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
        self.last, self.found = last, []

    def ask(self):
        """Asks once, and again if the server has closed the connection, which nobody used for a while."""
        for again in (True, False):
            try:
                self.http.request("GET", "/columns" if self.last is None else f"/columns?since={self.last}")
                answer = self.http.getresponse().read()
                break
            except http.client.RemoteDisconnected:
                self.http.close()
                if not again:
                    raise
        self.found += [c for c in records(answer)[2] if not c[3]]
        if self.found:
            self.last = self.found[-1][0]

    def complete(self, count):
        """the next `count` columns that are complete, as `records` has them"""
        while len(self.found) < count:
            self.ask()
            if len(self.found) < count:
                time.sleep(0.05)
        given, self.found = self.found[:count], self.found[count:]
        return given

    def close(self):
        self.http.close()
