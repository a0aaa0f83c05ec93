#!/usr/bin/python3
"""Readers of what --trickplay writes, by the servers' own rules. Standard library and the ffmpeg program.

    trickplay.py jellyfin FILM.trickplay WIDTH HEIGHT COUNT    the folder as Jellyfin's TrickplayManager reads it
    trickplay.py bif FILE WIDTH HEIGHT COUNT MS                a BIF as Roku's specification has it
    trickplay.py frames FILE.bif|FOLDER WIDTH HEIGHT FILM S   each preview is the frame that ffmpeg shows at i * S
    trickplay.py same FILE.bif FOLDER WIDTH HEIGHT             both show the same pictures
"""

import json
import os
import re
import struct
import subprocess
import sys

ACROSS = 10


def expect(condition, sentence):
    if not condition:
        sys.exit(f"trickplay.py: {sentence}")


def ffmpeg(*arguments, **keywords):
    return subprocess.run(["ffmpeg", "-v", "error", "-nostdin", *arguments], check=True, stdout=subprocess.PIPE, **keywords).stdout


def jpeg_size(data):
    """The size by the frame header of a baseline JPEG, which begins and ends as one."""
    expect(data[:2] == b"\xff\xd8", "no JPEG")
    at = 2
    while data[at : at + 1] == b"\xff" and data[at + 1] != 0xC0:
        at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    expect(data[at : at + 2] == b"\xff\xc0", "no baseline JPEG")
    height, width = struct.unpack(">HH", data[at + 5 : at + 9])
    return width, height


def decode(data, width, height):
    """The pixels of a JPEG as ffmpeg decodes it."""
    expect(jpeg_size(data) == (width, height), f"a JPEG of {jpeg_size(data)}, not {width}x{height}")
    raw = ffmpeg("-f", "mjpeg", "-i", "-", "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-", input=data)
    expect(len(raw) == width * height * 3, "ffmpeg decodes another size")
    return raw


def sheets_of(folder):
    """The sheets that Jellyfin finds: all files of FOLDER/WIDTH - COLSxROWS, which it numbers itself from 0."""
    below = os.listdir(folder)
    expect(len(below) == 1 and re.fullmatch(r"\d+ - 10x10", below[0]), f"{folder} has {below}")
    files = os.listdir(f"{folder}/{below[0]}")
    expect(sorted(files) == sorted(f"{i}.jpg" for i in range(len(files))), f"the sheets are {files}")
    found = []
    for i in range(len(files)):
        with open(f"{folder}/{below[0]}/{i}.jpg", "rb") as f:
            found.append(f.read())
        expect(found[-1][-2:] == b"\xff\xd9", f"sheet {i} is cut")
    return int(below[0].split()[0]), found


def cell(raw, i, width, height):
    x, y = i % ACROSS * width, i % (ACROSS * ACROSS) // ACROSS * height
    starts = (((y + row) * width * ACROSS + x) * 3 for row in range(height))
    return b"".join(raw[at : at + width * 3] for at in starts)


