#!/usr/bin/env python3
"""shots_films.py DIR - films with known shots, and DIR/truth.json (make test-shots).

Scenes are textures with structure in the colours of a location, which neighbouring shots often share, with a camera and moving bodies. A film
is one kind of content, rate and codec. Two films are made at a time. SEED: other ones. Needs NumPy and ffmpeg."""
import argparse
import json
import os
import subprocess
from concurrent.futures import ProcessPoolExecutor

import numpy as np

WIDTH, HEIGHT = 320, 180
SEED = int(os.environ.get("SEED", 2026))
CANVAS_W, CANVAS_H = 1280, 720  # wraps around
LAVFI = ["mandelbrot=s=320x180:maxiter=200", "gradients=s=320x180:speed=0.02:seed=%d", "testsrc2=s=320x180",
         "cellauto=s=320x180:rule=110:seed=%d", "life=s=320x180:mold=10:ratio=0.3:seed=%d:death_color=#405060",
         "smptebars=s=320x180", "yuvtestsrc=s=320x180"]
CODECS = {"h264": ["libx264", "-preset", "veryfast"], "hevc": ["libx265", "-preset", "ultrafast", "-x265-params", "log-level=none"]}
KINDS = {  # boundaries of a film by kind
    "plain": {"cuts": 50}, "pan": {"cuts": 50}, "zoom": {"cuts": 50}, "shake": {"cuts": 50},
    "action": {"cuts": 50}, "strobe": {"cuts": 40}, "dark": {"cuts": 50}, "noise": {"cuts": 50},
    "made": {"cuts": 40}, "flash": {"cuts": 66, "flashes": 60}, "fade": {"cuts": 20, "fades": 50},
    "dissolve": {"cuts": 20, "dissolves": 50}, "clips": {"cuts": 30, "fades": 15, "dissolves": 15}}
FILMS = [  # kind, frames a second (0: varying), codec, constant rate factor
    ("plain", 24, "h264", 23), ("plain", 60, "hevc", 36), ("plain", 0, "h264", 34), ("pan", 25, "h264", 34),
    ("pan", 50, "hevc", 26), ("zoom", 30, "h264", 23), ("zoom", 24, "hevc", 36), ("shake", 24, "h264", 34),
    ("shake", 60, "h264", 23), ("action", 24, "hevc", 26), ("action", 30, "h264", 34), ("strobe", 25, "h264", 23),
    ("strobe", 50, "hevc", 36), ("dark", 24, "h264", 34), ("dark", 30, "hevc", 26), ("noise", 24, "h264", 23),
    ("noise", 25, "hevc", 36), ("made", 30, "h264", 23), ("flash", 24, "h264", 34), ("flash", 60, "hevc", 26),
    ("fade", 24, "h264", 23), ("fade", 50, "hevc", 36), ("dissolve", 25, "h264", 34), ("dissolve", 0, "hevc", 26)]


def noise(rng, height, width, power):
    """Periodic noise whose spectrum falls with frequency, -1..1 mostly."""
    fy, fx = np.fft.fftfreq(height)[:, None] * height, np.fft.rfftfreq(width)[None] * width
    size = np.hypot(fy, fx * height / width)
    size[0, 0] = np.inf
    phase = rng.uniform(0, 2 * np.pi, size.shape)
    plane = np.fft.irfft2(size ** -power * np.exp(1j * phase), (height, width))
    return plane / (2 * plane.std())


def make_palette(rng):
    base, spread = rng.uniform(30, 200), rng.uniform(25, 80)
    tint = rng.uniform(-35, 35, 3)
    return np.clip(base + rng.normal(0, spread, (6, 1)) + tint + rng.normal(0, 18, (6, 3)), 5, 250)


