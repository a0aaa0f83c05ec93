#!/usr/bin/env python3
"""align_judge.py - how right are the segments of `barcode align A B -o FILE.csv`, for the versions that align_films.py made.

    align_judge.py TRUTH.json SEGMENTS.csv [LEAST-SECONDS LEAST-EDITS MOST-FALSE]
    align_judge.py --ends LEAST FOLDER

A second (its middle) of either film is right if it is at the other film's time within 0.5 s, or
rightly in one film only. An edit is found if both its ends are within 0.5 s, in the film that has
the scene. Where a scene is replaced, the end of what both have, and its beginning after the scene,
are edges; they are right within 0.5 s. Prints all in percent; exit status 1 if seconds, or edits or
edges, are less than asked for, or if more than MOST-FALSE s of a replaced scene are in both. With
--ends, FOLDER has N.json and N.csv of films that share one part, whose ends are right within 1 s.
"""
import csv
import json
import pathlib
import sys

NEAR = 0.5
NEAR_ENDS = 1


def other_time(parts, time, own, other):
    """the time in the other film, or None; parts: [a_from, a_to, b_from, b_to]"""
    for p in parts:
        if p[own] <= time < p[own + 1]:
            share = (time - p[own]) / (p[own + 1] - p[own])
            return p[other] + share * (p[other + 1] - p[other])
    return None


def seconds(truth, found, own):
    end, right, wrong = max(p[own + 1] for p in truth), 0, []
    for second in range(int(end)):
        want = other_time(truth, second + 0.5, own, 2 - own)
        got = other_time(found, second + 0.5, own, 2 - own)
        if (want is None) != (got is None) or (want is not None and abs(want - got) > NEAR):
            wrong.append(second)
        else:
            right += 1
    return right, wrong


def edge_errors(truth, found):
    """how far off in seconds are the ends of what both have before and after each replaced part"""
    errors = []
    for before, after in zip(truth, truth[1:]):
        if is_replaced(before, after):
            errors.append(min(max(abs(f[1] - before[1]), abs(f[3] - before[3])) for f in found))
            errors.append(min(max(abs(f[0] - after[0]), abs(f[2] - after[2])) for f in found))
    return errors


def is_replaced(before, after):
    return after[0] > before[1] and after[2] > before[3]


def false_seconds(truth, found):
    """the most that is called common of a replaced part"""
    most = 0
    for before, after in zip(truth, truth[1:]):
        if is_replaced(before, after):
            for own in (0, 2):
                inside = sum(max(0, min(f[own + 1], after[own]) - max(f[own], before[own + 1]))
                             for f in found)
                most = max(most, inside)
    return most


def percent(right, of):
    return 100 * right / of if of else 0


def read_both(path):
    keys = ("a_start", "a_end", "b_start", "b_end")
    row = [[float(r[k]) for k in keys] + [r["kind"]] for r in csv.DictReader(open(path))]
    return row, [r[:4] for r in row if r[4] == "both"]


def judge_ends(least, folder):
    errors, wrong = [], []
    for path in sorted(folder.glob("*.json"), key=lambda p: int(p.stem)):
        truth, both = json.load(open(path))[0], read_both(path.with_suffix(".csv"))[1]
        for end, found in ((0, both[0]), (1, both[-1])):
            errors.append(max(abs(found[end] - truth[end]), abs(found[end + 2] - truth[end + 2])))
            if errors[-1] > NEAR_ENDS:
                wrong.append(f"{path.stem} {('first', 'last')[end]} by {errors[-1]:.2f}")
    share = percent(len(errors) - len(wrong), len(errors))
    print(f"ends {len(errors) - len(wrong)} of {len(errors)} ({share:.1f} %), median error "
          f"{sorted(errors)[len(errors) // 2]:.3f} s; wrong: {'; '.join(wrong) or 'none'}")
    sys.exit(share < least)


def main():
    if sys.argv[1] == "--ends":
        judge_ends(float(sys.argv[2]), pathlib.Path(sys.argv[3]))
    truth = json.load(open(sys.argv[1]))
    row, both = read_both(sys.argv[2])
    right_a, wrong_a = seconds(truth, both, 0)
    right_b, wrong_b = seconds(truth, both, 2)
    share = 100 * (right_a + right_b) / (right_a + right_b + len(wrong_a) + len(wrong_b))
    edits, missed, errors = 0, [], []
    for before, after in zip(truth, truth[1:]):
        if is_replaced(before, after):
            continue
        own = 0 if after[0] > before[1] else 2
        ends = (before[own + 1], after[own])
        kind = "a" if own == 0 else "b"
        away = min((max(abs(r[own] - ends[0]), abs(r[own + 1] - ends[1])) for r in row if r[4] == kind), default=1e9)
        edits += 1
        errors.append(away)
        if away > NEAR:
            missed.append(f"{kind} {ends[0]:.2f}-{ends[1]:.2f} by {away:.2f}")
    found = 100 * (edits - len(missed)) / edits
    replaced, false = edge_errors(truth, both), false_seconds(truth, both)
    near = sum(e <= NEAR for e in replaced)
    edges = percent(near, len(replaced))
    print(f"seconds {share:.2f} %, edits {edits - len(missed)} of {edits} ({found:.0f} %), median error "
          f"{sorted(errors)[len(errors) // 2]:.3f} s; missed: {'; '.join(missed) or 'none'}")
    print(f"  replaced: edges {near} of {len(replaced)} ({edges:.0f} %), {false:.2f} s in both; "
          f"wrong by: {', '.join(f'{e:.2f}' for e in replaced if e > NEAR) or 'none'}")
    print(f"  wrong seconds of A {wrong_a[:40]}, of B {wrong_b[:40]}")
    if len(sys.argv) > 3:
        least = float(sys.argv[4])
        sys.exit(share < float(sys.argv[3]) or found < least or edges < least or false > float(sys.argv[5]))


main()
