#!/usr/bin/python3
"""The checks of the CLI tests that need arithmetic. Standard library and, where said, numpy.

    checks.py answers JSON TSV             the sample film's columns against its known answers; of averages alone
                                           where the bars were left in (--crop off)
    checks.py selection FILM JSON RULE     the frames that RULE picks, from ffprobe's list of frames
    checks.py keyframes FILM EXACT.json EXACT.rgb KEYS.json KEYS.rgb
                                           every column of KEYS: the key frame at or before its time, as EXACT (every frame) has it
    checks.py picture PNG JSON MODE        every pixel of a picture of one pixel a column against the columns
    checks.py same JSON JSON...            equal but for times, threads, instruction set and how it was asked for
    checks.py pixels PNG PNG               the same picture, whatever its text
    checks.py slit PNG JSON RGB X DEGREES  a slit of the dump's frames, a column of one pixel each
    checks.py shape JSON                   the man page's section JSON, field by field
    checks.py dominant JSON RGB            the modes of the dump's frames, by the definition of dominant.h once more
    checks.py dump JSON RGB                the dump's size, and its averages against the columns'
    checks.py size JSON WIDTH HEIGHT       the staged size
    checks.py png PNG WIDTH HEIGHT         the picture's size
    checks.py get JSON KEY[.KEY...]        prints a value
"""

import itertools
import json
import math
import os
import subprocess
import sys
from fractions import Fraction

import bands


class Wrong(Exception):
    """What is wrong, as a sentence."""


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def expect(condition, sentence):
    if not condition:
        raise Wrong(sentence)


# ---- the sample film ----

def read_answers(path):
    answers = []
    with open(path, encoding="utf-8") as f:
        for line in f.read().splitlines()[1:]:
            first, last, dominant, share, average, picture, shot = line.split("\t")
            answer = {"shot": shot, "average": [float(v) for v in average.split(",")], "picture": picture}
            if dominant != "-":
                answer["dominant"] = [int(v) for v in dominant.split(",")]
                answer["share"] = float(share)
            answers += [answer] * (int(last) - int(first) + 1)
    return answers


def with_bars(answer):
    """The average of the whole frame: the answers are of the picture between the bars, and these are black."""
    height, top = (int(v) for v in answer["picture"].split(":")[1::2])
    return [v * height / (height + 2 * top) for v in answer["average"]]


def answers(json_path, tsv_path):
    facts, right = load(json_path), read_answers(tsv_path)
    pixels = facts["size"][0] * facts["size"][1]
    known, cut = 0, "crop" in facts
    for c in facts["columns"]:
        a = right[c["frame"]]
        where = f"frame {c['frame']} ({a['shot']})"
        average = a["average"] if cut else with_bars(a)
        off = max(abs(x - y) for x, y in zip(c["average"], average))
        expect(off <= 2, f"{where}: average {c['average']}, right is {average}")
        expect(abs(c["time"] - c["frame"] / 24) < 0.002, f"{where}: time {c['time']}")
        if "dominant" not in a or not cut:
            continue
        known += 1
        top = c["colours"][0]
        off = max(abs(x - y) for x, y in zip(top["rgb"], a["dominant"]))
        expect(off <= 1, f"{where}: dominant {top['rgb']}, right is {a['dominant']}")
        # Moving patches stand between staged pixels: their edges mix.
        expect(abs(top["count"] / pixels - a["share"]) <= 0.03, f"{where}: share {top['count'] / pixels}, right is {a['share']}")
    expect(known * 2 > len(facts["columns"]) or not cut, f"only {known} of {len(facts['columns'])} columns have a known answer")
    print(f"{len(facts['columns'])} averages and {known} dominant colours are right")


# ---- selection ----

