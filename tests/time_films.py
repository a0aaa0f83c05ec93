"""The films of time_matrix.py: pairs of container and codec, each in several variants.

Every film is 12 s of a moving test picture at 24 fps with a key frame a second, made by the ffmpeg
program. Variants that a container cannot hold are left out. A film's file name contains a hash of
its recipe: films of an earlier run are used again only if they would be made in the same way.
"""

import hashlib
import os
import re
import struct
import subprocess

SECONDS, RATE, GOP = 12, 24, 24
CUT_PACKETS = 30  # a start in mid-GOP: the first key frame that is left is packet 48

HEVC = "-c:v libx265 -preset ultrafast -x265-params log-level=error:keyint=24"
CODECS = {
    "h264": "-c:v libx264 -preset veryfast -bf 2 -b:v 100k",
    "h264-p": "-c:v libx264 -preset veryfast -bf 0 -b:v 100k",
    "h264-open": "-c:v libx264 -preset veryfast -bf 3 -x264-params open-gop=1 -b:v 100k",
    "hevc": f"{HEVC}:bframes=2:open-gop=0",
    "hevc-open": f"{HEVC}:bframes=3:open-gop=1",
    "mpeg4": "-c:v mpeg4 -b:v 200k",
    "mpeg4-b": "-c:v mpeg4 -bf 2 -b:v 200k -sc_threshold 1000000000",
    "mpeg2": "-c:v mpeg2video -bf 2 -b:v 300k -sc_threshold 1000000000",
    "mpeg2-p": "-c:v mpeg2video -b:v 300k -sc_threshold 1000000000",
    "mpeg1": "-c:v mpeg1video -bf 2 -b:v 300k -sc_threshold 1000000000",
    "vp8": "-c:v libvpx -deadline good -cpu-used 8 -auto-alt-ref 1 -lag-in-frames 12 -b:v 100k",
    "vp9": "-c:v libvpx-vp9 -deadline good -cpu-used 8 -auto-alt-ref 1 -lag-in-frames 12 -b:v 100k",
    "av1": "-c:v libaom-av1 -cpu-used 8 -lag-in-frames 12 -b:v 60k",
    "ffv1": "-c:v ffv1 -level 3",
    "huffyuv": "-c:v huffyuv",
    "mjpeg": "-c:v mjpeg -q:v 9 -pix_fmt yuvj420p",
    "prores": "-c:v prores_ks -profile:v 0 -pix_fmt yuv422p10le",
    "qtrle": "-c:v qtrle -pix_fmt rgb24",
    "png": "-c:v png -pix_fmt rgb24",
    "svq1": "-c:v svq1 -pix_fmt yuv410p",
    "theora": "-c:v libtheora -q:v 4",
    "msmpeg4": "-c:v msmpeg4 -b:v 200k",
    "wmv1": "-c:v wmv1 -b:v 200k",
    "wmv2": "-c:v wmv2 -b:v 200k",
    "flv1": "-c:v flv1 -b:v 200k",
    "flashsv": "-c:v flashsv -pix_fmt bgr24",
    "h263": "-c:v h263 -s 128x96 -b:v 200k",
    "rv10": "-c:v rv10 -b:v 200k",
    "rv20": "-c:v rv20 -b:v 200k",
    "gif": "-c:v gif -pix_fmt rgb8",
}


MKV = "h264 h264-open hevc-open mpeg4-b mpeg2 vp8 vp9 av1 ffv1 theora mjpeg"
FRAGMENTS = "frag_keyframe+empty_moov+default_base_moof"

