#!/usr/bin/env python3
"""align_judge.py - how right are the segments of `barcode align A B -o FILE.csv`, for the versions that align_films.py made.

    align_judge.py TRUTH.json SEGMENTS.csv [LEAST-SECONDS LEAST-EDITS]

A second (its middle) of either film is right if it is at the other film's time within 0.5 s, or rightly in one film only. An edit is found
if both its ends are within 0.5 s, in the film that has the scene. Prints both in percent; exit status 1 if either is less than asked for.
"""
import csv
import json
import sys

NEAR = 0.5


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


def main():
    truth = json.load(open(sys.argv[1]))
    rows = list(csv.DictReader(open(sys.argv[2])))
    row = [[float(r[k]) for k in ("a_start", "a_end", "b_start", "b_end")] + [r["kind"]] for r in rows]
    both = [r[:4] for r in row if r[4] == "both"]
    right_a, wrong_a = seconds(truth, both, 0)
    right_b, wrong_b = seconds(truth, both, 2)
    share = 100 * (right_a + right_b) / (right_a + right_b + len(wrong_a) + len(wrong_b))
    edits, missed, errors = 0, [], []
    for before, after in zip(truth, truth[1:]):
        own = 0 if after[0] > before[1] else 2
        ends = (before[own + 1], after[own])
        kind = "a" if own == 0 else "b"
        away = min((max(abs(r[own] - ends[0]), abs(r[own + 1] - ends[1])) for r in row if r[4] == kind), default=1e9)
        edits += 1
        errors.append(away)
        if away > NEAR:
            missed.append(f"{kind} {ends[0]:.2f}-{ends[1]:.2f} by {away:.2f}")
    found = 100 * (edits - len(missed)) / edits
    print(f"seconds {share:.2f} %, edits {edits - len(missed)} of {edits} ({found:.0f} %), median error "
          f"{sorted(errors)[len(errors) // 2]:.3f} s; missed: {'; '.join(missed) or 'none'}")
    print(f"  wrong seconds of A {wrong_a[:40]}, of B {wrong_b[:40]}")
    if len(sys.argv) > 3:
        sys.exit(share < float(sys.argv[3]) or found < float(sys.argv[4]))


main()
