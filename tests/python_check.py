#!/usr/bin/python3
"""The package film_barcode, in the folder of data.sh or of test-wheel.sh, which has film.mkv.

    python_check.py [README.md]     the program is the package's own, or the first in the PATH

What the package returns is compared with what the command writes. README.md: its lines with
`python -c` are run too, with pandas and Pillow.
"""
import csv
import os
import pathlib
import signal
import subprocess
import sys
import time
import warnings

import film_barcode
from cases import check, run, same, total

OPTIONS = ["-n", "5", "-k", "4", "--no-cache", "-q"]


def command(*arguments):
    subprocess.run([film_barcode.program(), *OPTIONS, *arguments], check=True)


def raised(kind, f):
    try:
        f()
    except kind as e:
        return e
    raise AssertionError(f"no {kind.__name__}")


def children(pid):
    return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()


def test_columns():
    """Every cell is that of --csv, as a number where it is one; a title that is one stays text."""
    rows = film_barcode.columns("film.mkv", n=5, k=4, no_cache=True, cache=None, steady=False)
    command("film.mkv", "--csv", "command.csv")
    with open("command.csv", newline="", encoding="utf-8") as f:
        want = list(csv.DictReader(f))
    same([list(row) for row in rows], [list(row) for row in want], "names")
    for row, cells in zip(rows, want):
        for name, cell in cells.items():
            value = row[name]
            right = value is None if not cell else str(value) == cell or value == float(cell)
            check(right, f"{name}: {value} of {cell}")
    types = type(rows[1]["frame"]), type(rows[1]["time"]), rows[0]["title"]
    same(types, (int, float, "1917"), "types")
    every = film_barcode.columns("film.mkv", n=5, k=4, no_cache=True, csv_columns="all")
    check(all(abs(sum(row[f"share_{i}"] for i in range(1, 5)) - 1) < 1e-5 for row in every), every)
    some = film_barcode.columns("film.mkv", n=5, no_cache=True, csv_columns=["time", "r"])
    same([list(row) for row in some], [["time", "r"]] * len(rows), "chosen columns")


def test_image():
    command("film.mkv", "-m", "squeeze", "-o", "command.png")
    same(film_barcode.image(pathlib.Path("film.mkv"), n=5, k=4, m="squeeze", no_cache=True),
         pathlib.Path("command.png").read_bytes(), "the picture")
    poster = film_barcode.image("film.mkv", n=5, no_cache=True, poster="pdf", title="-")
    same(poster[:5], b"%PDF-", "a poster")


def test_palette():
    colours = film_barcode.palette("film.mkv", n=5, no_cache=True, colours=3)
    same(len(colours), 3, "colours")
    check(all(c["hex"] == "#%02x%02x%02x" % tuple(c["rgb"]) for c in colours), colours)
    check(abs(sum(c["share"] for c in colours) - 1) < 1e-5, colours)


def test_names():
    """A film whose name looks like an option; several films."""
    os.link("film.mkv", "-q.mkv")
    rows = film_barcode.columns(["-q.mkv", "film.mkv"], n=5, no_cache=True)
    os.unlink("-q.mkv")
    same(sorted({row["title"] for row in rows}), ["1917"], "titles")
    same(len(rows), 20, "rows")


def test_errors():
    absent = "cannot open 'absent.mkv': No such file or directory"
    for path, options, status, sentence in (
            ("absent.mkv", {}, 3, absent),
            (["absent.mkv", "film.mkv"], {"n": 5}, 3, absent),
            ("film.mkv", {"colour_s": 3}, 2, "unknown option '--colour-s'")):
        error = raised(film_barcode.BarcodeError,
                       lambda: film_barcode.columns(path, no_cache=True, **options))
        same(error.status, status, "status")
        check(str(error).startswith(sentence), error)


def test_warning():
    pathlib.Path("half.mkv").write_bytes(pathlib.Path("film.mkv").read_bytes()[:-3000])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        rows = film_barcode.columns("half.mkv", n=5, no_cache=True)
    check(rows and seen and seen[0].category is film_barcode.BarcodeWarning, seen)
    check("half.mkv" in str(seen[0].message), seen[0].message)


def test_progress():
    shares = []
    film_barcode.image("film.mkv", n=5, no_cache=True,
                       progress=lambda share, line: shares.append((share, line)))
    same(shares[-1][0], 1.0, "the last share")
    check("10/10 columns" in shares[-1][1], shares)


def test_callback_fails():
    """What the callback raises comes out, and the program has ended."""
    raised(ZeroDivisionError, lambda: film_barcode.image("film.mkv", n=5, no_cache=True,
                                                         progress=lambda *_: 1 / 0))
    same(children(os.getpid()), [], "programs")


def test_interrupt():
    """Ctrl-C to Python alone, as Jupyter sends it: KeyboardInterrupt, no program left, no file."""
    script = ("import film_barcode as b, signal, sys\n"
              # where a shell started the tests in the background, the signal was ignored
              "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
              "slow = '-n1 -k64 --n-init=1000 --size=full --no-race --no-cache'\n"
              "try: b.run([*slow.split(), '-ointerrupted.png'], 'long.mkv')\n"
              "except KeyboardInterrupt: sys.exit(77)")
    with subprocess.Popen([sys.executable, "-c", script]) as python:
        time.sleep(3)
        programs = children(python.pid)
        same(len(programs), 1, "programs")
        python.send_signal(signal.SIGINT)
        try:
            same(python.wait(60), 77, "exit status")
        finally:
            python.kill()
    check(not os.path.exists(f"/proc/{programs[0]}"), "the program still runs")
    same([name for name in os.listdir() if "interrupted" in name], [], "files")


def readme_examples(path):
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    examples = [line[4:] for line in lines if line.startswith("    python -c ")]

    def test_readme():
        check(examples, "README has no example")
        for example in examples:
            line = example.replace("python ", f"{sys.executable} ", 1)
            subprocess.run(["sh", "-ec", line], check=True, timeout=300)
    return [test_readme]


TESTS = [test_columns, test_image, test_palette, test_names, test_errors, test_warning,
         test_progress, test_callback_fails, test_interrupt]
if sys.argv[1:]:
    TESTS += readme_examples(sys.argv[1])
sys.exit(total([run(test) for test in TESTS]))
