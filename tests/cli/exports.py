#!/usr/bin/python3
"""Small readers of what --csv, --swatches and --thumbnails write, by the formats' own rules. Standard library alone.

    exports.py csv CSV JSON K              python's csv reads it, K colours a row, and it says what the JSON says
    exports.py swatches RGB STEM MOST      STEM.gpl, .ase, .css and .json say the same palette, which is that of the dump's pixels
    exports.py swatch JSON R G B SHARE     the palette has this colour
    exports.py thumbnails VTT JSON RGB     the cues in order, their sheets there, and each thumbnail shows its frame of the dump
    exports.py shape VTT WIDTH HEIGHT      the size of every thumbnail
    exports.py shots CSV JSON COLUMNS      --shot-list as CSV and JSON, and "shots" of --json, say the same
    exports.py cuts CSV FILM               ffmpeg cuts the film by start and end into the frames of the list
    exports.py chapters CSV FILM           the film has the shots as chapters
"""

import csv
import json
import os
import re
import struct
import subprocess
import sys
import urllib.parse


def expect(condition, sentence):
    if not condition:
        sys.exit(f"exports.py: {sentence}")


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def rgb_of(text):
    expect(re.fullmatch("#[0-9a-f]{6}", text), f"{text!r} is no colour")
    return [int(text[i : i + 2], 16) for i in (1, 3, 5)]


# ---- CSV ----


def check_csv(path, told, k):
    with open(path, "rb") as f:
        raw = f.read()
    expect(raw.count(b"\n") == raw.count(b"\r\n") and raw.endswith(b"\r\n"), "RFC 4180 ends lines in CRLF")
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.reader(f, strict=True))
    head, rows, columns = rows[0], rows[1:], load(told)["columns"]
    want = ["column", "frame", "time", "status", "average", "dominant"]
    for i in range(int(k)):
        want += [f"colour_{i + 1}", f"share_{i + 1}"]
    want += "film r g b lightness chroma hue contrast title file".split()
    expect(head == want, f"the head is {head}")
    expect(len(rows) == len(columns), f"{len(rows)} rows of {len(columns)} columns")
    for number, (row, c) in enumerate(zip(rows, columns)):
        expect(len(row) == len(head), f"row {number} has {len(row)} fields")
        have = dict(zip(head, row))
        status = "missing" if c.get("missing") else "damaged" if c.get("damaged") else "ok"
        expect(have["column"] == str(number) and have["status"] == status, f"row {number} is {row}, and its column {c}")
        expect(have["film"] == load_film(told), f"row {number} names the film {have['film']}")
        expect(have["file"] == load(told)["film"]["path"] and have["title"], f"row {number} names the file {have['file']}")
        if c["frame"] is None:
            expect(have["frame"] == have["time"] == "", f"row {number} knows more than the JSON")
        else:
            expect(int(have["frame"]) == c["frame"] and abs(float(have["time"]) - c["time"]) < 1e-6, f"row {number}: {row}, {c}")
        colours = c.get("colours", [])
        if status != "missing":
            expect(rgb_of(have["average"]) == c["average"] and rgb_of(have["dominant"]) == c["dominant"], f"row {number}: {row}, {c}")
        total = sum(colour["count"] for colour in colours)
        painted = rgb_of(have["colour_1"]) if colours else ["", "", ""]
        expect([have[c] for c in "rgb"] == [str(v) for v in painted], f"row {number}: {row}, {c}")
        for i in range(int(k)):
            if i >= len(colours):
                expect(have[f"colour_{i + 1}"] == have[f"share_{i + 1}"] == "", f"row {number}: a colour that the JSON lacks")
                continue
            expect(rgb_of(have[f"colour_{i + 1}"]) == colours[i]["rgb"], f"row {number}: {row}, {c}")
            expect(abs(float(have[f"share_{i + 1}"]) - colours[i]["count"] / total) < 1e-6, f"row {number}: {row}, {c}")


def load_film(told):
    return load(told)["film"]["id"] or ""


# ---- swatches: each reader gives [(rgb, share)] ----


