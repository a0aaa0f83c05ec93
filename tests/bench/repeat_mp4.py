#!/usr/bin/env python3
"""Repeats a film: repeat_mp4.py IN.mp4 TIMES OUT.mp4

IN has one track, video, its samples in one piece (ffmpeg -i FILM -an -c copy IN.mp4 makes it so). OUT holds the
samples TIMES times, with tables to match: what a film of that length looks like to a demuxer. Needs nothing but
Python, so that a benchmark's two-hour film need not be carried to the machine that it is measured on.
"""

import struct
import sys

CONTAINERS = (b"moov", b"trak", b"mdia", b"minf", b"stbl", b"edts")


def boxes(data, start, end):
    at = start
    while at + 8 <= end:
        size, kind = struct.unpack_from(">I4s", data, at)
        head = 8
        if size == 1:
            size, head = struct.unpack_from(">Q", data, at + 8)[0], 16
        yield kind, at + head, at + size
        at += size


def box(kind, body):
    return struct.pack(">I4s", len(body) + 8, kind) + body


def scaled(body, at, times):
    """A version 0 box with the 32-bit field at `at` multiplied."""
    if body[0] != 0:
        sys.exit("repeat_mp4.py: only version 0 boxes are understood")
    value = struct.unpack_from(">I", body, at)[0] * times
    return body[:at] + struct.pack(">I", value) + body[at + 4:]


def rewritten(kind, body, times, samples, offsets):
    """The body of one box of the moov."""
    if kind in CONTAINERS:
        parts = [box(b"co64" if k == b"stco" else k, rewritten(k, body[a:z], times, samples, offsets))
                 for k, a, z in boxes(body, 0, len(body))]
        return b"".join(parts)
    if kind == b"mvhd":
        return scaled(body, 16, times)
    if kind == b"tkhd":
        return scaled(body, 20, times)
    if kind == b"mdhd":
        return scaled(body, 16, times)
    if kind == b"elst":
        count = struct.unpack_from(">I", body, 4)[0]
        return scaled(body, 8 + 12 * (count - 1), times)
    if kind in (b"stts", b"ctts"):
        count, size = struct.unpack_from(">I", body, 4)[0], 8
        return body[:4] + struct.pack(">I", count * times) + body[8:8 + count * size] * times
    if kind == b"stss":
        count = struct.unpack_from(">I", body, 4)[0]
        keys = struct.unpack_from(f">{count}I", body, 8)
        repeated = [k + i * samples for i in range(times) for k in keys]
        return body[:4] + struct.pack(f">I{len(repeated)}I", len(repeated), *repeated)
    if kind == b"stsz":
        return body[:8] + struct.pack(">I", samples * times) + body[12:] * times
    if kind == b"stsc":
        return body[:4] + struct.pack(">IIII", 1, 1, samples, 1)
    if kind in (b"stco", b"co64"):
        return body[:4] + struct.pack(f">I{len(offsets)}Q", len(offsets), *offsets)
    if kind == b"sdtp":
        return body[:4] + body[4:] * times
    if kind in (b"sgpd", b"sbgp"):
        sys.exit(f"repeat_mp4.py: box {kind} is not understood")
    return body


def find(data, start, end, path):
    for kind, a, z in boxes(data, start, end):
        if kind == path[0]:
            return (a, z) if len(path) == 1 else find(data, a, z, path[1:])
    sys.exit(f"repeat_mp4.py: no box {path}")


def main():
    source, times, target = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    data = open(source, "rb").read()
    moov = find(data, 0, len(data), [b"moov"])
    table = [b"trak", b"mdia", b"minf", b"stbl", b"stsz"]
    size = find(data, *moov, table)
    samples = struct.unpack_from(">I", data, size[0] + 8)[0]
    total = sum(struct.unpack_from(f">{samples}I", data, size[0] + 12))
    chunk = find(data, *moov, table[:-1] + [b"stco"])
    first = struct.unpack_from(">I", data, chunk[0] + 8)[0]
    ftyp = find(data, 0, len(data), [b"ftyp"])
    head = box(b"ftyp", data[ftyp[0]:ftyp[1]])
    body = data[moov[0]:moov[1]]
    start = len(head) + len(box(b"moov", rewritten(b"moov", body, times, samples, [0] * times))) + 16
    offsets = [start + i * total for i in range(times)]
    with open(target, "wb") as out:
        out.write(head)
        out.write(box(b"moov", rewritten(b"moov", body, times, samples, offsets)))
        out.write(struct.pack(">I4sQ", 1, b"mdat", 16 + times * total))
        for _ in range(times):
            out.write(data[first:first + total])


if __name__ == "__main__":
    main()
