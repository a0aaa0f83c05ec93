#!/usr/bin/env python3
"""palette.py BARCODE FILM... - the film's palette against other ways to make one of the same frames.

Needs numpy, scikit-learn, Pillow, colorthief and haishoku (pip). Prints, for each film and 8 colours
(haishoku gives no other number): coverage, the share of pixels within 0.1 of a swatch in OKLab; the
largest missing accent, the largest share of the film in a ball of 0.1 whose pixels are all farther
than 0.15 from each swatch; and the palette.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from colorthief import ColorThief
from haishoku.haishoku import Haishoku
from PIL import Image
from sklearn.cluster import KMeans

COLOURS = 8
LMS = np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005]])
LAB = np.array([[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
                [0.0259040371, 0.7827717662, -0.8086757660]])


def oklab(rgb):
    c = np.asarray(rgb, float) / 255
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return np.cbrt(linear @ LMS.T) @ LAB.T


def binned(points, weight, size):
    """Means and weights of the cells of a grid."""
    _, cell = np.unique(np.floor(points / size + 0.5).astype(int), axis=0, return_inverse=True)
    total = np.bincount(cell.ravel(), weight)
    sums = [np.bincount(cell.ravel(), weight * points[:, i]) for i in range(3)]
    return np.stack(sums, 1) / total[:, None], total


def figures(points, weight, palette):
    nearest = np.sqrt(((points[:, None] - oklab(palette)[None]) ** 2).sum(2)).min(1)
    far, share = points[nearest > 0.15], weight[nearest > 0.15]
    balls = [share[((far - far[i]) ** 2).sum(1) < 0.01].sum() for i in np.argsort(-share)[:400]]
    return weight[nearest < 0.1].sum(), max(balls, default=0)


def ours(barcode, film, folder):
    command = [barcode, film, "--no-cache", "-q", "--columns", "200", "--colours", str(COLOURS), "--dump",
               f"{folder}/frames.rgb", "--swatches", f"{folder}/palette.json"]
    subprocess.run(command, check=True)
    with open(f"{folder}/palette.json", encoding="utf-8") as f:
        return [colour["rgb"] for colour in json.load(f)["colours"]]


def others(rgb, weight, image):
    for name, space in (("k-means RGB", rgb / 255), ("k-means OKLab", oklab(rgb))):
        points, total = binned(space, weight, 1 / 64)
        label = KMeans(COLOURS, n_init=3, random_state=0).fit(points, sample_weight=total)
        nearest = label.predict(space)
        yield name, [np.average(rgb[nearest == i], 0, weight[nearest == i]) for i in range(COLOURS)]
    # colorthief gives one colour less than it is asked for, from 8 on
    yield "colorthief", ColorThief(image).get_palette(COLOURS + 1, 10)[:COLOURS]
    yield "haishoku", [colour for _, colour in Haishoku.getPalette(image)]


def compare(barcode, film):
    with tempfile.TemporaryDirectory() as folder:
        palettes = [("barcode", ours(barcode, film, folder))]
        frames = np.fromfile(f"{folder}/frames.rgb", np.uint8).reshape(-1, 3)
        key, count = np.unique(frames.astype(np.uint32) @ (1 << 16, 1 << 8, 1), return_counts=True)
        rgb, weight = np.stack([key >> 16, key >> 8 & 255, key & 255], 1).astype(float), count / count.sum()
        wide = frames[: len(frames) // 320 * 320].reshape(-1, 320, 3)[::2, ::2]
        Image.fromarray(wide.copy()).save(f"{folder}/frames.png")
        palettes += others(rgb, weight, f"{folder}/frames.png")
    points, total = binned(oklab(rgb), weight, 0.01)
    print(os.path.basename(film))
    for name, palette in palettes:
        covered, accent = figures(points, total, palette)
        text = " ".join("#%02x%02x%02x" % tuple(int(v) for v in c) for c in palette)
        print(f"  {name:14}{100 * covered:6.1f} %{100 * accent:6.2f} %  {text}", flush=True)


for path in sys.argv[2:]:
    compare(sys.argv[1], path)
