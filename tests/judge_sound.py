#!/usr/bin/python3
"""Judges src/sound by SciPy and NumPy.

    judge_sound.py BENCH_SOUND WORK [FILM...]

The maximum filter: the bytes of scipy.ndimage.maximum_filter for each radius from 1 to 31, on random values, plateaus and
spectrograms; where an axis is much shorter than the footprint SciPy reads outside of its array, and gets one that is
padded by numpy.pad(mode="symmetric"). The spectrogram: NumPy's FFT in float64; |X| may be off by 4 of 2^29. Peaks: two of
SciPy's filters. The films' sound is decoded by the ffmpeg program.
"""
import os
import subprocess
import sys

import numpy as np
from scipy.ndimage import generate_binary_structure, iterate_structure, maximum_filter

BENCH, WORK = sys.argv[1:3]
ALL_ISA = ("c", "avx2", "avx512", "vnni")
WINDOW, HOP, BINS, FLOOR = 1024, 512, 512, 7168
failed = 0


def verdict(good, text):
    global failed
    print(f"{'ok   ' if good else 'FAIL '} {text}")
    failed += not good


def bench(kind, options, values):
    """What bench_sound makes of the values, and its status."""
    source, target = os.path.join(WORK, "sound-in.raw"), os.path.join(WORK, "sound-out.raw")
    np.ascontiguousarray(values, np.int16).tofile(source)
    done = subprocess.run([BENCH, kind, *map(str, options), "1", source, target], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return np.fromfile(target, np.int16) if done.returncode == 0 else None


def diamond(radius):
    return iterate_structure(generate_binary_structure(2, 1), radius)


def scipy_filter(a, radius):
    if min(a.shape) > 2 * radius:
        return maximum_filter(a, footprint=diamond(radius))
    padded = np.pad(a, radius, mode="symmetric")
    return maximum_filter(padded, footprint=diamond(radius))[radius:-radius, radius:-radius]


def judge_filter(name, a):
    differ = []
    for radius in range(1, 32):
        ours = bench("filter", (radius, a.shape[1]), a)
        if ours is None or ours.tobytes() != scipy_filter(a, radius).tobytes():
            differ.append(radius)
    verdict(not differ, f"filter, {name}, {a.shape[0]}x{a.shape[1]}, radius 1 to 31" + (f": {differ} differ" if differ else ""))


def numpy_amplitudes(sound):
    frames = -(-len(sound) // HOP)
    padded = np.concatenate([sound, np.zeros(WINDOW)]).astype(np.float64)
    weights = np.round((1 - np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)) * 16384)
    slices = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP][:frames]
    return np.abs(np.fft.rfft(slices * weights, axis=1)[:, :BINS]) / 512


def judge_spectrogram(name, sound):
    """Returns our spectrogram."""
    size = numpy_amplitudes(sound)
    least, most = (256 * np.log2(np.maximum(size + off, 0) ** 2 + 1) for off in (-4, 4))
    exact, first = 256 * np.log2(size ** 2 + 1), None
    for isa in ALL_ISA:
        ours = bench("spectrogram", (isa,), sound)
        if ours is None:            # this processor has it not
            continue
        first = ours if first is None else first
        value = ours.reshape(-1, BINS)
        near = (value >= least - 0.501) & (value <= most + 0.501)
        verdict(value.shape == size.shape and near.all() and ours.tobytes() == first.tobytes(),
                f"spectrogram, {name}, {len(value)} frames, {isa}: {np.abs(value - exact)[size > 1000].max(initial=0):.3f} steps off at most where |X| > 1000")
    return first.reshape(-1, BINS)


def scipy_peaks(v):
    """frame, bin, wide of each."""
    found = []
    for radius in (10, 20):
        before = diamond(radius)
        before[radius + 1:] = False
        before[radius, radius:] = False
        largest = (v == maximum_filter(v, footprint=diamond(radius))) & \
            (v > maximum_filter(v, footprint=before, mode="constant", cval=-32768))
        found.append(largest)
    found[0][:, :4] = False
    at = np.argwhere(found[0] & (v >= FLOOR))
    return np.column_stack([at, found[1][at[:, 0], at[:, 1]]])


def judge_peaks(name, v):
    ours = bench("peaks", (FLOOR,), v)
    rows = ours.view(np.dtype([("frame", "<u4"), ("bin", "<u2"), ("wide", "<u2")]))
    ours = np.column_stack([rows["frame"], rows["bin"], rows["wide"]]).astype(np.int64)
    theirs = scipy_peaks(v)
    verdict(np.array_equal(ours, theirs), f"peaks, {name}: {len(ours)} (SciPy {len(theirs)}), of them wide {int(ours[:, 2].sum())}")


def sounds(films):
    """Made sounds of half a minute, and a minute of each film."""
    n, rng = 30 * 16000, np.random.default_rng(39)
    t = np.arange(n) / 16000
    yield "noise", rng.normal(0, 3000, n)
    yield "quiet noise", rng.integers(-1, 2, n)
    yield "a rising tone", 32767 * np.sin(2 * np.pi * (50 + 120 * t) * t)
    yield "a constant tone in silence", np.where(t % 4 < 2, 20000 * np.sin(2 * np.pi * 1000 * t), 0)
    yield "clicks", np.where(np.arange(n) % 512 == 0, 32767, 0)
    yield "the loudest", np.sign(rng.normal(0, 1, n)) * 32768
    for film in films:
        raw = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-t", "60", "-i", film, "-vn", "-ac", "1", "-ar", "16000", "-f", "s16le", "-"],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
        if raw:                     # it has sound
            yield os.path.basename(film), np.frombuffer(raw, np.int16)


def main():
    rng = np.random.default_rng(1)
    for shape in ((1, 1), (5, 60), (60, 5), (7, 200), (90, 70), (301, 257)):
        judge_filter("random", rng.integers(-32768, 32768, shape).astype(np.int16))
        judge_filter("plateaus", rng.integers(0, 3, shape).astype(np.int16))
    for name, sound in sounds(sys.argv[3:]):
        v = judge_spectrogram(name, np.clip(np.round(sound), -32768, 32767).astype(np.int16))
        judge_peaks(name, v)
        judge_filter(name, v[:100])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
