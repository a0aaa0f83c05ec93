#!/usr/bin/env python3
"""pmt.py VERSION < OLD.ts > NEW.ts - gives the program's map of ffmpeg's MPEG-TS another version."""
import sys

PACKET, PMT = 188, 0x1000


def crc32_mpeg(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C11DB7 if crc & 0x80000000 else 0)) & 0xFFFFFFFF
    return crc


def main():
    data = bytearray(sys.stdin.buffer.read())
    for at in range(0, len(data), PACKET):
        pid = (data[at + 1] & 31) << 8 | data[at + 2]
        if pid != PMT or not data[at + 1] & 0x40:
            continue
        begin = at + 4 + (1 + data[at + 4] if data[at + 3] & 0x20 else 0)
        begin += 1 + data[begin]
        end = begin + 3 + ((data[begin + 1] & 15) << 8 | data[begin + 2]) - 4
        data[begin + 5] = data[begin + 5] & 0xC1 | int(sys.argv[1]) << 1
        data[end : end + 4] = crc32_mpeg(data[begin:end]).to_bytes(4, "big")
    sys.stdout.buffer.write(data)


main()
