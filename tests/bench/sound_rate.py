#!/usr/bin/python3
"""sound_rate.py BENCH_SOUND [SOUND.s16] - processor times of src/sound, the best of several, in turns with others'.

The maximum filter of radius 20 on 2049 x 586 values (1,200,714 points) against SciPy's maximum_filter and, where it is
installed, OpenCV's dilate: all give the same bytes. Then two hours of noise, or of mono sound at 16 kHz: the spectrogram,
against NumPy's FFT of as many frames, and peaks; and all that is computed of a film's sound.
"""
import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
import subprocess
import sys
import tempfile
import time

import numpy as np
from scipy.ndimage import generate_binary_structure, iterate_structure, maximum_filter

try:
    import cv2
    cv2.setNumThreads(1)
except ImportError:
    cv2 = None
BENCH, RADIUS, HOURS = sys.argv[1], 20, 2
DIAMOND = iterate_structure(generate_binary_structure(2, 1), RADIUS)


def ours(kind, options, source, target):
    return float(subprocess.run([BENCH, kind, *map(str, options), source, target], check=True, stdout=subprocess.PIPE, text=True).stdout)


def timed(work):
    begun = time.process_time()
    return work(), time.process_time() - begun


def race_filter(work):
    values = np.random.default_rng(1).integers(-3000, 16000, (2049, 586)).astype(np.int16)
    source, target = os.path.join(work, "in"), os.path.join(work, "out")
    values.tofile(source)
    took = {"ours": [], "SciPy": [], "OpenCV": []}
    for _ in range(5):
        took["ours"].append(ours("filter", (RADIUS, 586, 5), source, target))
        got = np.fromfile(target, np.int16).reshape(values.shape)
        right, seconds = timed(lambda: maximum_filter(values, footprint=DIAMOND))
        took["SciPy"].append(seconds)
        if cv2:
            dilated, seconds = timed(lambda: cv2.dilate(values, DIAMOND.astype(np.uint8), borderType=cv2.BORDER_REFLECT))
            took["OpenCV"].append(seconds)
        if not np.array_equal(got, right) or (cv2 and not np.array_equal(dilated, right)):
            sys.exit("sound_rate: the results differ")
    best = min(took["ours"])
    print(f"maximum filter, 1,200,714 points, radius {RADIUS}, the same bytes (wanted: at most 2 ms):")
    for name, wanted in (("ours", ""), ("SciPy", " (wanted: 200)"), ("OpenCV", " (wanted: 10)")):
        if took[name]:
            print(f"  {name:8} {min(took[name]) * 1e3:9.3f} ms, {min(took[name]) / best:7.1f} times ours{wanted}")
    if not cv2:
        print("  OpenCV is not installed (pip install opencv-python-headless)")


def time_sound(work):
    source, spectrogram, peaks = (os.path.join(work, name) for name in ("sound", "spectrogram", "peaks"))
    n = HOURS * 3600 * 16000
    minute = np.fromfile(sys.argv[2], np.int16) if len(sys.argv) > 2 else np.random.default_rng(2).normal(0, 3000, 960000).astype(np.int16)
    np.resize(minute, n).tofile(source)
    print(f"{HOURS} hours of sound at 16 kHz (wanted: the spectrogram in well under 2 s):")
    for isa in ("base", "avx2"):
        print(f"  spectrogram, {isa:6} {ours('spectrogram', (isa, 3), source, spectrogram):6.2f} s")
    frames = np.lib.stride_tricks.sliding_window_view(minute, 1024)[::512]
    _, seconds = timed(lambda: np.fft.rfft(frames * np.hanning(1024)))
    print(f"  NumPy's FFT alone    {seconds * (n / 512) / len(frames):6.2f} s")
    took = ours("peaks", (7168, 3), spectrogram, peaks)
    print(f"  peaks                {took:6.2f} s, {os.path.getsize(peaks) / 8 / HOURS / 3600:.1f} a second")


def time_film(work):
    """Ten minutes, as two hours."""
    source, target = os.path.join(work, "film"), os.path.join(work, "stored")
    for channels, rate in ((2, 48000), (2, 44100), (6, 48000)):
        np.resize(np.random.default_rng(3).normal(0, 3000, 7654321).astype(np.int16), 600 * rate * channels).tofile(source)
        seconds = ours("film", ("avx2", channels, rate, 3), source, target) * HOURS * 6
        print(f"  a film's sound from {channels} channels at {rate} Hz {seconds:6.2f} s")


with tempfile.TemporaryDirectory() as folder:
    race_filter(folder)
    time_sound(folder)
    time_film(folder)