# Container: its file's ending, options of the muxer, sound codec, codecs.
CONTAINERS = {
    "mp4": ("mp4", "", "aac", "h264 hevc mpeg4-b mpeg2 vp9 av1 mjpeg"),
    "mov": ("mov", "", "aac", "h264 prores qtrle mjpeg png svq1"),
    "fmp4": ("mp4", f"-movflags {FRAGMENTS}", "aac", "h264 hevc vp9 av1"),
    "mkv": ("mkv", "", "aac", MKV),
    "webm": ("webm", "", "libopus", "vp8 vp9 av1"),
    "avi": ("avi", "", "libmp3lame", "h264-p h264 mpeg4 mpeg4-b mpeg2 mjpeg msmpeg4 ffv1 huffyuv"),
    "ts": ("ts", "", "mp2", "h264 h264-open hevc mpeg2 mpeg4-b"),
    "m2ts": ("m2ts", "", "ac3", "h264"),
    "ps": ("mpg", "-f vob", "mp2", "mpeg2 mpeg1 h264"),
    "flv": ("flv", "", "libmp3lame", "flv1 h264 flashsv"),
    "asf": ("wmv", "-f asf", "wmav2", "wmv2 wmv1 msmpeg4 h264-p h264 mjpeg"),
    "nut": ("nut", "", "mp2", "h264 mpeg4-b ffv1"),
    "ogg": ("ogv", "", "libvorbis", "theora vp8"),
    "mxf": ("mxf", "", "pcm_s16le", "mpeg2 h264"),
    "wtv": ("wtv", "", "mp2", "mpeg2 h264"),
    "3gp": ("3gp", "", "aac", "h263 mpeg4 h264"),
    "rm": ("rm", "", "ac3", "rv10 rv20"),
    "swf": ("swf", "", "libmp3lame", "flv1"),
    "ivf": ("ivf", "", None, "vp8 vp9 av1"),
    "gif": ("gif", "", None, "gif"),
    "h264": ("h264", "", None, "h264"),
    "hevc": ("hevc", "", None, "hevc"),
    "m2v": ("m2v", "", None, "mpeg2"),
    "m4v": ("m4v", "", None, "mpeg4"),
    "obu": ("obu", "", None, "av1"),
}

VARIANTS = ["plain", "vfr", "offset", "longer", "shorter", "half", "double", "cut", "pipe"]
CONSTANT_RATE = {"mxf", "swf", "h264", "hevc", "m2v", "m4v", "obu"}
CUT_BYTES = {"ts", "m2ts", "ps", "h264", "hevc", "m2v", "m4v", "obu"}
NO_CUT = {"gif", "swf"}


class CannotMake(Exception):
    """Why there is no such film."""


def pairs():
    return [(c, codec) for c, (_, _, _, codecs) in CONTAINERS.items() for codec in codecs.split()]


def ffmpeg(*words):
    command = ["ffmpeg", "-nostdin", "-v", "error", "-y", "-threads", "1"]
    for word in words:
        command += word if isinstance(word, list) else word.split()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0 or not os.path.exists(command[-1]) or os.path.getsize(command[-1]) == 0:
        said = done.stderr.decode(errors="replace").strip() or "ffmpeg failed"
        raise CannotMake(said.splitlines()[-1])


# ---- headers that lie ----


def boxes(data, begin, end):
    while begin + 8 <= end:
        size, kind = struct.unpack_from(">I4s", data, begin)
        if size < 8:
            return
        yield kind, begin + 8, begin + size
        begin += size


def lie_mp4(data, factor):
    """mvhd, tkhd and mdhd; edit lists and the sample table stay."""
    changed, movie = 0, 1000

    def walk(begin, end):
        nonlocal changed, movie
        for kind, at, stop in boxes(data, begin, end):
            if kind in (b"moov", b"trak", b"mdia"):
                walk(at, stop)
                continue
            long = data[at] == 1
            field = {b"mvhd": 12, b"mdhd": 12, b"tkhd": 12}.get(kind)
            if not field:
                continue
            scale = movie
            if kind != b"tkhd":
                scale = struct.unpack_from(">I", data, at + (20 if long else 12))[0]
                movie = scale if kind == b"mvhd" else movie
            where = at + {b"tkhd": (28 if long else 20)}.get(kind, 24 if long else 16)
            struct.pack_into(">Q" if long else ">I", data, where, int(scale * SECONDS * factor))
            changed += 1

    walk(0, len(data))
    return changed >= 3


