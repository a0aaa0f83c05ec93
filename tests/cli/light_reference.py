#!/usr/bin/python3
"""light_reference.py FILM JSON DUMP pq|hlg|sdr: the dump's frames against light.h's definition, once more, in numpy's floating point.

FILM is 4:2:0 of 10 bits, limited range, with BT.2020's matrix. JSON tells which frames, the curve, the peak, the light and
an SDR film's primaries.
"""

import json
import subprocess
import sys

import numpy as np

MEAN_MOST, WORST_MOST = 0.5, 1.0     # of 8 bits: rounding alone may give 0.5
WHITE = 203
M1, M2, C1, C2, C3 = 2610 / 16384, 2523 / 4096 * 128, 3424 / 4096, 2413 / 4096 * 32, 2392 / 4096 * 32
TO_709 = {"bt2020": np.array([[1.660491, -0.587641, -0.072850], [-0.124550, 1.132900, -0.008349], [-0.018151, -0.100579, 1.118730]]),
          "smpte432": np.array([[1.224940, -0.224940, 0], [-0.042057, 1.042057, 0], [-0.019638, -0.078636, 1.098274]]),
          "bt709": np.eye(3)}


def pq(signal):
    p = signal ** (1 / M2)
    return 10000 * (np.maximum(p - C1, 0) / (C2 - C3 * p)) ** (1 / M1)


def pq_inverse(nits):
    p = (nits / 10000) ** M1
    return ((C1 + C2 * p) / (1 + C3 * p)) ** M2


def hlg(signal):
    a = 0.17883277
    b, c = 1 - 4 * a, 0.5 - a * np.log(4 * a)
    scene = np.where(signal <= 0.5, signal * signal / 3, (np.exp((np.maximum(signal, 0.5) - c) / a) + b) / 12)
    return 1000 * (scene @ np.array([0.2627, 0.6780, 0.0593]))[..., None] ** 0.2 * scene


def hable(x):
    return (x * (0.15 * x + 0.05) + 0.004) / (x * (0.15 * x + 0.5) + 0.06) - 0.02 / 0.3


def tone(nits, curve, peak):
    """cd/m2 to shares of SDR's white."""
    x, top = np.minimum(nits, peak) / WHITE, peak / WHITE
    if top <= 1 or curve == "clip":
        return np.minimum(x, 1)
    if curve == "hable":
        return np.minimum(hable(x) / hable(top), 1)
    if curve == "reinhard":
        return np.minimum(x * (1 + x / top ** 2) / (1 + x), 1)
    scale = pq_inverse(float(peak))
    e, most = pq_inverse(x * WHITE) / scale, pq_inverse(float(WHITE)) / scale
    knee = 1.5 * most - 0.5
    t = (e - knee) / (1 - knee)
    spline = (2 * t ** 3 - 3 * t ** 2 + 1) * knee + (t ** 3 - 2 * t ** 2 + t) * (1 - knee) + (3 * t ** 2 - 2 * t ** 3) * most
    return np.minimum(pq(np.where(e < knee, e, spline) * scale) / WHITE, 1)


def overlaps(samples, pixels):
    """[pixels][samples]: the share of a pixel that each sample covers."""
    edge = np.arange(samples + 1) * pixels / samples
    low = np.arange(pixels)[:, None]
    return np.clip(np.minimum(edge[1:], low + 1) - np.maximum(edge[:-1], low), 0, None)


def light_of(planes, width, height, kind, facts):
    luma = planes[:width * height].reshape(height, width)
    chroma = planes[width * height:].reshape(2, height // 2, width // 2).repeat(2, 1).repeat(2, 2)
    y, cb, cr = (luma - 64) / 876, (chroma[0] - 512) / 896, (chroma[1] - 512) / 896
    signal = np.stack([y + 1.4746 * cr, y - 0.16455313 * cb - 0.57135313 * cr, y + 1.8814 * cb], -1).clip(0, 1)
    if kind == "sdr":
        return (signal ** 2.4 @ TO_709[facts.get("primaries", "bt709")].T).clip(0, 1)
    nits = pq(signal) if kind == "pq" else hlg(signal)
    most = nits.max(-1, keepdims=True)
    mapped = nits * np.where(most > 0, tone(most, facts["tone_map"], facts["hdr_peak"]) / np.maximum(most, 1e-12), 0)
    return (mapped @ TO_709["bt2020"].T).clip(0, 1)


def main(film, json_path, dump_path, kind):
    with open(json_path, encoding="utf-8") as f:
        facts = json.load(f)
    width, height = facts["film"]["width"], facts["film"]["height"]
    w, h = facts["size"]
    raw = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", film, "-f", "rawvideo", "-pix_fmt", "yuv420p10le", "-"],
                         stdout=subprocess.PIPE, check=True).stdout
    frames = np.frombuffer(raw, np.uint16).reshape(-1, width * height * 3 // 2)
    got = np.fromfile(dump_path, np.uint8).reshape(-1, h, w, 3)
    if len(got) != len(facts["columns"]) or len(got) < 1:
        sys.exit(f"light_reference.py: {len(got)} frames for {len(facts['columns'])} columns")
    across, down = overlaps(width, w), overlaps(height, h)
    off = []
    for column, have in zip(facts["columns"], got):
        light = light_of(frames[column["frame"]].astype(float), width, height, kind, facts)
        value = light if facts.get("light") == "linear" else light ** (1 / 2.4)
        mean = np.einsum("ij,jkc,lk->ilc", down, value, across, optimize=True)
        right = 255 * (mean ** (1 / 2.4) if facts.get("light") == "linear" else mean)
        off.append(np.abs(right - have))
    mean, worst = np.mean(off), np.max(off)
    print(f"{film}, {kind}, {facts.get('tone_map')}: mean {mean:.3f}, worst {worst:.2f}")
    if mean > MEAN_MOST or worst > WORST_MOST:
        sys.exit(f"light_reference.py: off by {mean:.3f} on average, {worst:.2f} at most")


if __name__ == "__main__":
    main(*sys.argv[1:])
