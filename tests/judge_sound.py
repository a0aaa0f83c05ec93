#!/usr/bin/python3
"""Judges src/sound by SciPy and NumPy.

    judge_sound.py BARCODE BENCH_SOUND WORK [FILM...]

The maximum filter: the bytes of scipy.ndimage.maximum_filter for each radius from 1 to 31, on random values, plateaus and
spectrograms; where an axis is much shorter than the footprint SciPy reads outside of its array, and gets one that is
padded by numpy.pad(mode="symmetric"). The spectrogram: NumPy's FFT in float64; |X| may be off by 4 of 2^29. Peaks: two of
SciPy's filters. The films' sound is decoded by the ffmpeg program. Last the program itself: SciPy finds the peaks of
--landmarks in the array of --spectrogram, of made films and of those given, and no others.
"""
import os
import subprocess
import sys

import numpy as np
from scipy.ndimage import generate_binary_structure, iterate_structure, maximum_filter

BARCODE, BENCH, WORK = sys.argv[1:4]
ALL_ISA = ("base", "avx2", "vnni")
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


TONES = "aevalsrc=0.2*sin(2*PI*t*(220+110*floor(mod(t*3\\,8)))*(1+0.002*sin(30*t)))+0.1*sin(2*PI*t*55*floor(mod(t\\,5)+2))|" \
    "0.3*exp(-4*mod(t\\,0.5))*random(0)"
MADE = {                            # name: source of ffmpeg, codec and container
    "music.mkv": (TONES + ":d=40:s=48000", "flac"),
    "music-aac.mp4": (TONES + ":d=40:s=44100", "aac"),
    "noise.mkv": ("anoisesrc=d=30:c=pink:r=44100:seed=1", "pcm_s16le"),
    "silence.mkv": ("anullsrc=r=48000:d=20", "pcm_s16le"),
    "one-bit.mkv": ("anoisesrc=d=20:a=0.00005:r=32000:seed=2", "pcm_s16le"),
    "tone.mkv": ("sine=f=1000:d=30:r=16000", "pcm_s16le"),
    "tones.mkv": ("aevalsrc=0.4*sin(2*PI*1000*t)+0.4*sin(2*PI*3000*t)|0.1*sin(2*PI*440*t)*lt(mod(t\\,4)\\,2):d=30:s=48000", "ac3"),
    "short.mkv": ("sine=f=500:d=0.02:r=48000", "pcm_s16le"),
    "none.mkv": (None, None),
}


def made_films():
    for name, (source, codec) in MADE.items():
        path = os.path.join(WORK, name)
        sound = ["-f", "lavfi", "-i", source, "-c:a", codec] if source else []
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", "testsrc2=s=64x36:r=5:d=2", *sound,
                        "-c:v", "mpeg4", path], check=True)
        yield path


def judge_program(film):
    csv, npy = os.path.join(WORK, "judged.csv"), os.path.join(WORK, "judged.npy")
    done = subprocess.run([BARCODE, film, "-q", "--no-cache", "--landmarks", csv, "--spectrogram", npy], check=False)
    if done.returncode:
        return verdict(False, f"{film}: the program's status is {done.returncode}")
    v = np.load(npy)
    with open(csv, encoding="ascii") as lines:
        table = np.array([line.split(",") for line in lines][1:], float).reshape(-1, 5)
    theirs = scipy_peaks(v)
    frame, time, bin_, hertz, wide = table.T
    good = v.dtype == np.int16 and v.shape[1:] == (BINS,) and np.array_equal(np.column_stack([frame, bin_, wide]), theirs)
    good &= np.array_equal(time, np.round(frame * HOP / 16000, 3)) and np.array_equal(hertz, bin_ * 15.625)
    return verdict(good, f"--landmarks and --spectrogram, {os.path.basename(film)}: {len(table)} peaks in {len(v)} frames (SciPy {len(theirs)})")


def main():
    rng = np.random.default_rng(1)
    for shape in ((1, 1), (5, 60), (60, 5), (7, 200), (90, 70), (301, 257)):
        judge_filter("random", rng.integers(-32768, 32768, shape).astype(np.int16))
        judge_filter("plateaus", rng.integers(0, 3, shape).astype(np.int16))
    for name, sound in sounds(sys.argv[4:]):
        v = judge_spectrogram(name, np.clip(np.round(sound), -32768, 32767).astype(np.int16))
        judge_peaks(name, v)
        judge_filter(name, v[:100])
    for film in [*made_films(), *sys.argv[4:]]:
        judge_program(film)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
