#!/usr/bin/python3
"""An independent judge of staged frames.

For every film: `barcode --dump` gives the staged frames; the ffmpeg program decodes the same frame numbers to
their native planes; a float64 area mean and the matrix by ITU-T H.273, of each frame's own tags as its showinfo shows them,
say what each pixel should be. SDR of wide primaries becomes BT.709, a sample at a time, by ITU-R BT.1886. A staged pixel must be within 1 level of that everywhere, and within 0.6 on the mean.

Shares no code with barcode: the area mean is a difference of integrals, colours are real numbers.

    judge.py [--barcode PROGRAM] [--out DIR] [--every N] [--size SIZE] [--also N:SIZE]... [--exact] FILM...

--also: the program is asked for these frames and this size too (N: of the default size), and judged by the same decoding.
--exact: the frames are verified against a single decoder too, and read a second time out of the cache.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")      # products this small gain nothing from more, and other tests run beside
import numpy as np  # noqa: E402

MEAN_LIMIT = 0.6
KR_KB = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593),
         "smpte240m": (0.212, 0.087), "fcc": (0.30, 0.11)}
# BT.709's R, G and B of light of other primaries (ffmpeg's zscale has the same).
TO_709 = {"bt2020": ((1.660491, -0.587641, -0.072850), (-0.124550, 1.132900, -0.008349), (-0.018151, -0.100579, 1.118730)),
          "smpte432": ((1.224940, -0.224940, 0), (-0.042057, 1.042057, 0), (-0.019638, -0.078636, 1.098274)),
          "smpte431": ((1.157516, -0.154962, -0.002554), (-0.041500, 1.045568, -0.004068), (-0.018050, -0.078578, 1.096628))}
# A sixteenth of a level, in light: it is some levels of a component that nearly cancels out.
LIGHT_OFF = 2.4 / 255 / 16 / 2
TAGS = {"bt709": "bt709", "smpte170m": "bt601", "bt470bg": "bt601", "bt2020nc": "bt2020",
        "smpte240m": "smpte240m", "fcc": "fcc", "bt2020c": "bt2020", "ictcp": "bt2020"}
# What a codec's own standard says of an untagged film.
ALWAYS_BT601 = {"vp3", "theora", "vp5", "vp6", "vp6f", "vp7", "vp8", "h261", "h263", "flv1", "rv10", "rv20", "mpeg1video", "mjpeg",
                "svq1", "svq3", "indeo3", "mdec"}
ALWAYS_FULL = {"mjpeg", "svq3", "mdec"}
PLANAR = re.compile(r"^(?:yuv(j?)a?(4\d\d)p|(gray)|(gbr)a?p)(\d+)?(?:le)?$")
# Pixels of one number, a byte or a word: (bits, lowest bit) of R, G and B. swscale's own way with them is not exact.
FIELDS = {"rgb444": ((4, 8), (4, 4), (4, 0)), "bgr444": ((4, 0), (4, 4), (4, 8)), "rgb8": ((3, 5), (3, 2), (2, 0)),
          "bgr8": ((3, 0), (3, 3), (2, 6)), "rgb4_byte": ((1, 3), (2, 1), (1, 0)), "bgr4_byte": ((1, 0), (2, 1), (1, 3))}
SUBSAMPLING = {"420": (1, 1), "422": (1, 0), "444": (0, 0), "440": (0, 1), "411": (2, 0), "410": (2, 2)}


class Breach(Exception):
    """A film on which the program is wrong, or cannot be judged at all."""


def command(words, **more):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **more)
    if done.returncode != 0:
        raise Breach(f"{words[0]} failed ({done.returncode}): {done.stderr.decode(errors='replace').strip()[-300:]}")
    return done.stdout


def probe(film):
    """Returns ffprobe's description of the stream that ffmpeg selects, ignoring covers."""
    text = command(["ffprobe", "-v", "error", "-show_streams", "-select_streams", "v", "-of", "json", film])
    streams = [s for s in json.loads(text)["streams"] if not s.get("disposition", {}).get("attached_pic")]
    if not streams:
        raise Breach("no video stream")
    return max(streams, key=lambda s: s.get("width", 0) * s.get("height", 0))


