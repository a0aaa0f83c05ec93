#!/usr/bin/env python3
"""align_films.py - makes an hour of sound and other versions of it, whose edits are known, for align_judge.py.

    align_films.py MUSIC-FOLDER OUT

Speech is by espeak-ng, of random words; music is that of a game. Versions lose and gain scenes of
3 to 90 s, have others in the place of some, are re-encoded, get other speech over half of their
time, or run at another speed. OUT gets base.mkv, other.mkv (another film), and for each version
NAME.mkv and NAME.json: [[a_from, a_to, b_from, b_to], ...], the times in seconds that both have.
OUT/pairs gets films that share their middle: N-a.mkv, N-b.mkv and N.json. What exists is not made
again. The same films each time.
"""
import concurrent.futures
import json
import pathlib
import random
import re
import subprocess
import sys

import numpy as np

RATE = 24000
MINUTES = 62
VOICES = ["en-us", "en-gb", "en-gb-scotland", "en-us+f2", "en-us+f4", "en-gb+m3", "en-us+m7", "en-gb+f3"]
# name: encoder, speed (how much faster than the base), whether the pitch is kept, whether half is dubbed
VERSIONS = {
    "mp3-64k": (["libmp3lame", "64k"], "1", False, False),
    "opus-24k": (["libopus", "24k"], "1", False, False),
    "dub": (["libopus", "48k"], "1", False, True),
    "ntsc": (["libmp3lame", "64k"], "1000/1001", False, False),
    "pal": (["libmp3lame", "64k"], "25/24", False, False),
    "pal-23976": (["libmp3lame", "64k"], "25025/24000", False, False),
    "pal-atempo": (["libmp3lame", "64k"], "25/24", True, False),
    "aac-24k": (["aac", "24k"], "1", False, False),
    "dub-2": (["libmp3lame", "64k"], "1", False, True),
    "pal-dub": (["libmp3lame", "64k"], "25/24", False, True),
    "slow-atempo": (["libopus", "24k"], "24/25", True, False),
    "tape": (["libmp3lame", "64k"], "101/100", False, False),
    "tape-atempo": (["libopus", "24k"], "97/100", True, False),
}

PAIRS = 60
PAIR_ENCODERS = [["libmp3lame", "64k"], ["libopus", "24k"], ["aac", "24k"]]
# what is replaced, by another scene: seconds in the base, and in the version
REPLACED = [(120, 90), (90, 90), (60, 45), (30, 30), (30, 20), (20, 60), (20, 15), (10, 10),
            (10, 8), (5, 5), (3, 3)]


def words():
    text = " ".join(p.read_text(errors="replace") for p in sorted(pathlib.Path("/usr/share/common-licenses").glob("*")))
    return sorted({w.lower() for w in re.findall(r"[A-Za-z]{3,12}", text)})


