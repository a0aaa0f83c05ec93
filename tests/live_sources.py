"""live_sources.py - barcode --live with real streams on this machine, and what happens to them."""
import http.server
import json
import os
import pathlib
import random
import signal
import socket
import struct
import subprocess
import threading
import time

from cases import BARCODE, TOP, check, same, wait_for
from live_cases import WORK, Reader, figure, folder, free_port, start, stop, test, test_alone
from live_made import COLOUR, Live, Source, check_gaps, close_to, make_stream

FFMPEG = ["ffmpeg", "-nostdin", "-v", "panic", "-re", "-stream_loop", "-1"]


def stream():
    return make_stream(WORK / "stream.ts")


def reads_all(url, name, seconds=20):
    """Six columns in a row of the right colour, a day's files, an end in order."""
    out = folder(name)
    live = Live(url, 0.5, "-o", out)
    found = live.wait_for(6, seconds)
    there = [n for n, (missing, _) in found.items() if not missing]
    same(there, list(range(there[0], there[0] + len(there))), "columns in a row")
    for n in there:
        close_to(found[n][1], COLOUR, f"column {n}")
    live.stop()
    check(list(out.glob("*.png")) and list(out.glob("*.csv")), f"the day's files: {list(out.iterdir())}")


@test
def reads_srt():
    port = free_port()
    source = start(*FFMPEG, "-i", stream(), "-c", "copy", "-f", "mpegts", f"srt://127.0.0.1:{port}?mode=listener")
    time.sleep(0.5)
    reads_all(f"srt://127.0.0.1:{port}", "srt")
    stop(source, kill=True)


@test
def reads_rtsp():
    port, film = free_port(), make_stream(WORK / "film.mp4", 60)
    source = start("/usr/bin/python3", TOP / "tests/support/rtsp_server.py", port, film, stdout=subprocess.PIPE)
    same(source.stdout.readline(), b"ready\n", "the RTSP server")
    reads_all(f"rtsp://127.0.0.1:{port}/live", "rtsp")
    stop(source, kill=True)


@test
def reads_hls():
    segments = folder("hls-source")
    source = start(*FFMPEG, "-i", stream(), "-c", "copy", "-f", "hls", "-hls_time", "1", "-hls_list_size", "4", "-hls_flags", "delete_segments", segments / "live.m3u8")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *a, **b):
            super().__init__(*a, directory=str(segments), **b)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    wait_for(lambda: (segments / "live.m3u8").exists(), 10, "the playlist")
    reads_all(f"http://127.0.0.1:{server.server_port}/live.m3u8", "hls", 30)
    stop(source, kill=True)
    server.shutdown()


def lossy(to_port, share):
    """A UDP relay that loses datagrams; its port."""
    chance, relay = random.Random(3), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    relay.bind(("127.0.0.1", 0))

    def run():
        while True:
            data = relay.recv(2000)
            if chance.random() >= share:
                relay.sendto(data, ("127.0.0.1", to_port))

    threading.Thread(target=run, daemon=True).start()
    return relay.getsockname()[1]


@test
def goes_on_over_losses():
    """A relay loses two of a hundred datagrams."""
    port = free_port()
    source = start(*FFMPEG, "-i", make_stream(WORK / "noise.ts", 30, 25, ["-vf", "noise=alls=40:allf=t"]), "-c", "copy", "-f", "mpegts", f"udp://127.0.0.1:{lossy(port, 0.02)}?pkt_size=1316")
    live = Live(f"udp://127.0.0.1:{port}", 0.5)
    found = live.wait_for(16, 30)
    there = sorted(n for n, (missing, _) in found.items() if not missing)
    check(len(there) >= 0.8 * (there[-1] - there[0] + 1), f"{len(there)} of {there[-1] - there[0] + 1} columns")
    live.stop()
    stop(source, kill=True)
    figure(f"losses of 2 %: {len(there)} of {there[-1] - there[0] + 1} columns")


def killed_sources(count):
    """Kills and restarts a source; the number of gaps."""
    source = Source()
    live = Live(source.url, 0.5)
    live.wait_for(3)
    chance = random.Random(source.port)
    for _ in range(count):
        source.pause()
        time.sleep(chance.uniform(0, 0.5))
        source.go_on()
        before = len(source.sent)
        wait_for(lambda: len(source.sent) > before + 20, 20, f"the source again; {live.errors[-3:]}")
    found = live.columns()
    gaps = check_gaps(found, source.sent, 0.5, f"{count} kills")
    live.stop()
    source.close()
    return gaps


@test_alone
def a_hundred_killed_sources():
    """Four at once, 25 times each: every gap is where it was."""
    gaps, failures = [], []

    def run():
        try:
            gaps.append(killed_sources(25))
        except Exception as e:
            failures.append(e)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failures:
        raise failures[0]
    same(gaps, [25] * 4, "gaps")


