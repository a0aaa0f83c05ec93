"""
matroska.py IN OUT [crop LEFT TOP RIGHT BOTTOM] [ordered] - writes a Matroska film again, with PixelCrop in its video tracks, or with an
edition of ordered chapters before the first cluster. Without its index, whose places would be wrong.
"""

import sys

SEGMENT, TRACKS, ENTRY, VIDEO, CLUSTER = "18538067", "1654ae6b", "ae", "e0", "1f43b675"
LEFT_OUT = ("114d9b74", "1c53bb6b")


def element(name, body):
    return bytes.fromhex(name) + (1 << 56 | len(body)).to_bytes(8, "big") + body


def number(name, n):
    return element(name, n.to_bytes(2, "big"))


def elements(data):
    """The names and bodies of the elements of a body."""
    at = 0
    while at < len(data):
        length = 9 - data[at].bit_length()
        name = data[at:at + length].hex()
        at += length
        length = 9 - data[at].bit_length()
        size = int.from_bytes(data[at:at + length], "big") & ((1 << 7 * length) - 1)
        at += length
        yield name, data[at:at + size]
        at += size


def crop_video(body, left, top, right, bottom):
    """A video with square samples, as mkvmerge writes it."""
    size = {name: int.from_bytes(value, "big") for name, value in elements(body)}
    body = b"".join(element(name, value) for name, value in elements(body) if name not in ("54b0", "54ba", "54b2"))
    square = max(size["b0"] - left - right, 1), max(size["ba"] - top - bottom, 1)
    facts = {"54cc": left, "54bb": top, "54dd": right, "54aa": bottom, "54b0": square[0], "54ba": square[1]}
    return body + b"".join(number(name, n) for name, n in facts.items())


def change(data, crop, ordered):
    out = b""
    for name, body in elements(data):
        if name in LEFT_OUT:
            continue
        if name == CLUSTER and ordered:
            out += element("1043a770", element("45b9", number("45db", 1) + number("45dd", 1)))
            ordered = False
        if name in (SEGMENT, TRACKS, ENTRY, VIDEO):
            body = change(body, crop, ordered)
        if name == VIDEO and crop:
            body = crop_video(body, *crop)
        out += element(name, body)
    return out


def main():
    words = sys.argv[3:]
    crop = [int(n) for n in words[1:5]] if words[:1] == ["crop"] else None
    with open(sys.argv[1], "rb") as f:
        data = f.read()
    with open(sys.argv[2], "wb") as f:
        f.write(change(data, crop, "ordered" in words))


if __name__ == "__main__":
    main()
