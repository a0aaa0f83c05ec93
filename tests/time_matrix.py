#!/usr/bin/env python3
"""The time axis, container by container: the program's columns against ffprobe's frames.

    BARCODE=out/bin/barcode python3 tests/time_matrix.py [--only REGEX] [--keep DIR] [--jobs N]

Makes films of many pairs of container and codec (time_films.py), each in several variants, and
runs the program on each in three modes. A cell of the table has a letter for each mode: -n 1,
--columns 20, --keyframes --columns 20.

    .  right     the columns are the frames that are shown then; warnings name what is missing
    r  reported  the result is off, or a header is, and a warning or an error says so
    W  wrong     anything else
    -            ffmpeg cannot make this film, or the container cannot hold the variant

--only takes the cells whose CONTAINER+CODEC.VARIANT matches. --keep keeps the films in a folder
for the next time. Exits 1 if a cell is wrong, 2 if there was nothing to do.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

import time_films
import time_judge
from time_films import VARIANTS

COLUMNS = 20
PAIRS = 40  # at least, or this ffmpeg lacks too much
MODES = [
    ("frames", ["-n", "1"]),
    ("columns", ["--columns", str(COLUMNS)]),
    ("keys", ["--keyframes", "--columns", str(COLUMNS)]),
]
LIES = ("half", "double")
MAY_REPORT = LIES + ("cut", "pipe")


def run(barcode, path, variant, options, out):
    words = "-m average --size 16 --no-cache --progress never --threads 1 --json".split()
    command = [barcode, "-" if variant == "pipe" else path, *options, *words, out]
    if os.path.exists(out):
        os.remove(out)

    def run(stdin):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        return subprocess.run(command, stdin=stdin, timeout=60, check=False, **quiet)

    try:
        if variant != "pipe":
            return run(subprocess.DEVNULL)
        with subprocess.Popen(
            ["cat", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as cat:
            return run(cat.stdout)
    except subprocess.TimeoutExpired:
        return None


def judge_pictures(data, pictures):
    """Every column has the average that -n 1 has at its time. `pictures` keeps those of -n 1."""
    if "columns" not in data["selection"]:
        pictures.update({c["time"]: c.get("average") for c in data["columns"]})
        return []
    shown = [(c["time"], c.get("average")) for c in data["columns"]]
    other = [time for time, average in shown if pictures.get(time, average) != average]
    if not other:
        return []
    return [f"{len(other)} columns show another picture than -n 1 has then: at {other[0]:.3f} s"]


def cell_mode(barcode, path, variant, truth, options, out, pictures):
    """(letter, reason)"""
    done = run(barcode, path, variant, options, out)
    if done is None:
        return "W", "it hangs"
    lines = done.stderr.decode(errors="replace").splitlines()
    lines = [x for x in lines if not x.startswith("barcode: wrote ")]
    if done.returncode < 0 or done.returncode >= 128 or "worker process" in " ".join(lines):
        return "W", f"it died ({done.returncode})"
    if done.returncode != 0:
        reason = re.sub(r"'[^']*'", "'F'", lines[-1]) if lines else ""
        return ("r" if lines else "W"), f"exit status {done.returncode}: {reason}"
    with open(out, encoding="utf-8") as f:
        data = json.load(f)
    found = time_judge.judge(truth, data) + judge_pictures(data, pictures)
    extra, silent = time_judge.judge_warnings(truth, lines, "--keyframes" in options)
    if not found and not extra and not silent:
        return ".", ""
    reason = "; ".join(found + silent + [f'says "{x}"' for x in extra])
    reported = variant in MAY_REPORT and extra and not silent
    return ("r" if reported else "W"), reason


def one_pair(barcode, folder, container, codec, variants):
    """{variant: (letters, [reasons])}"""
    films, cells = time_films.Films(folder, container, codec), {}
    for variant in variants:
        try:
            path = films.make(variant)
            truth = time_judge.Truth(path, variant)
        except (time_films.CannotMake, time_judge.Unknown) as e:
            cells[variant] = ("-", [str(e)])
            continue
        out = os.path.join(folder, f"out-{films.name}.{variant}.json")
        pictures = {}
        results = [
            cell_mode(barcode, path, variant, truth, options, out, pictures) for _, options in MODES
        ]
        if os.path.exists(out):
            os.remove(out)
        cells[variant] = ("".join(r[0] for r in results), [r[1] for r in results])
    return cells


def print_reasons(table, letter, title):
    """A line a cell: the reason of its first mode with this letter."""
    print(f"\n{title}:")
    for name, cells in table.items():
        for variant, (letters, reasons) in cells.items():
            if letter in letters:
                at = letters.index(letter)
                print(f"{letters} {name}.{variant} {MODES[at][0]}: {reasons[at]}")


# Cells that may be wrong: by a frame or two, in films that do not store when a frame is shown.
LIMITS = {
    "asf+h264.vfr": "at a gap between two GOPs, the next one's first time is not known yet",
    "avi+mpeg2.cut": "pictures that are not decodable have places, too",
    "avi+mpeg4-b.cut": "pictures that are not decodable have places, too",
    "mxf+mpeg2.pipe": "without its index, MXF does not say how pictures are reordered",
    "ps+mpeg1.offset": "two pictures have the same time, and the third has none",
}


def main():
    parser = argparse.ArgumentParser(description="The time axis, container by container.")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--reported", action="store_true", help="list reasons of these, too")
    args = parser.parse_args()
    barcode = os.path.abspath(os.environ.get("BARCODE", "out/bin/barcode"))
    work = [
        (c, k, [v for v in VARIANTS if re.search(args.only, f"{c}+{k}.{v}")])
        for c, k in time_films.pairs()
    ]
    work = [w for w in work if w[2]]
    if not work or not os.access(barcode, os.X_OK):
        print("nothing matches, or there is no program at $BARCODE", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as temporary:
        folder = os.path.abspath(args.keep or temporary)
        os.makedirs(folder, exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            jobs = {f"{w[0]}+{w[1]}": pool.submit(one_pair, barcode, folder, *w) for w in work}
            table, width = {}, max(len(name) for name in jobs)
            print(f"{'':{width}}  " + "  ".join(f"{v:7}" for v in VARIANTS))
            for name, job in jobs.items():
                cells = table[name] = job.result()
                letters = "  ".join(f"{cells[v][0] if v in cells else '':7}" for v in VARIANTS)
                print(f"{name:{width}}  {letters}", flush=True)
    letters = "".join(cell[0] for cells in table.values() for cell in cells.values())
    if args.reported:
        print_reasons(table, "r", "Reported")
    print_reasons(table, "W", "Wrong")
    print(
        f"\n{len(table)} pairs: {letters.count('.')} right, {letters.count('r')} reported, "
        f"{letters.count('W')} wrong; {letters.count('-')} cells have no film"
    )
    unknown = sum(
        cell[0].count("W")
        for name, cells in table.items()
        for variant, cell in cells.items()
        if f"{name}.{variant}" not in LIMITS
    )
    for name, reason in LIMITS.items():
        print(f"known: {name}: {reason}")
    made = sum("plain" in cells and cells["plain"][0] != "-" for cells in table.values())
    if not args.only and made < PAIRS:
        print(f"only {made} pairs could be made, {PAIRS} are wanted")
        return 1
    # A line like those of the other tests: what is reported is right, too.
    print(f"{letters.count('.') + letters.count('r')} passed, {unknown} failed")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
