#include "film_tail.h"

#include <libavutil/intreadwrite.h>
#include <string.h>
#include <unistd.h>

#include "ts_packet.h"

enum kind {
    KIND_OTHER,              /* what stands behind it does no harm, or is not known */
    KIND_TAGGED,             /* padding does no harm, or may as well be a hole      */
    KIND_STREAM,             /* H.264 or AV1 without a container                    */
    KIND_NUT,
    KIND_GXF,
    KIND_PARTS,              /* pictures in JPEG between boundaries                 */
};

static bool read_at(int fd, int64_t at, void *to, size_t bytes)
{
    return at >= 0 && pread(fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

/* A film in H.264 begins with parameters, or with what may stand before them. */
static bool begins_as_h264(int byte)
{
    enum { SEI = 6, PARAMETERS = 7, DELIMITER = 9, TYPE = 31, FORBIDDEN = 128, WEIGHT = 96 };
    int type = byte & TYPE;
    return !(byte & FORBIDDEN) && (byte & WEIGHT ? type == PARAMETERS : type == SEI || type == DELIMITER);
}

/* Of other codecs in streams of their own, HEVC's decoder would not tell if a picture broke off where the padding begins. */
static enum kind kind_of(const uint8_t *head, size_t size)
{
    static const uint8_t gxf[] = {0, 0, 0, 0, 1, 0xbc}, obu[] = {0x12, 0};
    enum { PACK = 0xba };    /* begins a program stream */
    size_t zeros = head[2] == 0 ? 3 : 2, packet;
    bool code = head[0] == 0 && head[1] == 0 && head[zeros] == 1;
    if (memcmp(head, "DKIF", 4) == 0 || memcmp(head, "YUV4MPEG2", 9) == 0 || memcmp(head, ".RMF", 4) == 0)
        return KIND_TAGGED;
    if (memcmp(head, "nut/multimedia container", 24) == 0)
        return KIND_NUT;
    if (memcmp(head, gxf, sizeof gxf) == 0)
        return KIND_GXF;
    if ((code && begins_as_h264(head[zeros + 1])) || memcmp(head, obu, sizeof obu) == 0)
        return KIND_STREAM;
    if (memcmp(head, "--", 2) == 0 || memcmp(head, "\r\n--", 4) == 0)
        return KIND_PARTS;
    return (code && head[zeros + 1] != PACK) || ts_packet_find(head, size, &packet) > 0 ? KIND_TAGGED : KIND_OTHER;
}

/* ID3, version 1: three texts, a year. */
static int64_t without_id3(int fd, int64_t end)
{
    enum { TAG = 128, TEXTS = 3, YEAR = 93, COMMENT = 97 };
    uint8_t tag[TAG];
    if (!read_at(fd, end - TAG, tag, TAG) || memcmp(tag, "TAG", TEXTS) != 0)
        return end;
    bool text = true;
    for (int i = TEXTS; i < COMMENT; i++)
        text &= tag[i] == 0 || tag[i] >= ' ';
    for (int i = YEAR; i < COMMENT; i++)
        text &= tag[i] == 0 || tag[i] == ' ' || (tag[i] >= '0' && tag[i] <= '9');
    return text ? end - TAG : end;
}

/* APE's: its last 32 bytes tell the size of the rest, and whether there is a head of 32 bytes before that. */
static int64_t without_ape(int fd, int64_t end)
{
    enum { EDGE = 32, VERSION = 8, SIZE = 12, FLAGS = 20, MOST = 16 << 20 };
    uint8_t foot[EDGE], head[EDGE];
    if (!read_at(fd, end - EDGE, foot, EDGE) || memcmp(foot, "APETAGEX", 8) != 0)
        return end;
    uint32_t version = AV_RL32(foot + VERSION), size = AV_RL32(foot + SIZE);
    if ((version != 1000 && version != 2000) || size < EDGE || size > MOST || end < (int64_t)size + EDGE)
        return end;
    int64_t begin = end - (int64_t)size;
    if (!(AV_RL32(foot + FLAGS) >> 31))
        return begin;
    return read_at(fd, begin - EDGE, head, EDGE) && memcmp(head, "APETAGEX", 8) == 0 ? begin - EDGE : end;
}

/* Where the bytes begin that are all like the last one before `end`; -1: it is another one, or they are too many to be padding. */
static int64_t run_begin(int fd, int64_t end, uint8_t *value)
{
    enum { BLOCK = 4096, MANY = 64 << 20 };
    uint8_t block[BLOCK];
    if (!read_at(fd, end - 1, value, 1) || (*value != 0 && *value != 0xff))
        return -1;
    for (int64_t at = end; at > 0 && end - at <= MANY;) {
        int n = at < BLOCK ? (int)at : BLOCK;
        if (!read_at(fd, at - n, block, (size_t)n))
            return -1;
        int same = 0;
        while (same < n && block[n - 1 - same] == *value)
            same++;
        at -= same;
        if (same < n)
            return at;
    }
    return -1;
}

bool film_tail_is_padding(int64_t at)
{
    enum { SECTOR = 512, NEAR = 3 };
    return at > 0 && (at + NEAR) / SECTOR == (at - 1) / SECTOR;
}

/* Where an index ends that ends the file; its last bytes may be such as the run has. */
static int64_t nut_end(int fd, int64_t run, int64_t end)
{
    enum { CODE = 8, LAST = 12 };
    static const uint8_t index[CODE] = {'N', 'X', 0xdd, 0x67, 0x2f, 0x23, 0xe6, 0x4e};
    for (int64_t at = run; at <= run + LAST && at <= end; at++) {
        uint8_t last[LAST], code[CODE];
        bool read = read_at(fd, at - LAST, last, LAST) && AV_RB64(last) <= (uint64_t)at;
        if (read && read_at(fd, at - (int64_t)AV_RB64(last), code, CODE) && memcmp(code, index, CODE) == 0)
            return at;
    }
    return -1;
}

static bool is_gxf_end(int fd, int64_t at)
{
    enum { LENGTH = 16 };
    static const uint8_t eos[] = {0, 0, 0, 0, 1, 0xfb}, rest[] = {0xe1, 0xe2};
    uint8_t packet[LENGTH];
    return read_at(fd, at - LENGTH, packet, LENGTH) && memcmp(packet, eos, sizeof eos) == 0 &&
           memcmp(packet + LENGTH - sizeof rest, rest, sizeof rest) == 0;
}

/* True if the line that ends at `at` is a boundary. */
static bool is_boundary(int fd, int64_t at)
{
    enum { MOST = 128 };
    char text[MOST];
    if (!read_at(fd, at - MOST, text, MOST))
        return false;
    int length = MOST;
    while (length > 0 && (text[length - 1] == '\r' || text[length - 1] == '\n'))
        length--;
    int line = length;
    while (line > 0 && text[line - 1] != '\n')
        line--;
    return line > 0 && length - line > 2 && text[line] == '-' && text[line + 1] == '-';
}

static int64_t without_padding(int fd, int64_t end, enum kind kind)
{
    enum { FEW = 16 };       /* fewer may be the codec's own, and do no harm */
    uint8_t value = 0;
    int64_t run = kind == KIND_TAGGED ? -1 : run_begin(fd, end, &value), at = -1;
    if (run <= 0)
        return end;
    switch (kind) {
    case KIND_STREAM: at = value == 0 && end - run >= FEW && film_tail_is_padding(run) ? run : -1; break;
    case KIND_NUT: at = nut_end(fd, run, end); break;
    case KIND_GXF: at = is_gxf_end(fd, run) ? run : -1; break;
    case KIND_PARTS: at = film_tail_is_padding(run) && is_boundary(fd, run) ? run : -1; break;
    case KIND_OTHER:
    case KIND_TAGGED: break;
    }
    return at >= 0 ? at : end;
}

int64_t film_tail_begin(int fd, int64_t size)
{
    enum { HEAD = 1024, ROUNDS = 4 };
    uint8_t head[HEAD];
    enum kind kind = size > HEAD && read_at(fd, 0, head, HEAD) ? kind_of(head, HEAD) : KIND_OTHER;
    int64_t end = size, before = -1;
    for (int i = 0; kind != KIND_OTHER && i < ROUNDS && end != before; i++) {
        before = end;
        end = without_padding(fd, without_ape(fd, without_id3(fd, end)), kind);
    }
    return end > HEAD ? end : size;
}
