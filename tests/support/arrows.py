#!/usr/bin/env python3
"""arrows.py - who may include whom: the rooms of src/ and their arrows (src/DESIGN.md).

A room is a folder of src/ or cuda/. Its private headers lie in it, and only it includes them, by their plain name. What other rooms
may use of it is a header in include/barcode: those that have no .c beside them belong to the room named in HEADERS.
Silent when all holds; exit status 1 and a line for each arrow that points elsewhere.
"""
import collections
import pathlib
import re
import sys

# A room, and the rooms that it may lean on. `main` is src/main.c.
ARROWS = {
    "main": "render cli cache engine base",
    "render": "cli output cache stage engine base",
    "cli": "output cache stage engine kmeans base",
    "output": "stage engine kmeans base",
    "cache": "stage engine base",
    "stage": "engine base",
    "engine": "kmeans base",
    "kmeans": "base",
    "base": "",
    "cuda": "engine kmeans base",
}
HEADERS = {"version": "base", "frame": "engine", "film": "stage", "stage": "stage", "decoders": "stage", "probe": "stage", "report": "output", "options": "cli"}

top = pathlib.Path(__file__).resolve().parent.parent.parent
complaints = []
home = collections.defaultdict(list)
for source in sorted((top / "src").glob("*/*.c")):
    home[source.stem].append(source.parent.name)


def complain(path, text):
    complaints.append(f"lint: {path.relative_to(top)}: {text}")


def room_of_header(path):
    rooms = home.get(path.stem) or [HEADERS[path.stem]] if path.stem in HEADERS or path.stem in home else []
    if len(rooms) != 1:
        complain(path, "belongs to no room: name it in tests/support/arrows.py")
        return None
    return rooms[0]


def check(path, room):
    for line in path.read_text().split("\n"):
        found = re.match(r'#include "(.*)"', line)
        if not found:
            continue
        name = found.group(1)
        if not name.startswith("barcode/"):
            if room != "cuda" and not (path.parent / name).is_file():
                complain(path, f"{name} is no header of this room")
            continue
        target = public.get(name[len("barcode/"):-len(".h")])
        if target and target != room and target not in ARROWS[room].split():
            complain(path, f"the arrow from {room} to {target} ({name}) is not in the table")


public = {h.stem: room_of_header(h) for h in sorted((top / "include/barcode").glob("*.h"))}
for header in sorted((top / "include/barcode").glob("*.h")):
    if public[header.stem]:
        check(header, public[header.stem])
for source in sorted((top / "src").glob("*/*.[ch]")):
    if source.parent.name not in ARROWS:
        complain(source, "its room is not in the table of tests/support/arrows.py")
        continue
    check(source, source.parent.name)
check(top / "src/main.c", "main")
for source in sorted((top / "cuda").glob("*.*")):
    if source.suffix in (".cu", ".cuh", ".h"):
        check(source, "cuda")
# A circle in the table would make it say nothing.
order = list(ARROWS)
for room, targets in ARROWS.items():
    for target in targets.split():
        if room != "cuda" and order.index(target) <= order.index(room):
            complaints.append(f"lint: arrows.py: {room} may not lean on {target}, which stands above it")
print("\n".join(complaints), end="\n" if complaints else "")
sys.exit(bool(complaints))