def read_gpl(path):
    """GIMP's loader: magic, Name:, Columns:, comments, then numbers and a name."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    expect(lines[0] == "GIMP Palette", "GIMP's magic")
    expect(re.fullmatch("Name: .+", lines[1]) and re.fullmatch(r"Columns: \d+", lines[2]), "GIMP's head")
    out = []
    for line in lines[3:]:
        if not line or line.startswith("#"):
            continue
        found = re.fullmatch(r"\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+) (\d+\.\d) %", line)
        expect(found, f"GIMP cannot read {line!r}")
        rgb = [int(v) for v in found.groups()[:3]]
        expect(rgb_of(found.group(4)) == rgb, "the name is another colour")
        out.append((rgb, float(found.group(5)) / 100))
    return out


def read_ase(path):
    with open(path, "rb") as f:
        raw = f.read()
    magic, major, minor, blocks = struct.unpack_from(">4sHHI", raw)
    expect((magic, major, minor) == (b"ASEF", 1, 0), "ASE's head")
    at, out, depth = 12, [], 0
    for _ in range(blocks):
        kind, length = struct.unpack_from(">HI", raw, at)
        body = raw[at + 6 : at + 6 + length]
        expect(len(body) == length, "an ASE block that reaches beyond the file")
        at += 6 + length
        if kind == 0xC002:
            depth -= 1
            expect(length == 0, "a group's end holds nothing")
            continue
        (units,) = struct.unpack_from(">H", body)
        name = body[2 : 2 + 2 * units].decode("utf-16-be")
        expect(name.endswith("\0") and name.count("\0") == 1, f"a name {name!r}")
        if kind == 0xC001:
            depth += 1
            expect(length == 2 + 2 * units, "a group's block is its name")
            continue
        expect(kind == 1 and depth == 1, f"a block of kind {kind}")
        model, r, g, b, sort = struct.unpack(">4sfffH", body[2 + 2 * units :])
        expect(model == b"RGB " and sort in (0, 1, 2), "a colour's model")
        rgb = [round(v * 255) for v in (r, g, b)]
        expect(rgb_of(name.split()[0]) == rgb, "the name is another colour")
        out.append((rgb, float(name.split()[1]) / 100))
    expect(at == len(raw) and depth == 0, "what is behind the blocks")
    return out


def read_css(path):
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S).strip()
    expect(text.startswith(":root {") and text.endswith("}") and text.count("}") == 1, "a rule for :root")
    values = dict(re.findall(r"(--[\w-]+): ([^;]+);", text))
    out = []
    while f"--film-{len(out) + 1}" in values:
        n = len(out) + 1
        out.append((rgb_of(values[f"--film-{n}"]), float(values[f"--film-{n}-share"].rstrip("%")) / 100))
    expect(len(values) == 2 * len(out) + 1, f"properties {sorted(values)}")
    stops = re.findall(r"(#\w{6}) ([\d.]+)% ([\d.]+)%", values["--film-palette"])
    expect([rgb_of(s[0]) for s in stops] == [c[0] for c in out] and stops[-1][2] == "100.0", "the gradient")
    for (_, start, end), (_, share) in zip(stops, out):
        expect(abs(float(end) - float(start) - share * 100) < 0.11, "a stripe's width")
    return out


def read_json(path):
    return [(c["rgb"], c["share"]) for c in load(path)["colours"] if rgb_of(c["hex"]) == c["rgb"]]


def luminance(rgb):
    linear = [v / 255 / 12.92 if v / 255 <= 0.04045 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def oklab(rgb):
    r, g, b = (v / 255 / 12.92 if v / 255 <= 0.04045 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in rgb)
    lms = [(x * r + y * g + z * b) ** (1 / 3) for x, y, z in ((0.4122214708, 0.5363325363, 0.0514459929),
                                                             (0.2119034982, 0.6806995451, 0.1073969566),
                                                             (0.0883024619, 0.2817188376, 0.6299787005))]
    return [sum(w * v for w, v in zip(row, lms)) for row in ((0.2104542553, 0.7936177850, -0.0040720468),
                                                             (1.9779984951, -2.4285922050, 0.4505937099),
                                                             (0.0259040371, 0.7827717662, -0.8086757660))]


def check_swatches(dump, stem, most):
    exact = read_json(stem + ".json")
    expect(1 <= len(exact) <= int(most) and abs(sum(share for _, share in exact) - 1) < 1e-5, f"the palette {exact}")
    for name, read in (("gpl", read_gpl), ("ase", read_ase), ("css", read_css)):
        if not os.path.exists(f"{stem}.{name}"):
            continue
        got = read(f"{stem}.{name}")
        expect([c[0] for c in got] == [c[0] for c in exact], f"{name} has {got}, the JSON {exact}")
        expect(all(abs(a[1] - b[1]) <= 0.00051 for a, b in zip(got, exact)), f"{name}'s shares")
    light = [luminance(rgb) for rgb, _ in exact]
    expect(light == sorted(light, reverse=True), "the lightest first")
    # Each colour has the share of the frames' pixels that are nearest to it, and some are within a cell.
    with open(dump, "rb") as f:
        raw = f.read()
    count, near, least = [0] * len(exact), [oklab(rgb) for rgb, _ in exact], [9.0] * len(exact)
    pixels = len(raw) // 3
    step = max(1, pixels // 20000) | 1
    known = {}
    for i in range(0, pixels, step):
        rgb = raw[3 * i : 3 * i + 3]
        if rgb not in known:
            q = oklab(rgb)
            known[rgb] = min((sum((a - b) ** 2 for a, b in zip(q, c)), k) for k, c in enumerate(near))
        off, k = known[rgb]
        count[k] += 1
        least[k] = min(least[k], off)
    total = sum(count)
    for (rgb, share), n, off in zip(exact, count, least):
        expect(abs(n / total - share) < 0.025, f"the share of {rgb} is {n / total:.4f} and not {share}")
        expect(n < 20 or off < 0.03 ** 2, f"no pixel is near {rgb}")


def check_swatch(path, r, g, b, share):
    """One swatch is within 0.05 of this colour, and has its share."""
    want = oklab([int(r), int(g), int(b)])
    found = [s for rgb, s in read_json(path) if sum((x - y) ** 2 for x, y in zip(oklab(rgb), want)) < 0.05 ** 2]
    expect(len(found) == 1 and abs(found[0] - float(share)) < 0.002, f"the palette {read_json(path)}")


# ---- thumbnails ----


def read_vtt(path):
    """WebVTT's blocks; [(start, end, url, x, y, w, h)] of the cues."""
    with open(path, encoding="utf-8") as f:
        blocks = f.read().split("\n\n")
    expect(blocks[0] == "WEBVTT", "WebVTT's signature")
    cues = []
    for block in blocks[1:]:
        if block.startswith("NOTE") or not block.strip():
            continue
        times, text = block.strip("\n").split("\n")
        found = re.fullmatch(r"(\d{2,}):([0-5]\d):([0-5]\d)\.(\d{3}) --> (\d{2,}):([0-5]\d):([0-5]\d)\.(\d{3})", times)
        expect(found, f"a cue's times {times!r}")
        n = [int(v) for v in found.groups()]
        start, end = (h * 3600 + m * 60 + s + ms / 1000 for h, m, s, ms in (n[:4], n[4:]))
        where = re.fullmatch(r"([A-Za-z0-9._~%-]+)#xywh=(\d+),(\d+),(\d+),(\d+)", text)
        expect(where, f"a cue's text {text!r}")
        cues.append((start, end, urllib.parse.unquote(where.group(1))) + tuple(int(v) for v in where.groups()[1:]))
    return cues


