"""Whether the times in the program's JSON are those of the frames that ffprobe shows.

    time_judge.py FILM JSON STDERR

The JSON is of a film, with -n 1 or --columns, with or without --keyframes. STDERR is what the
program printed there. Prints what is wrong, a line each, and exits 1 if anything is.
time_matrix.py does this for many films.

The right times are ffprobe's pts of the frames that its decoder outputs, less the format's start
time, which is the start of the earliest stream. Frames before the first key frame do not count.
AVI has no pts for frames that were reordered: the frames then have the dts of the packets, each in
its order. Raw streams have neither: their frames follow one another, and the first may be at 0 or
where the skipped ones would have ended.
"""

import json
import os
import re
import subprocess
import sys

FRAME = 1 / 24  # the films' frame rate
EXACT = 0.002  # containers round times to a millisecond
SOURCES = ("packets", "index", "track", "container", "tag", None)
SKIPPED = re.compile(r"skipped (\d+) frames? before the first key frame")
FEW_KEYS = re.compile(r"has 1 key frame in [0-9.]+ s: its \d+ columns show only 1 frame")


class Unknown(Exception):
    """Why ffprobe does not know."""


# ---- what ffprobe shows ----


def number(item, *keys):
    for key in keys:
        if item.get(key, "N/A") != "N/A":
            return float(item[key])
    return None


def ask_ffprobe(path):
    """ffprobe's answer, kept beside the film."""
    kept = path + ".json"
    if not os.path.exists(kept):
        entries = (
            "frame=pts_time,best_effort_timestamp_time,pkt_duration_time,duration_time,key_frame"
            ":packet=pts_time,dts_time,flags,size"
            ":format=start_time,duration:stream=index"
        )
        command = "ffprobe -v quiet -select_streams v:0 -show_frames -show_packets -of json".split()
        command += ["-show_entries", entries, path]
        text = subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout
        with open(kept + ".part", "wb") as f:
            f.write(text)
        os.rename(kept + ".part", kept)
    with open(kept, encoding="utf-8") as f:
        return json.load(f)


