#!/usr/bin/python3
"""make_film.py FILM.mkv - draws the sample film, and FILM.answers.tsv beside it: what each frame's column must be.

90 seconds of shots, one day from night to night, in cells of 2 x 2 pixels with the integer Y'CbCr that goes to the encoder: so
4:2:0 costs nothing, and the answers come from these by the real-valued BT.709 equations, not from barcode's code.

The table has a line for each shot: name, rows of its picture, frames, and what else it has. 20 rows are 2.40:1 between bars of 56
lines, 27 are the whole of 16:9. Its patches follow: kind; x, y, width, height in units of 48 x 16 pixels, which are whole pixels of
the analysis size; colours at the first and at the last frame, of which sky, from top to bottom, and weave have two; movement in
eighths of a cell a frame. Later patches lie on earlier ones.
"""
import subprocess
import sys

import numpy as np

SHOTS = """
title, 20, 34, fade 22 0 000000
    flat 0 0 16 27 000000 000000
night sky, 20, 46
    sky 0 0 16 20 070b1a-1a3052 080d20-223c60
    disc 11 3 1 3 e6e2d0 e6e2d0 1 -1
    hills 0 14 16 27 060810 080a14 2 0
moon on water, 20, 51
    weave 0 0 16 27 08203a-1d4c6c 0a2642-25597a 3 1
    flat 0 0 16 5 0a1228 0c162e
    disc 4 1 1 3 e6e2d0 e6e2d0
lit windows, 20, 36
    flat 0 0 16 27 16224a 1b2a57
    hills 0 9 16 27 0a0d1c 0a0d1c
    lamps 0 13 16 7 eeb550 eeb550
sleeper, 20, 31
    flat 0 0 16 27 1a2038 232a48
    flat 0 12 11 8 3d4a70 46547c
    disc 8 8 3 6 6a5648 7c6350
first light, 20, 46
    sky 0 0 16 20 2a2c5e-7d5684 3a3a74-b06f8e
    hills 0 13 16 27 1a1836 241d42 3 0
rooftops, 20, 41
    flat 0 0 16 27 8c5f8a b0738c
    hills 0 13 16 27 3a2a54 45305c
    flat 4 10 1 8 3a2a54 45305c
sunrise, 20, 57
    sky 0 0 16 20 6b5c96-e8966e 8f7aa4-f6b874
    disc 7 11 2 6 ffe4ac fff0c8 0 -3
    hills 0 15 16 27 4a3050 5c3a54 2 0
curtain, 20, 41
    flat 0 0 16 27 e0906c eba27a
    flat 9 3 4 11 ffdcae ffe8c4
    weave 0 0 4 20 b86450-d88468 c87058-e09070 1 0
birds, 20, 38, fade 0 14 fff4e4
    flat 0 0 16 27 f3c49c f9dcbc
    disc 2 9 1 1 70504c 70504c 40 -8
    disc 1 6 1 1 70504c 70504c 40 -8
white room, 20, 31
    flat 0 0 16 27 f4efe6 f7f3ec
    flat 10 4 3 8 b4d0d8 bcd8e0
    flat 2 13 5 7 d8b888 d8b888
meadow, 20, 51
    sky 0 0 16 20 7fb8d0-b4d8de 8ac2d6-c2e0e2
    weave 0 10 16 20 6c9440-9cbc58 74a046-a8c662 3 0
wheat, 20, 46
    flat 0 0 16 27 dcb862 e4c472
    sky 0 0 16 7 8cc4dc-c4e0e0 94cae0-cce4e2
path, 20, 36
    flat 0 0 16 27 9cb866 a6c070
    flat 0 12 16 20 d2b878 dac284
    disc 11 3 2 9 5c8848 5c8848 -6 0
orchard, 20, 31
    flat 0 0 16 27 b8cf7c c0d686
    weave 0 9 16 27 587c38-86a850 5c823c-8cae56 4 0
    flat 4 13 1 2 c04838 c04838
canopy, 20, 51
    weave 0 0 16 27 1c3c22-6a9444 1e4226-78a04c 4 2
trunks, 20, 36
    flat 0 0 16 27 3c6636 44703a
    flat 2 0 1 20 1c2a1c 1c2a1c 6 0
    flat 7 0 2 20 1c2a1c 1c2a1c 6 0
    flat 12 0 1 20 1c2a1c 1c2a1c 6 0
moss, 20, 41
    grain 0 0 16 27 53703a 5c7c40
    weave 0 12 16 8 283c22-44602e 283c22-44602e -3 0
brook, 20, 36
    flat 0 0 16 27 24482e 285034
    weave 0 12 16 20 4c8884-90c4b4 508e8a-98ccbc 9 0
clearing, 20, 34
    flat 0 0 16 27 c6d68c d4e29c
    flat 0 0 3 20 2a4628 2a4628
    flat 13 0 3 20 2a4628 2a4628
headland, 27, 41
    sky 0 0 16 27 5fa8c4-d0e6e4 68b0ca-d8ece8
    weave 0 14 16 27 1a7484-3a9ca4 1e7c8a-40a4aa 5 0
swell, 27, 51
    flat 0 0 16 27 9fd2d4 aadadb
    flat 0 13 16 27 1f8494 248e9c
sail, 27, 36
    flat 0 0 16 27 2a94a2 309cae
    flat 0 0 16 6 d4e8e6 d4e8e6
    flat 3 4 2 8 f4ead6 f4ead6 12 0
under water, 27, 51
    sky 0 0 16 27 3ab0b4-0c4a70 2a98a8-083a60
deep, 27, 36
    flat 0 0 16 27 0f5478 0b4468
    disc 3 15 2 2 f0a840 e09a38 30 -5
    disc 1 18 1 1 f0a840 e09a38 30 -5
storm, 27, 41
    sky 0 0 16 27 384850-76888c 2c3a44-64787e
    weave 0 14 16 27 1c3a42-4a7074 18323c-40646a 12 0
night at sea, 27, 36
    flat 0 0 16 27 080c14 080c14
    lamps 0 0 16 12 b8c4d8 b8c4d8
    weave 0 17 16 10 1e4c68-4c7c94 1e4c68-4c7c94 6 0
dunes, 20, 51
    flat 0 0 16 27 e4b468 eabf78
    sky 0 0 16 6 5ca6c0-b0d4cc 64aec6-b8d8d0
    hills 0 14 16 27 c08444 c68a48 2 0
haze, 20, 41
    sky 0 0 16 20 9cc0bc-e8d4a8 a4c6c0-ecd8ac
    weave 0 10 16 20 d49c54-e6b870 d8a25a-eac078 2 0
caravan, 20, 36
    flat 0 0 16 27 dc9a54 e2a45e
    disc 1 12 1 2 6c3824 6c3824 24 0
    disc 3 12 1 2 6c3824 6c3824 24 0
    disc 5 12 1 2 6c3824 6c3824 24 0
red rock, 20, 41
    weave 0 0 16 27 883a24-c86a40 8e3e26-ce7046 3 0
    flat 0 0 16 4 5ea4bc 5ea4bc
well, 20, 26
    flat 0 0 16 27 a85434 b05c38
    disc 5 4 6 12 2c1c1c 2c1c1c
    disc 7 8 2 5 68a8bc 68a8bc
doorway, 20, 26
    flat 0 0 16 27 2e1812 341c14
    flat 10 3 3 17 f4cc88 f4cc88
tea house, 20, 41
    flat 0 0 16 27 74402a 7c462c
    flat 2 3 3 9 f0bc68 f4c474
    flat 8 12 7 5 40221a 40221a
carpet, 20, 36
    flat 0 0 16 27 8c2c34 92303a
    weave 4 3 8 14 b8743c-dca858 b8743c-dca858
two faces, 20, 36
    flat 0 0 16 27 5a3226 5a3226
    flat 0 0 6 20 9c5c3a 9c5c3a
    disc 10 4 3 11 c88a60 c88a60 2 0
    disc 2 4 3 11 d49a6c d49a6c -2 0
glass, 20, 26
    flat 0 0 16 27 c07030 ca7a34
    flat 6 3 3 14 f0c060 f0c060
rain, 20, 41
    flat 0 0 16 27 74828c 74828c
    flat 0 0 7 20 7c8a94 7c8a94
fog, 20, 46
    sky 0 0 16 20 aab6ba-76868e a0aeb4-70808a
    hills 0 12 16 27 66767e 606f78 3 0
umbrellas, 20, 36
    flat 0 0 16 27 56646e 56646e
    disc 1 7 2 6 c82c38 c82c38 22 0
    disc 9 9 2 6 2c3840 2c3840 -10 0
wet street, 20, 41
    weave 0 0 16 27 38464e-7a8890 344048-727f88 0 6
    flat 0 0 16 6 8e9aa0 848f96
long shadows, 20, 46
    flat 0 0 16 27 eca058 e88c4c
    hills 0 14 16 27 6a3434 602e38 3 0
low sun, 20, 57
    sky 0 0 16 20 d07850-f8bc60 b04c4c-f49a4c
    disc 6 5 3 9 ffe690 ffd884 0 4
    hills 0 16 16 27 542634 481f34 2 0
red sea, 20, 46
    sky 0 0 16 20 98405a-e87848 843860-d86444
    weave 0 10 16 20 5a2444-b4543e 502048-a44a44 5 0
embers, 20, 36
    flat 0 0 16 27 9c2c3c 7e2440
    disc 5 16 1 1 f8a040 f8a040 8 -14
    disc 9 18 1 1 f8a040 f8a040 -6 -18
dusk, 20, 46
    sky 0 0 16 20 3c2a5e-9a4260 2a2354-6c3464
    hills 0 15 16 27 1c1230 150f2a 1 0
neon, 20, 41
    flat 0 0 16 27 64186c 781c7e
    flat 2 4 4 4 22d0e4 22d0e4
    flat 9 9 1 5 ff0000 ff0000
    flat 11 9 1 5 ffff00 ffff00
    flat 13 9 1 5 00ff00 00ff00
street, 20, 41
    flat 0 0 16 27 1c2070 20247c
    hills 0 12 16 27 0c0e30 0c0e30 5 0
    flat 12 4 2 4 ff2c78 ff2c78 -8 0
    lamps 0 15 16 5 f4c060 f4c060
bar, 20, 36
    flat 0 0 16 27 a41c5c 941a62
    flat 0 13 16 7 2a1040 2a1040
    disc 4 4 2 5 30c8d8 30c8d8
dancers, 20, 31, flashes
    flat 0 0 16 27 3020a0 4420a4
    flat 3 6 2 14 140c3c 140c3c 10 0
    flat 10 7 2 13 140c3c 140c3c -9 0
night drive, 20, 36
    flat 0 0 16 27 10163a 0d1230
    disc 2 14 1 2 f4e0b0 f4e0b0 36 0
    disc 14 16 1 2 c42028 c42028 -36 0
milky way, 20, 41
    weave 0 0 16 27 060a1c-2a2c58 060a1c-2a2c58 1 1
    lamps 0 0 16 20 d0d4e8 d0d4e8
    hills 0 16 16 27 04060c 04060c
the end, 20, 55, fade 10 24 000000
    flat 0 0 16 27 000000 000000
"""
W, H, UNIT_W, UNIT_H, RATE = 384, 216, 24, 8, 24
NOISE, FAR = 6, 44      # colours nearer than NOISE could be joined by coding noise; textures must be FAR from a dominant one
random = np.random.default_rng(1)
TEXTURE = random.random((H, W), np.float32)
COARSE = random.random((H // 8, W // 8), np.float32).repeat(8, 0).repeat(8, 1)
ROWS, COLUMNS = np.mgrid[0:H, 0:W].astype(np.float32)
SKYLINE = np.repeat(random.integers(0, 30, W // 12), 12)


def to_ycc(rgb):
    """The nearest integer Y'CbCr of BT.709, limited range."""
    r, g, b = (int(rgb[i:i + 2], 16) / 255 for i in (0, 2, 4))
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    return np.array([16 + 219 * y, 128 + 224 * (b - y) / 1.8556, 128 + 224 * (r - y) / 1.5748], np.float32)


def to_rgb(ycc):
    y, cb, cr = (ycc[..., 0] - 16) * np.float32(255 / 219), (ycc[..., 1] - 128) * np.float32(255 / 224), (ycc[..., 2] - 128) * np.float32(255 / 224)
    green = y - 0.2126 * 1.5748 / 0.7152 * cr - 0.0722 * 1.8556 / 0.7152 * cb
    return np.clip(np.stack([y + 1.5748 * cr, green, y + 1.8556 * cb], -1), 0, 255)


def read_shots():
    shots = []
    for line in SHOTS.strip("\n").split("\n"):
        word = line.split()
        if line.startswith(" "):
            colours = [[to_ycc(c) for c in pair.split("-")] for pair in word[5:7]]
            shots[-1]["patches"].append((word[0], [int(v) for v in word[1:5]], colours, [int(v) for v in word[7:9]] or [0, 0]))
        else:
            name, rows, frames, *more = line.split(", ")
            shots.append({"name": name, "rows": int(rows), "frames": int(frames), "more": " ".join(more).split(), "patches": []})
    return shots


def mix(first, last, share):
    return [a + (b - a) * share for a, b in zip(first, last)]


def draw_patch(picture, known, patch, n, share):
    """Draws the n-th frame of a patch; `known` marks the cells that are of flat colours."""
    kind, (x, y, w, h), (first, last), (dx, dy) = patch
    colour = mix(first, last, share)
    left, top = x * UNIT_W + n * dx // 8, y * UNIT_H + n * dy // 8
    height, width = h * UNIT_H, w * UNIT_W
    if kind == "hills":
        left, width = 0, W
    window = (slice(max(top, 0), max(top + height, 0)), slice(max(left, 0), max(left + width, 0)))
    area, rows, columns = picture[window], ROWS[:len(picture)][window] - top, COLUMNS[:len(picture)][window] - left
    inside = np.ones(area.shape[:2], bool)
    if kind == "disc":
        inside = ((rows + 0.5) / height - 0.5) ** 2 + ((columns + 0.5) / width - 0.5) ** 2 <= 0.25
    elif kind == "hills":
        inside = rows >= np.roll(SKYLINE, n * dx // 8)
    elif kind == "lamps":
        inside = (rows % 6 < 3) & (columns % 12 < 3) & (COARSE[:len(picture)][window] > 0.8)
    ycc = colour[0]
    if kind == "sky":
        ycc = colour[0] + (colour[1] - colour[0]) * (rows / height)[..., None]
    elif kind == "weave":
        blend = np.roll(COARSE, (n * dy // 8, n * dx // 8), (0, 1))[:len(picture)][window]
        ycc = colour[0] + (colour[1] - colour[0]) * blend[..., None]
    elif kind == "grain":
        ycc = colour[0] + (np.roll(TEXTURE, 1013 * n)[:len(picture)][window][..., None] - 0.5) * np.float32([10, 0, 0])
    np.copyto(area, np.rint(ycc), "unsafe", inside[..., None])
    known[window][inside] = kind in ("flat", "disc", "hills", "lamps")


def draw(shot, n):
    """The picture of a shot's n-th frame without its bars, and which of its cells are of flat colours."""
    picture, known = np.full((shot["rows"] * UNIT_H, W, 3), [16, 128, 128], np.int16), np.ones((shot["rows"] * UNIT_H, W), bool)
    for patch in shot["patches"]:
        draw_patch(picture, known, patch, n, n / (shot["frames"] - 1))
    if "flashes" in shot["more"] and n % 9 == 4:
        picture[:], known[:] = np.rint(to_ycc("f0f0ff")), True
    if "fade" in shot["more"]:
        fade_in, fade_out, colour = shot["more"][1:4]
        shown = min(1, (n + 1) / (int(fade_in) or 1), (shot["frames"] - n) / (int(fade_out) or 1))
        picture = np.rint(to_ycc(colour) + (picture - to_ycc(colour)) * shown).astype(np.int16)
    return picture, known


def dominant(picture, known):
    """(colour, share) where the dominant colour is known: one flat colour leads clearly, and nothing is so near that it could join."""
    code = picture @ np.array([1 << 16, 1 << 8, 1], np.int32)
    codes, counts = np.unique(code[known], return_counts=True)
    if not len(codes):
        return None
    order = np.argsort(-counts)
    flat = np.stack([codes >> 16, codes >> 8 & 255, codes & 255], -1)[order]
    best, counts = flat[0], counts[order]
    if len(flat) > 1 and (counts[1] * 5 > counts[0] * 4 or np.abs(flat[1:] - best).sum(-1).min() < NOISE):
        return None
    if not known.all() and (counts[0] * 2 <= known.size or np.abs(picture[~known] - best).sum(-1).min() < FAR):
        return None
    return np.rint(to_rgb(best)), counts[0] / known.size


def answer(shot, picture, known):
    found = dominant(picture, known)
    colour, share = (",".join(f"{v:.0f}" for v in found[0]), f"{found[1]:.4f}") if found else ("-", "-")
    average = ",".join(f"{v:.2f}" for v in to_rgb(picture).mean((0, 1), np.float64))
    return f"{colour}\t{share}\t{average}\t{2 * W}:{2 * len(picture)}:0:{H - len(picture)}\t{shot['name']}"


def encoder(path):
    """Near-lossless, with pyramids of B-frames and short closed GOPs, which the program's decoding has to cope with."""
    params = ("b-pyramid=normal:b-adapt=0:fast-pskip=0:dct-decimate=0:weightp=0:weightb=0:aq-mode=0:mbtree=0:psy=0:no-deblock=1:"
              "chroma-qp-offset=-4:deadzone-inter=6:deadzone-intra=6:scenecut=0:open-gop=0")
    return subprocess.Popen(
        ["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{2 * W}x{2 * H}", "-r", str(RATE),
         "-i", "-", "-c:v", "libx264", "-preset", "veryfast", "-qp", "4", "-g", str(2 * RATE), "-bf", "3", "-x264-params", params,
         "-vf", "setsar=1", "-color_range", "tv", "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709",
         "-metadata", "title=One day, in known colours", path], stdin=subprocess.PIPE)


def main(path):
    film, lines = encoder(path), ["first\tlast\tdominant\tshare\taverage\tpicture\tshot"]
    number, canvas = 0, np.empty((H, W, 3), np.uint8)
    for shot in read_shots():
        top = (H - shot["rows"] * UNIT_H) // 2
        for n in range(shot["frames"]):
            picture, known = draw(shot, n)
            canvas[:] = 16, 128, 128
            canvas[top:H - top] = picture
            film.stdin.write(canvas[..., 0].repeat(2, 0).repeat(2, 1).tobytes() + canvas[..., 1].tobytes() + canvas[..., 2].tobytes())
            lines.append(f"{number}\t{number}\t{answer(shot, picture, known)}")
            number += 1
    film.stdin.close()
    if film.wait() != 0:
        sys.exit(f"make_film.py: cannot make '{path}'")
    with open(path.rpartition(".")[0] + ".answers.tsv", "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


main(sys.argv[1])
