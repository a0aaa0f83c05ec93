#!/usr/bin/env python3
"""same.py - `barcode find --same` on a library of 60 made files (make test-same): films, copies, trailers, links, a song in two films.

    same.py [FIRST]     with other films, from number FIRST of find_films.py on

BARCODE is the program, MUSIC a folder of Ogg files. Prints for each class of pairs how many share a tenth of the shorter one, how many of
them are found, and how many of these with the right shares: a trailer's pieces in another order than the film's are not common. Passes if
the LEAST share of each class is found, no pair that shares nothing, and no film at 100 % of which less than 95 % are in the other.
"""
import json
import os
import pathlib
import random
import subprocess
import sys

import find_films

FILMS, SECONDS = 20, 120
CODECS = {"mp3": ["libmp3lame", "64k"], "opus": ["libopus", "24k"], "aac": ["aac", "96k"], "ac3": ["ac3", "192k"]}
FASTER = "aresample=48000,asetrate=50000,aresample=48000"
SLOWER = "aresample=48000,asetrate=46080,aresample=48000"
# The share of a class's pairs that is to be found. Other speeds are not looked for.
LEAST = {"re-encoded": 1, "part": 1, "mostly silent": 1, "trailer, one piece": 0.75, "trailer, 3 to 5 pieces": 0, "other speed": 0, "no sound": 1,
         "one song": 1, "two copies": 0}


def ffmpeg(*words):
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *[str(w) for w in words]], check=True)


class Library:
    """Files, and the sound that each has: (film, from, to) in seconds of the film."""

    def __init__(self, folder, films, others, rng):
        self.folder, self.films, self.others, self.rng = folder, films, others, rng
        self.file = {f: ("film", [(i, 0, SECONDS)]) for i, f in enumerate(films)}

    def add(self, name, kind, pieces, codec="mp3", filters="anull", sounding=None):
        """Cuts a file together from pieces of films, which may be paths; `sounding`: of which pieces it has the sound."""
        out, inputs = self.folder / f"{name}.mkv", []
        for film, start, end in pieces:
            inputs += ["-ss", f"{start:.3f}", "-t", f"{end - start:.3f}", "-i", film if isinstance(film, pathlib.Path) else self.films[film]]
        mix = "".join(f"[{i + 1}:a]aformat=channel_layouts=stereo:sample_rates=48000[p{i}];" for i in range(len(pieces)))
        mix += "".join(f"[p{i}]" for i in range(len(pieces))) + f"concat=n={len(pieces)}:v=0:a=1,{filters}[a]"
        if not out.exists():
            ffmpeg("-f", "lavfi", "-i", "color=s=64x36:r=2", *inputs, "-filter_complex", mix, "-map", "0:v", "-map", "[a]",
                   "-shortest", "-c:v", "mpeg4", "-c:a", CODECS[codec][0], "-b:a", CODECS[codec][1], out)
        self.file[out] = (kind, sounding or pieces)

    def add_copies(self):
        codecs = list(CODECS)
        for i in range(8):
            self.add(f"copy-{i}", "re-encoded", [(i, 0, SECONDS)], codecs[i % 3])
        for i in range(4):
            start = self.rng.uniform(0, 65)
            self.add(f"silent-{i}", "mostly silent", [(i + 8, 0, SECONDS)], codecs[i % 4], f"volume=0:enable='lt(t,{start})+gte(t,{start + 55})'",
                     [(i + 8, start, start + 55)])
            start = self.rng.uniform(0, 40)
            self.add(f"part-{i}", "part", [(i + 12, start, start + 80)], codecs[i % 3])
            self.add(f"speed-{i}", "other speed", [(i + 4, 0, SECONDS)], codecs[i % 3], SLOWER if i % 2 else FASTER)

    def add_trailers(self):
        for i in range(8):
            film, count = 16 + i % 4, 1 if i < 4 else i - 1 if i < 7 else 3
            length, room = 20 / count, (SECONDS - 20) / count
            starts = [k * (room + length) + self.rng.uniform(0, room) for k in range(count)]
            pieces = [(film, start, start + length) for start in starts]
            self.rng.shuffle(pieces)
            self.add(f"trailer-{i}", "trailer, one piece" if count == 1 else "trailer, 3 to 5 pieces", pieces, list(CODECS)[i % 3])

    def add_songs(self):
        for i in range(2):
            self.add(f"song-{i}", "one song", [(self.others[i + 1], 0, 60), (self.others[0], 30, 60), (self.others[i + 1], 60, 120)], list(CODECS)[i],
                     sounding=[(-1 - i, 0, 60), (-3, 30, 60), (-1 - i, 60, 120)])

    def add_silent(self):
        """Without sound: of the same bytes, and the same in another container, which is not to be found."""
        for i in range(2):
            out = self.folder / f"mute-{i}.mkv"
            ffmpeg("-i", self.films[i], "-map", "0:v", "-c", "copy", "-fflags", "+bitexact", out)
            twin = self.folder / f"mute-{i}-twin.mkv"
            twin.write_bytes(out.read_bytes())
            ffmpeg("-i", out, "-c", "copy", self.folder / f"mute-{i}.mp4")
            for file in out, twin:
                self.file[file] = ("no sound", [(100 + i, 0, SECONDS)])
            self.file[out.with_suffix(".mp4")] = ("no sound", [])

    def add_links(self):
        for i in range(2):
            hard, soft = self.folder / f"a-hard-{i}.mkv", self.folder / f"a-soft-{i}.mkv"
            for link in hard, soft:
                link.unlink(missing_ok=True)
            os.link(self.films[i], hard)
            soft.symlink_to(self.films[i + 2].name)