def lie_mkv(data, factor):
    """Info's Duration, in ms, and the tracks' DURATION tags."""
    at = data.find(b"\x44\x89\x88")
    if at < 0:
        return False
    struct.pack_into(">d", data, at + 3, SECONDS * 1000.0 * factor)
    for tag in re.finditer(rb"DURATION.{1,12}?(\d\d:\d\d:\d\d\.\d{9})", bytes(data), re.S):
        data[tag.start(1) : tag.end(1)] = b"00:00:%02d.000000000" % int(SECONDS * factor)
    return True


def lie_avi(data, factor):
    """Counts of frames in avih, strh and dmlh; the indexes stay."""
    done = 0
    for kind, offset in ((b"avih", 16), (b"strh", 32), (b"dmlh", 0)):
        at = data.find(kind)
        if at > 0:
            count = struct.unpack_from("<I", data, at + 8 + offset)[0]
            struct.pack_into("<I", data, at + 8 + offset, int(count * factor))
            done += 1
    return done >= 2


def lie_flv(data, factor):
    at = data.find(b"\0\x08duration\0")
    if at > 0:
        struct.pack_into(">d", data, at + 11, SECONDS * factor)
    return at > 0


def lie_asf(data, factor):
    at = data.find(bytes.fromhex("A1DCAB8C47A9CF118EE400C00C205365"))
    if at < 0:
        return False
    play, send, preroll = struct.unpack_from("<QQQ", data, at + 64)
    wait = preroll * 10000
    struct.pack_into("<QQ", data, at + 64, int((play - wait) * factor) + wait, int(send * factor))
    return True


def lie_ivf(data, factor):
    struct.pack_into("<I", data, 24, int(SECONDS * RATE * factor))
    return True


def lie_mxf(data, factor):
    """Every Duration (local tag 0x0202) of the tracks' components."""
    old = b"\x02\x02\x00\x08" + struct.pack(">Q", SECONDS * RATE)
    new = b"\x02\x02\x00\x08" + struct.pack(">Q", int(SECONDS * RATE * factor))
    count = data.count(old)
    data[:] = data.replace(old, new)
    return count > 0


def lie_rm(data, factor):
    """PROP's and MDPR's durations, in ms."""
    for kind, offset in ((b"PROP", 30), (b"MDPR", 36)):
        at = data.find(kind)
        if at < 0:
            return False
        struct.pack_into(">I", data, at + offset, int(SECONDS * 1000 * factor))
    return True


def lie_swf(data, factor):
    at = 8 + (5 + 4 * (data[8] >> 3) + 7) // 8 + 2
    struct.pack_into("<H", data, at, int(SECONDS * RATE * factor))
    return True


LIES = dict.fromkeys(("mp4", "mov", "fmp4", "3gp"), lie_mp4)
LIES |= dict.fromkeys(("mkv", "webm"), lie_mkv)
LIES |= {"avi": lie_avi, "flv": lie_flv, "asf": lie_asf, "ivf": lie_ivf, "mxf": lie_mxf}
LIES |= {"rm": lie_rm, "swf": lie_swf}


# ---- recipes ----


def encode(codec, variant="plain"):
    """Input and encoder. VFR: 3 of 10 frames."""
    select = "-vf select='lt(mod(n\\,10)\\,3)' -fps_mode vfr " if variant == "vfr" else ""
    source = f"-f lavfi -i testsrc2=s=64x48:r={RATE}:d={SECONDS}"
    return f"{source} {select}-pix_fmt yuv420p -g {GOP} {CODECS[codec]}"


