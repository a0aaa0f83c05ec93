"""live_made.py - streams whose every frame is known, and the program that reads them."""
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time

from cases import BARCODE, check, same, wait_for
from live_cases import WORK, records, ask, start, stop

RATE = 25
COLOUR = (48, 96, 160)
making = threading.Lock()


def make_stream(path, seconds=120, gop=25, more=()):
    """A film of one colour, for -c copy; all times are real, so it is made once."""
    with making:
        if not path.exists():
            part = path.with_name("part-" + path.name)
            subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", f"color=#{bytes(COLOUR).hex()}:s=320x180:r={RATE}:d={seconds}",
                            "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-x264-params", "sliced-threads=0", "-g", str(gop), *more, str(part)], check=True)
            part.rename(path)
    return path


class Film:
    """The packets of MPEG-TS of each frame of a film, all of them key frames."""

    lock = threading.Lock()
    frames = None

    @classmethod
    def get(cls):
        with cls.lock:
            if cls.frames is None:
                data = make_stream(WORK / "intra.ts", 40, 1).read_bytes()
                pieces, begins = [], [at for at in range(0, len(data), 188) if data[at + 1] & 0x40 and (data[at + 1] & 0x1f) << 8 | data[at + 2] == 0x100]
                for at, end in zip([0, *begins[1:]], [*begins[1:], len(data)]):
                    pieces.append(data[at:end])
                cls.frames = pieces
            return cls.frames


class Source:
    """A TCP server that sends a frame every 40 ms, to whoever is connected, and knows when it did."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.url = f"tcp://127.0.0.1:{self.port}"
        self.sent, self.serving, self.over = [], True, False
        self.client = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        frames = Film.get()
        while not self.over:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            if not self.serving:
                client.close()
                continue
            self.client = client
            began = time.monotonic()
            for n in range(10 ** 9):
                wait = began + n / RATE - time.monotonic()
                if wait > 0:
                    time.sleep(wait)
                if not self.serving or self.over:
                    break
                try:
                    # The tables are sent with the first frame alone, so each connection begins with it.
                    client.sendall(frames[n % len(frames)])
                except OSError:
                    break
                self.sent.append(time.time())
            client.close()
            self.client = None

    def pause(self):
        """Ends the connection; others are refused until `go_on`."""
        self.serving = False
        while self.client:
            time.sleep(0.005)

    def go_on(self):
        self.serving = True

    def close(self):
        self.over = True
        self.socket.close()


class Live:
    """A running `barcode --live`, asked by its own server."""

    def __init__(self, url, period, *options, port=0, env=None, prefix=()):
        self.period = period
        self.command = [*prefix, BARCODE, f"--live={period}", url, "-m", "average", "--height", "16", "--engine", "cpu", *options, "--serve"]
        self.env = {**os.environ, **(env or {})}
        self.port = port
        self.begin()

    def begin(self):
        self.process = start(*self.command, self.port, stderr=subprocess.PIPE, text=True, env=self.env)
        self.errors = []
        line = self.process.stderr.readline()
        while line and "serving http" not in line:
            self.errors.append(line)
            line = self.process.stderr.readline()
        check(line, f"it ended: {self.errors}")
        self.port = int(re.search(r":(\d+)/", line).group(1))
        threading.Thread(target=self.listen, args=(self.process.stderr,), daemon=True).start()

    def listen(self, stream):
        for line in stream:
            self.errors.append(line)

    def columns(self):
        """{number: (missing, average)} of the complete columns"""
        check(self.process.poll() is None, f"it ended with {self.process.poll()}: {self.errors}")
        found = records(ask(self.port, "/columns")[2])[2]
        return {c[0]: (c[2], tuple(c[4])) for c in found if not c[3]}

    def wait_for(self, count, seconds=20):
        """Waits until so many columns have a frame."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.columns()
            if sum(not missing for missing, _ in found.values()) >= count:
                return found
            check(self.process.poll() is None, f"it ended: {self.errors}")
            time.sleep(0.1)
        raise AssertionError(f"{self.columns()} after {seconds} s; {self.errors}")

    def worker(self):
        """The process that decodes, which has threads; another child writes the day's files."""
        def found():
            children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
            return next((int(c) for c in children if len(list(pathlib.Path(f"/proc/{c}/task").iterdir())) > 1), None)
        return wait_for(found, 5, "a worker process")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        same(stop(self.process), 0, f"the exit status after SIGTERM ({self.errors})")


def numbers_of(times, period):
    return {int(t / period) for t in times}


def check_gaps(found, sent, period, what):
    """Columns have a frame where one was sent, and are missing elsewhere, right to one column at each end; the number of gaps."""
    there = numbers_of(sent, period)
    begin, end = min(found), max(found)
    same(sorted(found), list(range(begin, end + 1)), f"{what}: the numbers")
    gaps = 0
    for n in range(begin + 1, end):
        missing = found[n][0]
        near = {k in there for k in (n - 1, n, n + 1)}
        if near == {True}:
            sent_here = [round(t / period - n, 2) for t in sent if abs(t / period - n) < 4]
            check(not missing, f"{what}: column {n} is missing; {''.join('-x'[not found[k][0]] for k in range(n - 6, n + 6) if k in found)}; sent at {sent_here}")
        if near == {False}:
            check(missing, f"{what}: column {n} has a frame, but none was sent")
        gaps += missing and not found[n - 1][0]
    return gaps


def close_to(average, want, text):
    check(all(abs(a - b) <= 3 for a, b in zip(average, want)), f"{text}: {average}, not {want}")