class Layout:
    """Where the samples of a native picture lie, and what they mean."""

    def __init__(self, stream):
        self.native, self.stream = stream["pix_fmt"], stream
        little = re.sub("be$", "le", self.native)
        # Packed RGB goes to planar RGB, NV12 to its planar twin, big words to little ones: all only move bytes.
        self.format = {"rgb24": "gbrp", "bgr24": "gbrp", "bgr0": "gbrp", "rgb0": "gbrp", "rgba": "gbrp", "bgra": "gbrp",
                       "argb": "gbrp", "abgr": "gbrp", "0rgb": "gbrp", "0bgr": "gbrp", "nv12": "yuv420p", "nv21": "yuv420p", "uyvy422": "yuv422p", "yuyv422": "yuv422p", "rgb48le": "gbrp16le",
                       "bgr48le": "gbrp16le", "rgba64le": "gbrap16le", "bgra64le": "gbrap16le", "ya8": "gray",
                       "ya16le": "gray16le"}.get(little, little)
        # One number a pixel: unpacked here, or to the byte by swscale; and X'Y'Z', which is swscale's own definition.
        self.fields = FIELDS.get(re.sub("[lb]e$", "", self.native))
        self.packed = bool(self.fields) or self.native in ("pal8", "monow", "monob") or bool(re.match("(xyz|rgb5|bgr5)", self.native))
        if self.packed:
            self.format = self.native if self.fields else "rgb48le" if "xyz" in self.native else "rgb24"
        match = PLANAR.match("gbrp16le" if self.format == "rgb48le" else "gbrp" if self.packed else self.format)
        if not match:
            raise Breach(f"judge.py cannot read pixel format {self.native}")
        self.bits = int(match[5] or 8)
        self.yuvj = bool(match[1])
        self.model = "rgb" if match[4] else "grey" if match[3] else "ycc"
        self.shift = SUBSAMPLING[match[2]] if match[2] else (0, 0)
        self.planes = (1 if self.model == "grey" else 3) + (1 if "a" in self.format[:5].replace("gray", "") else 0)
        self.matrix, self.full = self.meaning({})

    def meaning(self, frame):
        """Matrix and full range of one frame: its tags, the stream's, the codec's definition, its size."""
        if self.model == "rgb":
            return "rgb", True
        tags = [TAGS.get(w.get("color_space", "unknown")) for w in (frame, self.stream)]
        codec = self.stream.get("codec_name")
        hd = self.stream["width"] >= 1280 or self.stream["height"] > 576
        matrix = tags[0] or tags[1] or ("bt709" if hd and codec not in ALWAYS_BT601 else "bt601")
        said = [w["color_range"] for w in (frame, self.stream) if w.get("color_range") in ("pc", "tv")]
        full = said[0] == "pc" if said else self.yuvj or self.model == "grey" or codec in ALWAYS_FULL
        return matrix, full

    def to_bt709(self, frame):
        """The matrix for light of one frame, if it is SDR of wide primaries; else None."""
        primaries, transfer = ([w[key] for w in (frame, self.stream) if w.get(key, "unknown") != "unknown"] + ["unknown"]
                               for key in ("color_primaries", "color_transfer"))
        wide = self.model != "grey" and "xyz" not in self.native and transfer[0] not in ("smpte2084", "arib-std-b67")
        return TO_709.get(primaries[0]) if wide else None

    def unpack(self, data, width, height):
        """The planes G, B, R of packed pixels."""
        if not self.fields:
            samples = np.frombuffer(data, "<u2" if self.format == "rgb48le" else np.uint8).reshape(height, width, 3)
            return [samples[:, :, i].astype(np.float64) for i in (1, 2, 0)]
        word = np.uint8 if self.native[-2:] not in ("le", "be") else "<u2" if self.native.endswith("le") else ">u2"
        pixels = np.frombuffer(data, word).reshape(height, width)
        values = [((pixels >> low) & ((1 << bits) - 1)).astype(np.float64) * (36 if bits == 3 else 255 / ((1 << bits) - 1))
                  for bits, low in self.fields]
        return [values[i] for i in (1, 2, 0)]

    def frame_bytes(self, width, height):
        if self.packed:
            a_pixel = {"rgb24": 3, "rgb48le": 6}.get(self.format, 2 if self.native[-2:] in ("le", "be") else 1)
            return width * height * a_pixel
        return sum(w * h for w, h in self.plane_sizes(width, height)) * (2 if self.bits > 8 else 1)

    def plane_sizes(self, width, height):
        sizes = []
        for i in range(self.planes):
            sx, sy = self.shift if i in (1, 2) else (0, 0)
            sizes.append((-(-width >> sx), -(-height >> sy)))
        return sizes

    def to_rgb(self, mean, meaning):
        """Three area means in sample values to R'G'B' in 0..255."""
        matrix, full = meaning
        scale = 2.0 ** (self.bits - 8)
        peak = 2.0 ** self.bits - 1
        if self.model == "rgb":
            green, blue, red = (m / peak * 255 for m in mean[:3])
            return np.clip(np.stack([red, green, blue], -1), 0, 255)
        if full:
            luma = mean[0] / peak
            chroma = [(m - 128 * scale) / peak for m in mean[1:3]]
        else:
            luma = (mean[0] / scale - 16) / 219
            chroma = [(m / scale - 128) / 224 for m in mean[1:3]]
        if self.model == "grey":
            return np.clip(np.stack([luma * 255] * 3, -1), 0, 255)
        kr, kb = KR_KB[matrix]
        red = luma + 2 * (1 - kr) * chroma[1]
        blue = luma + 2 * (1 - kb) * chroma[0]
        green = (luma - kr * red - kb * blue) / (1 - kr - kb)
        return np.clip(np.stack([red, green, blue], -1) * 255, 0, 255)


