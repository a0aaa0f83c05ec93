#!/usr/bin/env python3
"""Statistics of a film's shots, from `barcode film.mkv --shot-list film.csv`.

python3 shots.py film.csv film.png    # the picture needs matplotlib
"""

import csv
import statistics
import sys


def read(path):
    """Returns the shots as dictionaries, with numbers as numbers and colours as [(#rrggbb, share)]."""
    with open(path, newline="", encoding="utf-8") as f:
        shots = list(csv.DictReader(f))
    for shot in shots:
        for name in ("start", "end", "length"):
            shot[name] = float(shot[name])
        names = [n for n in shot if n.startswith("colour_") and shot[n]]
        shot["colours"] = [(shot[n], float(shot["share" + n[6:]])) for n in names] or [(shot["average"], 1.0)]
    return shots


def cutting_rate(shots, seconds):
    """Returns times and, at each, the shots per minute that begin in the seconds around it."""
    starts, end = [s["start"] for s in shots[1:]], shots[-1]["end"]
    times = [end * i / 200 for i in range(201)]
    rates = []
    for t in times:
        low, high = max(0, t - seconds / 2), min(end, t + seconds / 2)
        rates.append(60 * sum(low <= s < high for s in starts) / (high - low))
    return times, rates


def draw(shots, path):
    import matplotlib.pyplot as plt

    figure, (lengths, rate, palette) = plt.subplots(3, 1, sharex=True, figsize=(8, 5), height_ratios=[3, 2, 1])
    for s in shots:
        lengths.bar(s["start"], s["length"], s["length"], align="edge", color=s["colours"][0][0])
        below = 0.0
        for colour, share in s["colours"]:
            palette.bar(s["start"], share, s["length"], below, align="edge", color=colour)
            below += share
    lengths.set(ylabel="length of shot, s", facecolor="0.85")
    rate.plot(*cutting_rate(shots, min(60, shots[-1]["end"] / 5)), color="black")
    rate.set(ylabel="shots per minute", ylim=(0, None))
    palette.set(xlabel="time, s", ylabel="palette", yticks=[], xlim=(0, shots[-1]["end"]), ylim=(0, 1))
    figure.tight_layout()
    figure.savefig(path)


def main():
    shots = read(sys.argv[1])
    lengths = [s["length"] for s in shots]
    print(f"{len(shots)} shots in {shots[-1]['end']:.1f} s, {60 * len(shots) / sum(lengths):.1f} per minute")
    print(f"average shot length {statistics.mean(lengths):.2f} s, median {statistics.median(lengths):.2f} s")
    longest = max(shots, key=lambda s: s["length"])
    colours = ", ".join(f"{colour} {100 * share:.0f} %" for colour, share in longest["colours"])
    print(f"the longest is shot {longest['shot']} at {longest['start']:.1f} s: {longest['length']:.1f} s, {colours}")
    if len(sys.argv) > 2:
        draw(shots, sys.argv[2])


if __name__ == "__main__":
    main()
