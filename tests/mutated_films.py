#!/usr/bin/env python3
"""Renders mutated test clips with a program that was built with ASan and UBSan.

    mutated_films.py BARCODE CLIPS [COUNT [SEED]]

Each film is a clip of up to 400 kB with bytes changed, or parts cut out, repeated, or taken from
another clip. A report of a sanitizer, a crashed worker, an undocumented exit status, no sentence
after a failure, or more than 60 s is a failure; the film is kept in out/mutated. `make
test-mutated` runs it.
"""
import os, random, subprocess, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor

barcode, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
STATUSES = (0, 1, 3)
COMMANDS = (
    ["-m", "all", "--columns", "20", "--json", "film.json"],
    ["--keyframes", "--columns", "10", "--html", "film.html"],
    ["-n", "3", "--size", "64", "--verify"],
    ["--interval", "0.5", "--crop", "off", "--csv", "film.csv", "--thumbnails", "t"],
    ["-m", "average", "--start", "0.3", "--end", "1.2", "--keep-going", "--dump", "film.rgb"],
    ["-m", "dominant", "--light", "linear", "--steady", "--strict", "--cache", "cache"],
)
environment = dict(os.environ, ASAN_OPTIONS="exitcode=66", UBSAN_OPTIONS="exitcode=66",
                   LSAN_OPTIONS="suppressions=%s:print_suppressions=0"
                   % os.path.abspath("tests/support/lsan.supp"), BARCODE_CACHE="-")


def mutate(data, others, r):
    data = bytearray(data)
    for _ in range(r.choice((1, 1, 2, 4, 20))):
        at = r.randrange(min(len(data), r.choice((64, 2048, len(data)))))
        length = 1 << r.randrange(12)
        kind = r.randrange(5)
        if kind == 0:
            data[at] = r.randrange(256)
        elif kind == 1:  # numbers at which arithmetic ends
            data[at:at + 4] = r.choice((b"\xff" * 4, b"\x7f\xff\xff\xff", b"\0" * 4, b"\x80\0\0\0"))
        elif kind == 2 and len(data) > 2 * length:
            del data[at:at + length]
        elif kind == 3:
            data[at:at] = data[at:at + length]
        else:
            other = r.choice(others)
            data[at:at + length] = other[at % len(other):][:length]
    return bytes(data)


def run(number):
    r = random.Random(seed * 1000003 + number)
    name = r.choice(names)
    data = mutate(clips[name], list(clips.values()), r)
    options = COMMANDS[number % len(COMMANDS)]
    with tempfile.TemporaryDirectory() as work:
        film = os.path.join(work, "film" + os.path.splitext(name)[1])
        with open(film, "wb") as f:
            f.write(data)
        start = time.monotonic()
        try:
            p = subprocess.run([barcode, film, "-o", "film.png", *options], cwd=work, timeout=300,
                               env=environment, stdin=subprocess.DEVNULL, capture_output=True)
            status, text = p.returncode, p.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            status, text = "timeout", ""
        took = time.monotonic() - start
    wrong = (status not in STATUSES or took > 60 or "Sanitizer" in text or "runtime error" in text
             or "the worker process" in text or (status != 0 and "barcode: " not in text))
    if wrong:
        os.makedirs("out/mutated", exist_ok=True)
        kept = "out/mutated/%d-%s" % (number, name)
        with open(kept, "wb") as f:
            f.write(data)
        print("FAIL %s %s: status %s, %.0f s\n%s" % (kept, " ".join(options), status, took,
                                                      text[:3000]), flush=True)
    return not wrong


clips = {}
for entry in sorted(os.scandir(folder), key=lambda e: e.name):
    if entry.is_file() and 1000 < entry.stat().st_size < 400_000:
        with open(entry.path, "rb") as f:
            clips[entry.name] = f.read()
names = list(clips)
with ThreadPoolExecutor(os.cpu_count()) as pool:
    good = sum(pool.map(run, range(count)))
print("%d passed, %d failed, 0 skipped" % (good, count - good))
sys.exit(good != count)
