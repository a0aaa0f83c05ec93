#!/usr/bin/env python3
"""Read errors at random places of films, playlists, pipes and cache entries, and files that are missing.

    BARCODE=out/bin/barcode FAILING=out/bin/bad-reads.so python3 tests/read_errors.py [--seed N] [--runs N] [--only KIND]

Each run reads a film of which some bytes are unreadable (support/bad-reads.c). If its exit
status is 0, the picture is that of the whole film; otherwise there is none. With --keep-going a
film with less than that has a warning. If a file that a playlist names is missing, its name is in a
warning, --strict fails, and of HLS as many columns are missing as ffprobe counts frames in that
file. Afterwards the same command with --update and a disk that
works gives the picture of the whole film in any case, and frames of a cache that are right.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

KINDS = ("mp4", "faststart.mp4", "fragmented.mp4", "mkv", "ts", "avi", "pipe.mkv", "pipe.ts", "parts.mkv", "parts.mpg", "cache", "hls.ts", "hls.mp4", "hls.range",
         "ffconcat.mkv", "ffconcat.ts", "images")  # fmt: skip
OPTIONS = ([], ["--keyframes"], ["--columns", "30"], ["--crop=auto"], ["--verify"])
ERRNOS = (5, 5, 5, 116, 121)  # EIO, ESTALE, EREMOTEIO
BARCODE = os.path.abspath(os.environ.get("BARCODE", "out/bin/barcode"))
FAILING = os.path.abspath(os.environ.get("FAILING", "out/bin/bad-reads.so"))


def make_films(folder):
    """The films by kind, each a list of the arguments that name it. A film's id covers a megabyte of more than two."""

    def ffmpeg(name, *options):
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *options, str(folder / name)], check=True)

    source = ["-f", "lavfi", "-i", "testsrc2=s=160x90:r=25:d=3,noise=alls=80:allf=t", "-f", "lavfi", "-i", "sine=d=3", "-g", "25", "-b:v", "10M", "-bufsize", "4M", "-maxrate", "10M"]
    ffmpeg("film.mp4", *source, "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p")
    copy = ["-i", str(folder / "film.mp4"), "-c", "copy"]
    ffmpeg("film.faststart.mp4", *copy, "-movflags", "+faststart")
    ffmpeg("film.fragmented.mp4", *copy, "-movflags", "+frag_keyframe+empty_moov")
    ffmpeg("film.mkv", *copy)
    ffmpeg("film.ts", *copy)
    ffmpeg("film.avi", *source, "-c:v", "mpeg4", "-c:a", "mp3")
    ffmpeg("film.mpg", *source)
    ffmpeg("2.mkv", *copy, "-t", "2")
    whole = (folder / "film.mpg").read_bytes()
    (folder / "1.mpg").write_bytes(whole[: len(whole) // 2])
    (folder / "2.mpg").write_bytes(whole[len(whole) // 2 :])
    films = {kind: ["film." + kind] for kind in KINDS if (folder / ("film." + kind)).exists()}
    films |= {"pipe.mkv": ["film.mkv"], "pipe.ts": ["film.ts"], "cache": ["film.mkv"]}
    films |= {"parts.mkv": ["--join", "film.mkv", "2.mkv"], "parts.mpg": ["--join", "1.mpg", "2.mpg"]}
    made = {kind: Film(words, [word for word in words if word != "--join"]) for kind, words in films.items()}
    hls = [*copy, "-map", "0:v", "-f", "hls", "-hls_time", "1", "-hls_playlist_type", "vod"]
    ffmpeg("ts.m3u8", *hls, "-hls_segment_filename", str(folder / "ts%d.ts"))
    ffmpeg("mp4.m3u8", *hls, "-hls_segment_type", "fmp4", "-hls_segment_filename", str(folder / "m%d.mp4"))
    ffmpeg("range.m3u8", *hls, "-hls_flags", "single_file", "-hls_segment_filename", str(folder / "range.ts"))
    ffmpeg("i%02d.png", "-i", str(folder / "film.mp4"), "-s", "320x180", "-frames:v", "20")
    (folder / "mkv.ffconcat").write_text("ffconcat version 1.0\nfile film.mkv\nfile 2.mkv\n")
    (folder / "ts.ffconcat").write_text("ffconcat version 1.0\nfile ts0.ts\nduration 1\nfile ts1.ts\nduration 1\nfile ts2.ts\nduration 1\n")
    made["hls.ts"] = Film(["ts.m3u8"], ["ts.m3u8", "ts0.ts", "ts1.ts", "ts2.ts"])
    made["hls.mp4"] = Film(["mp4.m3u8"], ["mp4.m3u8", "init.mp4", "m0.mp4", "m1.mp4", "m2.mp4"])
    made["hls.range"] = Film(["range.m3u8"], ["range.m3u8", "range.ts"])
    made["ffconcat.mkv"] = Film(["mkv.ffconcat"], ["mkv.ffconcat", "film.mkv", "2.mkv"])
    made["ffconcat.ts"] = Film(["ts.ffconcat"], ["ts.ffconcat", "ts0.ts", "ts1.ts", "ts2.ts"])
    made["images"] = Film(["--sequence", "."], [f"i{i:02}.png" for i in range(1, 21)])
    return made


def frames_in(folder, file):
    """How many frames a segment has by ffprobe."""
    name = f"concat:init.mp4|{file}" if file.endswith(".mp4") else file
    command = ["ffprobe", "-v", "error", "-select_streams", "v", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0", name]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return int(done.stdout.split()[0].strip(","))


# The arguments that name a film, and its files.
Film = collections.namedtuple("Film", "words files")


wholes = {}  # the pictures by film and options


class Trial:
    """One film, in a folder of its own, with some bytes that cannot be read."""

    def __init__(self, number, seed, only, films, source):
        chance = random.Random(f"{seed} {number}")
        self.kind = only or KINDS[number % len(KINDS)]
        self.words, self.files = films[self.kind]
        self.options = chance.choice(OPTIONS)
        self.chance, self.source = chance, source
        self.piped = self.kind.startswith("pipe.")
        # A pipe cannot be read twice, and --verify does not use the cache.
        if self.piped or (self.kind == "cache" and self.options == ["--verify"]):
            self.options = []
        self.keep_going = chance.random() < 0.3
        self.missing = None
        if self.kind.startswith(("hls", "ffconcat")) and chance.random() < 0.4:
            self.missing = chance.choice(self.files[1:])
        self.status, self.failed = None, False
        self.said = ""

    def choose(self, file, size):
        """Bad bytes of `file`, as variables of the environment; often at its ends, where indexes are."""
        length = int(2 ** self.chance.uniform(0, 16))
        first = self.chance.choice((0, size - length, self.chance.randrange(size), self.chance.randrange(size)))
        self.place = f"{file} {max(0, first)}+{length}"
        return {
            "LD_PRELOAD": FAILING,
            "FAILING_READS": file,
            "FAILING_FROM": str(max(0, first)),
            "FAILING_TO": str(max(0, first) + length),
            "FAILING_ERRNO": str(self.chance.choice(ERRNOS)),
        }

    def run(self, *words, bad=None):
        film = ["film.fifo"] if self.piped else self.words
        command = [BARCODE, *film, *words, *self.options, "-m", "average", "-k", "3", "-o", "out.png"]
        self.command = " ".join(command)
        feeder = None
        if self.piped:
            feeder = subprocess.Popen(["sh", "-c", f"exec cat {self.words[0]} > film.fifo"], cwd=self.folder, stderr=subprocess.DEVNULL)
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, env=os.environ | (bad or {}), timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)  # fmt: skip
        if feeder:
            feeder.kill()
            feeder.wait()
        self.status, self.said = done.returncode, done.stderr.decode(errors="replace")
        out = self.folder / "out.png"
        return out.read_bytes() if out.exists() else None

    def judge(self, folder):
        """Returns what is wrong, or None."""
        self.folder = folder
        for name in {*self.files, "film.mkv"} if self.kind != "images" else self.files:
            shutil.copy2(self.source / name, folder / name)
        if self.piped:
            os.mkfifo(folder / "film.fifo")
        name = " ".join([self.kind, *self.options])
        whole = wholes[name] = wholes.get(name) or self.run("--no-cache")
        if not whole:
            return "the whole film fails"
        (folder / "out.png").unlink(missing_ok=True)
        if self.kind == "cache":
            return self.judge_cache(whole)
        if self.missing:
            return self.judge_missing() or self.judge_whole(whole)
        file = "film.fifo" if self.piped else self.chance.choice(self.files)
        size = (folder / (self.words[0] if self.piped else file)).stat().st_size
        bad = self.choose(file, size)
        going = ["--keep-going"] if self.keep_going else []
        out = self.run("--cache", "kept", *going, bad=bad)
        self.failed = self.status != 0
        if self.status not in (0, 1):
            return f"exit status {self.status}, not 0 or 1"
        if self.status == 1 and (out or "cannot read" not in self.said):
            return "it wrote a picture, or did not say that it cannot read"
        if self.status == 0 and out != whole and not (going and self.reports_bytes()):
            return "exit status 0 with less than the film"
        return self.judge_whole(whole)

    def judge_whole(self, whole):
        for words in (["--update", "--no-cache"], ["--cache", "kept"]):
            if self.run(*words) != whole or self.status != 0:
                return f"{words[0]} does not make the picture whole"
        return None

    def judge_missing(self):
        self.place = self.missing + " is missing"
        (self.folder / self.missing).rename(self.folder / "away")
        count = ["-n", "1"] if self.options in ([], ["--crop=auto"], ["--verify"]) else []
        self.run("--strict", "--no-cache", *count)
        self.failed = self.status != 0
        (self.folder / "away").rename(self.folder / self.missing)
        if self.status not in (1, 3) or f"cannot open its part '{self.missing}'" not in self.said:
            return "it does not fail, or does not name the file"
        missing = re.search(r"(\d+) of \d+ columns are missing", self.said)
        if count and self.status == 1 and self.kind.startswith("hls"):
            frames = frames_in(self.source, self.missing)
            if not missing or abs(int(missing[1]) - frames) > 1:
                return f"{frames} columns are missing"
        return None

    def reports_bytes(self):
        texts = ("warning: cannot read ", "cannot be read (skipped)", "cannot read one of its files to its end")
        return any(text in self.said for text in texts)

    def judge_cache(self, whole):
        self.run("--cache", "kept")
        entries = sorted((self.folder / "kept").glob("*.frames"))
        for _ in range(2):
            (self.folder / "out.png").unlink()
            out = self.run("--cache", "kept", bad=self.choose(".frames", entries[0].stat().st_size))
            if self.status != 0 or out != whole:
                return "another picture, or none, because of the cache"
            if not entries[0].exists():
                return "the entry was removed"
        return None


def one(trial, top):
    folder = pathlib.Path(tempfile.mkdtemp(dir=top))
    try:
        return trial.judge(folder)
    except subprocess.TimeoutExpired:
        return "it hangs"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    if not os.access(BARCODE, os.X_OK) or not os.access(FAILING, os.R_OK):
        print(f"there is no {BARCODE} or no {FAILING}")
        return 2
    failed = 0
    counts = {}
    with tempfile.TemporaryDirectory() as top, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        films = make_films(pathlib.Path(top))
        trials = [Trial(i, args.seed, args.only, films, pathlib.Path(top)) for i in range(args.runs)]
        for number, (trial, wrong) in enumerate(zip(trials, pool.map(lambda t: one(t, top), trials))):
            counts[trial.kind] = counts.get(trial.kind, 0) + 1
            if not wrong:
                continue
            failed += 1
            print(f"FAIL  run {number}, {trial.kind}, bad bytes {getattr(trial, 'place', '-')}: {wrong}")
            print(f"      {trial.command}\n      status {trial.status}: {trial.said.strip()}", flush=True)
    print(", ".join(f"{kind} {n}" for kind, n in counts.items()))
    refused = sum(trial.failed for trial in trials)
    print(f"{refused} runs failed as they must; the others did not need the bytes, skipped them, or read a cache")
    if not args.only and refused < args.runs / 3:
        failed += 1
        print("FAIL  that is too few")
    print(f"{args.runs - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
