#!/usr/bin/env python3
"""arrows.py - who may include whom: the rooms of src/ and their arrows (src/DESIGN.md).

A room is a folder of src/ or cuda/, and may have rooms of its own, as src/media/gop. A file includes the private headers of its own
folder by their plain name, and those of another room of the same parent by their path below src/. What other parents may use is a
header in include/barcode/PARENT. Inside its parent it belongs to the room that has the .c of its name, or to the one that INNER
names; those of no room are open to all of them.
Silent when all holds; exit status 1 and a line for each arrow that points elsewhere.
"""
import collections
import pathlib
import re
import sys

# A room, and the rooms that it may lean on: none stands above it. `main` is src/main.c.
ARROWS = {
    "main": "match live batch cli cache engine base",
    "match": "batch render cli output cache media sound engine base",
    "live": "cli output cache media engine base",
    "batch": "render cli output cache media sound engine base",
    "render": "cli output cache media sound engine base",
    "cli": "output cache media engine kmeans base",
    "output": "media sound engine kmeans base",
    "cache": "media sound engine base",
    "media": "sound engine base",
    "engine": "kmeans base",
    "kmeans": "base",
    "sound": "base",
    "base": "",
    "cuda": "engine kmeans sound base",
}
# The same for the rooms of a room. Its own files have the empty name.
INSIDE = {
    "media": {
        "source": "sound reader probe nvdec decode schedule container gop frame select bitstream ffmpeg",
        "sound": "container select ffmpeg",
        "live": "container frame bitstream ffmpeg",
        "reader": "decode schedule container gop frame select bitstream ffmpeg",
        "probe": "decode container frame bitstream ffmpeg",
        "nvdec": "decode schedule gop frame bitstream ffmpeg",
        "decode": "schedule gop frame bitstream ffmpeg",
        "schedule": "gop bitstream",
        "container": "frame select bitstream ffmpeg",
        "gop": "select bitstream ffmpeg",
        "frame": "",
        "select": "",
        "bitstream": "",
        "ffmpeg": "",
    },
    "cli": {
        "options": "outputs inputs",
        "outputs": "inputs",
        "inputs": "",
        "": "",
    },
    "output": {
        "": "html formats",
        "html": "formats poster palette text modes",
        "formats": "poster palette text modes",
        "poster": "palette text modes",
        "palette": "text modes",
        "text": "modes",
        "modes": "",
    },
}
# In which room of its parent a public header's functions are, where no .c of its name says it; "": it is open to all of them.
INNER = {
    "media/source": "", "cli/cli": "",
    "output/strip": "modes", "output/paint": "poster", "output/paper": "poster", "output/thumbs": "formats",
}

top = pathlib.Path(__file__).resolve().parent.parent.parent
complaints = []


def complain(path, text):
    complaints.append(f"lint: {path.relative_to(top)}: {text}")


def room_of(path):
    """(parent, room in it) of a file below src/ or in cuda/"""
    parts = path.relative_to(top).parts[:-1]
    return ("cuda", "") if parts == ("cuda",) else (parts[1], "/".join(parts[2:]))


def room_of_header(path):
    parent = path.parent.name
    inner = INNER.get(f"{parent}/{path.stem}")
    rooms = [room for name, room in home[path.stem] if name == parent]
    return parent, inner if inner is not None else rooms[0] if len(rooms) == 1 else ""


def may_lean(room, target):
    if room == target:
        return True
    if room[0] != target[0]:
        return target[0] in ARROWS[room[0]].split()
    allowed = INSIDE.get(room[0], {}).get(room[1])
    return allowed is not None and target[1] in allowed.split()


def check(path, room):
    for line in path.read_text().split("\n"):
        found = re.match(r'#include "(.*)"', line)
        if not found:
            continue
        name = found.group(1)
        if name.startswith("barcode/"):
            target = public.get(name)
            # A parent's own headers lie open to its rooms, and may name what these offer to others.
            open_to_all = target and target[0] == room[0] and (not target[1] or path in headers)
            if target and not open_to_all and not may_lean(room, target):
                complain(path, f"the arrow from {'/'.join(room)} to {'/'.join(target)} ({name}) is not in the table")
        elif room[0] != "cuda" and not (path.parent / name).is_file():
            header = top / "src" / name
            if not header.is_file() or room_of(header)[0] != room[0]:
                complain(path, f"{name} is no header of this room")
            elif not may_lean(room, room_of(header)):
                complain(path, f"the arrow to {room_of(header)[1]} ({name}) is not in the table")
        elif "/" in name:
            complain(path, f"{name}: a header of another folder by its path below src/")


def check_order(table, where):
    """A circle in the table would make it say nothing."""
    order = list(table)
    for room, targets in table.items():
        for target in targets.split():
            if target not in table or (room != "cuda" and order.index(target) <= order.index(room)):
                complaints.append(f"lint: arrows.py: {where}{room} may not lean on {target}, which stands above it")


home = collections.defaultdict(list)
sources = [s for s in sorted((top / "src").glob("*/**/*.[ch]"))]
for source in sources:
    if source.suffix == ".c":
        home[source.stem].append(room_of(source))
headers = sorted((top / "include/barcode").glob("**/*.h"))
public = {str(h.relative_to(top / "include")): room_of_header(h) for h in headers}
for header in headers:
    check(header, room_of_header(header))
for source in sources:
    parent, inner = room_of(source)
    if parent not in ARROWS or (inner and inner not in INSIDE.get(parent, {})):
        complain(source, "its room is not in the table of tests/support/arrows.py")
        continue
    check(source, (parent, inner))
check(top / "src/main.c", ("main", ""))
for source in sorted((top / "cuda").glob("*.*")):
    if source.suffix in (".cu", ".cuh", ".h"):
        check(source, ("cuda", ""))
check_order(ARROWS, "")
for parent, table in INSIDE.items():
    check_order(table, parent + "/")
print("\n".join(complaints), end="\n" if complaints else "")
sys.exit(bool(complaints))