def mean_rows(samples, out):
    """The area means of `out` equal parts of the rows: differences of the rows' integral at the parts' edges."""
    size = len(samples)
    edge = np.arange(out + 1) * (size / out)
    whole = np.minimum(edge.astype(int), size - 1)
    integral = np.concatenate([np.zeros((1, samples.shape[1])), np.cumsum(samples, axis=0)])
    at_edge = integral[whole] + (edge - whole)[:, None] * samples[whole]
    return np.diff(at_edge, axis=0) * (out / size)


def shrink(planes, width, height):
    return [p if p.shape == (height, width) else mean_rows(mean_rows(p, height).T, width).T for p in planes]


def repeated(plane, width, height):
    """Samples of a plane at luma's places."""
    rows, columns = plane.shape
    return plane[np.arange(height) * rows // height][:, np.arange(width) * columns // width]


def told(log):
    """What each frame says of its colours, from what showinfo writes while ffmpeg decodes: a frame's line before the frame."""
    for line in log:
        match = re.search(r"color_range:(\S+) color_space:(\S+) color_primaries:(\S+) color_trc:(\S+)", line)
        if match:
            yield dict(zip(("color_range", "color_space", "color_primaries", "color_transfer"), match.groups()))


def samples_of(data, layout, width, height):
    if layout.packed:
        return layout.unpack(data, width, height)
    samples = np.frombuffer(data, np.dtype("<u2") if layout.bits > 8 else np.uint8).astype(np.float64)
    planes, at = [], 0
    for w, h in layout.plane_sizes(width, height):
        planes.append(samples[at:at + w * h].reshape(h, w))
        at += w * h
    return planes


def decode(film, stream, layout, steps, turned):
    """Every Nth picture, for each N of `steps`: its number, its tags and its planes, turned upright by ffmpeg itself (which
    moves samples, no more)."""
    width, height = stream["width"], stream["height"]
    if turned:
        width, height = height, width
    bytes_a_frame = layout.frame_bytes(width, height)
    # unaligned: without it libavcodec keeps part of a left crop, as much as this processor's vectors are wide. reinit_filter: from
    # FFmpeg 7.1 on the filters begin anew, and count anew, where the tags change.
    words = ["ffmpeg", "-nostdin", "-hide_banner", "-nostats", "-flags", "unaligned", "-reinit_filter", "0", "-i", film, "-map", f"0:{stream['index']}", "-vf",
             "showinfo=checksum=0,select=" + "+".join(f"not(mod(n\\,{step}))" for step in steps),
             "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", layout.format, "-"]
    with tempfile.NamedTemporaryFile("w") as log, open(log.name, encoding="utf-8", errors="replace") as lines, \
            subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log) as pipe:
        number, tags = -1, told(lines)
        while True:
            data = pipe.stdout.read(bytes_a_frame)
            if len(data) < bytes_a_frame:
                return
            while True:
                number, tag = number + 1, next(tags, None)
                if tag is None:
                    raise Breach(f"showinfo says nothing of frame {number}")
                if any(number % step == 0 for step in steps):
                    break
            yield number, tag, samples_of(data, layout, width, height)


