"""turn.py - writes an orientation into a film or image: turn.py tkhd|hevc|exif FROM TO [VALUE]"""
import struct
import sys


def tkhd(data):
    """A display matrix of half a turn in the track header of an MP4."""
    at = data.index(b"tkhd") + 44
    return data[:at] + struct.pack(">9i", -65536, 0, 0, 0, -65536, 0, 0, 0, 1 << 30) + data[at + 36:]


def hevc(data):
    """A display orientation SEI (a quarter turn, mirrored) before each first slice of a key frame."""
    sei = b"\0\0\1\x4e\1\x2f\3\x48\0\x18\x80"
    out, at = b"", 0
    while (found := data.find(b"\0\0\1", at)) >= 0:
        out += data[at:found]
        is_key = data[found + 3] >> 1 & 63 in range(16, 22) and data[found + 5] & 0x80
        out += (sei if is_key else b"") + data[found:found + 3]
        at = found + 3
    return out + data[at:]


def exif(data, value):
    """EXIF with an orientation right after the first marker of a JPEG."""
    tiff = b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 0x112, 3, 1, value, 0, 0)
    return data[:2] + b"\xff\xe1" + struct.pack(">H", len(tiff) + 8) + b"Exif\0\0" + tiff + data[2:]


def main():
    kind, source, target, *value = sys.argv[1:]
    with open(source, "rb") as file:
        data = file.read()
    done = {"tkhd": tkhd, "hevc": hevc, "exif": exif}[kind](data, *map(int, value))
    with open(target, "wb") as file:
        file.write(done)


main()
