#!/usr/bin/env python3
"""change_size.py FROM.ivf OTHER.ivf FIRST END TO.ivf: a VP8 or VP9 film whose frame size changes.

Replaces the frames from FIRST to before END by those of OTHER.ivf, which have another size. A VP9
inter frame behind a splice refers to frames of the other size: its header gets a size of its own (VP9
bitstream specification, 6.2 and 7.2).
"""
import struct
import sys


class Bits:
    def __init__(self, data):
        self.bits, self.at = "".join(f"{byte:08b}" for byte in data), 0

    def read(self, count):
        self.at += count
        return int(self.bits[self.at - count:self.at], 2)


def read_ivf(path):
    data, at, frames = open(path, "rb").read(), 32, []
    while at < len(data):
        size = struct.unpack_from("<I", data, at)[0]
        frames.append(data[at + 12:at + 12 + size])
        at += 12 + size
    return data[:32], frames


def with_size(frame, header):
    b = Bits(frame)
    assert b.read(5) == 0b10000                   # profile 0, no repeated frame
    inter, shown, resilient = b.read(1), b.read(1), b.read(1)
    if not inter:
        return frame
    assert shown and resilient
    b.read(8 + 3 * 4)                             # references
    start = b.at
    while not b.read(1):                          # the reference that has the size
        pass
    end = b.at
    assert not b.read(1)                          # no other size for display
    b.read(1)
    b.read(1) or b.read(2)                        # interpolation filter
    b.read(2 + 6 + 3)                             # context, loop filter
    if b.read(1) and b.read(1):
        for _ in range(6):
            b.read(1) and b.read(7)
    b.read(8)                                     # quantiser
    for _ in range(3):
        b.read(1) and b.read(5)
    assert not b.read(1)                          # no segments
    b.read(1) and b.read(1)                       # rows of tiles; so narrow a frame has no columns
    b.read(16)
    width, height = struct.unpack_from("<HH", header, 12)
    bits = b.bits[:start] + f"000{width - 1:016b}{height - 1:016b}" + b.bits[end:b.at]
    bits += "0" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big") + frame[(b.at + 7) // 8:]


(header, frames), (other_header, others) = map(read_ivf, sys.argv[1:3])
first, end = map(int, sys.argv[3:5])
if header[8:12] == b"VP90":
    others[first] = with_size(others[first], other_header)
    frames[end] = with_size(frames[end], header)
with open(sys.argv[5], "wb") as out:
    out.write(header)
    for i, frame in enumerate(frames[:first] + others[first:end] + frames[end:]):
        out.write(struct.pack("<IQ", len(frame), i) + frame)
