#!/usr/bin/python3
"""sklearn_rate.py FRAMES.rgb W H BENCH_KMEANS - scikit-learn's frames/s and ours, one thread each, alternating in one run."""
import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
import re
import statistics
import subprocess
import sys
import time
import warnings

import numpy as np
from sklearn.cluster import KMeans

warnings.filterwarnings("ignore")
raw, width, height, bench = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
frames = np.fromfile(raw, np.uint8).reshape(-1, width * height, 3)
chosen = frames[:: max(1, len(frames) // 5)][:5].astype(np.float32)


def rate(isa, repeats="5"):
    """Frames/s and the instruction set, of the fastest line that bench_kmeans prints."""
    said = subprocess.run([bench, raw, str(width), str(height), "8", "20", "scalable", isa, repeats],
                          capture_output=True, text=True, check=True).stdout
    return max((float(m[2]), m[1]) for m in re.finditer(r"^(\w+) .*?([\d.]+) frames/s", said, re.M))


best = rate("all", "1")[1]
theirs, ours = [], []
for frame in chosen:
    start = time.process_time()
    KMeans(n_clusters=8, n_init=20, max_iter=300, random_state=0).fit(frame)
    theirs.append(1 / (time.process_time() - start))
    ours.append(rate(best)[0])
t, o = statistics.median(theirs), statistics.median(ours)
print(f"  scikit-learn {t:.2f} frames/s ({min(theirs):.2f} to {max(theirs):.2f}), ours {o:.1f} ({min(ours):.1f} to {max(ours):.1f}), "
      f"ratio {o / t:.0f}")
