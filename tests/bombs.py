#!/usr/bin/env python3
"""Films that take far more memory or time than their size allows, each with --memory 1G, then all in a folder with ten good films.

Each bomb must take at most 1.3 GiB of memory and 60 s of processor time, end with a documented status, and be told in one sentence. The
ten films must come out with the bytes that each has alone. BARCODE (out/bin/barcode) and MEMORY (1G; "": the option is not given) come
from the environment; arguments select bombs by name. The last line counts; exit 1 if a check failed.
"""
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

import bombs_make

PEAK = 1.3 * 2**30
SECONDS = 60
SPACE = 4 << 30         # of a process: the host survives if the program does not limit itself
top = pathlib.Path(__file__).resolve().parent.parent
barcode = pathlib.Path(os.environ.get("BARCODE", top / "out/bin/barcode")).resolve()
memory = os.environ.get("MEMORY", "1G")
failures = passes = 0


def check(ok, text):
    global failures, passes
    failures += not ok
    passes += ok
    print(("ok    " if ok else "FAIL  ") + text, flush=True)


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (SPACE, SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS + 1, SECONDS + 1))


def run(*words):
    """Runs the program. Returns status, messages, peak memory of any of its processes, and processor seconds."""
    option = ["--memory", memory] if memory else []
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(["./barcode", "-m", "average", "--no-cache", *option, *words], stderr=said, preexec_fn=limit)
        _, how, used = os.wait4(child.pid, 0)
        said.seek(0)
        lines = said.read().decode(errors="replace").splitlines()
    return os.waitstatus_to_exitcode(how), lines, used.ru_maxrss * 1024, used.ru_utime + used.ru_stime


def try_bomb(name):
    status, lines, peak, seconds = run(name, "-q", "-o", "out.png")
    told = [line for line in lines if line.startswith("barcode: ")]
    wrote = os.path.exists("out.png")
    if wrote:
        os.remove("out.png")
    well = (status == 0 and wrote) or (status in (1, 3) and not wrote and len(lines) == len(told) == 1)
    well = well and peak <= PEAK and seconds <= SECONDS and all(name in line for line in told)
    words = "; ".join(lines[:3]) if lines else "a picture"
    check(well, f"{name}: {os.path.getsize(name)} bytes, {peak / 2**20:.0f} MiB, {seconds:.1f} s, status {status}: {words}")


def make_film(name, number):
    source = f"testsrc2=size=320x180:rate=24:duration=4,hue=h={number * 36}"
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", source, "-g", "24", "-y", name], check=True)


def try_folder(bombs):
    films = [f"good-{n}.mkv" for n in range(10)]
    for n, name in enumerate(films):
        make_film(f"all/{name}", n)
        os.makedirs("alone", exist_ok=True)
    run(*(f"all/{name}" for name in films), "-q", "-j", "1", "-o", "alone/")
    for name in bombs:
        os.rename(name, f"all/{name}")
    status, lines, peak, seconds = run("all", "--any", "-o", "out/")
    check(status in (1, 3) and peak <= PEAK, f"all in a folder: {peak / 2**20:.0f} MiB, {seconds:.1f} s, status {status}")
    for name in films:
        picture = name.replace(".mkv", "-average.png")
        paths = [pathlib.Path(folder, picture) for folder in ("alone", "out")]
        same = all(path.exists() for path in paths) and paths[0].read_bytes() == paths[1].read_bytes()
        check(same and not any("warning" in line and f"'all/{name}': " in line for line in lines), f"{name} beside the bombs")
    for name in bombs:
        made = pathlib.Path("out", pathlib.Path(name).stem + "-average.png").exists()
        told = [line for line in lines if name in line and "rendering it again" not in line and "warning" not in line]
        check(made or len(told) == 1, f"{name} in the folder: {told}")


def main():
    chosen = [b for b in bombs_make.BOMBS if not sys.argv[1:] or any(word in b[0] for word in sys.argv[1:])]
    with tempfile.TemporaryDirectory(prefix="barcode-bombs.") as work:
        os.chdir(work)
        shutil.copy(barcode, "barcode")      # so that a build beside the run disturbs nothing
        os.mkdir("all")
        for name, _, make in chosen:
            make(name)
            try_bomb(name)
        if not os.environ.get("ALONE"):
            try_folder([name for name, _, _ in chosen])
        os.chdir("/")
    print(f"{passes} passed, {failures} failed")
    return failures > 0


sys.exit(main())