def check_jellyfin(folder, width, height, count):
    width, height, count = int(width), int(height), int(count)
    told, sheets = sheets_of(folder)
    expect(told == width and width % 2 == 0 and height % 2 == 0, f"the folder is for a width of {told}")
    expect(len(sheets) == -(-count // (ACROSS * ACROSS)), f"{len(sheets)} sheets for {count} previews")
    for data in sheets:
        wide, high = jpeg_size(data)
        # The import: Height = ceil(image height / rows); the client cuts cells of Width x Height.
        expect((wide, -(-high // ACROSS)) == (width * ACROSS, height) and high % ACROSS == 0, f"a sheet of {wide}x{high}")
    last = decode(sheets[-1], width * ACROSS, height * ACROSS)
    for i in range(count, len(sheets) * ACROSS * ACROSS):
        expect(max(cell(last, i, width, height)[width * 48 : -width * 48]) < 24, f"place {i} is not empty")


def images_of(path):
    """The images of a BIF: https://developer.roku.com, "Trick mode: BIF file creation"."""
    with open(path, "rb") as f:
        data = f.read()
    expect(data[:8] == bytes([0x89, 0x42, 0x49, 0x46, 0x0D, 0x0A, 0x1A, 0x0A]), "the magic number")
    version, count, unit = struct.unpack("<III", data[8:20])
    expect(version == 0, f"version {version}")
    expect(data[20:64] == bytes(44), "reserved bytes are not 0")
    index = [struct.unpack("<II", data[64 + 8 * i : 72 + 8 * i]) for i in range(count + 1)]
    expect(index[-1] == (0xFFFFFFFF, len(data)), f"the index ends with {index[-1]} in a file of {len(data)}")
    expect([time for time, _ in index[:-1]] == list(range(count)), "the times have gaps")
    expect(index[0][1] == 64 + 8 * (count + 1), "the first image is not right behind the index")
    expect(all(a[1] < b[1] for a, b in zip(index, index[1:])), "the offsets do not rise")
    return unit or 1000, [data[a[1] : b[1]] for a, b in zip(index, index[1:])]


def check_bif(path, width, height, count, ms):
    unit, images = images_of(path)
    expect(unit == int(ms) and len(images) == int(count), f"{len(images)} images, one each {unit} ms")
    for image in images:
        expect(jpeg_size(image) == (int(width), int(height)), f"an image of {jpeg_size(image)}")


def previews_of(path, width, height):
    if os.path.isdir(path):
        _, sheets = sheets_of(path)
        raw = [decode(s, width * ACROSS, height * ACROSS) for s in sheets]
        return [cell(raw[i // 100], i, width, height) for i in range(100 * len(raw))]
    return [decode(image, width, height) for image in images_of(path)[1]]


def distance(a, b):
    a, b = a[::31], b[::31]  # enough of them, and a prime to 3
    return sum(abs(x - y) for x, y in zip(a, b)) / len(a)


def frames_of(film, width, height):
    """Each frame that ffmpeg shows, turned and with square pixels, with the player's time of it."""
    told = json.loads(
        subprocess.check_output(
            ["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "format=start_time:stream=width:frame=best_effort_timestamp_time",
             "-of", "json", film]
        )
    )
    start = float(told["format"].get("start_time", 0))
    times = [float(f["best_effort_timestamp_time"]) - start for f in told["frames"]]
    flags = "bilinear" if told["streams"][0]["width"] < width else "area"
    raw = ffmpeg("-i", film, "-map", "0:v:0", "-fps_mode", "passthrough", "-vf", f"scale={width}:{height}:flags={flags},format=rgb24", "-f", "rawvideo", "-")
    size = width * height * 3
    expect(len(raw) == size * len(times), f"{len(raw) / size} frames and {len(times)} times")
    return times, [raw[i * size : (i + 1) * size] for i in range(len(times))]


def check_frames(path, width, height, film, seconds):
    width, height, seconds = int(width), int(height), float(seconds)
    times, frames = frames_of(film, width, height)
    shown = previews_of(path, width, height)
    expect(len(shown) > (times[-1] - 1e-4) / seconds, f"{len(shown)} previews of {times[-1]} s")
    for i in range(int((times[-1] + 1e-4) / seconds) + 1):
        at = max((n for n, t in enumerate(times) if t <= i * seconds + 1e-4), default=0)
        own = distance(shown[i], frames[at])
        expect(own < 8, f"preview {i} differs by {own:.2f} from the frame at {times[at]} s")
        for n in (at - 2, at - 1, at + 1, at + 2):
            if 0 <= n < len(frames) and frames[n] != frames[at]:
                other = distance(shown[i], frames[n])
                expect(other > own, f"preview {i} looks more like the frame at {times[n]} s ({other:.2f}) than at {times[at]} s ({own:.2f})")


def check_same(bif, folder, width, height):
    a, b = (previews_of(path, int(width), int(height)) for path in (bif, folder))
    for i, one in enumerate(a):
        expect(distance(one, b[i]) < 3, f"preview {i} differs")


{"jellyfin": check_jellyfin, "bif": check_bif, "frames": check_frames, "same": check_same}[sys.argv[1]](*sys.argv[2:])
