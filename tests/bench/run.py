#!/usr/bin/env python3
"""run.py [SECTION...] - the figures of README.md: whole-process times, side by side in one run, as ratios.

Sections: staging, kmeans, memory, engine, cache, sound. Programs alternate, so that a noisy machine hits both; medians and
the spread (lowest to highest) are printed. BIN, RUNS (default 5) and CACHE_MINUTES (20) come from the environment, and
BARCODE_FILMS: the first 1080p film of that folder is measured on instead of the one that is made here.
"""
import os
import platform
import re
import statistics
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.join(TOP, os.environ.get("BIN", "out/bin"))
RUNS = int(os.environ.get("RUNS", "5"))
CACHE_MINUTES = int(os.environ.get("CACHE_MINUTES", "20"))
WORK = os.path.join(TOP, "out/bench")
CLIP = ""                            # the film that is measured on; set below
BARCODE = os.path.join(BIN, "barcode")
PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")
os.environ["BARCODE_CACHE"] = "-"    # but for the section that is about it


def made_of_clip(name):
    """A file of this name in the work folder, and whether it is there, made of the film as it now is."""
    path = os.path.join(WORK, f"{os.path.splitext(os.path.basename(CLIP))[0]}-{name}")
    return path, os.path.exists(path) and os.path.getmtime(path) >= os.path.getmtime(CLIP)


def film(minutes):
    """The film, repeated without re-encoding to about so many minutes."""
    path, there = made_of_clip(f"{minutes}min.mkv")
    if not there:
        seconds = float(subprocess.run(["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", CLIP],
                                       check=True, capture_output=True, text=True).stdout)
        more = max(1, round(60 * minutes / seconds)) - 1
        subprocess.run(["ffmpeg", "-v", "error", "-stream_loop", str(more), "-i", CLIP, "-an", "-c", "copy", "-f", "matroska",
                        "-y", path + ".part"], check=True)
        os.replace(path + ".part", path)
    return path


def once(command):
    """Wall seconds, processor seconds and peak memory of one run."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, use = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {child.returncode}")
    return time.monotonic() - start, use.ru_utime + use.ru_stime, use.ru_maxrss / 1024


def race(commands):
    """Alternates the commands RUNS times after one warm-up; prints and returns the median wall times."""
    for command in commands.values():
        once(command)
    runs = {name: [] for name in commands}
    for _ in range(RUNS):
        for name, command in commands.items():
            runs[name].append(once(command))
    medians = {}
    for name, command in commands.items():
        wall = [r[0] for r in runs[name]]
        medians[name] = statistics.median(wall)
        print(f"  {name:28} {medians[name]:7.2f} s wall ({min(wall):.2f} to {max(wall):.2f}), "
              f"{statistics.median(r[1] for r in runs[name]):7.2f} s processor, {max(r[2] for r in runs[name]):5.0f} MB")
        print(f"    $ {' '.join(command)}".replace(TOP + "/", ""))
    return medians


def barcode(path, *options):
    return [BARCODE, path, "--every", "24", "-q", "-o", os.path.join(WORK, "picture.png"), *options]


def staging():
    print("staging: barcode -m average against decoding with the ffmpeg program, 4 minutes of 1080p H.264")
    path = film(4)
    m = race({"ffmpeg, decode only": ["ffmpeg", "-v", "error", "-i", path, "-f", "null", "-"],
              "barcode -m average": barcode(path, "-m", "average")})
    print(f"  ratio {m['barcode -m average'] / m['ffmpeg, decode only']:.3f} (wanted: at most 0.70)\n")


def kmeans():
    print("k-means against average, the same film, k 8, n_init 20, side 320")
    path = film(4)
    m = race({"barcode -m average": barcode(path, "-m", "average"), "barcode -m kmeans": barcode(path, "-m", "kmeans")})
    print(f"  ratio {m['barcode -m kmeans'] / m['barcode -m average']:.3f} (wanted: at most 1.10)\n")


def memory():
    print("peak memory, 1080p, 1 and 20 minutes (wanted: under 600 MB, within 10 % of each other)")
    peak = {}
    for minutes in (1, 20):
        peak[minutes] = max(once(barcode(film(minutes)))[2] for _ in range(1 if minutes == 20 else 3))
        print(f"  {minutes:2} min: {peak[minutes]:.0f} MB")
    print(f"  ratio {peak[20] / peak[1]:.3f}\n")


def frames():
    """Frames of the film at 320x180, raw."""
    raw, there = made_of_clip("320x180.rgb")
    if not there:
        subprocess.run([BARCODE, CLIP, "--every", "24", "-m", "average", "-q", "-o", os.path.join(WORK, "picture.png"),
                        "--dump", raw], check=True)
    return raw


def engine():
    print("k-means alone, one core, frames in memory, k 8, n_init 20 (wanted: 100 frames/s with AVX2, 140 with VNNI)")
    raw = frames()
    subprocess.run([os.path.join(BIN, "bench_kmeans"), raw, "320", "180"], check=True)
    print("  against scikit-learn, one thread, the same frames, the same run (wanted: at least 50 times its rate)")
    subprocess.run([PYTHON, os.path.join(TOP, "tests/bench/sklearn_rate.py"), raw, "320", "180",
                    os.path.join(BIN, "bench_kmeans")], check=True)


def cache():
    print(f"the frame cache: {CACHE_MINUTES} minutes of 1080p, k 8; cold is --refresh, which decodes and keeps every time")
    path = film(CACHE_MINUTES)
    folder = os.path.join(WORK, "cache")
    m = race({"without (--no-cache)": barcode(path, "--no-cache"),
              "cold (decodes and keeps)": barcode(path, "--cache", folder, "--refresh"),
              "warm (out of the cache)": barcode(path, "--cache", folder)})
    print(f"  warm / cold    {m['warm (out of the cache)'] / m['cold (decodes and keeps)']:.3f} (wanted: at most 0.10)")
    print(f"  cold / without {m['cold (decodes and keeps)'] / m['without (--no-cache)']:.3f} (wanted: at most 1.03)")
    stats = subprocess.run([BARCODE, "--cache", folder, "--cache-stats"], check=True, capture_output=True, text=True).stdout
    print("".join(f"  {line}\n" for line in stats.splitlines() if line.startswith(("bytes", "columns", "a column"))))
    subprocess.run([BARCODE, "--cache", folder, "--cache-clear"], check=True, stdout=subprocess.DEVNULL)


def sound():
    subprocess.run([PYTHON, os.path.join(TOP, "tests/bench/sound_rate.py"), os.path.join(BIN, "bench_sound")], check=True)
    print()


def machine():
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        found = re.search(r"model name\s*: (.*)", f.read())
        if found:
            model = found.group(1)
    print(f"{time.strftime('%Y-%m-%d')}, {model}, {len(os.sched_getaffinity(0))} cores, {platform.release()}, {RUNS} runs")
    print(f"film: {CLIP}\n".replace(TOP + "/", "made here, ", 1), flush=True)


if __name__ == "__main__":
    CLIP = subprocess.run([os.path.join(TOP, "tests/support/films.sh"), "bench"], check=False, stdout=subprocess.PIPE,
                          text=True).stdout.strip()
    if not CLIP:
        sys.exit(1)                  # films.sh has said why
    os.makedirs(WORK, exist_ok=True)
    machine()
    for section in sys.argv[1:] or ["staging", "kmeans", "memory", "engine", "cache", "sound"]:
        {f.__name__: f for f in (staging, kmeans, memory, engine, cache, sound)}[section]()
        sys.stdout.flush()
