"""
hole-trials.py BARCODE FOLDER [--trials N] [--seed S] [--only NAME] - random holes in whole films: is every picture accounted for?

Films of several codecs and containers are made in FOLDER once. A trial zeroes 1 KB to 5 MB of one, or cuts as much out,
at a random place, on a 4 KB border or not, and asks for every frame. What must hold:

  - displayed + missing columns = the whole film's, one more or less where the file's end is gone, and as many as there are
    where no container says how long it was (MPEG-TS, MPEG-PS);
  - a column that is said to be sound stands where it stood in the whole film, by number and by time, or one frame beside it;
  - whoever lost a picture says so: a warning, "missing" in the JSON (before the first key: "lead_in"), and a failure with --strict.

A film that cannot be opened any more says so too. Exit status 1, and the trials that failed, when one of these does not hold.
"""

import argparse
import collections
import json
import os
import random
import subprocess
import sys

FRAMES = 480
# A colour that says which frame it is, with noise, so that the files have some megabytes.
PICTURE = ("nullsrc=s=128x96:r=24:d=20,format=yuv420p,geq=lum='16+mod(N*7,219)':cb='64+mod(N*3,128)':cr='64+mod(N*5,128)',"
           "noise=alls=40:allf=t")
CODECS = {
    "h264": ("-c:v libx264 -preset veryfast -crf 18 -g 48 -bf 3", ("mp4", "mkv", "ts")),
    "hevc": ("-c:v libx265 -preset ultrafast -crf 18 -g 48 -x265-params log-level=none:bframes=3:keyint=48", ("mp4", "mkv", "ts")),
    "vp9": ("-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 2M -g 48 -auto-alt-ref 1 -lag-in-frames 12", ("mp4", "mkv")),
    "av1": ("-c:v libsvtav1 -preset 12 -crf 20 -g 48", ("mp4", "mkv")),
    "mpeg2": ("-c:v mpeg2video -q:v 3 -g 15 -bf 2", ("mp4", "mkv", "ts", "vob")),
    "sound": ("-f lavfi -i anoisesrc=d=20:a=0.1 -c:v libx264 -preset veryfast -crf 18 -g 48 -bf 3 -c:a aac -b:a 256k", ("mp4", "mkv", "ts")),
    "long": ("-f lavfi -i anoisesrc=d=20:a=0.1 -c:v libx265 -preset ultrafast -crf 18 -x265-params log-level=none:bframes=4:keyint=200 "
             "-c:a mp2 -b:a 256k", ("mp4", "mkv", "ts")),
    "dvd": ("-f lavfi -i anoisesrc=d=20:a=0.1 -c:v mpeg2video -q:v 3 -g 15 -bf 2 -c:a mp2 -b:a 256k", ("vob",)),
}


def make(folder):
    """The films that are not there yet; a list of all of them."""
    films = []
    os.makedirs(folder, exist_ok=True)
    raw = os.path.join(folder, "raw.mkv")
    for codec, (options, containers) in CODECS.items():
        first = None
        for container in containers:
            path = os.path.join(folder, f"{codec}.{container}")
            films.append(path)
            if not os.path.exists(path):
                if not first and not os.path.exists(raw):
                    ffmpeg(f"-f lavfi -i {PICTURE} -frames:v {FRAMES} -c:v ffv1", raw)
                source = f"-i {first} -map 0 -c copy" if first else f"-i {raw} {options}"
                ffmpeg(source + (" -movflags +faststart" if container == "mp4" else ""), path)
            first = first or path
    return films


def ffmpeg(options, path):
    part = os.path.join(os.path.dirname(path), "part." + os.path.basename(path))
    subprocess.run(["ffmpeg", "-v", "error", "-y", *options.split(), part], check=True)
    os.rename(part, path)


def barcode(program, film, *options):
    out = film + ".out"
    command = [program, film, "-q", "-n", "1", "-m", "average", "--size", "32x24", "--cache", "-", "-o", out + ".png",
               "--json", out + ".json", *options]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, "BARCODE_CACHE": "-"})
    report = None
    if run.returncode in (0, 1) and os.path.exists(out + ".json"):
        with open(out + ".json", encoding="utf-8") as f:
            report = json.load(f)
    for end in (".png", ".json"):
        if os.path.exists(out + end):
            os.unlink(out + end)
    return run, report


