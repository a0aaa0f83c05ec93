#!/usr/bin/python3
"""Judges keograms by NumPy: barcode --live over a folder into which this program writes a night.

    judge_keogram.py BARCODE WORK [PICTURES]

The night is made: 640x480 pictures of an all-sky camera with stars that turn about the pole, the moon, clouds and
twilight, PICTURES of them (200), some of them with an hour's pause before. They appear one by one; their modification is
when they were taken. Some are in the folder before barcode is. The picture of the day must be, pixel for pixel, what the
formula of slit.h gives in NumPy; columns without a picture are hatched, and missing in the CSV. The same pictures
as a film (--sequence) must give the same columns.
"""
import os
import shutil
import signal
import subprocess
import sys
import time
import zlib

import numpy as np

BARCODE, WORK = sys.argv[1:3]
PICTURES = int(sys.argv[3]) if len(sys.argv) > 3 else 200
W, H, STEP, BEGIN = 640, 480, 120, 1795651200 + 17 * 3600  # 2026-11-26 at 17:00 UTC
failed = 0


def verdict(good, text):
    global failed
    print(f"{'ok   ' if good else 'FAIL '} {text}")
    failed += not good


# ---- the night ----

def smooth_noise(rng, h, w, cell):
    """Noise that changes over `cell` pixels."""
    grid = rng.random((h // cell + 3, w // cell + 3))
    y, x = np.arange(h) / cell, np.arange(w) / cell
    i, j = y.astype(int), x.astype(int)
    fy, fx = (y - i)[:, None], (x - j)[None, :]
    a, b, c, d = grid[i][:, j], grid[i][:, j + 1], grid[i + 1][:, j], grid[i + 1][:, j + 1]
    return (a * (1 - fx) + b * fx) * (1 - fy) + (c * (1 - fx) + d * fx) * fy


class Night:
    """What an all-sky camera with north at the top sees at latitude 50."""

    def __init__(self):
        rng = np.random.default_rng(40)
        y, x = np.mgrid[0:H, 0:W]
        self.x, self.y = (x + 0.5 - W / 2) / (H / 2), (y + 0.5 - H / 2) / (H / 2)
        self.inside = np.hypot(self.x, self.y) < 1
        n = 3000
        z = rng.uniform(-0.5, 1, n)
        self.right, self.up, self.bright = rng.uniform(0, 2 * np.pi, n), np.arcsin(z), rng.pareto(1.2, n) * 14 + 6
        self.tint = rng.uniform(0.75, 1, (n, 3))
        self.clouds = sum(smooth_noise(rng, H, 3 * W, 160 >> k) / 2**k for k in range(4))

    def on_sky(self, right, up, turn):
        """Where a place of the sky is in the picture (zenith in the middle), after the sky has turned."""
        latitude, hour = np.radians(50), turn - right
        altitude = np.arcsin(np.sin(latitude) * np.sin(up) + np.cos(latitude) * np.cos(up) * np.cos(hour))
        azimuth = np.arctan2(-np.cos(up) * np.sin(hour), np.sin(up) * np.cos(latitude) - np.cos(up) * np.cos(hour) * np.sin(latitude))
        r = (np.pi / 2 - altitude) / (np.pi / 2)
        return altitude, -r * np.sin(azimuth), -r * np.cos(azimuth)

    def picture(self, t):
        """At t of the night, 0 to 1."""
        turn = 2 * np.pi * t * 0.55
        light = np.clip(np.abs(2 * t - 1) ** 6, 0, 1)  # twilight at both ends
        west = np.clip(0.6 + 0.4 * self.x * (1 if t < 0.5 else -1), 0, 1)
        sky = np.empty((H, W, 3))
        glow = light * west
        sky[:] = np.array([8, 10, 16]) + glow[..., None] * np.array([110, 130, 190])
        sky += (np.clip(np.hypot(self.x, self.y) - 0.8, 0, 1) * 60)[..., None] * np.array([1.2, 0.8, 0.4])  # a town
        altitude, sx, sy = self.on_sky(self.right, self.up, turn)
        px, py = ((sx + W / H) * H / 2).astype(int), ((sy + 1) * H / 2).astype(int)
        seen = (altitude > 0) & (px >= 1) & (px < W - 1) & (py >= 1) & (py < H - 1)
        stars = np.zeros((H, W, 3))
        for dx, dy, share in ((0, 0, 1), (1, 0, 0.4), (-1, 0, 0.4), (0, 1, 0.4), (0, -1, 0.4)):
            np.add.at(stars, (py[seen] + dy, px[seen] + dx), (self.bright[:, None] * self.tint)[seen] * share)
        altitude, mx, my = self.on_sky(1.0, np.radians(15), turn)
        d = np.hypot(self.x - mx, self.y - my)
        if altitude > 0:
            stars += (np.where(d < 0.03, 255, 0) + 60 * np.exp(-d * 8))[..., None] * np.array([1, 0.98, 0.9])
        shift = int(t * 2 * W)
        cover = np.clip((self.clouds[:, shift:shift + W] - 1.05 + 0.25 * np.sin(9 * t)) * 3, 0, 1)[..., None]
        sky = (sky + stars * (1 - light)) * (1 - 0.8 * cover) + cover * (np.array([40, 36, 34]) + 90 * glow[..., None])
        return np.where(self.inside[..., None], np.clip(sky, 0, 255), 0).astype(np.uint8)


def png(rgb):
    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
    rows = np.concatenate([np.zeros((rgb.shape[0], 1), np.uint8), rgb.reshape(rgb.shape[0], -1)], axis=1)
    head = rgb.shape[1].to_bytes(4, "big") + rgb.shape[0].to_bytes(4, "big") + bytes([8, 2, 0, 0, 0])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 1)) + chunk(b"IEND", b"")


