#!/usr/bin/env python3
"""arrows.py - who may include whom: the rooms of src/ and their arrows (src/DESIGN.md).

A room is a folder of src/ or cuda/, and may have rooms of its own, as src/media/gop. A header lies beside its code; in
include/barcode/ROOM lie those that src/ and cuda/ share. A file includes the headers of its own folder by their plain name, and
others by their path below src/ or include/. From outside a room only its face may be included.
Silent when all holds; exit status 1 and a line for each arrow that points elsewhere.
"""
import pathlib
import re
import sys

top = pathlib.Path(__file__).resolve().parent.parent.parent
# A room, and the rooms that it may lean on: none stands above it. `main` is src/main.c.
ARROWS = dict(re.findall(r"^ARROWS_(\w+) *:= *(.*)$", (top / "src/rooms.mk").read_text(), re.M))
# The same for the rooms of a room. Its own files have the empty name.
INSIDE = {
    "media": {
        "source": "sound reader nvdec decode schedule container gop ffmpeg",
        "sound": "container select ffmpeg",
        "live": "container bitstream ffmpeg",
        "reader": "decode schedule container gop select bitstream ffmpeg",
        "nvdec": "decode schedule gop bitstream ffmpeg",
        "decode": "schedule gop bitstream ffmpeg",
        "schedule": "gop bitstream",
        "container": "select bitstream ffmpeg",
        "gop": "select bitstream ffmpeg",
        "select": "",
        "bitstream": "",
        "ffmpeg": "",
    },
    "live": {
        "": "stream serve",
        "stream": "day",
        "serve": "day",
        "day": "",
    },
    "match": {
        "find": "align",
        "align": "",
        "": "",
    },
    "output": {
        "": "formats poster modes",
        "html": "formats poster modes",
        "formats": "poster modes",
        "poster": "modes",
        "modes": "",
    },
}
# The headers of a room that others may include, by their path in it. All of base is open, and all in include/barcode.
FACE = {
    "match": "match.h",
    "live": "live.h live_options.h",
    "batch": "batch.h batch_options.h",
    "job": "job.h",
    "cli": "cli.h",
    "plan": "inputs.h options_fingerprint.h outputs.h plan.h",
    "output": "report.h run_files.h sinks.h writer.h formats/format_options.h formats/json.h "
              "formats/images.h formats/thumbs.h formats/timecode.h html/gallery.h html/html_template.h "
              "modes/film_palette.h modes/shot_columns.h modes/strip.h picture_options.h poster/poster.h",
    "cache": "cache_options.h failed_films.h frame_cache.h",
    "media": "film_options.h film.h container/playlists.h ffmpeg/ffmpeg.h "
             "ffmpeg/stream_name.h gop/decode_counts.h live/live_source.h select/frame_times.h "
             "select/selection.h source.h",
    "engine": "digest.h engines.h steady.h",
    "sound": "film_sound.h landmarks.h",
    "shots": "shots.h",
}

complaints = []


def complain(path, text):
    complaints.append(f"lint: {path.relative_to(top)}: {text}")


def room_of(path):
    """(parent, room in it) of a file below src/, include/barcode/ or in cuda/"""
    parts = path.relative_to(top).parts[:-1]
    if parts[0] == "include":
        return parts[2], ""
    return ("cuda", "") if parts == ("cuda",) else ((parts + ("main",))[1], "/".join(parts[2:]))


def may_lean(room, target):
    if room == target:
        return True
    if room[0] != target[0]:
        return target[0] in ARROWS[room[0]].split()
    allowed = INSIDE.get(room[0], {}).get(room[1])
    return allowed is not None and target[1] in allowed.split()


def header_of(path, name):
    """The header that an #include of `path` means, or None if it is spelled otherwise than here."""
    if "/" not in name:
        return path.parent / name if (path.parent / name).is_file() else None
    for folder in ("src", "include"):
        header = top / folder / name
        if header.is_file() and (header.parent != path.parent or folder == "include"):
            return header
    return None


def check(path):
    room = room_of(path)
    for name in re.findall(r'^#include "(.*)"', path.read_text(), re.M):
        if name == "cuda_emulator.h":
            continue
        header = header_of(path, name)
        if not header:
            complain(path, f"{name}: a header of the own folder by its name, others by their path below src/ or include/")
            continue
        target = room_of(header)
        # The headers of a parent's own folder lie open to its rooms, and may name theirs.
        shared = target[0] == room[0] and (not target[1] or not room[1] and path.suffix == ".h")
        if not shared and not may_lean(room, target):
            complain(path, f"the arrow from {'/'.join(room)} to {'/'.join(target)} ({name}) is not in the table")
        elif target[0] not in (room[0], "base") and header.parts[-4:-2] != ("include", "barcode"):
            if str(header.relative_to(top / "src" / target[0])) not in FACE.get(target[0], "").split():
                complain(path, f"{name} is not in the face of {target[0]}")


def check_order(table, where):
    """A circle in the table would make it say nothing."""
    order = list(table)
    for room, targets in table.items():
        for target in targets.split():
            if target not in table or (room != "cuda" and order.index(target) <= order.index(room)):
                complaints.append(f"lint: arrows.py: {where}{room} may not lean on {target}, which stands above it")


files = [f for pattern in ("src/**/*.[ch]", "include/barcode/*/*.h", "cuda/*.*") for f in sorted(top.glob(pattern))]
for file in files:
    parent, inner = room_of(file)
    if parent not in ARROWS or (inner and inner not in INSIDE.get(parent, {})):
        complain(file, "its room is not in the table of tests/support/arrows.py")
    elif file.suffix in (".c", ".h", ".cu", ".cuh"):
        check(file)
check_order(ARROWS, "")
for parent, table in INSIDE.items():
    check_order(table, parent + "/")
print("\n".join(complaints), end="\n" if complaints else "")
sys.exit(bool(complaints))