def shared(own, other):
    """the seconds of one file's pieces that are in the other's"""
    return sum(max(0, min(e, f) - max(s, t)) for film, s, e in own for o, t, f in other if film == o)


def wanted_pairs(file):
    """{(a, b): (class, share of a, share of b, must be found)} of all pairs that share something"""
    pairs, names = {}, sorted(file)
    for i, a in enumerate(names):
        for b in names[i + 1:]:
            common = shared(file[a][1], file[b][1])
            if common == 0:
                continue
            of_a, of_b = (common / sum(e - s for _, s, e in file[x][1]) for x in (a, b))
            kinds = {file[a][0], file[b][0]}
            kind = max(kinds - {"film"}) if len(kinds) == 1 or "film" in kinds else "two copies"
            pairs[a, b] = (kind, of_a, of_b, max(of_a, of_b) >= 0.1)
    return pairs


def find_pairs(library, cache):
    done = subprocess.run([os.environ.get("BARCODE", "out/bin/barcode"), "find", "--json", "--same", str(library), "--cache", str(cache), "-q"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"FAIL: status {done.returncode}: {done.stderr}")
    return [p for group in json.loads(done.stdout)["groups"] for p in group]


def judge(file, found):
    """Prints the table; returns what is wrong."""
    want, by_inode, seen, wrong = wanted_pairs(file), {os.stat(f).st_ino: f for f in file}, {}, []
    for p in found:
        ends = [by_inode[os.stat(p[x]).st_ino] for x in "ab"]
        shares = [p["of_a"], p["of_b"]]
        if ends[0] > ends[1]:
            ends, shares = ends[::-1], shares[::-1]
        pair = tuple(ends)
        name = " and ".join(f.name for f in pair)
        if pair in seen or pair not in want:
            wrong.append(f"{name}: {'twice' if pair in seen else 'nothing is shared'}, {shares}")
        elif any(share > 0.995 and true < 0.95 for share, true in zip(shares, want[pair][1:])):
            wrong.append(f"{name}: at 100 %")
        seen[pair] = shares
    print(f"{'':24}pairs  found  recall  shares within 0.05")
    for kind in LEAST:
        pairs = [p for p in want if want[p][0] == kind and want[p][3]]
        got = [p for p in pairs if p in seen]
        near = sum(all(abs(s - t) < 0.05 for s, t in zip(seen[p], want[p][1:])) for p in got)
        recall = len(got) / len(pairs) if pairs else 1
        missed = ", ".join(f"{p[0].name} {p[1].name}" for p in pairs if p not in seen)
        print(f"{kind:24}{len(pairs):5}  {len(got):5}  {100 * recall:4.0f} %  {near:5}  missed: {missed or 'none'}")
        if recall < LEAST[kind]:
            wrong.append(f"{kind}: {len(got)} of {len(pairs)} found")
    right = sum(p in want for p in seen)
    print(f"precision {right} of {len(found)}; pairs that share less than a tenth, found: {sum(p in seen for p in want if not want[p][3])}")
    return wrong


def main():
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    work = pathlib.Path(os.environ.get("WORK", f"out/test/same-{first}"))
    music = os.environ.get("MUSIC", "/usr/share/games/wesnoth")
    for folder, number, count in (("films", first, FILMS), ("others", first + 100000, 3)):
        subprocess.run([sys.executable, find_films.__file__, music, str(work / folder), str(count), str(SECONDS), str(number)], check=True)
    films = [work / "films" / f"film-{first + i}.mkv" for i in range(FILMS)]
    library = Library(work / "films", films, [work / "others" / f"film-{first + 100000 + i}.mkv" for i in range(3)], random.Random(first))
    library.add_copies()
    library.add_trailers()
    library.add_songs()
    library.add_silent()
    library.add_links()
    print(f"{len(list((work / 'films').glob('*.m*')))} files")
    wrong = judge(library.file, find_pairs(work / "films", work / "cache"))
    if wrong:
        sys.exit("FAIL\n  " + "\n  ".join(wrong))
    print("passed")


if __name__ == "__main__":
    main()
