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
            body += b"".join(number(edge, n) for edge, n in zip(("54cc", "54bb", "54dd", "54aa"), crop))
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
