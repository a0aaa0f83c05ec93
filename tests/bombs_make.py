"""Makes films that take far more memory or time than their size allows: see bombs.py.

Each function of BOMBS writes the film `path`. Its text says what the film did before --memory, --max-pixels and the limit of streams, on
two cores within 4 GB: peak memory and processor time, or "held".
"""
import struct
import zlib

BOMBS = []


def bomb(name, before):
    """Adds the function that it decorates to BOMBS."""
    return lambda make: BOMBS.append((name, before, make))


def write(path, *parts):
    with open(path, "wb") as f:
        for part in parts:
            f.write(part)


# ------------------------------------------------------------------ PNG, GIF, JPEG

def png(width, height, depth=8, colour=0):
    """A PNG of zeros; colour 0: grey, 6: RGBA."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    row = bytes(1 + width * (4 if colour == 6 else 1) * depth // 8)
    packer, data = zlib.compressobj(1), []
    rows = max(1, (16 << 20) // len(row))
    for y in range(0, height, rows):
        data.append(packer.compress(row * min(rows, height - y)))
    data.append(packer.flush())
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", b"".join(data)) + chunk(b"IEND", b"")


def gif(width, height, frames):
    """A GIF whose frames have one pixel each."""
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes(3) + b"\xff" * 3
    frame = b"\x21\xf9\x04\x00\x0a\x00\x00\x00" + b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\x00"
    return head + b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00" + frame * frames + b"\x3b"


bomb("gif-canvas.gif", "3.0 GB and about 1 s a frame")(lambda path: write(path, gif(16000, 16000, 2000)))
bomb("gif-allowed.gif", "held")(lambda path: write(path, gif(11000, 11000, 8)))
bomb("gif-long.gif", "held")(lambda path: write(path, gif(200, 200, 2000)))


@bomb("jpeg-65500.mjpeg", "held")
def jpeg_size(path):
    head = b"\xff\xd8\xff\xc0\x00\x11\x08" + struct.pack(">HH", 65500, 65500) + b"\x03\x01\x22\x00\x02\x11\x00\x03\x11\x00"
    write(path, (head + b"\xff\xda\x00\x0c\x03\x01\x00\x02\x11\x03\x11\x00\x3f\x00" + bytes(999) + b"\xff\xd9") * 3)


# ------------------------------------------------------------------ MP4

def box(kind, *parts):
    data = b"".join(parts)
    return struct.pack(">I", 8 + len(data)) + kind + data


def full(kind, *parts, flags=0):
    return box(kind, struct.pack(">I", flags), *parts)


def u32(*numbers):
    return struct.pack(f">{len(numbers)}I", *numbers)


def entry(width, height, codec=b"png "):
    return box(codec, bytes(6), struct.pack(">H", 1), bytes(16), struct.pack(">HH", min(width, 65535), min(height, 65535)),
               u32(0x480000, 0x480000, 0), struct.pack(">H", 1), bytes(32), struct.pack(">Hh", 24, -1))


def trak(tables, width=16, height=16, number=1, duration=1000, extra=b"", codec=b"png "):
    """A track with these sample tables after stsd."""
    matrix = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
    head = full(b"tkhd", u32(0, 0, number, 0, duration), bytes(8), bytes(8), matrix, u32(width << 16, height << 16), flags=7)
    media = full(b"mdhd", u32(0, 0, 1000, duration), bytes(4)) + full(b"hdlr", u32(0), b"vide", bytes(13))
    data = box(b"dinf", full(b"dref", u32(1), full(b"url ", flags=1)))
    table = box(b"stbl", full(b"stsd", u32(1), entry(width, height, codec)), *tables)
    return box(b"trak", head, extra, box(b"mdia", media, box(b"minf", full(b"vmhd", bytes(8), flags=1), data, table)))


def movie(*tracks, duration=1000, more=b""):
    head = full(b"mvhd", u32(0, 0, 1000, duration, 0x10000), bytes(12), u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000),
                bytes(24), u32(2))
    return box(b"moov", head, *tracks, more)


FTYP = box(b"ftyp", b"isom", u32(512), b"isomiso2mp41")
AT = len(FTYP) + 8      # where the data of `mdat` begin


def mp4(path, data, moov, *more):
    write(path, FTYP, box(b"mdat", data), moov, *more)


def tables(samples, size, delta=40, chunk=None, *more):
    """One chunk with samples of one size."""
    return [full(b"stts", u32(1, samples, delta)), full(b"stsc", u32(1, 1, chunk or samples, 1)),
            full(b"stsz", u32(size, samples)), full(b"stco", u32(1, AT)), *more]


SMALL = png(16, 16)


@bomb("mpng-16000.mp4", "10.8 GB and more than 46 s, a picture")
def mpng_large(path):
    data = png(16000, 16000, 16, 6)
    mp4(path, data, movie(trak(tables(1, len(data)), 16000, 16000)))


@bomb("mpng-allowed.mp4", "more than 3.7 GB")
def mpng_allowed(path):
    data = png(11000, 11000, 16, 6)
    mp4(path, data * 3, movie(trak(tables(3, len(data)), 11000, 11000)))


bomb("mp4-stsz.mp4", "1.7 GB, a picture (85 million samples: 9.3 GB)")(
    lambda path: mp4(path, SMALL * 1000, movie(trak(tables(25_000_000, len(SMALL), 1)))))
bomb("mp4-ctts.mp4", "2.8 GB, a picture")(
    lambda path: mp4(path, SMALL * 10, movie(trak(tables(30_000_000, len(SMALL), 1, None, full(b"ctts", u32(1, 30_000_000, 5)))))))
bomb("mp4-4-billion.mp4", "held")(lambda path: mp4(path, SMALL * 10, movie(trak(tables(0xffffffff, len(SMALL), 1000)))))


@bomb("mp4-stts-claims.mp4", "held")
def mp4_stts(path):
    t = tables(10, len(SMALL))
    mp4(path, SMALL * 10, movie(trak([full(b"stts", u32(0x0fffffff, 10, 40)), *t[1:]])))


bomb("mp4-stss-claims.mp4", "held")(
    lambda path: mp4(path, SMALL * 10, movie(trak(tables(10, len(SMALL), 40, None, full(b"stss", u32(0x1ffffffe, 1)))))))


@bomb("mp4-stsc-claims.mp4", "held")
def mp4_stsc(path):
    t = tables(10, len(SMALL))
    mp4(path, SMALL * 10, movie(trak([t[0], full(b"stsc", u32(0x0afffffe, 1, 10, 1)), *t[2:]])))


bomb("mp4-no-durations.mp4", "held")(lambda path: mp4(path, SMALL * 5000, movie(trak(tables(5000, len(SMALL), 0)))))


@bomb("mp4-68-years.mp4", "held")
def mp4_years(path):
    t = tables(2, len(SMALL))
    mp4(path, SMALL * 2, movie(trak([full(b"stts", u32(2, 1, 0x7fffffff, 1, 1)), *t[1:]], duration=0x7fffffff), duration=0x7fffffff))


@bomb("mp4-edits.mp4", "1.4 GB and 36 s, a picture")
def mp4_edits(path):
    edits = b"".join(u32(1000, 0, 0x10000) for _ in range(20000))
    more = box(b"edts", full(b"elst", u32(20000), edits))
    mp4(path, SMALL * 20, movie(trak(tables(200_000, len(SMALL), 1), extra=more)))


bomb("mp4-tracks.mp4", "held")(
    lambda path: mp4(path, SMALL * 10, movie(*(trak(tables(10, len(SMALL)), number=n + 1) for n in range(5000)))))


@bomb("mp4-trun.mp4", "2.5 GB")
def mp4_trun(path):
    trex = box(b"mvex", full(b"trex", u32(1, 1, 40, len(SMALL), 0)))
    start = movie(trak(tables(0, 0)), more=trex)
    traf = box(b"traf", full(b"tfhd", u32(1), flags=0x20000), full(b"trun", u32(80_000_000), flags=0))
    write(path, FTYP, start, box(b"moof", full(b"mfhd", u32(1)), traf), box(b"mdat", SMALL * 10))


@bomb("mp4-moofs.mp4", "held")
def mp4_moofs(path):
    trex = box(b"mvex", full(b"trex", u32(1, 1, 40, len(SMALL), 0)))
    traf = box(b"traf", full(b"tfhd", u32(1), flags=0x20000), full(b"trun", u32(1), flags=0))
    moof = box(b"moof", full(b"mfhd", u32(1)), traf) + box(b"mdat", SMALL)
    write(path, FTYP, movie(trak(tables(0, 0)), more=trex), moof * 20000)


@bomb("mp4-nested.mp4", "held")
def mp4_nested(path):
    inner = b""
    for _ in range(5000):
        inner = box(b"trak", inner)
    mp4(path, SMALL, movie(inner))


@bomb("mp4-cmov.mov", "1.9 GB")
def mp4_cmov(path):
    most = 1900 << 20
    packer = zlib.compressobj(1)
    block = bytes(16 << 20)
    packed = b"".join([packer.compress(struct.pack(">I", most - 8) + b"free")] +
                      [packer.compress(block) for _ in range(most // len(block))] + [packer.flush()])
    cmov = box(b"cmov", box(b"dcom", b"zlib"), box(b"cmvd", u32(most), packed))
    mp4(path, SMALL, box(b"moov", cmov))


@bomb("mp4-title.mp4", "3.6 GB, a picture")
def mp4_title(path):
    """A title of 900 MB, in a sparse file."""
    size = 900 << 20
    data = u32(16 + size) + b"data" + u32(1, 0)
    name = u32(8 + len(data) + size) + b"\xa9nam" + data
    ilst = u32(8 + len(name) + size) + b"ilst" + name
    meta = u32(12 + 33 + len(ilst) + size) + b"meta" + u32(0) + box(b"hdlr", bytes(8), b"mdir", bytes(13)) + ilst
    udta = u32(8 + len(meta) + size) + b"udta" + meta
    moov = movie(trak(tables(10, len(SMALL))))
    write(path, FTYP, box(b"mdat", SMALL * 10), u32(len(moov) + len(udta) + size), moov[4:], udta)
    with open(path, "r+b") as f:
        f.truncate(f.seek(0, 2) + size)


# ------------------------------------------------------------------ Matroska

def ebml(kind, *parts):
    data = b"".join(parts)
    return bytes.fromhex(kind) + struct.pack(">Q", len(data) | 1 << 56) + data


HEAD = ebml("1a45dfa3", ebml("4282", b"matroska"))
INFO = ebml("1549a966", ebml("2ad7b1", struct.pack(">I", 1000000)))
VIDEO = ebml("e0", ebml("b0", b"\x10"), ebml("ba", b"\x10"))
TRACK = ebml("ae", ebml("d7", b"\x01"), ebml("73c5", b"\x01"), ebml("83", b"\x01"), ebml("86", b"V_MJPEG"), VIDEO)
TRACKS = ebml("1654ae6b", TRACK)


def matroska(path, *parts):
    write(path, HEAD, ebml("18538067", INFO, *parts))


bomb("mkv-tracks.mkv", "2.1 GB")(lambda path: matroska(path, ebml("1654ae6b", TRACK, b"\xae\x80" * 6_000_000)))
bomb("mkv-cues.mkv", "2.1 GB")(lambda path: matroska(path, TRACKS, ebml("1c53bb6b", b"\xbb\x80" * 50_000_000)))
bomb("mkv-attachments.mkv", "2.0 GB")(lambda path: matroska(path, TRACKS, ebml("1941a469", b"\x61\xa7\x80" * 25_000_000)))


@bomb("mkv-attached-files.mkv", "held")
def mkv_attached_files(path):
    file = ebml("61a7", ebml("466e", b"a.ttf"), ebml("4660", b"font/ttf"), ebml("465c", bytes(99)), ebml("46ae", b"\x05"))
    matroska(path, TRACKS, ebml("1941a469", file * 20000))


bomb("mkv-tags.mkv", "3.1 GB")(lambda path: matroska(path, TRACKS, ebml("1254c367", ebml("7373", b"\x67\xc8\x80" * 20_000_000))))
bomb("mkv-chapters.mkv", "2.1 GB")(lambda path: matroska(path, TRACKS, ebml("1043a770", ebml("45b9", b"\xb6\x80" * 30_000_000))))


@bomb("mkv-nested.mkv", "held")
def mkv_nested(path):
    tag = b""
    for _ in range(2000):
        tag = ebml("67c8", tag)
    matroska(path, TRACKS, ebml("1254c367", ebml("7373", tag)))


@bomb("mkv-laces.mkv", "held")
def mkv_laces(path):
    """300,000 packets of 4 bytes in blocks of 256."""
    block = ebml("a3", b"\x81\x00\x00\x84\xff", bytes(1024))
    matroska(path, TRACKS, ebml("1f43b675", ebml("e7", b"\x00"), block * 1200))


# ------------------------------------------------------------------ other containers

@bomb("streams.avi", "held")
def avi_streams(path):
    def part(kind, data):
        return kind + struct.pack("<I", len(data)) + data
    head = b"vidsMJPG" + bytes(12) + struct.pack("<IIIIIII", 1, 25, 0, 10, 0, 0, 0) + bytes(8)
    form = struct.pack("<IiiHH4sIiiII", 40, 16, 16, 1, 24, b"MJPG", 768, 0, 0, 0, 0)
    stream = part(b"LIST", b"strl" + part(b"strh", head) + part(b"strf", form))
    main = part(b"avih", struct.pack("<14I", 40000, 0, 0, 0x10, 10, 0, 20000, 0, 16, 16, 0, 0, 0, 0))
    header = part(b"LIST", b"hdrl" + main + stream * 20000)
    write(path, part(b"RIFF", b"AVI " + header + part(b"LIST", b"movi" + part(b"00dc", bytes(99) + b"\0") * 10)))


def ts_section(pid, table, number, body):
    data = bytes([table]) + struct.pack(">H", 0xb000 | len(body) + 9) + struct.pack(">H", number) + b"\xc1\x00\x00" + body
    crc = 0xffffffff
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04c11db7 if crc & 0x80000000 else 0)) & 0xffffffff
    data, packets = b"\x00" + data + struct.pack(">I", crc), b""
    for i in range(0, len(data), 184):
        start = 0x4000 if i == 0 else 0
        packets += struct.pack(">BHB", 0x47, start | pid, 0x10 | i // 184 & 15) + data[i:i + 184].ljust(184, b"\xff")
    return packets


@bomb("programs.ts", "0.8 GB")
def ts_streams(path):
    """Forty programs of 190 streams."""
    programs = range(1, 41)
    film = ts_section(0, 0, 1, b"".join(struct.pack(">HH", n, 0xe000 | 16 + n) for n in programs))
    for n in programs:
        streams = b"".join(struct.pack(">BHH", 0x1b, 0xe000 | 100 + n * 190 + i, 0xf000) for i in range(190))
        film += ts_section(16 + n, 2, n, struct.pack(">HH", 0xe000 | 100 + n * 190, 0xf000) + streams)
    write(path, film * 20)


bomb("y4m-100000.y4m", "held")(lambda path: write(path, b"YUV4MPEG2 W100000 H100000 F25:1 Ip C420\nFRAME\n", bytes(99999)))


@bomb("y4m-allowed.y4m", "2.1 GB, a picture")
def y4m_allowed(path):
    """Frames of 720 MB, in a sparse file."""
    size = 15000 * 8000 * 6
    with open(path, "wb") as f:
        f.write(b"YUV4MPEG2 W15000 H8000 F25:1 Ip C444p16\n")
        for _ in range(3):
            f.write(b"FRAME\n")
            f.truncate(f.seek(size, 1))


# ------------------------------------------------------------------ headers of codecs

class Bits:
    def __init__(self):
        self.text = ""

    def put(self, value, count):
        self.text += f"{value:0{count}b}"
        return self

    def ue(self, *values):
        for value in values:
            bits = f"{value + 1:b}"
            self.text += "0" * (len(bits) - 1) + bits
        return self

    def bytes(self, stop=True):
        text = self.text + ("1" if stop else "")
        text += "0" * (-len(text) % 8)
        return int(text, 2).to_bytes(len(text) // 8, "big")


def nal(kind, bits):
    data = bits.bytes() if isinstance(bits, Bits) else bits
    out, zeros = bytearray(), 0
    for byte in data:
        if zeros >= 2 and byte <= 3:
            out.append(3)
            zeros = 0
        out.append(byte)
        zeros = zeros + 1 if byte == 0 else 0
    return b"\0\0\0\1" + bytes([kind]) + bytes(out)


def h264(width, height, frames):
    """Frames of grey: a key frame of macroblocks without residual, then skipped ones. Sixteen references."""
    wide, high = width // 16, height // 16
    sps = Bits().put(66, 8).put(0, 8).put(51, 8).ue(0, 4, 2, 16).put(0, 1).ue(wide - 1, high - 1).put(0b1100, 4)
    pps = Bits().ue(0, 0).put(0, 2).ue(0, 15, 0).put(0, 3).ue(0, 0, 0).put(0, 3)
    film = nal(0x67, sps) + nal(0x68, pps)
    head = Bits().ue(0, 7, 0).put(0, 8).ue(0).put(0, 2).ue(0)
    macroblocks = int.from_bytes(b"\x27" * (wide * high), "big")
    shift = 8 - (len(head.text) + 1) % 8 if (len(head.text) + 1) % 8 else 0
    whole = int(head.text, 2) << 8 * wide * high | macroblocks
    total = len(head.text) + 8 * wide * high + 1 + shift
    film += nal(0x65, ((whole << 1 | 1) << shift).to_bytes(total // 8, "big"))
    for n in range(1, frames):
        film += nal(0x61, Bits().ue(0, 5, 0).put(n % 256, 8).put(0, 2).put(0, 1).ue(0).ue(wide * high))
    return film


bomb("h264-16384.h264", "held")(lambda path: write(path, h264(16384, 16384, 3)))
bomb("h264-allowed.h264", "more than 3 GB")(lambda path: write(path, h264(11584, 11584, 20)))


def ivf(codec, width, height, frame, count):
    head = b"DKIF" + struct.pack("<HH4sHHIIII", 0, 32, codec, width, height, 25, 1, count, 0)
    return head + b"".join(struct.pack("<IQ", len(frame), n) + frame for n in range(count))


@bomb("vp9-65536.ivf", "held")
def vp9_size(path):
    bits = Bits().put(0b10, 2).put(0, 2).put(0, 1).put(0, 1).put(1, 1).put(0, 1).put(0x498342, 24).put(1, 3).put(0, 1)
    bits.put(65535, 16).put(65535, 16).put(0, 1)
    write(path, ivf(b"VP90", 65535, 65535, bits.put(0, 40).bytes() + bytes(200), 10))


@bomb("av1-65536.ivf", "held")
def av1_size(path):
    seq = Bits().put(0, 3).put(0, 1).put(1, 1).put(31, 5).put(15, 4).put(15, 4).put(65535, 16).put(65535, 16).put(0, 3)
    seq.put(0, 3).put(0, 1).put(0, 1).put(0, 1).put(0, 2).put(0, 1)
    data = seq.bytes()
    write(path, ivf(b"AV01", 65535, 65535, b"\x12\0" + bytes([0x0a, len(data)]) + data + b"\x32\x20" + bytes(32), 10))