def logged(out):
    """The numbers in the log of a stream whose columns have no more than a colour (record.c)."""
    data = next(out.glob("*.columns")).read_bytes()[64:]
    same(len(data) % 32, 0, "whole records in the log")
    return [struct.unpack_from("<q", data, at)[0] for at in range(0, len(data), 32)]


@test
def killed_fifty_times():
    """kill -9 of the program and of its worker, at random times: what was complete is there afterwards, and only the open column is lost."""
    out, source, chance = folder("killed"), Source(), random.Random(50)
    live = Live(source.url, 0.5, "-o", out)
    shown, lost = {}, 0
    for turn in range(50):
        live.wait_for(len([1 for m, _ in live.columns().values() if not m]) + 1, 15)
        time.sleep(chance.uniform(0, 0.5))
        before = live.columns()
        if turn % 2:
            os.kill(live.worker(), signal.SIGKILL)
        else:
            live.kill()
        shown.update({n: c for n, c in before.items() if not c[0]})
        if turn % 2 == 0:
            live.begin()
        wait_for(lambda: live.columns(), 15, f"the columns of the log: {live.errors}")
        after = live.columns()
        lost += sum(after.get(n) != c for n, c in shown.items())
    found = live.wait_for(2)
    same(lost, 0, "complete columns that a kill lost")
    first, last = min(shown), max(shown)
    there = sum(not found[n][0] for n in range(first, last + 1))
    # a worker is started again after a second
    check(last - first + 1 - there <= 25 + 25 * 4, f"{last - first + 1 - there} of {last - first + 1} columns are missing after 50 kills")
    figure(f"50 x kill -9: {last - first + 1 - there} of {last - first + 1} columns are missing, no complete one was lost")
    live.stop()
    numbers = logged(out)
    same(numbers, sorted(set(numbers)), "the numbers in the log")
    check(set(shown) <= set(numbers), "a column that was shown is not in the log")
    source.close()


@test
def clocks_that_jump():
    """The clock is set on by an hour, and back by two: no number comes twice, none is left out, none shifts."""
    out, source = folder("clock"), Source()
    library = next((str(p) for p in pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")), None)
    check(library, "libfaketime is not there")
    offset = out / "offset"
    offset.write_text("+0\n")
    env = {"FAKETIME_TIMESTAMP_FILE": str(offset), "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_FORCE_MONOTONIC_FIX": "0", "LD_PRELOAD": library}
    live = Live(source.url, 0.2, "--sandbox", "off", env=env)
    live.wait_for(10)
    reader = Reader(live.port)
    found = [c[0] for c in reader.complete(10)]
    begin = len(live.columns())
    offset.write_text("+3600\n")
    wait_for(lambda: len(live.columns()) > begin + 17900, 10, f"an hour more; {live.errors}")
    time.sleep(1)
    columns = live.columns()
    there = sorted(n for n, (missing, _) in columns.items() if not missing)
    jumps = [(a, b) for a, b in zip(there, there[1:]) if b - a > 2]
    same(len(jumps), 1, f"jumps {jumps}")
    check(abs(jumps[0][1] - jumps[0][0] - 18000) <= 2, f"the hour has {jumps[0][1] - jumps[0][0]} columns of 0.2 s")
    same(sorted(columns), list(range(min(columns), max(columns) + 1)), "the numbers")
    offset.write_text("-3600\n")
    time.sleep(2)
    back = live.columns()
    check(max(back) - max(columns) <= 10 and all(back[n] == columns[n] for n in columns if n < max(columns) - 1), "columns changed after the clock was set back")
    offset.write_text("+3600\n")
    newest = max(back)
    wait_for(lambda: max(live.columns()) > newest + 5, 15, "the clock is right again")
    found += [c[0] for c in reader.complete(17000)]
    same(found, list(range(found[0], found[0] + len(found))), "what the reader got")
    wait_for(lambda: sum("the clock was set by" in line for line in live.errors) >= 3, 5, "three messages")
    reader.close()
    live.stop()
    source.close()


@test
def stdout_lines_of_a_stream():
    source = Source()
    live = start(BARCODE, "--live=0.2", source.url, "-o", "-", "--live-format", "jsonl", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = [json.loads(live.stdout.readline()) for _ in range(15)]
    same([c["number"] for c in lines], list(range(lines[0]["number"], lines[0]["number"] + 15)), "the numbers")
    late = time.time() - (lines[-1]["number"] + 1) * 0.2
    check(late < 1, f"a line came {late:.2f} s late")
    for c in lines:
        check(c["missing"] or all(abs(int(c["average"][1 + 2 * i:3 + 2 * i], 16) - COLOUR[i]) <= 3 for i in range(3)), f"{c}")
    live.stdout.close()
    same(live.wait(timeout=10), 0, f"after the reader left: {live.stderr.read()}")
    source.close()