def rotation(stream):
    for side in stream.get("side_data_list", []):
        if "rotation" in side:
            return int(side["rotation"])
    return 0


def stage(barcode, film, out, every, size, *more):
    """The program's own staged frames: [frames, h, w, 3], and its JSON."""
    stem = os.path.join(out, os.path.basename(film))
    # The ffmpeg program knows neither of bars nor, here, of HDR.
    words = [barcode, film, "-m", "average", "-n", str(every), "--crop", "off", "--tone-map", "off", "--dump", stem + ".rgb",
             "--json", stem + ".json", "-o", stem + ".png", "-q", *more]
    command(words + (["--size", size] if size else []))
    with open(stem + ".json", encoding="utf-8") as f:
        facts = json.load(f)
    width, height = facts["size"]
    frames = np.fromfile(stem + ".rgb", np.uint8)
    os.remove(stem + ".rgb")
    if len(frames) != len(facts["columns"]) * width * height * 3:
        raise Breach(f"--dump has {len(frames)} bytes for {len(facts['columns'])} columns of {width}x{height}")
    return frames.reshape(-1, height, width, 3), facts


def stage_exactly(barcode, film, out, every, size):
    """As stage(), verified against one decoder, and a second time out of the cache."""
    cache = ("--cache", os.path.join(out, "cache"))
    shutil.rmtree(cache[1], ignore_errors=True)
    done = subprocess.run([barcode, film, "-m", "average", "-n", str(every), "--verify", "--strict", "--no-cache", "--overwrite",
                           "-o", os.path.join(out, "verified.png")], stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0 or "frames are identical\n" not in done.stderr:
        raise Breach(f"--verify failed ({done.returncode}): {done.stderr.strip()[-300:]}")
    frames, facts = stage(barcode, film, out, every, size, *cache)
    again, cached = stage(barcode, film, out, every, size, *cache)
    if cached["cache"] != "hit" or cached["columns"] != facts["columns"] or not np.array_equal(frames, again):
        raise Breach(f"other frames or columns out of the cache, which says '{cached['cache']}'")
    return frames, facts


class Asked:
    """What the program was asked for of a film, and what has come of it."""

    def __init__(self, every, staged):
        self.every = every
        self.frames, self.facts = staged
        self.count, self.worst, self.total = 0, 0, 0.0
        self.height, self.width = self.frames.shape[1:3]
        numbers = [c["frame"] for c in self.facts["columns"]]
        if numbers != list(range(0, every * len(numbers), every)):
            raise Breach(f"frame numbers are not every {every}th: {numbers[:6]}...")

    def tagged(self, layout):
        for key, ours in (("matrix", layout.matrix), ("range", "full" if layout.full else "limited")):
            said = str(self.facts["film"].get(key)).removesuffix("nc")
            if layout.model == "ycc" and said != ours:
                raise Breach(f"the film's {key} is {ours}, the program says {said}")

    def compare(self, layout, tag, planes):
        if self.count >= len(self.frames):
            raise Breach(f"ffmpeg decodes more than the {len(self.frames)} frames that were staged")
        matrix = layout.to_bt709(tag)
        if matrix:
            signal = layout.to_rgb([repeated(p, *planes[0].shape[::-1]) for p in planes[:3]], layout.meaning(tag)) / 255
            light = (signal ** 2.4) @ np.transpose(matrix)
            low, right, high = (self.shrink_light(light + off) for off in (-LIGHT_OFF, 0, LIGHT_OFF))
        else:
            low = right = high = layout.to_rgb(shrink(planes, self.width, self.height), layout.meaning(tag))
        staged = self.frames[self.count].astype(np.float64)
        self.worst = max(self.worst, int(np.maximum(staged - np.floor(high + 0.5), np.floor(low + 0.5) - staged).max()))
        self.total += float(np.abs(staged - right).mean())
        self.count += 1

    def shrink_light(self, light):
        signal = 255 * light.clip(0, 1) ** (1 / 2.4)
        return np.stack(shrink(list(np.moveaxis(signal, -1, 0)), self.width, self.height), -1)

    def end(self):
        if self.count != len(self.frames):
            raise Breach(f"{len(self.frames)} frames staged, but ffmpeg decodes {self.count}")


def judge(barcode, film, out, ways, staged_by):
    """One film: its layout, and what came of each of the `ways` (every, size) in which its frames were asked for."""
    stream = probe(film)
    layout = Layout(stream)
    asked = [Asked(every, staged_by(barcode, film, out, every, size)) for every, size in ways]
    for number, tag, planes in decode(film, stream, layout, [a.every for a in asked], rotation(stream) % 180 != 0):
        if number == 0:
            layout.matrix, layout.full = layout.meaning(tag)
            for a in asked:
                a.tagged(layout)
        for a in asked:
            if number % a.every == 0:
                a.compare(layout, tag, planes)
    for a in asked:
        if a.count == 0:
            raise Breach("ffmpeg decodes no frame")
        a.end()
    return layout, asked


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--barcode", default="out/bin/barcode")
    parser.add_argument("--out", default="out/judge")
    parser.add_argument("--every", type=int, default=24)
    parser.add_argument("--size", default="")
    parser.add_argument("--also", action="append", default=[], metavar="N:SIZE")
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("film", nargs="+")
    a = parser.parse_args()
    ways = [(a.every, a.size)] + [(int(n), size) for n, _, size in (w.partition(":") for w in a.also)]
    os.makedirs(a.out, exist_ok=True)
    breaches = 0
    print(f"{'film':<36} {'frames':>6} {'size':>9}  {'format':<14} {'matrix':<8} {'range':<7} {'worst':>5} {'mean':>6}")
    for film in a.film:
        name = os.path.basename(film)
        try:
            layout, asked = judge(a.barcode, film, a.out, ways, stage_exactly if a.exact else stage)
        except Breach as b:
            print(f"{name:<36} BREACH: {b}")
            breaches += 1
            continue
        for way in asked:
            mean = way.total / way.count
            bad = way.worst > 1 or mean >= MEAN_LIMIT
            breaches += bad
            print(f"{name:<36} {way.count:>6} {way.width:>4}x{way.height:<4}  {layout.native:<14} {layout.matrix:<8} "
                  f"{'full' if layout.full else 'limited':<7} {way.worst:>5} {mean:>6.3f}{'  BREACH' if bad else ''}")
    print(f"{len(a.film)} films judged, {breaches} breaches (limits: 1 level, mean {MEAN_LIMIT})")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