class Truth:
    """What a film shows: `lists`, `keys` (indexes of key frames), `skipped` (least, most).

    `lists` has (times of all frames, end), more than one where the film leaves it open: an AVI's
    B-frames may be counted from the decoder's first packet or from its first frame; a film without
    a start time may begin at 0; the last frame of a film of variable frame rate may stay for long.
    """

    def __init__(self, path, variant="plain"):
        data = ask_ffprobe(path)
        both = data.get("packets_and_frames", [])
        frames = [x for x in both if x["type"] == "frame"]
        packets = [x for x in both if x["type"] == "packet"]
        packets = [x for x in packets if int(x["size"]) > 0 and "D" not in x["flags"]]
        if not frames:
            raise Unknown("ffprobe shows no frame of it")
        self.last = number(frames[-1], "duration_time", "pkt_duration_time") or FRAME
        answers = self.read_times(frames, packets, path)
        if self.source == "number" and variant in ("vfr", "offset"):
            raise Unknown("ffprobe has too few times")
        keys = self.key_frames(frames, packets, answers[0])
        # An edit may begin behind a key frame that it hides.
        edited = any(x["type"] == "packet" and "D" in x["flags"] for x in both[:2])
        first = 0 if edited else keys[0]
        self.keys = [i - first for i in keys]
        self.skipped = (0, 0) if edited else self.count_skipped(packets, answers[0][first])
        origin = number(data["format"], "start_time")
        self.lists = []
        for times in answers:
            begin, times = times[first], times[first:]
            starts = [begin - origin] if origin is not None else [0.0, begin]
            if self.source == "number":
                least, most = self.skipped
                starts = [0.0] + [n * self.last for n in range(least, most + 1)]
            elif "pts_time" not in frames[first] and starts[0] < 4 * FRAME:
                starts.append(0.0)
            self.tail = 0 if len(answers) < 3 else 2  # of which the last packets say nothing
            for start in starts:
                said = number(data["format"], "duration")
                self.add_list([t - begin + start for t in times], said)

    def add_list(self, times, said):
        end = times[-1] + self.last
        gap = max([b - a for a, b in zip(times, times[1:])], default=0.0)
        self.lists.append((times, end))
        if said and end < said <= times[-1] + gap + FRAME:
            self.lists.append((times, said))

    def read_times(self, frames, packets, path):
        stamps = [number(f, "pts_time") for f in frames]
        decoded = sorted(t for t in (number(p, "dts_time") for p in packets) if t is not None)
        implicit = path.endswith(".avi") and None in stamps
        if not implicit and sum(t is not None for t in stamps) * 2 > len(stamps):
            self.source = "pts"
            if None not in stamps and stamps != sorted(stamps):  # MXF's are the packets' own
                own = sorted(t for t in (number(p, "pts_time") for p in packets) if t is not None)
                return [own[-len(frames) :] if len(own) >= len(frames) else sorted(stamps)]
            # MPEG-PS has a time a PES packet, and none for the last frame.
            guessed = list(stamps)
            for i, f in enumerate(frames):
                if stamps[i] is None:
                    after = guessed[i - 1] + self.last if i > 0 else 0.0
                    best = number(f, "best_effort_timestamp_time")
                    stamps[i] = after if best is None else best
                    guessed[i] = after if i > 0 else stamps[i]
            if max(abs(a - b) for a, b in zip(stamps, guessed)) > FRAME + EXACT:
                raise Unknown("frames without a time, and ffprobe guesses")
            return [stamps, guessed] if stamps != guessed else [stamps]
        if len(decoded) < len(frames):
            self.source = "number"
            return [[i * self.last for i in range(len(frames))]]
        self.source = "dts"
        decoded += [decoded[-1] + FRAME * n for n in (1, 2)]
        return [decoded[-len(frames) - 2 + lag :][: len(frames)] for lag in range(3)]

    def key_frames(self, frames, packets, times):
        """Indexes. Some decoders call every frame a key frame, so the container must do so, too."""
        flagged = {number(p, "pts_time") for p in packets if "K" in p["flags"]}
        keys = [i for i, f in enumerate(frames) if f["key_frame"] == 1]
        both = []
        if self.source == "pts":
            both = [i for i in keys if times[i] in flagged or frames[i].get("pts_time") is None]
        return both or keys or [0]

    def count_skipped(self, packets, first):
        """How many pictures come before the first key frame: (least, most).

        Some are hidden, and B-frames behind the key frame may be shown before it.
        """
        key = next((i for i, p in enumerate(packets) if "K" in p["flags"]), 0)
        if self.source != "pts":
            return (0, 0) if key == 0 else (max(1, key - 1), key + 3)  # the first may be a part
        stamps = [number(p, "pts_time") for p in packets]
        behind = sum(1 for t in stamps[key + 1 :] if t is not None and t < first - EXACT)
        return (0, behind) if key == 0 else (max(1, key - 3), key + behind)


# ---- the judge ----


def shown(times, at, slack):
    """The times of the frames that are on the screen at `at`, give or take `slack`."""
    return [
        t
        for i, t in enumerate(times)
        if (t <= at + slack or i == 0) and (i + 1 == len(times) or times[i + 1] > at - slack)
    ]


def judge_frames(right, times, tail):
    """The last `tail` frames have times that the film leaves open."""
    if len(times) != len(right):
        return [f"{len(times)} columns, ffprobe has {len(right)} frames"]
    off = [a - b for a, b in zip(times, right)]
    if tail and max(abs(v) for v in off[-tail:]) <= 2 * FRAME and times == sorted(times):
        off = off[:-tail]
    worst = max(off, key=abs)
    if abs(worst) <= EXACT:
        return []
    if tail and abs(worst) <= FRAME + EXACT:  # dts: where the first frame is, is a convention
        return []
    if max(off) - min(off) <= 2 * EXACT and abs(worst) <= FRAME + EXACT:
        return []
    if max(off) - min(off) <= 2 * EXACT:
        return [f"all times are {worst:+.3f} s off"]
    at = off.index(worst)
    return [f"frame {at} is at {times[at]:.3f} s, ffprobe has {right[at]:.3f}"]


