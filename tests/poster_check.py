#!/usr/bin/env python3
"""poster_check.py WHAT ARG... - looks at rendered posters for tests/poster.sh. Silent when all is right, else a line and exit status 1."""
import base64
import re
import subprocess
import sys

import numpy


def load(path):
    probe = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0", path], stdout=subprocess.PIPE, check=True)
    w, h = (int(n) for n in probe.stdout.split(b",")[:2])
    raw = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], stdout=subprocess.PIPE, check=True)
    return numpy.frombuffer(raw.stdout, numpy.uint8).reshape(h, w, 3).astype(int)


def expect(condition, sentence):
    if not condition:
        raise ValueError(sentence)


def near(a, b, most):
    """The mean difference of two pictures of one size."""
    a, b = load(a), load(b)
    expect(a.shape == b.shape, f"{a.shape} and {b.shape}")
    mean = abs(a - b).mean()
    expect(mean <= float(most), f"they differ by {mean:.3f} of 255 in the mean, {most} is the most")


def place(page, line):
    """Where a strip whose rows are all `line` lies on a page: x, y, height."""
    for x in range(page.shape[1] - len(line) + 1):
        rows = numpy.flatnonzero((page[:, x:x + len(line)] == line).all(axis=(1, 2)))
        if len(rows) > 1:
            expect(rows[-1] - rows[0] == len(rows) - 1, "the strip is in pieces")
            return x, rows[0], len(rows)
    raise ValueError("the strip is nowhere on the page, exactly")


def flat(page, strip, each, high):
    """The page has the flat strip, each column `each` pixels wide, at least `high` rows of it."""
    _, _, rows = place(load(page), numpy.repeat(load(strip)[0], int(each), axis=0))
    expect(rows >= int(high), f"only {rows} rows of the strip are there")


def centres(like, line, each, page, strip):
    """
    Where the page `like` has the flat strip `line`, each column `each` pixels wide, a page of the same layout and another resolution has
    `strip`: the middle of each of its pixels has its colour.
    """
    like, line, page, strip = load(like), load(line), load(page), load(strip)
    x, y, h = place(like, numpy.repeat(line[0], int(each), axis=0))
    w = len(line[0]) * int(each)
    x, w = (n * page.shape[1] / like.shape[1] for n in (x, w))
    y, h = (n * page.shape[0] / like.shape[0] for n in (y, h))
    rows, columns = strip.shape[:2]
    expect(w / columns > 1.5 and h / rows > 1.5, f"{w / columns:.2f} x {h / rows:.2f} pixels a pixel are too few")
    ys = (y + (numpy.arange(rows) + 0.5) * h / rows).astype(int)
    xs = (x + (numpy.arange(columns) + 0.5) * w / columns).astype(int)
    wrong = (page[numpy.ix_(ys, xs)] != strip).any(axis=2).sum()
    expect(wrong == 0, f"{wrong} of {rows * columns} pixels of the strip are wrong")


def same(a, b):
    a, b = load(a), load(b)
    expect(a.shape == b.shape and (a == b).all(), "the pictures differ")


def embedded(svg, png):
    """The PNG in an SVG's first image, into a file."""
    with open(svg) as f:
        found = re.search(r'href="data:image/png;base64,([^"]*)"', f.read())
    with open(png, "wb") as f:
        f.write(base64.b64decode(found.group(1), validate=True))


def margins(page, fraction):
    """Nothing but paper within this fraction of the shorter side from every edge."""
    page = load(page)
    m = int(min(page.shape[:2]) * float(fraction))
    for part in (page[:m], page[-m:], page[:, :m], page[:, -m:]):
        expect((part == 255).all(), "there is ink in the margin")


def ground(page, *rgb):
    """The page's border has this colour, and something on it has another."""
    page, colour = load(page), [int(c) for c in rgb]
    for part in (page[:9], page[-9:], page[:, :9], page[:, -9:]):
        expect((part == colour).all(), f"the border is {part[0, 0]}, not {colour}")
    expect((page != colour).any(), "the page is empty")


def ink_of(page):
    """How dark each point is, 0 to 1, of the first line on the page, cut to what is darker than half."""
    dark = 1 - page.min(axis=2) / 255
    ys = numpy.flatnonzero((dark > 0.5).any(axis=1))
    gaps = numpy.flatnonzero(numpy.diff(ys) > 0.0055 * page.shape[0])
    ys = ys[:gaps[0] + 1] if len(gaps) else ys
    xs = numpy.flatnonzero((dark[ys[0]:ys[-1] + 1] > 0.5).any(axis=0))
    return dark[ys[0]:ys[-1] + 1, xs[0]:xs[-1] + 1], xs[0] / page.shape[1], xs[-1] / page.shape[1]


def coarse(ink):
    """The mean of 12 x 120 fields."""
    sums = numpy.zeros((ink.shape[0] + 1, ink.shape[1] + 1))
    sums[1:, 1:] = ink.cumsum(axis=0).cumsum(axis=1)
    ys = (numpy.arange(13) * ink.shape[0] / 12).astype(int)
    xs = (numpy.arange(121) * ink.shape[1] / 120).astype(int)
    at = sums[numpy.ix_(ys, xs)]
    return (at[1:, 1:] - at[:-1, 1:] - at[1:, :-1] + at[:-1, :-1]) / numpy.outer(numpy.diff(ys), numpy.diff(xs))


def title(page, reference, side):
    """
    The title's ink is on this side of the page, and it is that of the reference (a picture of the same words by another program)
    when both are cut to their ink and brought to one size.
    """
    a, left, right = ink_of(load(page))
    b, _, _ = ink_of(load(reference))
    expect((left < 0.1) == (side == "left") and (right > 0.9) == (side == "right"), f"the title lies from {left:.2f} to {right:.2f}")
    ratio = a.shape[1] / a.shape[0] / (b.shape[1] / b.shape[0])
    expect(0.94 < ratio < 1.06, f"the title is {a.shape}, the other program's {b.shape}")
    alike = numpy.corrcoef(coarse(a).ravel(), coarse(b).ravel())[0, 1]
    expect(alike > 0.9, f"the title's ink and the other program's correlate by {alike:.3f}")


CHECKS = {f.__name__: f for f in (near, flat, centres, same, embedded, margins, ground, title)}
try:
    CHECKS[sys.argv[1]](*sys.argv[2:])
except (ValueError, subprocess.CalledProcessError) as wrong:
    print(f"poster_check.py {' '.join(sys.argv[1:])}: {wrong}")
    sys.exit(1)