def pixels(path):
    """Width, height and R'G'B' of a JPEG, by the ffmpeg program."""
    with open(path, "rb") as f:
        raw = f.read()
    at = 2
    while raw[at + 1] not in (0xC0, 0xC1, 0xC2):
        at += 2 + struct.unpack_from(">H", raw, at + 2)[0]
    height, width = struct.unpack_from(">HH", raw, at + 5)
    made = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], stdout=subprocess.PIPE, check=True)
    expect(len(made.stdout) == width * height * 3, f"{path} is {len(made.stdout)} bytes of {width}x{height}")
    return width, height, made.stdout


def mean(rgb, pitch, x, y, w, h):
    sums = [0, 0, 0]
    for row in range(y, y + h):
        line = rgb[row * pitch + x * 3 : row * pitch + (x + w) * 3]
        for c in range(3):
            sums[c] += sum(line[c::3])
    return [s / (w * h) for s in sums]


def check_thumbnails(path, told, dump):
    film, cues, sheets, end = load(told), read_vtt(path), {}, None
    w, h = film["size"]
    with open(dump, "rb") as f:
        frames = f.read()
    times = [c["time"] for c in film["columns"]]
    expect(1 <= len(cues) <= 1000, f"{len(cues)} cues")
    expect(sum(os.path.getsize(os.path.join(os.path.dirname(path), s)) for s in {c[2] for c in cues}) <= 4_000_000, "the sheets are too large")
    for number, (start, stop, url, x, y, tw, th) in enumerate(cues):
        expect(start < stop and (end is None or abs(start - end) < 0.0011), f"cue {number} from {start} to {stop}, after one to {end}")
        end = stop
        expect(number == 0 or int(start) > int(cues[number - 1][0]), f"cues {number - 1} and {number} begin in one second")
        if url not in sheets:
            sheets[url] = pixels(os.path.join(os.path.dirname(path), url))
        width, height, rgb = sheets[url]
        place = number % 100
        expect((x, y) == (place % 10 * tw, place // 10 * th), f"cue {number} of {tw}x{th} is at {x}, {y}")
        mates = min(100, len(cues) - (number - place))
        expect((width, height) == (min(10, mates) * tw, -(-mates // 10) * th), f"a sheet of {width}x{height}")
        column = min(range(len(times)), key=lambda i: abs(times[i] - start)) if number else 0
        if film["columns"][column].get("missing") or (number > 20 and number % 9):
            continue
        want, got = mean(frames[column * w * h * 3 :], w * 3, 0, 0, w, h), mean(rgb, width * 3, x, y, tw, th)
        expect(all(abs(a - b) < 4 for a, b in zip(want, got)), f"cue {number} (column {column}) shows {got} and not {want}")
    print(len(cues), len(sheets))


def check_shape(path, width, height):
    for cue in read_vtt(path):
        expect(cue[5:] == (int(width), int(height)), f"a thumbnail is {cue[5]}x{cue[6]} and not {width}x{height}")


# ---- Shots ----


def read_shots(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f, strict=True))


def check_shots(path, listed, columns):
    rows, shots, plain = read_shots(path), load(listed)["shots"], load(columns)["shots"]
    numbers = "shot first_frame last_frame frames start end length transition_frames".split()
    expect(len(rows) == len(shots) == len(plain), f"{len(rows)} rows, {len(shots)} and {len(plain)} shots")
    end = None
    for row, shot, same in zip(rows, shots, plain):
        told = {name: float(row[name]) for name in numbers}
        expect(told == {name: shot[name] for name in numbers}, f"{row} is not {shot}")
        expect({**same, "timecode": shot["timecode"], "colours": shot["colours"]} == shot, f"{same} is not {shot}")
        expect(row["transition"] == shot["transition"] and row["timecode"] == shot["timecode"], f"{row} is not {shot}")
        expect(rgb_of(row["average"]) == shot["average"], f"{row} is not {shot}")
        expect(end in (None, row["start"]) and told["frames"] == told["last_frame"] - told["first_frame"] + 1, f"{row}")
        end = row["end"]
        for i, colour in enumerate(shot["colours"], 1):
            expect(rgb_of(row[f"colour_{i}"]) == colour["rgb"] and float(row[f"share_{i}"]) == colour["share"], f"{row} is not {shot}")
        expect(not row.get(f"colour_{len(shot['colours']) + 1}"), f"{row} has more colours than {shot}")
        expect(abs(sum(c["share"] for c in shot["colours"]) - 1) < 1e-5, f"the shares of {shot}")


def frames_of(path, *options):
    command = ["ffmpeg", "-nostdin", "-v", "error", *options, "-i", path, "-map", "0:v", "-fps_mode", "passthrough", "-f", "framehash", "-hash", "md5", "-"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [line.split(",")[-1].strip() for line in out.splitlines() if not line.startswith("#")]


def check_cuts(path, film):
    rows, frames = read_shots(path), frames_of(film)
    for row in rows:
        want = frames[int(row["first_frame"]) : int(row["last_frame"]) + 1]
        got = frames_of(film, "-ss", row["start"], "-to", row["end"])
        expect(got == want, f"shot {row['shot']} has {len(got)} frames, not {len(want)}, or other ones")
    print(len(rows))


def check_chapters(path, film):
    command = ["ffprobe", "-v", "error", "-show_chapters", "-of", "json", film]
    chapters = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["chapters"]
    got = [(float(c["start_time"]), float(c["end_time"]), c["tags"]["title"]) for c in chapters]
    want = [(float(r["start"]), float(r["end"]), f"Shot {r['shot']}") for r in read_shots(path)]
    expect(got == want, f"the chapters are {got[:3]}..., not {want[:3]}...")


CHECKS = {"shots": check_shots, "cuts": check_cuts, "chapters": check_chapters, "csv": check_csv, "swatches": check_swatches, "swatch": check_swatch, "thumbnails": check_thumbnails, "shape": check_shape}
CHECKS[sys.argv[1]](*sys.argv[2:])