def utter(job):
    voice, speed, pitch, text = job
    raw = subprocess.run(["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch), "--stdout", text], stdout=subprocess.PIPE,
                         check=True).stdout
    sound = np.frombuffer(raw[44:len(raw) // 2 * 2], np.int16).astype(np.float32)
    at = np.arange(int(len(sound) * RATE / 22050)) * (22050 / RATE)  # linear interpolation does for a voice
    return np.interp(at, np.arange(len(sound)), sound).astype(np.float32) if len(sound) else np.zeros(RATE, np.float32)


def level(sound, db):
    """scales to a power in dB of full scale"""
    power = float(np.sqrt(np.mean(np.square(sound, dtype=np.float64)))) if len(sound) else 0
    return sound * (32768 * 10 ** (db / 20) / power) if power > 1 else sound


class Maker:
    """speech and music from a seed"""

    def __init__(self, seed, tracks):
        self.random = random.Random(seed)
        self.words = words()
        self.noise = np.random.default_rng(sum(seed.encode()))
        self.tracks = tracks
        self.music, self.at = None, 0

    def speech(self, seconds, pauses):
        r, jobs, spoken = self.random, [], 0.0
        cast = r.sample(VOICES, 2)
        while spoken < seconds:
            n = r.randint(4, 16)
            voice = r.choice(cast)
            jobs.append((voice, r.randint(140, 200), r.randint(20, 80), " ".join(r.choice(self.words) for _ in range(n))))
            spoken += n * 0.35
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            parts = list(pool.map(utter, jobs))
        out = []
        for part in parts:
            out += [level(part, -22), np.zeros(int(RATE * r.uniform(*pauses)), np.float32)]
        return self.fit(np.concatenate(out), seconds)

    def score(self, seconds):
        need, out = int(seconds * RATE), []
        while need > 0:
            if self.music is None or self.at >= len(self.music):
                self.music, self.at = self.load(), 0
            out.append(self.music[self.at:self.at + need])
            self.at += len(out[-1])
            need -= len(out[-1])
        return level(np.concatenate(out), -22)

    def load(self):
        track = self.tracks.pop(0)
        self.tracks.append(track)
        raw = subprocess.run(["ffmpeg", "-v", "error", "-i", track, "-ac", "1", "-ar", str(RATE), "-f", "s16le", "-"],
                             stdout=subprocess.PIPE, check=True).stdout
        return np.frombuffer(raw, np.int16).astype(np.float32)

    @staticmethod
    def fit(sound, seconds):
        n = int(seconds * RATE)
        return sound[:n] if len(sound) >= n else np.pad(sound, (0, n - len(sound)))

    def scene(self, seconds):
        kind = self.random.choices(["talk", "talk over music", "music", "quiet"], [40, 30, 20, 10])[0]
        if kind == "talk":
            sound = self.speech(seconds, (0.15, 0.9))
        elif kind == "talk over music":
            sound = self.speech(seconds, (0.3, 2)) + level(self.score(seconds), self.random.uniform(-38, -28))
        elif kind == "music":
            sound = self.score(seconds)
        else:
            sound = 0.5 * self.speech(seconds, (1.5, 5))
        return sound + self.noise.normal(0, 6, len(sound)).astype(np.float32)

    def film(self, minutes):
        out, made = [], 0.0
        while made < minutes * 60:
            seconds = self.random.uniform(12, 90)
            out.append(self.scene(seconds))
            made += seconds
        return np.concatenate(out)


def is_free(places, at, length):
    """whether a scene is 20 s from all others"""
    return all(at + length + 20 < p or p + max(old, new) + 20 < at for p, old, new in places)


def edit(base, maker, r):
    """
    8 cuts, 6 insertions and the REPLACED: the edited sound, and what it shares with the base, in
    samples
    """
    n = len(base)
    places = []  # time, seconds of the base that go, seconds that come in their place
    while len(places) < 14:
        at, length = r.uniform(15, n / RATE - 120), r.uniform(3, 90)
        if is_free(places, at, length):
            places.append((at, length, 0) if len(places) < 8 else (at, 0, length))
    for old, new in REPLACED:
        at = r.uniform(15, n / RATE - 150)
        while not is_free(places, at, max(old, new)):
            at = r.uniform(15, n / RATE - 150)
        places.append((at, old, new))
    out, shared, done, b = [], [], 0, 0
    for at, old, new in sorted(places):
        start = int(at * RATE)
        out.append(base[done:start])
        shared.append([done, start, b, b + start - done])
        b += start - done
        done = start + int(old * RATE)
        if new:
            out.append(maker.scene(new))
            b += len(out[-1])
    out.append(base[done:])
    shared.append([done, n, b, b + n - done])
    return np.concatenate(out), shared


def write(path, sound, encoder, filters="anull"):
    codec, rate = encoder
    samples = np.clip(np.round(sound), -32768, 32767).astype(np.int16).tobytes()
    temp = path.with_name("." + path.name)
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "s16le", "-ar", str(RATE), "-ac", "1", "-i", "-", "-f", "lavfi", "-i",
                    "testsrc=size=64x36:rate=1", "-map", "1:v", "-map", "0:a", "-c:v", "mpeg4", "-shortest", "-af", filters, "-c:a", codec,
                    "-b:a", rate, "-f", "matroska", str(temp)], input=samples, check=True)
    temp.rename(path)


def make_version(out, name, base, tracks):
    encoder, speed, keep_pitch, dub = VERSIONS[name]
    num, den = (int(x) for x in (speed + "/1").split("/")[:2])
    maker = Maker(name, list(tracks))
    sound, shared = edit(base, maker, random.Random("edits of " + name))
    if dub:
        half = len(sound) // 2
        over = maker.speech(half / RATE, (0.15, 0.9))
        # At 0 dB, second by second: as loud as what it lies over.
        for i in range(0, len(over) - RATE, RATE):
            power = float(np.sqrt(np.mean(np.square(sound[half // 2 + i:half // 2 + i + RATE], dtype=np.float64))))
            if power > 30:
                over[i:i + RATE] = level(over[i:i + RATE], 20 * np.log10(power / 32768))
        sound = sound.copy()
        sound[half // 2:half // 2 + len(over)] += over
    tempo = f"atempo={num / den}" if keep_pitch else f"asetrate={RATE * num / den:.0f},aresample={RATE}" if num != den else "anull"
    write(out / f"{name}.mkv", sound, encoder, tempo)
    # asetrate takes whole numbers: what was asked for is what there is.
    real = num / den if keep_pitch or num == den else round(RATE * num / den) / RATE
    times = [[a0 / RATE, a1 / RATE, b0 / RATE / real, b1 / RATE / real] for a0, a1, b0, b1 in shared]
    (out / f"{name}.json").write_text(json.dumps(times))


def make_pair(out, number, base):
    """two films with 60 to 120 s in common, and other parts of the base before and after it"""
    r, films, truth = random.Random(f"pair {number}"), [], []
    length = r.uniform(60, 120)
    start = r.uniform(0, len(base) / RATE - length)
    common = base[int(start * RATE):int((start + length) * RATE)]
    parts = [r.choice([0, r.uniform(3, 15), r.uniform(3, 60), r.uniform(3, 60)]) for _ in range(4)]
    places = []
    for part in parts:
        at = r.uniform(0, len(base) / RATE - part)
        while start - 60 - part < at < start + length + 60 or \
                any(p - part - 5 < at < p + l + 5 for p, l in places):
            at = r.uniform(0, len(base) / RATE - part)
        places.append((at, part))
    for i, encoder in enumerate([["flac", "64k"], r.choice(PAIR_ENCODERS)]):
        before, after = (base[int(at * RATE):int((at + part) * RATE)]
                         for at, part in places[2 * i:2 * i + 2])
        sound = np.concatenate([before, common, after])
        write(out / f"{number}-{'ab'[i]}.mkv", sound, encoder)
        truth += [len(before) / RATE, (len(before) + len(common)) / RATE]
    (out / f"{number}.json").write_text(json.dumps([truth]))


def main():
    music, out = sorted(str(p) for p in pathlib.Path(sys.argv[1]).rglob("*.ogg")), pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    random.Random(1).shuffle(music)
    own, foreign, others = music[:24], music[24:32], music[32:]
    if not (out / "base.npy").exists():
        np.save(out / "base.npy", Maker("base", own).film(MINUTES).astype(np.float32))
    base = np.load(out / "base.npy")
    if not (out / "base.mkv").exists():
        write(out / "base.mkv", base, ["flac", "64k"])
    if not (out / "other.mkv").exists():
        write(out / "other.mkv", Maker("other", others).film(MINUTES), ["libmp3lame", "128k"])
    for name in VERSIONS:
        if not (out / f"{name}.json").exists():
            make_version(out, name, base, foreign)
            print(name, flush=True)
    (out / "pairs").mkdir(exist_ok=True)
    for number in range(PAIRS):
        if not (out / "pairs" / f"{number}.json").exists():
            make_pair(out / "pairs", number, base)


main()
