#!/usr/bin/env python3
"""race.py BENCH_KMEANS W H FRAMES.rgb... [-k K] [--init INIT] - restarts that race against all of them to their end, on one thread.

The rates alternate in one run, for AVX2 and VNNI where the processor has them; then of all frames of the files how near the results
are: inertia, and how many have the same largest cluster, within 2 levels of each channel.
"""
import argparse
import json
import re
import statistics
import subprocess

TURNS = 5
NEAR = 2


def rate(ask, path, isa, *options):
    """Frames/s, or None where the processor has not that instruction set."""
    said = subprocess.run([ask.bench, *options, path, ask.width, ask.height, ask.k, "20", ask.init, isa, "1"], check=True,
                          capture_output=True, text=True).stdout
    found = re.search(r"([\d.]+) frames/s", said)
    return float(found[1]) if found else None


def rates(ask, path):
    for isa in ("avx2", "vnni"):
        pairs = [(rate(ask, path, isa, "--no-race"), rate(ask, path, isa)) for _ in range(TURNS)]
        if None in pairs[0]:
            continue
        ratios = sorted(race / whole for whole, race in pairs)
        whole, race = (statistics.median(p[i] for p in pairs) for i in (0, 1))
        print(f"  {path}, {isa}: {whole:.1f} frames/s to the end, {race:.1f} racing, ratio {statistics.median(ratios):.2f} "
              f"({ratios[0]:.2f} to {ratios[-1]:.2f})", flush=True)


def columns(ask, path, *options):
    said = subprocess.run([ask.bench, *options, "--json", path, ask.width, ask.height, ask.k, "20", ask.init], check=True,
                          capture_output=True, text=True).stdout
    return json.loads(said)["columns"]


def nearness(ask):
    same, ratios = 0, []
    for path in ask.frames:
        for race, whole in zip(columns(ask, path), columns(ask, path, "--no-race")):
            one, other = race["colours"][0]["rgb"], whole["colours"][0]["rgb"]
            same += max(abs(a - b) for a, b in zip(one, other)) <= NEAR
            ratios.append(race["inertia"] / whole["inertia"] if whole["inertia"] else 1)
    print(f"  {len(ratios)} frames: inertia of the race {statistics.mean(ratios):.5f} of that without, worst {max(ratios):.4f}; "
          f"the same largest cluster in {100 * same / len(ratios):.1f} %")


def main():
    ask = argparse.ArgumentParser()
    for name in ("bench", "width", "height"):
        ask.add_argument(name)
    ask.add_argument("frames", nargs="+")
    ask.add_argument("-k", default="8")
    ask.add_argument("--init", default="scalable")
    ask = ask.parse_args()
    rates(ask, ask.frames[0])
    nearness(ask)


main()