def make_canvas(rng, palette):
    height, width = CANVAS_H // 2, CANVAS_W // 2
    level = np.digitize(noise(rng, height, width, rng.uniform(1.6, 2.4)), np.sort(rng.uniform(-0.8, 0.8, 4)))
    picture = palette[rng.permutation(6)][level]
    for _ in range(rng.integers(8, 30)):
        w, h = rng.integers(10, 160), rng.integers(10, 140)
        x, y = (rng.integers(0, width) + np.arange(w)) % width, (rng.integers(0, height) + np.arange(h)) % height
        colour = palette[rng.integers(6)] * rng.uniform(0.6, 1.3) + rng.normal(0, 12, 3)
        shade = np.linspace(rng.uniform(0.7, 1), rng.uniform(0.8, 1.2), h)[:, None, None]
        inside = np.ones((h, w, 1), bool)
        if rng.random() < 0.5:
            inside = ((np.arange(h)[:, None] / h - 0.5) ** 2 + (np.arange(w) / w - 0.5) ** 2 < 0.25)[..., None]
        part = picture[y[:, None], x]
        picture[y[:, None], x] = np.where(inside, colour * shade, part)
    light = 1 + 0.25 * noise(rng, height, width, 1.2) + 0.35 * noise(rng, height, width, 2.5)
    picture = np.clip(picture * light[..., None], 0, 255).astype(np.uint8)
    return picture.repeat(2, 0).repeat(2, 1), picture


class Body:
    """An ellipse with a head that moves through the picture."""

    def __init__(self, rng, palette, fast):
        self.colour = np.clip(palette[rng.integers(6, size=2)] * rng.uniform(0.5, 1.5) + rng.normal(0, 25, (2, 3)), 0, 255)
        self.height = rng.uniform(60, 170) if fast or rng.random() < 0.5 else rng.uniform(20, 60)
        self.x, self.y = rng.uniform(0, WIDTH), rng.uniform(70, 170)
        self.speed = rng.uniform(0.3, 1.5) * WIDTH * rng.choice([-1, 1]) if fast else rng.normal(0, 0.12) * WIDTH
        self.bob, self.rate = rng.uniform(0, 8) * (3 if fast else 1), rng.uniform(1, 9)

    def draw(self, frame, seconds):
        span = WIDTH + 200
        cx = (self.x + self.speed * seconds + 100) % span - 100
        cy = self.y + self.bob * np.sin(self.rate * seconds)
        for part, (dy, rx, ry) in enumerate(((0, 0.28, 0.5), (-0.6, 0.14, 0.19))):
            rx, ry, y0 = rx * self.height, ry * self.height, cy + dy * self.height
            top, end = int(max(0, y0 - ry)), int(min(HEIGHT, y0 + ry + 1))
            left, right = int(max(0, cx - rx)), int(min(WIDTH, cx + rx + 1))
            if top >= end or left >= right:
                continue
            ys, xs = np.arange(top, end)[:, None], np.arange(left, right)
            inside = ((ys - y0) / ry) ** 2 + ((xs - cx) / rx) ** 2 < 1
            box = frame[top:end, left:right]
            shade = 0.75 + 0.5 * (xs - left) / (right - left)
            box[inside] = np.clip(self.colour[part] * np.broadcast_to(shade, inside.shape)[..., None], 0, 255)[inside]


class Scene:
    """A shot: frame(i) for any i, also before its first and after its last frame."""

    def __init__(self, rng, kind, fps, canvas, palette):
        self.canvas, self.fps, self.kind, self.seed = canvas, fps, kind, int(rng.integers(1 << 30))
        self.x, self.y = rng.uniform(0, CANVAS_W), rng.uniform(0, CANVAS_H)
        self.zoom = rng.uniform(1.2, 3.5)  # pixels of the canvas for one of the frame
        self.drift = rng.normal(0, 12, 2) * (rng.random() < 0.6)
        self.rate, self.jitter = 1.0, 0.0
        if kind == "pan":
            turn = rng.uniform(0, 2 * np.pi)
            self.drift = WIDTH * rng.uniform(0.1, 1.2) * np.array([np.cos(turn), 0.4 * np.sin(turn)])
        if kind == "zoom":
            self.rate = np.exp(rng.uniform(0.1, 0.5) * rng.choice([-1, 1]))
        if kind == "shake":
            self.jitter = rng.uniform(2, 10)
        self.body = [Body(rng, palette, kind == "action") for _ in range(rng.integers(1, 4))]
        self.gain = rng.uniform(0.06, 0.2) if kind == "dark" else 1.0
        self.grain = rng.uniform(10, 22) if kind == "noise" else rng.uniform(0, 3)
        self.strobe = (rng.uniform(5, 12), rng.uniform(0.1, 0.4)) if kind == "strobe" and rng.random() < 0.6 else None

    def crop(self, i):
        """The centre and zoom of frame i."""
        t, rng = i / self.fps, np.random.default_rng([self.seed, i + 1000])
        return (np.array([self.x, self.y]) + self.zoom * (self.drift * t + rng.normal(0, 1, 2) * self.jitter),
                np.clip(self.zoom * self.rate ** t, 0.3, 3.9))

    def frame(self, i):
        t, rng = i / self.fps, np.random.default_rng([self.seed, i + 5000])
        (cx, cy), zoom = self.crop(i)
        canvas, step = (self.canvas[0], 1) if zoom < 1.8 else (self.canvas[1], 2)
        xs = ((cx + (np.arange(WIDTH) - WIDTH / 2) * zoom) % CANVAS_W / step).astype(int)
        ys = ((cy + (np.arange(HEIGHT) - HEIGHT / 2) * zoom) % CANVAS_H / step).astype(int)
        frame = canvas[ys[:, None], xs]
        for body in self.body:
            body.draw(frame, t)
        frame = frame * np.float32(self.gain)
        if self.strobe and int(t * self.strobe[0] * 2) % 2:
            frame = frame * self.strobe[1]
        shift = rng.integers(0, HEIGHT), rng.integers(0, WIDTH)
        return frame + np.roll(GRAIN, shift, (0, 1)) * np.float32(self.grain)