def frame_times(film):
    """Displayed frames as ffprobe sees them, microseconds from the first; and the end of the last. A case asks ffprobe once a film."""
    kept = os.path.join(os.environ["LOGS"], os.path.basename(film) + ".frames")
    if not os.path.exists(kept):
        with open(kept, "wb") as f:
            subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries",
                            "frame=best_effort_timestamp_time,pkt_duration_time,duration_time:stream=r_frame_rate,avg_frame_rate", "-of", "json", film],
                           stdout=f, stderr=subprocess.DEVNULL, check=False)
    data = load(kept)
    rates = [int(n) / int(d) for n, d in (data["streams"][0][key].split("/") for key in ("r_frame_rate", "avg_frame_rate")) if int(d)]
    rate = min([r for r in rates if r], default=25)       # the other may count fields, or ticks
    frames = data["frames"]
    if all("best_effort_timestamp_time" in f for f in frames):
        times = [float(f["best_effort_timestamp_time"]) for f in frames]
        times = [t - times[0] for t in times]
    else:
        times = [i / rate for i in range(len(frames))]
    last = float(frames[-1].get("duration_time") or frames[-1].get("pkt_duration_time", 0)) or 1 / rate
    return [round(t * 1e6) for t in times], round((times[-1] + last) * 1e6)


def picked(times, film_end, rule):
    """[(frame, slack)]: what the rule picks, and how near the asked time is to a frame's edge (microseconds)."""
    start = round(float(rule.get("start", 0)) * 1e6)
    end = round(float(rule["end"]) * 1e6) if "end" in rule else None
    if "every" in rule:
        inside = [i for i, t in enumerate(times) if t >= start and (end is None or t < end)]
        return [(i, None) for i in inside[::int(rule["every"])]]

    def at(t):
        shown = [i for i, v in enumerate(times) if v <= t]
        i = shown[-1] if shown else 0
        return i, min(abs(v - t) for v in times)

    if "interval" in rule:
        step, stop, asked, t = round(float(rule["interval"]) * 1e6), film_end, [], start
        if end is not None:
            stop = min(end, film_end)
        while t < stop:
            asked.append(t)
            t += step
    else:
        count = int(rule["columns"])
        stop = film_end if end is None else min(end, film_end)
        asked = [start + (2 * j + 1) * (stop - start) // (2 * count) for j in range(count)]
    return [at(t) for t in asked]


def selection(film, json_path, *words):
    rule = dict(w.split("=", 1) for w in words)
    times, film_end = frame_times(film)
    # A container may say a frame more or less than its pictures last (edit lists): that length is right, too.
    said = round(float(load(json_path)["film"]["duration"] or 0) * 1e6)
    if "columns" in rule and abs(said - film_end) <= 100000:
        film_end = said
    right, columns = picked(times, film_end, rule), load(json_path)["columns"]
    got = [c["frame"] for c in columns]
    expect(len(got) == len(right), f"{len(got)} columns, right is {len(right)}: got {got[:8]}..., right {[r[0] for r in right[:8]]}...")
    for i, (column, (frame, slack)) in enumerate(zip(columns, right)):
        # A film's length is known to about a millisecond, so a time at a frame's very edge may fall on either side.
        near = slack is not None and slack <= 2000 and abs(column["frame"] - frame) <= 1
        expect(column["frame"] == frame or near, f"column {i} is frame {column['frame']}, right is {frame}")
        expect(slack is not None or abs(column["time"] * 1e6 - times[frame]) <= 1500,
               f"column {i} (frame {frame}) is at {column['time']} s, right is {times[frame] / 1e6} s")


def key_times(film):
    """Seconds from the first frame of the pictures that the container calls key frames, as ffprobe sees them; [] without times."""
    text = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pts_time,flags", "-of", "json", film],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    packets = [p for p in json.loads(text)["packets"] if "D" not in p["flags"]]
    if not all("pts_time" in p for p in packets):
        return []
    first = min(float(p["pts_time"]) for p in packets)
    return sorted(float(p["pts_time"]) - first for p in packets if "K" in p["flags"])


def keyframes(film, exact_json, exact_dump, keys_json, keys_dump):
    exact, keys = load(exact_json), load(keys_json)
    size = exact["size"][0] * exact["size"][1] * 3
    with open(exact_dump, "rb") as f, open(keys_dump, "rb") as g:
        right, have = f.read(), g.read()
    expect(keys["selection"]["keyframes"] is True, "the selection does not say keyframes")
    expect(len(have) == size * len(keys["columns"]), "the dump has another size than the columns")
    frames = {c["time"]: i for i, c in enumerate(exact["columns"])}
    times, asked = [t + exact["film"]["start"] for t in key_times(film)], [c["wanted"] for c in keys["columns"]]
    expect(asked == sorted(asked), "the times wanted do not rise")
    for i, c in enumerate(keys["columns"]):
        where = f"column {i}, wanted at {c['wanted']}, taken at {c['time']}"
        expect(c["time"] in frames, f"{where}: no frame is shown then")
        j = frames[c["time"]]
        expect(exact["columns"][j]["frame"] == c["frame"], f"{where}: frame {c['frame']}, right is {exact['columns'][j]['frame']}")
        expect(have[i * size:(i + 1) * size] == right[j * size:(j + 1) * size], f"{where}: other bytes than the exact run's frame")
        if times:
            best = max((t for t in times if t <= c["wanted"] + 1e-6), default=times[0])
            expect(abs(c["time"] - best) < 0.0015, f"{where}: the key frame before it is at {best}")
    print(f"{len(keys['columns'])} columns, {len({c['time'] for c in keys['columns']})} key frames")


def count(film, json_path, every=1):
    """One column for every Nth of the frames that ffprobe decodes."""
    text = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-count_frames", "-show_entries",
                           "stream=nb_read_frames", "-of", "json", film],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    right = int(json.loads(text)["streams"][0]["nb_read_frames"])
    facts = load(json_path)
    want = range(0, right, int(every))
    got = len(facts["columns"])
    expect(got == len(want), f"{got} columns; ffprobe counts {right} frames, which give {len(want)}")
    expect([c["frame"] for c in facts["columns"]] == list(want), f"frame numbers are not 0, {every}, ...")
    expect(facts["missing"] == 0, f"{facts['missing']} columns are missing")