def appear(folder, i, taken, data):
    """A picture appears at once, by rename or by writing it in place."""
    name, hidden = os.path.join(folder, f"sky-{i:04}.png"), os.path.join(folder, f".{i}.tmp")
    with open(hidden, "wb") as f:
        f.write(data)
    os.utime(hidden, (taken, taken))
    os.rename(hidden, name)


# ---- the keogram, once more ----

def line(x, degrees):
    """The pixels of a slit by the formulas of slit.h: arrays of x and y from the top."""
    c, s = (int(np.rint(f(np.radians(degrees)) * 2**20)) for f in (np.cos, np.sin))
    across, down = (a * abs(c) + b * abs(s) + 2**19 >> 20 for a, b in ((W, H), (H, W)))
    u, v = 2 * min(across - 1, across * x // 100) + 1 - across, 2 * np.arange(down) + 1 - down
    px, py = (W * 2**20 + u * c + v * s) // 2**21, (H * 2**20 - u * s + v * c) // 2**21
    inside = (px >= 0) & (px < W) & (py >= 0) & (py < H)
    return px[inside], py[inside]


def scaled(pixels, height):
    """pixels[n][columns][3] to `height` rows by the exact area mean."""
    n = len(pixels)
    each = np.repeat(pixels.astype(np.int64), height, axis=0).reshape(height, n, *pixels.shape[1:]).sum(axis=1)
    return ((2 * each + n) // (2 * n)).astype(np.uint8)


def keogram(pictures, x, degrees, height):
    px, py = line(x, degrees)
    return scaled(np.stack([p[py, px] for p in pictures], axis=1), height)


def decoded(path):
    size = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0", path],
                          stdout=subprocess.PIPE, check=True, text=True).stdout.split(",")
    data = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
                          stdout=subprocess.PIPE, check=True).stdout
    return np.frombuffer(data, np.uint8).reshape(int(size[1]), int(size[0]), 3)


# ---- a night as it happens ----

def watched(name, options, x, degrees, height, taken, pictures):
    """A run of --live beside which the night appears."""
    folder, out = os.path.join(WORK, name), os.path.join(WORK, name + "-out")
    for path in (folder, out):
        shutil.rmtree(path, ignore_errors=True)
    os.makedirs(folder)
    early = len(pictures) // 4
    for i in reversed(range(early)):
        appear(folder, i, taken[i], png(pictures[i]))
    child = subprocess.Popen([BARCODE, f"--live={STEP}", folder, "-o", out, "--height", str(height), *options],
                             env={**os.environ, "TZ": "Europe/Berlin"})
    time.sleep(1)
    for i in range(early, len(pictures)):
        appear(folder, i, taken[i], png(pictures[i]))
        time.sleep(0.01)
    time.sleep(2)
    child.send_signal(signal.SIGTERM)
    verdict(child.wait(timeout=20) == 0, f"{name}: SIGTERM ends it in order")
    begin = taken[0] // STEP * STEP
    right = np.empty((height, (taken[-1] - begin) // STEP + 1, 3), np.uint8)
    hatch = np.add.outer(np.arange(height), np.arange(right.shape[1])) & 4
    right[:] = np.where(hatch, 48, 32)[..., None]
    column = [(t - begin) // STEP for t in taken]
    right[:, column] = keogram(pictures, x, degrees, height)
    path = os.path.join(out, f"{name}-2026-11-26")
    got = decoded(path + ".png")
    same = got.shape == right.shape and (got == right).all()
    verdict(same, f"{name}: {' '.join(options)}: {right.shape[1]} columns, {len(pictures)} pictures"
            + ("" if same else f": {got.shape}, {(got != right).any(axis=2).sum() if got.shape == right.shape else 'all'} pixels differ"))
    with open(path + ".csv", encoding="utf-8") as f:
        rows = [r.split(",") for r in f.read().splitlines()]
    status = [r[rows[0].index("status")] for r in rows[1:]]
    clock = [r[rows[0].index("clock")] for r in rows[1:]]
    verdict(clock == [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begin + i * STEP)) for i in range(right.shape[1])], f"{name}: the CSV's clock")
    verdict(status == ["ok" if i in set(column) else "missing" for i in range(right.shape[1])], f"{name}: the CSV's columns")
    return folder


def main():
    os.makedirs(WORK, exist_ok=True)
    night = Night()
    taken, pictures, t = [], [], BEGIN
    for i in range(PICTURES):
        if i in (PICTURES // 3, PICTURES // 2):
            t += 3600 + 77  # clouds of another kind: the camera was off
        taken.append(t)
        pictures.append(night.picture(i / (PICTURES - 1)))
        t += STEP
    folder = watched("meridian", ["-m", "slit", "--day", "12:00"], 50, 0, H, taken, pictures)
    watched("rotated", ["-m", "slit=40%", "--rotate", "-17.5", "--day", "12:00", "--size", "full"], 40, -17.5, 300, taken, pictures)
    film = os.path.join(WORK, "film.png")
    subprocess.run([BARCODE, "--sequence", folder, "-q", "-n", "1", "-m", "slit", "--crop", "off", "--no-cache", "--height", str(H),
                    "-o", film, "--overwrite"], check=True)
    verdict((decoded(film) == keogram(pictures, 50, 0, H)).all(), "--sequence: the pictures of a night that is over")
    sys.exit(failed > 0)


main()
