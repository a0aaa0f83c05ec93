#!/usr/bin/python3
"""Checks of data.sh, with opentimelineio and its adapter of CMX 3600 (PyPI), and mkvmerge.

    shot_list_check.py BARCODE FOLDER     shot lists of made films at seven rates
"""

import csv
import json
import os
import subprocess
import sys
from fractions import Fraction

import opentimelineio as otio
from opentimelineio.opentime import RationalTime, to_timecode

# More than a minute at any rate, as drop frame begins to differ there.
SCENES = {"rgbtestsrc": 611, "smptebars": 1203, "testsrc": 89, "yuvtestsrc": 1811, "pal75bars": 97}
RATES = ["24000/1001", "24", "25", "30000/1001", "50", "60000/1001", "60"]


def make(name, rate):
    inputs = [word for source in SCENES for word in ("-f", "lavfi", "-i", f"{source}=s=64x36:r={rate}")]
    graph = "".join(f"[{i}]trim=end_frame={n},format=yuv420p,setsar=1[s{i}];" for i, n in enumerate(SCENES.values()))
    graph += "".join(f"[s{i}]" for i in range(len(SCENES))) + f"concat=n={len(SCENES)}:v=1:a=0"
    encoder = ["-c:v", "libx264", "-preset", "ultrafast", "-g", "300"]
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *inputs, "-filter_complex", graph, *encoder, name], check=True)


def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got}, not {want}")


def frames(time_range):
    return time_range.start_time.to_frames(), time_range.duration.to_frames()


def check_timelines(name, rate, drop):
    with open(f"{name}.csv", newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    want = []
    for n in SCENES.values():
        want.append((sum(w[1] for w in want), n))
    same(f"{name}: shots", [(int(r["first_frame"]), int(r["frames"])) for r in rows], want)
    edl = otio.adapters.read_from_file(f"{name}.edl", rate=float(rate))
    for what, timeline in ("EDL", edl), ("OTIO", otio.adapters.read_from_file(f"{name}.otio")):
        clips = list(timeline.tracks[0])
        same(f"{name}: {what}'s clips", [type(c).__name__ for c in clips], ["Clip"] * len(want))
        same(f"{name}: {what}'s sources", [frames(c.source_range) for c in clips], want)
        same(f"{name}: {what}'s records", [frames(c.range_in_parent()) for c in clips], want)
        for clip, row in zip(clips, rows):
            start = clip.source_range.start_time
            same(f"{name}: {what}'s rate", start.rate, float(rate))
            assert abs(start.to_seconds() - float(row["start"])) < 1e-3, (name, what, start, row)
    assert all(c.media_reference.target_url == name for c in otio.adapters.read_from_file(f"{name}.otio").tracks[0])
    same(f"{name}: the EDL's kind", f"\nFCM: {'' if drop else 'NON-'}DROP FRAME\n" in open(f"{name}.edl", encoding="utf-8").read(), True)
    codes = [to_timecode(RationalTime(start, float(rate)), float(rate), drop) for start, _ in want]
    same(f"{name}: timecodes", [r["timecode"] for r in rows], codes)
    return rows


def check_chapters(name, rows):
    subprocess.run(["mkvmerge", "-q", "-o", "chapters.mkv", "--chapters", f"{name}.xml", name], check=True)
    out = subprocess.run(["ffprobe", "-v", "error", "-show_chapters", "-of", "json", "chapters.mkv"], check=True, capture_output=True)
    chapters = json.loads(out.stdout)["chapters"]
    got = [(Fraction(c["start_time"]), Fraction(c["end_time"]), c["tags"]["title"]) for c in chapters]
    same(f"{name}: chapters", got, [(Fraction(r["start"]), Fraction(r["end"]), f"Shot {r['shot']}") for r in rows])


def main():
    barcode, folder = sys.argv[1:]
    os.makedirs(folder)
    os.chdir(folder)
    for rate in RATES:
        for ending in ("mp4", "mkv"):
            name = rate.replace("/", "-") + "." + ending
            make(name, rate)
            for drop in (False, True) if rate in ("30000/1001", "60000/1001") else (False,):
                lists = [f"--shot-list={name}.{e}" for e in ("csv", "edl", "otio", "xml")]
                subprocess.run([barcode, "-q", name, "-n", "30", *lists, *(["--drop-frame"] if drop else [])], check=True)
                rows = check_timelines(name, Fraction(rate), drop)
            check_chapters(name, rows)
    print(f"{2 * len(RATES)} films")


main()
