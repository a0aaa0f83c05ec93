#!/usr/bin/env python3
"""palettes.py BARCODE FILM... [--colours 8] - the film's palette against those of others, of the same analysis frames.

Needs numpy, scikit-learn, haishoku and colorthief. The frames are those of --dump. k-means runs in sRGB on a sample of their pixels;
haishoku and colorthief get that sample as one image. Two figures each, over the sample: coverage, the share of pixels within 0.1 in
OKLab of a swatch, and the largest missing accent, the share of the most pixels within 0.1 of one pixel that are all farther than 0.15
from every swatch.
"""
import argparse
import io
import json
import subprocess
import tempfile

import colorthief
import haishoku.haillow
import haishoku.haishoku
import numpy as np
from PIL import Image
from sklearn.cluster import KMeans

PIXELS, SIDE = 160000, 400


def oklab(rgb):
    v = np.asarray(rgb, float) / 255
    v = np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)
    lms = np.cbrt(v @ np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
                                [0.0883024619, 0.2817188376, 0.6299787005]]).T)
    return lms @ np.array([[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
                           [0.0259040371, 0.7827717662, -0.8086757660]]).T


def nearest(pixels, swatches):
    return np.sqrt(((pixels[:, None] - swatches[None]) ** 2).sum(2).min(1))


def measure(pixels, swatches):
    """(coverage, size of the largest missing accent, its colour's number in pixels)"""
    far = nearest(pixels, oklab(swatches))
    missing = np.flatnonzero(far > 0.15)
    most, at = 0, None
    for i in missing[:: max(1, len(missing) // 400)]:
        size = (((pixels[missing] - pixels[i]) ** 2).sum(1) < 0.01).sum()
        if size > most:
            most, at = size, i
    return (far <= 0.1).mean(), most / len(pixels), at


def of_haishoku(path):
    return [c for _, c in haishoku.haishoku.Haishoku.getPalette(path)]


def look_at(barcode, film, colours):
    with tempfile.TemporaryDirectory() as d:
        run = subprocess.run([barcode, film, "-q", "--cache", "-", "--colours", str(colours), "--dump", f"{d}/f.rgb", "--swatches",
                              f"{d}/f.json"], check=False)
        if run.returncode:
            raise SystemExit(f"palettes.py: {film}: exit status {run.returncode}")
        raw = np.memmap(f"{d}/f.rgb", np.uint8, "r").reshape(-1, 3)
        rgb = np.array(raw[np.sort(np.random.default_rng(1).choice(len(raw), PIXELS, False))])
        with open(f"{d}/f.json", encoding="utf-8") as f:
            own = [c["rgb"] for c in json.load(f)["colours"]]
        image = io.BytesIO()
        Image.fromarray(rgb.reshape(SIDE, SIDE, 3)).save(image, "PNG")
        with open(f"{d}/f.png", "wb") as f:
            f.write(image.getvalue())
        palettes = {"barcode": own,
                    "k-means": KMeans(colours, n_init=3, random_state=0).fit(rgb[::8].astype(float)).cluster_centers_,
                    "haishoku": of_haishoku(f"{d}/f.png"),
                    "colorthief": colorthief.ColorThief(f"{d}/f.png").get_palette(colours, 1)}
    pixels = oklab(rgb)
    print(film.rsplit("/", 1)[-1])
    for name, palette in palettes.items():
        palette = np.round(palette).astype(int)
        cover, accent, at = measure(pixels, palette)
        worst = "" if at is None else "#%02x%02x%02x" % tuple(rgb[at])
        print(f"  {name:10} {len(palette):2} colours  coverage {cover:.3f}  largest missing accent {accent:.4f} {worst:7}  "
              + " ".join("#%02x%02x%02x" % tuple(c) for c in palette))


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("barcode")
    ask.add_argument("film", nargs="+")
    ask.add_argument("--colours", type=int, default=8)
    a = ask.parse_args()
    for film in a.film:
        look_at(a.barcode, film, a.colours)


if __name__ == "__main__":
    main()