# ---- pictures ----

def decode_png(path):
    text = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=width,height,pix_fmt", "-of", "json", path],
                          stdout=subprocess.PIPE, check=True).stdout
    stream = json.loads(text)["streams"][0]
    expect(stream["pix_fmt"] == "rgb24", f"{path} is {stream['pix_fmt']}, not rgb24")
    data = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
                          stdout=subprocess.PIPE, check=True).stdout
    expect(len(data) == stream["width"] * stream["height"] * 3, f"{path} does not decode")
    return stream["width"], stream["height"], data


def png(path, width, height):
    w, h, _ = decode_png(path)
    expect((w, h) == (int(width), int(height)), f"{path} is {w}x{h}, right is {width}x{height}")
    with open(path, "rb") as f:
        head = f.read(8192)
    for chunk in (b"sRGB", b"Software", b"barcode"):
        expect(chunk in head, f"{path} has no {chunk.decode()} in its head")


def pixels(a, b):
    expect(decode_png(a) == decode_png(b), f"{a} and {b} show different things")


def palette_column(colours, height):
    """The rows of a palette column: band j ends at floor((H * c_j + T/2) / T)."""
    total, so_far, rows = sum(c["count"] for c in colours), 0, []
    for colour in colours:
        so_far += colour["count"]
        end = (2 * height * so_far + total) // (2 * total)
        rows += [colour["rgb"]] * (end - len(rows))
    return rows


def picture(path, json_path, mode, order="lightness"):
    columns = load(json_path)["columns"]
    width, height, data = decode_png(path)
    expect(width == len(columns), f"{width} pixels for {len(columns)} columns")
    shown = [c.get("colours", []) for c in columns]
    if mode == "palette" and order == "lightness":
        shown = [[c["colours"][j] for j in order] for c, order in zip(columns, bands.orders(columns))]
    for x, column in enumerate(columns):
        if mode == "palette":
            rows = palette_column(shown[x], height)
        else:
            rows = [column[mode] if mode in ("average", "dominant") else column["colours"][column.get("chosen", 0)]["rgb"]] * height
        for y, rgb in enumerate(rows):
            at = (y * width + x) * 3
            expect(list(data[at:at + 3]) == rgb, f"{mode}: pixel {x},{y} is {list(data[at:at + 3])}, right is {rgb}")


