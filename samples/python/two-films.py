#!/usr/bin/env python3
"""Draws luminance and saturation along films, one above the other. Needs pandas and matplotlib.

    barcode -m average a.mkv b.mkv --csv films.csv --csv-columns title,time,luminance,saturation
    python3 two-films.py films.csv two-films.png
"""
import sys

import matplotlib.pyplot as plt
import pandas

table, picture = sys.argv[1:]
films = pandas.read_csv(table, dtype={"title": str}, keep_default_na=False, na_values={"luminance": "", "saturation": ""})
figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(10, 5), layout="constrained")
for title, film in films.groupby("title", sort=False):
    for axes, what in ((above, "luminance"), (below, "saturation")):
        smooth = film[what].rolling(max(1, len(film) // 200), center=True, min_periods=1).mean()
        axes.plot(film["time"] / 60, smooth, label=title, linewidth=1)
        axes.set(ylabel=what, ylim=(0, 1), xmargin=0)
above.legend()
below.set_xlabel("minutes")
figure.savefig(picture, dpi=150)