def cut_by_bytes(source, target, container):
    with open(source, "rb") as f:
        data = f.read()
    if container in ("ts", "m2ts"):
        size = 188 if container == "ts" else 192
        at = size * (len(data) // size // 9 + 1)
    elif container == "ps":
        at = data.index(b"\0\0\1\xba", len(data) // 9)
    else:
        show = "-v error -select_streams v:0 -show_entries packet=pos -of csv=p=0".split()
        text = subprocess.check_output(["ffprobe", *show, source]).decode()
        at = int(text.replace(",", "").split()[CUT_PACKETS])
    with open(target, "wb") as f:
        f.write(data[at:])


class Films:
    """The films of one pair, in a folder that may be kept."""

    def __init__(self, folder, container, codec):
        self.folder, self.container, self.codec = folder, container, codec
        self.ending, self.muxer, self.sound, _ = CONTAINERS[container]
        self.name = f"{container}+{codec}"

    def kept(self, variant, recipe, build):
        """The path of the film with this recipe, built if it is not in the folder."""
        key = hashlib.sha1(recipe.encode()).hexdigest()[:8]
        path = os.path.join(self.folder, f"{self.name}.{variant}.{key}.{self.ending}")
        if not os.path.exists(path):
            part = os.path.join(self.folder, f"part-{self.name}.{variant}.{key}.{self.ending}")
            build(part)
            os.rename(part, path)
        return path

    def encoded(self, variant):
        recipe = f"{encode(self.codec, variant)} {self.muxer}"
        return self.kept(variant, recipe, lambda to: ffmpeg(recipe, [to]))

    def master(self):
        """The encoded video in NUT, which keeps any codec and any time."""
        recipe = encode(self.codec)
        key = hashlib.sha1(recipe.encode()).hexdigest()[:8]
        path = os.path.join(self.folder, f"master-{self.codec}.{key}.nut")
        if not os.path.exists(path):
            part = f"{path}.{self.container}.nut"
            ffmpeg(recipe, [part])
            os.rename(part, path)
        return path

    def with_sound(self, variant, video_delay, seconds):
        if not self.sound:
            raise CannotMake("no sound in this container")
        rate = "-ar 44100" if self.container in ("flv", "swf") else "-ar 48000"
        recipe = f"-map 0:v -map 1:a -c:v copy -c:a {self.sound} -b:a 64k -ac 2 {rate} {self.muxer}"
        source = f"-itsoffset {video_delay}" if video_delay else ""
        sound = f"-f lavfi -i sine=d={seconds}:r=48000"

        def build(to):
            try:
                ffmpeg(source, "-i", [self.master()], sound, recipe, [to])
            except CannotMake:  # some muxers take no other container's stream
                coder = encode(self.codec)
                at = coder.index(" -pix_fmt")
                ffmpeg(source, coder[:at], sound, recipe.replace("-c:v copy", coder[at:]), [to])

        made = f"{source} {sound} {recipe} {encode(self.codec)}"
        return self.kept(variant, made, build)

    def lying(self, variant, factor):
        lie = LIES.get(self.container)
        if not lie:
            raise CannotMake("no length in its header")

        def build(to):
            if lie is lie_mkv:  # its checksums would tell
                ffmpeg("-i", [self.encoded("plain")], "-c copy -write_crc32 0", [to])
            source = to if lie is lie_mkv else self.encoded("plain")
            with open(source, "rb") as f:
                data = bytearray(f.read())
            if not lie(data, factor):
                raise CannotMake("no length in this film's header")
            with open(to, "wb") as f:
                f.write(data)

        return self.kept(variant, f"lie 1 {self.encoded('plain')}", build)

    def cut(self):
        if self.container in NO_CUT:
            raise CannotMake("does not survive a cut")
        if self.container in CUT_BYTES:
            plain = self.encoded("plain")
            recipe = f"cut {CUT_PACKETS} {plain}"
            return self.kept("cut", recipe, lambda to: cut_by_bytes(plain, to, self.container))
        recipe = f"-bsf:v noise=drop='lt(n\\,{CUT_PACKETS})' {self.muxer}"

        def build(to):
            try:
                ffmpeg("-i", [self.master()], "-c copy", recipe, [to])
            except CannotMake:
                ffmpeg(encode(self.codec), recipe, [to])

        return self.kept("cut", f"{recipe} {encode(self.codec)}", build)

    def make(self, variant):
        """Returns the path of the film of a variant, or raises CannotMake."""
        if variant == "vfr" and self.container in CONSTANT_RATE:
            raise CannotMake("constant rate")
        sounds = {"offset": (10, 10), "longer": (0, 8), "shorter": (0, -6)}
        if variant in sounds:
            delay, more = sounds[variant]
            return self.with_sound(variant, delay, SECONDS + more)
        if variant in ("half", "double"):
            return self.lying(variant, 0.5 if variant == "half" else 2)
        if variant == "cut":
            return self.cut()
        return self.encoded("vfr" if variant == "vfr" else "plain")
