#!/usr/bin/python3
"""Judges our k-means by scikit-learn's, on the same frames.

    judge_kmeans.py FRAMES.rgb OURS.json

FRAMES.rgb is raw RGB24 (barcode --dump), OURS.json what `barcode --json` wrote for it. Our inertia is recomputed
in float64 from our centroids, which are rounded to 8 bits, with every pixel at its nearest one; scikit-learn's is
the best of 50 runs to strict convergence. Exit 1 when a frame's ratio exceeds 1.002 (k <= 8) or 1.02 (above).
Differences below FLAT squared levels a pixel are no difference: on a flat frame (all of the inertia a few units, from
a handful of odd pixels) ties decide, and scikit-learn's rounding noise breaks them at random.

"""
import json
import sys
import warnings

import numpy as np
from sklearn.cluster import KMeans

warnings.filterwarnings("ignore")

FITS = 50
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


def reference(frame, k):
    """The frame's colours, their weights and the best inertia that scikit-learn finds (0: k colours or fewer)."""
    points, weights = np.unique(frame, axis=0, return_counts=True)
    points = points.astype(np.float64)
    weights = weights.astype(np.float64)
    if len(points) <= k:
        return points, weights, 0.0
    theirs = KMeans(n_clusters=k, n_init=FITS, tol=0, max_iter=300, random_state=0, algorithm="lloyd")
    theirs.fit(points, sample_weight=weights)
    return points, weights, inertia(points, weights, means(points, weights, theirs.cluster_centers_))


def judge(points, weights, best, column):
    """Ratios to scikit-learn: of rounded centroids, and of their clusters' means."""
    rounded = np.array([c["rgb"] for c in column["colours"]], float)
    slack = FLAT * weights.sum()
    figures = (inertia(points, weights, rounded), inertia(points, weights, means(points, weights, rounded)))
    if best == 0:
        return tuple(1.0 if f == 0 else np.inf for f in figures)
    return tuple(f / best if f > best + slack else min(f / best, 1.0) for f in figures)


def main():
    with open(sys.argv[2]) as f:
        ours = json.load(f)
    (w, h), k = ours["size"], ours["k"]
    frames = np.fromfile(sys.argv[1], np.uint8).reshape(-1, w * h, 3)
    if len(ours["columns"]) != len(frames):
        sys.exit("judge_kmeans: the files do not belong together")
    allowed = 1.002 if k <= 8 else 1.02
    ratios = np.array([judge(*reference(frame, k), column) for frame, column in zip(frames, ours["columns"])])
    print(f"k {k}, {ours['init']}, {len(ratios)} frames of {w}x{h}, ours / scikit-learn best of {FITS}:")
    for name, ratio in zip(("rounded centroids", "means of their clusters"), ratios.T):
        print(f"  {name:24s} mean {ratio.mean():.6f}  worst {ratio.max():.6f} (frame {int(ratio.argmax())})")
    worst = ratios[:, 1].max()
    if worst > allowed:
        print(f"judge_kmeans: {worst:.6f} exceeds {allowed}")
    return int(worst > allowed)


if __name__ == "__main__":
    sys.exit(main())
