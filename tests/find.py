#!/usr/bin/env python3
"""find.py - `barcode find` on a library of made films (make test-find): clips of 10 s as MP3 of 64 kbit/s and Opus of 24 kbit/s.

    find.py [FILMS [CLIPS]]     20 films of two minutes and 40 clips; as many clips are at another speed, and half as many are of films
                                that are not in the library

BARCODE is the program, MUSIC a folder of Ogg files: one track in five is only in films that are not in the library. Passes if 99 % of
the clips are found with a time within 0.1 s, 90 % of those at another speed, and of the others none. Then --same must find the copies
that were added, and nothing else.
"""
import json
import os
import pathlib
import random
import subprocess
import sys

import find_films

SECONDS, CLIP = 120, 10
SPEEDS = (0.97, 0.98, 0.99, 1.01, 1.02, 1.03)
ENCODERS = {"mp3": ["-c:a", "libmp3lame", "-b:a", "64k"], "opus": ["-c:a", "libopus", "-b:a", "24k"]}


def split_music(folder, work):
    tracks = sorted(p for p in pathlib.Path(folder).rglob("*.ogg"))
    for i, track in enumerate(tracks):
        part = work / ("music-other" if i % 5 == 0 else "music")
        part.mkdir(parents=True, exist_ok=True)
        link = part / track.name
        if not link.exists():
            link.symlink_to(track.resolve())


def cut(film, at, length, codec, out, filters="anull"):
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", "color=s=64x36:r=2", "-ss", f"{at:.3f}", "-i", film, "-map", "0:v",
                    "-map", "1:a", "-af", filters, "-t", str(length), "-c:v", "mpeg4", *ENCODERS[codec], out], check=True)


def find(*words):
    done = subprocess.run([os.environ.get("BARCODE", "out/bin/barcode"), "find", "--json", *words], capture_output=True, text=True)
    if done.returncode not in (0, 1) or (done.returncode == 1 and done.stderr.count("\n") != 1):
        sys.exit(f"FAIL: find {' '.join(words)}: status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout) if done.returncode == 0 else None


def speed_filter(i):
    """Each speed with a change of pitch, then each without."""
    speed = SPEEDS[i % len(SPEEDS)]
    if i // len(SPEEDS) % 2:
        return f"atempo={speed}"
    return f"aresample=48000,asetrate={48000 * speed:.0f},aresample=48000"


def look_up(rng, films, count, work, library, cache, speeds=False):
    """Returns (right, wrong, none) of clips of films."""
    right, wrong, none = 0, 0, 0
    for i in range(count):
        film, at = rng.choice(films), rng.uniform(0, SECONDS - max(SPEEDS) * CLIP)
        clip = str(work / "clip.mkv")
        filters = speed_filter(i) if speeds else "anull"
        cut(film, at, CLIP, list(ENCODERS)[i % 2], clip, filters)
        found = find(clip, library, "--cache", cache, "-q")
        if not found:
            none += 1
        elif found["film"] == film and abs(found["start"] - at) < 0.1:
            right += 1
        else:
            wrong += 1
            print(f"  {film} at {at:.2f} s, {filters}: found {found}")
    return right, wrong, none


def check_same(work, library, films, cache):
    """A copy of a film and two thirds of another are found, with how much they share."""
    cut(films[0], 0, SECONDS, "opus", f"{library}/copy.mkv")
    cut(films[1], 31.7, 80, "mp3", f"{library}/part.mkv")
    groups = find("--same", library, "--cache", cache, "-q")["groups"]
    os.remove(f"{library}/copy.mkv")
    os.remove(f"{library}/part.mkv")
    pairs = {(p["a"], p["b"]): p for group in groups for p in group}
    want = {(f"{library}/copy.mkv", films[0]), tuple(sorted((f"{library}/part.mkv", films[1])))}
    shares = sorted(round(p[k], 2) for p in pairs.values() for k in ("of_a", "of_b"))
    print(f"  --same: {len(groups)} groups, shares {shares}")
    return {tuple(sorted(p)) for p in pairs} == {tuple(sorted(p)) for p in want} and shares[0] > 0.6 and shares[1] > 0.9


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    clips = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    work = pathlib.Path(os.environ.get("WORK", "out/test/find"))
    split_music(os.environ.get("MUSIC", "/usr/share/games/wesnoth"), work)
    for name, n, first in (("music", count, 0), ("music-other", max(3, count // 5), 100000)):
        folder = work / ("films" if first == 0 else "others")
        subprocess.run([sys.executable, find_films.__file__, str(work / name), str(folder), str(n), str(SECONDS), str(first)], check=True)
    library, cache = str(work / "films"), str(work / "cache")
    films = sorted(str(p) for p in (work / "films").glob("film-*.mkv"))
    others = sorted(str(p) for p in (work / "others").glob("film-*.mkv"))
    rng = random.Random(39)
    right, wrong, none = look_up(rng, films, clips, work, library, cache)
    print(f"of {clips} clips of {len(films)} films {right} found, {none} not found, {wrong} wrong")
    fast, off, no = look_up(rng, films, clips, work, library, cache, speeds=True)
    print(f"of {clips} clips at another speed {fast} found, {no} not found, {off} wrong")
    _, false, no = look_up(rng, others, clips // 2, work, library, cache)
    print(f"of {clips // 2} clips of other films {false} found, {no} not found")
    same = check_same(work, library, films, cache)
    enough = right >= 0.99 * clips and fast >= 0.9 * clips
    if not enough or wrong + off + false > 0.001 * clips * 2.5 or not same:
        sys.exit("FAIL")
    print("passed")


if __name__ == "__main__":
    main()