def judge_columns(columns, right, keys, end, count, tail):
    """`right` has all frames' times, `keys` those of the frames that may be taken."""
    times, off, astray = [c["time"] for c in columns], [], []
    span = end - right[0]
    if len(times) != count:
        return [f"{len(times)} of {count} columns"]
    for j, t in enumerate(times):
        target = right[0] + (2 * j + 1) * span / (2 * count)
        near = shown(keys, target, FRAME + EXACT)
        if min(abs(v - t) for v in near) > (FRAME if tail else 0) + EXACT:
            off.append((t - shown(keys, target, 0)[-1], j, t, target))
        wanted = columns[j].get("wanted")
        if wanted is not None and abs(wanted - target) > FRAME + EXACT:
            astray.append(f"column {j} is wanted at {wanted:.3f} s, right is {target:.3f}")
    found = []
    if off:
        low, high = min(off)[0], max(off)[0]
        _, j, t, target = off[0]
        same = len(off) == count and high - low <= 2 * FRAME
        found.append(
            f"all times are {low:+.3f} s off"
            if same
            else f"{len(off)} columns are not what is shown: "
            f"column {j} is at {t:.3f} s, wanted is {target:.3f}"
        )
    stays = dict(zip(keys, [b - a for a, b in zip(keys, keys[1:])] + [end - keys[-1]]))
    repeats = sum(
        1 for a, b in zip(times, times[1:]) if a == b and stays.get(a, 0) < span / count - FRAME
    )
    if repeats and len(keys) >= count:
        found.append(f"{repeats} columns repeat a frame")
    return found + astray[:1]


def judge_film(film, start, end):
    """The JSON's length and start."""
    span, found = end - start, []
    duration = film.get("duration")
    if duration is None:
        found.append("no duration")
    elif abs(duration - span) > 1.5 * FRAME:
        found.append(f"duration {duration:.3f}, right is {span:.3f}")
    if "start" in film and (film["start"] is None or abs(film["start"] - start) > FRAME + EXACT):
        found.append(f"start {film['start']}, right is {start:.3f}")
    if film.get("duration_source") not in SOURCES:
        found.append(f"duration_source {film['duration_source']}")
    return found


def weight(found):
    """Of two answers that the film leaves open, the one with fewer columns astray is meant."""
    return len(found) + sum("not what is shown" in x for x in found)


def judge(truth, data):
    """What is wrong in the JSON of -n 1 or --columns, as sentences."""
    columns, rule, best = data["columns"], data["selection"], None
    if any(c["time"] is None or c.get("missing") for c in columns):
        return [f"{sum(1 for c in columns if c.get('missing'))} columns are missing"]
    for times, end in truth.lists:
        if rule["kind"] == "every":
            found = judge_frames(times, [c["time"] for c in columns], truth.tail)
        else:
            keys = [times[i] for i in truth.keys] if rule.get("keyframes") else times
            found = judge_columns(columns, times, keys, end, rule["columns"], truth.tail)
        found += judge_film(data["film"], times[0], end)
        best = found if best is None or weight(found) < weight(best) else best
    if any(c.get("damaged") for c in columns):
        best.append("columns are damaged")
    return best


def judge_warnings(truth, lines, keyframes):
    """(what is said without need, what is not said)."""
    extra, silent, least, most = [], [], *truth.skipped
    said = None
    for line in lines:
        match = SKIPPED.search(line)
        if match and said is None and most > 0:
            said = int(match.group(1))
        elif keyframes and len(truth.keys) == 1 and FEW_KEYS.search(line):
            continue
        else:
            extra.append(re.sub(r"'[^']*'", "'F'", line.replace("barcode: warning: ", "")))
    if said is None and least > 0 and not keyframes and not any("missing" in x for x in extra):
        silent.append(f"silent on the {least} frames before the first key frame")
    elif said is not None and not least <= said <= most:
        silent.append(f"says {said} skipped, right is {least} to {most}")
    return extra, silent


def main(film, report, stderr):
    with open(report, encoding="utf-8") as f:
        data = json.load(f)
    with open(stderr, encoding="utf-8", errors="replace") as f:
        lines = [x for x in f.read().splitlines() if not x.startswith("barcode: wrote ")]
    truth = Truth(film)
    keyframes = data["selection"].get("keyframes", False)
    extra, silent = judge_warnings(truth, lines, keyframes)
    found = judge(truth, data) + silent + [f'says "{x}"' for x in extra]
    print("\n".join(f"{film}: {reason}" for reason in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