GRAIN = np.random.default_rng(7).normal(0, 1, (HEIGHT, WIDTH, 1)).astype(np.float32)


def read_frames(source, frames, fps):
    command = ["ffmpeg", "-v", "error", *source, "-an", "-vf", f"fps={fps},scale={WIDTH}:{HEIGHT}", "-frames:v", str(frames),
               "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return np.frombuffer(raw, np.uint8).reshape(-1, HEIGHT, WIDTH, 3)


class Footage:
    """A shot that ffmpeg reads: a source of lavfi, or a piece of a clip between its cuts."""

    def __init__(self, source, frames, fps):
        self.frames = read_frames(source, frames, fps)

    def frame(self, i):
        return self.frames[min(max(i, 0), len(self.frames) - 1)].astype(np.float32)


class Film:
    def __init__(self, index, kind, fps, clips, cuts_share):
        self.rng, self.kind, self.fps, self.clips = np.random.default_rng([SEED, index]), kind, fps or 40, clips
        want = {k: max(int(n * cuts_share), 4) for k, n in KINDS[kind].items()}
        self.flashes = want.pop("flashes", 0)
        self.borders = [b[:-1] for b, n in want.items() for _ in range(n)]
        self.rng.shuffle(self.borders)
        self.recent, self.places = [], 0
        self.truth = {"cut": [], "fade": [], "dissolve": [], "flash": []}

    def next_scene(self, frames):
        """Another canvas of the place, or a nearer look at the last one; now and then another place."""
        rng = self.rng
        if self.kind == "made":
            source = LAVFI[int(rng.integers(len(LAVFI)))]
            while source == self.recent:
                source = LAVFI[int(rng.integers(len(LAVFI)))]
            self.recent = source
            return Footage(["-f", "lavfi", "-i", source % int(rng.integers(99)) if "%" in source else source], frames, self.fps)
        if self.kind == "clips":
            self.recent = self.clips[rng.choice([i for i, clip in enumerate(self.clips) if clip != self.recent])]
            path, start, end = self.recent
            start = rng.uniform(start, max(start, end - frames / self.fps))
            return Footage(["-ss", f"{start:.3f}", "-to", f"{end:.3f}", "-i", path], frames, self.fps)
        if not self.recent or (rng.random() < 0.2 and self.places < 12):
            self.palette, self.places = make_palette(rng), self.places + 1
            self.recent = [make_canvas(rng, self.palette) for _ in range(2)]
            self.last = 0
        nearer = rng.random() < 0.15
        self.last = self.last if nearer else 1 - self.last
        scene = Scene(rng, self.kind, self.fps, self.recent[self.last], self.palette)
        if nearer and hasattr(self, "scene"):
            scene.x, scene.y = self.scene.x + rng.uniform(-60, 60), self.scene.y + rng.uniform(-40, 40)
            scene.zoom = self.scene.zoom * rng.choice([0.4, 0.55, 1.8])
        self.scene = scene
        return scene

    def write(self, put):
        rng, fps, at = self.rng, self.fps, 0
        scene, start = None, 0  # `start`: the scene's frame that comes next
        for border in [*self.borders, None]:
            least = {"cut": 0.7, None: 0.7}.get(border, 1.2)
            length = int(rng.choice([rng.uniform(least, least + 0.8), rng.uniform(least, 3)]) * fps)
            scene = scene or self.next_scene(length + 4 * fps)
            flash = int(rng.integers(0.3 * fps, length - 0.35 * fps)) if self.flashes and length > fps else -99
            lasts, light = int(max(1, rng.uniform(0.03, 0.15) * fps)), rng.uniform(0.5, 1)
            self.flashes -= flash >= 0
            for i in range(length):
                frame = scene.frame(start + i)
                if 0 <= i - flash < lasts:
                    frame = frame + (255 - frame) * light
                put(frame)
            if flash >= 0:
                self.truth["flash"].append(at + flash)
            at, start = at + length, start + length
            if border is None:
                return
            other = self.next_scene(int(6 * fps))
            at += self.cross(border, scene, other, start, at, put)
            scene, start = other, 0

    def cross(self, border, scene, other, start, at, put):
        """Writes the frames between two shots and returns how many."""
        rng, fps, taken = self.rng, self.fps, 0
        if border == "cut":
            self.truth["cut"].append(at)
        elif border == "dissolve":
            taken = int(rng.uniform(0.4, 2) * fps)
            for i in range(taken):
                share = (i + 1) / (taken + 1)
                put(scene.frame(start + i) * (1 - share) + other.frame(i - taken) * share)
            self.truth["dissolve"].append([at, at + taken, at + taken // 2])
        elif border == "fade":
            down, black, up = (int(rng.uniform(*s) * fps) for s in ((0.3, 1.2), (0.06, 0.8), (0.3, 1.2)))
            white = 245.0 if rng.random() < 0.15 else 0.0
            for i in range(down):
                put(white + (scene.frame(start + i) - white) * (1 - (i + 1) / (down + 1)))
            for _ in range(black):
                put(np.full((HEIGHT, WIDTH, 3), white, np.float32))
            for i in range(up):
                put(white + (other.frame(i - up) - white) * ((i + 1) / (up + 1)))
            taken = down + black + up
            self.truth["fade"].append([at, at + taken, at + down + black // 2])
        return taken


def make_film(job):
    index, folder, (kind, fps, codec, crf), clips, share = job
    name = f"{index:02d}-{kind}-{fps or 'vfr'}-{codec}-{crf}.mkv"
    film = Film(index, kind, fps, clips, share)
    rate = str(fps or 30)
    filters = ["-vf", "setpts='(floor(N/200)*6.25+if(lt(mod(N,200),100),mod(N,200)/24,100/24+(mod(N,200)-100)/48))/TB'"]
    command = ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}", "-r", rate, "-i", "-",
               *([] if fps else filters), "-fps_mode", "passthrough", "-pix_fmt", "yuv420p", "-c:v", *CODECS[codec], "-crf", str(crf), "-threads", "1",
               os.path.join(folder, name)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as encoder:
        film.write(lambda frame: encoder.stdin.write(np.clip(frame + 0.5, 0, 255).astype(np.uint8).tobytes()))
        encoder.stdin.close()
    if encoder.returncode:
        raise SystemExit(f"shots_films.py: ffmpeg failed for {name}")
    return {"film": name, "kind": kind, "rate": str(fps or "vfr"), "codec": f"{codec} {crf}", **film.truth}


def make_films(folder, share=1.0, only="", clips=()):
    os.makedirs(folder, exist_ok=True)
    films = FILMS + ([("clips", 24, "h264", 23), ("clips", 24, "hevc", 36)] if clips else [])
    jobs = [(i, folder, film, clips, share) for i, film in enumerate(films) if only in film[0]]
    with ProcessPoolExecutor(2) as pool:
        truth = list(pool.map(make_film, jobs))
    with open(os.path.join(folder, "truth.json"), "w") as file:
        json.dump(truth, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--share", type=float, default=1.0, help="of the boundaries of each film")
    parser.add_argument("--only", default="", help="films of this kind")
    parser.add_argument("--clips", help="JSON: [[file, start, end], ...] in seconds, pieces without cuts")
    arg = parser.parse_args()
    clips = []
    if arg.clips:
        with open(arg.clips) as file:
            clips = json.load(file)
    make_films(arg.folder, arg.share, arg.only, clips)


if __name__ == "__main__":
    main()
