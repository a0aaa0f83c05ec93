#!/usr/bin/python3
"""Judges our k-means by scikit-learn's, on the same frames.

    judge_kmeans.py FRAMES.rgb OURS.json... [--fits N] [--every N] [--limit N] [--time]

FRAMES.rgb is raw RGB24 (barcode --dump), OURS.json what `barcode --json` or `bench_kmeans --json` wrote for
it. Our inertia is recomputed in float64 from our centroids, which are rounded to 8 bits, with every pixel at
its nearest one; scikit-learn's is the best of --fits (50) runs to strict convergence. Exit 1 when a
frame's ratio exceeds 1.002 (k <= 8) or 1.02 (above); the ratio is that of the engine's own figure where the file has it.
Differences below FLAT squared levels a pixel are no difference: on a flat frame (all of the inertia a few units, from
a handful of odd pixels) ties decide, and scikit-learn's rounding noise breaks them at random.

--time also measures scikit-learn's frames/s on one thread at n_init=20 with its own tolerance (set
OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 in the environment).
"""
import argparse
import json
import sys
import time
import warnings

import numpy as np
from sklearn.cluster import KMeans

warnings.filterwarnings("ignore")

FLAT = 0.001


def inertia(points, weights, centres):
    """Weighted squared distances to the nearest centre; float64."""
    d = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    return float((d.min(axis=1) * weights).sum())


def means(points, weights, centres):
    """The unrounded means of the clusters that the centres make."""
    label = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)
    n = np.bincount(label, weights, len(centres))
    s = np.stack([np.bincount(label, weights * points[:, c], len(centres)) for c in range(3)], axis=1)
    return s[n > 0] / n[n > 0, None]


def reference(frame, k, fits):
    """The frame's colours, their weights and the best inertia that scikit-learn finds (0: k colours or fewer)."""
    points, weights = np.unique(frame, axis=0, return_counts=True)
    points = points.astype(np.float64)
    weights = weights.astype(np.float64)
    if len(points) <= k:
        return points, weights, 0.0
    theirs = KMeans(n_clusters=k, n_init=fits, tol=0, max_iter=300, random_state=0, algorithm="lloyd")
    theirs.fit(points, sample_weight=weights)
    return points, weights, inertia(points, weights, means(points, weights, theirs.cluster_centers_))


def judge(points, weights, best, column):
    """Ratios to scikit-learn: of rounded centroids, of their clusters' means, and of the engine's own figure."""
    rounded = np.array([c["rgb"] for c in column["colours"]], float)
    slack = FLAT * weights.sum()
    figures = (inertia(points, weights, rounded), inertia(points, weights, means(points, weights, rounded)),
               column.get("inertia", np.nan))
    if best == 0:
        return tuple(1.0 if f == 0 or np.isnan(f) else np.inf for f in figures)
    return tuple(f / best if np.isnan(f) or f > best + slack else min(f / best, 1.0) for f in figures)


def stopwatch(frames, k):
    """Frames/s of scikit-learn on all pixels of a few frames, as a script would call it."""
    begun = time.process_time()
    for f in frames:
        KMeans(n_clusters=k, n_init=20, random_state=0).fit(f.astype(np.float32))
    return len(frames) / (time.process_time() - begun)


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("frames")
    ask.add_argument("json", nargs="+", help="several must have the same k and size")
    ask.add_argument("--fits", type=int, default=50)
    ask.add_argument("--every", type=int, default=1)
    ask.add_argument("--limit", type=int, default=1 << 30)
    ask.add_argument("--time", action="store_true")
    args = ask.parse_args()

    runs = []
    for path in args.json:
        with open(path) as f:
            runs.append(json.load(f))
    (w, h), k = runs[0]["size"], runs[0]["k"]
    frames = np.fromfile(args.frames, np.uint8).reshape(-1, w * h, 3)
    for r in runs:
        if len(r["columns"]) != len(frames) or r["k"] != k or r["size"] != [w, h]:
            sys.exit("judge_kmeans: the files do not belong together")
    allowed = 1.002 if k <= 8 else 1.02
    chosen = range(0, len(frames), args.every)[:args.limit]
    best = [reference(frames[i], k, args.fits) for i in chosen]
    status = 0
    for r in runs:
        ratios = np.array([judge(*b, r["columns"][i]) for i, b in zip(chosen, best)])
        print(f"k {k}, {r.get('init', '?')}, {len(ratios)} frames of {w}x{h}, ours / scikit-learn best of {args.fits}:")
        for name, column in zip(("rounded centroids", "means of their clusters", "integer inertia"), ratios.T):
            if np.isnan(column).all():      # barcode's JSON has no inertia, bench_kmeans' has
                continue
            print(f"  {name:24s} mean {column.mean():.6f}  worst {column.max():.6f} (frame {chosen[int(column.argmax())]})")
        worst = np.where(np.isnan(ratios[:, 2]), ratios[:, 1], ratios[:, 2]).max()
        if worst > allowed:
            print(f"judge_kmeans: {worst:.6f} exceeds {allowed}")
            status = 1
    if args.time:
        rates = ", ".join(f"{r.get('init', '?')} {r.get('frames_per_second', float('nan'))}" for r in runs)
        rate = stopwatch([frames[i] for i in chosen[:3]], k)
        print(f"scikit-learn, n_init=20, one thread: {rate:.2f} frames/s; ours: {rates}")
    return status


if __name__ == "__main__":
    sys.exit(main())
