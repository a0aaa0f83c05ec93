#!/usr/bin/env python3
"""find_films.py - makes films whose sound is music under speech, for tests/find.py.

    find_films.py MUSIC FOLDER COUNT SECONDS [FIRST]

MUSIC has Ogg or MP3 files (Debian's wesnoth-1.16-music). Film i is FOLDER/film-i.mkv: music in two layers of 30 s pieces, each at a speed
of its own, so that no two films and no two times of a film share a sound, and speech of espeak-ng over two thirds of it, louder or
softer than the music; and a small picture. The same number always gives the same film.
"""
import os
import pathlib
import random
import subprocess
import sys

PIECE = 30  # seconds of music
VOICES = ["en-us", "en-gb", "de", "fr-fr", "es", "it", "nl", "pl", "pt", "sv"]


def words():
    text = pathlib.Path("/usr/share/common-licenses/GPL-3").read_text() + pathlib.Path("/usr/share/common-licenses/Apache-2.0").read_text()
    return [w.strip(",.;:()\"'").lower() for w in text.split() if w.isalpha()]


def length(path):
    return float(subprocess.run(["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", str(path)], capture_output=True, check=True).stdout)


def speech(rng, vocabulary, seconds, path):
    """Sentences of random words; silent now and then because the mixer adds pauses."""
    sentences = []
    for _ in range(int(seconds * 2.2 / 9)):
        sentences.append(" ".join(rng.choice(vocabulary) for _ in range(rng.randint(4, 14))) + ".")
    subprocess.run(["espeak-ng", "-v", f"{rng.choice(VOICES)}+{rng.choice(['m1', 'm3', 'm7', 'f1', 'f2', 'f4'])}", "-s", str(rng.randint(120, 190)),
                    "-p", str(rng.randint(20, 80)), "-w", path], input=" ".join(sentences).encode(), check=True)


def make(music, folder, number, seconds, vocabulary):
    film = folder / f"film-{number}.mkv"
    if film.exists():
        return
    rng = random.Random(number)
    voice, part = f"{folder}/.{number}.wav", f"{folder}/.{number}.part.mkv"
    speech(rng, vocabulary, seconds, voice)
    inputs, mix, pieces = [], "", -(-seconds // PIECE)
    for layer in range(2):
        for i in range(pieces):
            speed = 0.8 + 0.45 * (((number * 2 + layer) * 16 + i) * 0.6180339887 % 1)
            track, length = rng.choice(music)
            inputs += ["-ss", f"{rng.uniform(0, length - PIECE * speed - 1):.3f}", "-t", f"{PIECE * speed:.3f}", "-i", track]
            mix += f"[{layer * pieces + i}:a]aresample=48000,asetrate={int(48000 * speed)},aresample=48000,pan=mono|c0=.5*c0+.5*c1[p{layer}{i}];"
        mix += "".join(f"[p{layer}{i}]" for i in range(pieces)) + f"concat=n={pieces}:v=0:a=1,volume={rng.uniform(-9, 0):.1f}dB[m{layer}];"
    mix += (f"[{2 * pieces}:a]aresample=48000,apad,volume={rng.uniform(-9, 0):.1f}dB,volume=enable='lt(mod(t+{rng.randint(0, 60)},60),20)':volume=0[s];"
            "[m0][m1][s]amix=inputs=3:duration=shortest:normalize=0,alimiter,aformat=channel_layouts=stereo[a]")
    subprocess.run(["ffmpeg", "-nostdin", "-v", "fatal", "-y", *inputs, "-i", voice, "-f", "lavfi", "-i", f"color=c=0x{rng.randrange(1 << 24):06x}:s=64x36:r=2",
                    "-filter_complex", mix, "-map", f"{2 * pieces + 1}:v", "-map", "[a]", "-t", str(seconds), "-c:v", "mpeg4", "-c:a", "ac3", "-b:a", "192k", part],
                   check=True)
    os.remove(voice)
    os.rename(part, film)


def main():
    music = [(p, n) for p, n in ((str(p), length(p)) for p in sorted(pathlib.Path(sys.argv[1]).rglob("*")) if p.suffix in (".ogg", ".mp3")) if n > 2 * PIECE]
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    first = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    vocabulary = words()
    for number in range(first, first + int(sys.argv[3])):
        make(music, folder, number, int(sys.argv[4]), vocabulary)


if __name__ == "__main__":
    main()