def drill(film, dice, folder):
    """A copy of `film` with a hole; its path, and a sentence about it."""
    with open(film, "rb") as f:
        data = f.read()
    size = int(1024 * (5 * 1024) ** dice.random())
    at = dice.randrange(len(data))
    if dice.random() < 0.5:
        at, size = at // 4096 * 4096, max(4096, size // 4096 * 4096)
    cut = dice.random() < 0.3
    end = min(at + size, len(data))
    name, kind = os.path.splitext(os.path.basename(film))
    path = os.path.join(folder, f"{name}-hole{kind}")
    with open(path, "wb") as f:
        f.write(data[:at] + (b"" if cut else bytes(end - at)) + data[end:])
    return path, f"{name}{kind}: {'cut out' if cut else 'zeroed'} {at}..{end} of {len(data)}", (len(data) - end < 65536, cut or end < len(data))


def judge(run, report, whole, told, endless, unknown, container):
    """
    What is wrong; None: nothing. "refused": the film could not be opened any more, or nothing of it decoded, and it was said;
    "headless": it is no longer known for what it was.
    `endless`: it lost its end, or the last pictures before that, and nobody says where that was; `unknown`: nor that it is not all.
    """
    if run.returncode < 0 or run.returncode > 4:
        return f"exit status {run.returncode}"
    if report is None:
        return "refused" if run.stderr.strip() else "no word, no picture"
    # A stream whose container's head is gone has no times, and may be taken for one that never had a container.
    if report["film"]["container"] != container:
        return "headless" if told and report["warnings"] else "headless in silence"
    columns = report["columns"]
    shown = [c for c in columns if not c.get("missing")]
    total = len(shown) + report["missing"]
    # The film's first key is gone, so that it begins with the next one: what leads up to that is told, but for the key itself.
    lead_in = report.get("lost", {}).get("lead_in", 0)
    if lead_in > 0:
        gone = len(whole) - total
        if not 0 <= gone - lead_in <= 1 or not report["warnings"] or not told:
            return f"{gone} are gone before the first picture, {lead_in} are told"
        whole = [{**c, "time": c["time"] - whole[gone]["time"]} for c in whole[gone:]]
    lost = len(whole) - sum(1 for c in shown if c["frame"] < len(whole))
    at_end = report["missing"] - (len(columns) - len(shown)) > 0
    if lost > 0 and not unknown and (report["missing"] == 0 and not endless or not report["warnings"] or not told):
        return f"{lost} lost in silence"
    if not endless and abs(total - len(whole)) > (1 if at_end else 0):
        return f"{len(shown)} displayed + {report['missing']} missing is not {len(whole)}"
    for c in shown:
        sound = not c.get("damaged")
        # The frame at the end of a hole may stand one frame beside its number. Rubbish that looks like a picture is damaged, and may
        # say that it is displayed a few frames too early or late.
        if c["frame"] >= len(whole) or abs(c["time"] - whole[c["frame"]]["time"]) > (0.0425 if sound else 0.19):
            return f"frame {c['frame']} stands at {c['time']} s"
        if sound and c["average"] not in [w["average"] for w in whole[max(0, c["frame"] - 1):c["frame"] + 2]]:
            return f"frame {c['frame']} is not what it was, and said to be sound"
    return None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("folder")
    p.add_argument("--trials", type=int, default=12)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--only", default="")
    p.add_argument("--keep", action="store_true")
    o = p.parse_args()
    films = [f for f in make(o.folder) if o.only in os.path.basename(f)]
    whole, outcomes, failed = {}, collections.Counter(), []
    for i in range(o.first, o.first + o.trials):
        film = films[i % len(films)]
        if film not in whole:
            run, report = barcode(o.program, film, "--strict")
            if run.returncode != 0 or report["missing"] or report["warnings"] or len(report["columns"]) != FRAMES:
                sys.exit(f"{film} is not whole: {run.stderr}")
            whole[film] = report["columns"], report["film"]["container"]
        path, sentence, (at_end, cut) = drill(film, random.Random(o.seed * 1000003 + i), o.folder)
        run, report = barcode(o.program, path, "--strict")
        wrong = judge(run, report, whole[film][0], run.returncode == 1, at_end and film.endswith((".ts", ".vob")),
                      at_end and cut and film.endswith((".ts", ".vob")), whole[film][1])
        outcomes[wrong if wrong in ("refused", "headless") else "wrong" if wrong else "lost" if report["missing"] else
                 "damaged" if any(c.get("damaged") for c in report["columns"]) else "whole"] += 1
        if wrong and wrong not in ("refused", "headless"):
            failed.append(f"trial {i}, {sentence}: {wrong}")
            print(failed[-1], flush=True)
        if not o.keep:
            os.unlink(path)
    print(f"{o.trials} holes: " + ", ".join(f"{n} {what}" for what, n in sorted(outcomes.items())))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