def steady_cost(a, b, unit):
    far = 9216
    d = sum(w * (x - y) ** 2 for w, x, y in zip((2, 4, 3), a["rgb"], b["rgb"]))
    return unit * min(d, far) // (100 * far)


def steady(path, colours="colours", chosen="chosen"):
    """Every column's choice, by the definition of steady.h once more; and that no choice lies below what is promised."""
    facts = load(path)
    unit = facts["size"][0] * facts["size"][1] * facts["steady"]
    columns = [c for c in facts["columns"] if not c.get("missing")]
    expect(len(columns) > 0, "no column has a colour")
    best, back, before = None, [], None
    for c in columns:
        if before is None:
            now, way = [0] * len(c[colours]), [0] * len(c[colours])
        elif c["frame"] == before["frame"]:
            now, way = best, list(range(len(best)))
        else:
            steps = [[v - steady_cost(a, b, unit) for v, a in zip(best, before[colours])] for b in c[colours]]
            now = [max(s) for s in steps]
            way = [s.index(m) for s, m in zip(steps, now)]
        best, before = [v + b["count"] for v, b in zip(now, c[colours])], c
        back.append(way)
    choice = best.index(max(best))
    for c, way in zip(reversed(columns), reversed(back)):
        expect(c[chosen] == choice, f"frame {c['frame']} chose {c[chosen]}, right is {choice}")
        below = c[colours][0]["count"] - c[colours][choice]["count"]
        expect(below <= 2 * (unit // 100), f"frame {c['frame']} chose a colour {below} pixels below its largest")
        expect(colours != "modes" or c["dominant"] == c["modes"][choice]["rgb"], f"frame {c['frame']} shows another mode than it chose")
        choice = way[choice]
    print(f"{sum(c[chosen] > 0 for c in columns)} of {len(columns)} columns did not choose their largest")


def narrow(path, json_path, mode):
    """A picture of another width: dominant colours are columns' own, palettes hold the colours' total, averages are means."""
    facts = load(json_path)
    width, height, data = decode_png(path)
    columns = facts["columns"]
    count = len(columns)
    for x in range(width):
        under = [(columns[i], min((x + 1) * count, (i + 1) * width) - max(x * count, i * width))
                 for i in range(x * count // width, ((x + 1) * count - 1) // width + 1)]
        pixel = [list(data[at:at + 3]) for at in range(x * 3, len(data), width * 3)]
        if mode in ("kmeans", "dominant"):
            shown = [c["dominant"] if mode == "dominant" else c["colours"][c.get("chosen", 0)]["rgb"] for c, _ in under]
            expect(pixel[0] in shown, f"pixel {x} is {pixel[0]}, which none of its {len(shown)} columns shows")
        elif mode == "palette":
            light = [bands.root(bands.luminance(p) // 10000) // 16 for p in pixel]
            rise = max(below - dark for below, dark in zip(light, itertools.accumulate(light, min)))
            expect(rise <= 102, f"the bands of pixel {x} do not fall from light to dark")
            expect(len({tuple(p) for p in pixel}) <= facts["k"], f"pixel {x} has more than {facts['k']} colours")
        if mode not in ("kmeans", "dominant"):
            for n in range(3):
                right = sum(part * c["average"][n] for c, part in under) / sum(part for _, part in under)
                got = sum(p[n] for p in pixel) / height
                slack = 3 if mode == "palette" else 0.51
                expect(abs(got - right) <= slack, f"{mode}: the mean of pixel {x} is {got}, right is {right}")


def place(rgb):
    """Of an sRGB colour, by colour.h and dominant.h."""
    return [v + 13 + 26 * off for v, off in zip(bands.oklab(rgb), (0, 9, 12))]


def mode_of(pixels):
    """Of {colour: count}, by dominant.h."""
    points = [(place(rgb), rgb, n) for rgb, n in pixels.items()]
    density = {}
    for p, _, n in points:
        i, j, k = (v // 26 for v in p)
        for at in ((i + a, j + b, k + c) for a in range(-2, 3) for b in range(-2, 3) for c in range(-2, 3)):
            if all(0 <= v < most for v, most in zip(at, (40, 21, 21))):
                density[at] = density.get(at, 0) + n * (3 - abs(at[0] - i)) * (3 - abs(at[1] - j)) * (3 - abs(at[2] - k))
    m = [26 * v + 13 for v in min(density, key=lambda at: (-density[at], at))]
    for colours in (0, 0, 0, 1):
        weights = [n * max(0, 102 * 102 - sum((v - c) ** 2 for v, c in zip(p, m))) for p, _, n in points]
        total = sum(weights)
        m = [(2 * sum(w * q[colours][c] for w, q in zip(weights, points)) + total) // (2 * total) for c in range(3)]
    return m


def dominant(json_path, path):
    facts = load(json_path)
    w, h = facts["size"]
    with open(path, "rb") as f:
        for i, c in enumerate(facts["columns"]):
            frame, pixels = f.read(w * h * 3), {}
            for at in range(0, len(frame), 3):
                rgb = tuple(frame[at:at + 3])
                pixels[rgb] = pixels.get(rgb, 0) + 1
            right = mode_of(pixels)
            expect(c["dominant"] == right, f"column {i}: mode {c['dominant']}, of the dump {right}")


def rows(path, json_path, dump_path):
    """The squeeze picture of the staged height: each row the mean of that row of the frame."""
    facts = load(json_path)
    width, height, data = decode_png(path)
    w, h = facts["size"]
    expect(height == h, "this check needs --height of the staged height")
    with open(dump_path, "rb") as f:
        dump = f.read()
    for x in range(0, width, max(1, width // 20)):
        for y in range(0, h, 7):
            at = (x * h + y) * w * 3
            line = dump[at:at + w * 3]
            right = [(2 * sum(line[c::3]) + w) // (2 * w) for c in range(3)]
            got = list(data[(y * width + x) * 3:][:3])
            expect(max(abs(a - b) for a, b in zip(got, right)) <= 1, f"squeeze: pixel {x},{y} is {got}, right is {right}")


def slit_pixels(w, h, x, degrees):
    """The pixels (x, y) of a slit from the top, by slit.h's definition; x is in per cent."""
    angle = math.radians(float(degrees))
    c, s = round(math.cos(angle) * 2**20), round(math.sin(angle) * 2**20)
    across, down = ((a * abs(c) + b * abs(s) + 2**19) // 2**20 for a, b in ((w, h), (h, w)))
    u = 2 * min(across - 1, int(Fraction(x) * across / 100)) + 1 - across
    for j in range(down):
        v = 2 * j + 1 - down
        px, py = (w * 2**20 + u * c + v * s) // 2**21, (h * 2**20 - u * s + v * c) // 2**21
        if 0 <= px < w and 0 <= py < h:
            yield px, py


def slit(path, json_path, dump_path, x, degrees):
    """Every pixel of the picture of a slit: the dump's pixels on it, by area mean to the height of the picture."""
    w, h = load(json_path)["size"]
    width, height, data = decode_png(path)
    line = list(slit_pixels(w, h, x, degrees))
    with open(dump_path, "rb") as f:
        dump = f.read()
    expect(len(dump) == width * w * h * 3, f"{path} is {width} wide, the dump has {len(dump) / (w * h * 3)} frames")
    n = len(line)
    for i in range(width):
        frame = dump[i * w * h * 3:(i + 1) * w * h * 3]
        column = [frame[(py * w + px) * 3:][:3] for px, py in line]
        for y in range(height):
            under = range(y * n // height, -(-(y + 1) * n // height))
            weight = [min((y + 1) * n, (j + 1) * height) - max(y * n, j * height) for j in under]
            right = [(2 * sum(a * column[j][k] for a, j in zip(weight, under)) + n) // (2 * n) for k in range(3)]
            got = list(data[(y * width + i) * 3:][:3])
            expect(got == right, f"slit: pixel {i},{y} is {got}, right is {right}")


# ---- JSON ----

def shape(path):
    facts = load(path)
    for key in ("version", "fingerprint", "film", "selection", "size", "engine", "decode", "k", "n_init", "race", "init", "max_iter", "seed",
                "columns", "missing", "warnings", "stages"):
        expect(key in facts, f"no '{key}'")
    for key in ("path", "codec", "width", "height", "matrix", "range", "rate", "duration"):
        expect(key in facts["film"], f"no 'film.{key}'")
    pixels = facts["size"][0] * facts["size"][1]
    for i, c in enumerate(facts["columns"]):
        expect(isinstance(c["frame"], int) and c["time"] >= 0, f"column {i}: {c}")
        if c.get("missing"):
            continue
        expect(len(c["average"]) == 3 and len(c.get("dominant", [0, 0, 0])) == 3, f"column {i}: {c}")
        if "colours" not in c:
            continue
        colours = c["colours"]
        expect(1 <= len(colours) <= facts["k"], f"column {i} has {len(colours)} colours")
        expect(sum(v["count"] for v in colours) == pixels, f"column {i}: counts do not add up to {pixels}")
        order = [(-v["count"], v["rgb"]) for v in colours]
        expect(order == sorted(order), f"column {i}: colours are out of order")


def plain(facts):
    facts = dict(facts)
    for key in ("stages", "threads", "isa", "cache", "counts", "fingerprint"):
        facts.pop(key, None)
    return facts


def same(a, *others):
    one = plain(load(a))
    for b in others:
        two = plain(load(b))
        for key in sorted(set(one) | set(two)):
            expect(one.get(key) == two.get(key), f"'{key}' differs between {a} and {b}")


def dump(json_path, path):
    facts = load(json_path)
    w, h = facts["size"]
    want = len(facts["columns"]) * w * h * 3
    expect(os.path.getsize(path) == want, f"the dump has {os.path.getsize(path)} bytes, right is {want}")
    with open(path, "rb") as f:
        for i, c in enumerate(facts["columns"]):
            frame = f.read(w * h * 3)
            right = [(2 * sum(frame[n::3]) + w * h) // (2 * w * h) for n in range(3)]
            expect(c["average"] == right, f"column {i}: average {c['average']}, of the dump {right}")


def size(path, width, height):
    got = load(path)["size"]
    expect(got == [int(width), int(height)], f"staged size {got}, right is [{width}, {height}]")


def columns(path, least, most=None):
    """Prints how many columns there are: from `least` to `most`."""
    got = len(load(path)["columns"])
    expect(int(least) <= got <= int(most or least), f"{path} has {got} columns, not {least}" + (f" to {most}" if most else ""))
    print(got)


def get(path, key):
    value = load(path)
    for word in key.split("."):
        value = value[int(word)] if isinstance(value, list) else value[word]
    print(value)


def holds(path, what):
    """What is true of the file `j`, its columns `c` and their `times`."""
    j = load(path)
    c = j.get("columns", [])
    times = [x["time"] for x in c]
    expect(eval(f"({what})", locals()), f"{path}: not {what}, times {times}")


def cropped(path, *rectangles):
    got = load(path).get("crop", [])
    expect(got == list(rectangles), f"pictures are cut to {got}, right is {list(rectangles)}")


CHECKS = {f.__name__: f for f in (answers, selection, keyframes, count, png, pixels, picture, narrow, steady, dominant, rows, slit, shape, same, dump, size, columns, get, holds, cropped)}

if __name__ == "__main__":
    try:
        CHECKS[sys.argv[1]](*sys.argv[2:])
    except Wrong as wrong:
        print(f"checks.py {sys.argv[1]}: {wrong}", file=sys.stderr)
        sys.exit(1)
