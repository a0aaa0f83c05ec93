#include "film_end.h"

#include <libavutil/intreadwrite.h>
#include <string.h>

#include "av.h"
#include "ts_packet.h"

enum { HEAD = 32 };

/* What stands in the file behind the last picture. */
enum part {
    PART_OTHER,              /* something that the film may go on behind */
    PART_END,                /* the film's own end                       */
    PART_LOST,               /* a picture that did not come              */
    PART_STRANGE,            /* nothing that is known                    */
};

/* Of the part that begins with head[0..size), zeros behind; *length: how long it is. `*inside` is 0 at first, and the function's own. */
typedef enum part part_fn(const uint8_t head[HEAD], int *inside, int64_t *length);

/* GIF: an extension is an introducer, a label and blocks, each behind its size; one of none is the last. */
static enum part part_of_gif(const uint8_t head[HEAD], int *inside, int64_t *length)
{
    enum { TRAILER = 0x3b, EXTENSION = 0x21, IMAGE = 0x2c };
    if (*inside) {
        *inside = head[0] > 0;
        *length = 1 + head[0];
        return PART_OTHER;
    }
    *inside = head[0] == EXTENSION;
    *length = 2;
    return head[0] == TRAILER ? PART_END : head[0] == IMAGE ? PART_LOST : *inside ? PART_OTHER : PART_STRANGE;
}

/* APNG: a size, a name, so many bytes, a checksum. */
static enum part part_of_apng(const uint8_t head[HEAD], int *inside, int64_t *length)
{
    (void)inside;
    *length = 12 + (int64_t)AV_RB32(head);
    return memcmp(head + 4, "IEND", 4) == 0 ? PART_END : PART_OTHER;
}

/* GXF: packets, the last of which is an EOS (SMPTE 360M). */
static enum part part_of_gxf(const uint8_t head[HEAD], int *inside, int64_t *length)
{
    static const uint8_t begin[] = {0, 0, 0, 0, 1}, end[] = {0, 0, 0, 0, 0xe1, 0xe2};
    enum { TYPE = 5, LENGTH = 6, REST = 10, PACKET = 16, EOS = 0xfb };
    (void)inside;
    *length = AV_RB32(head + LENGTH);
    if (memcmp(head, begin, sizeof begin) != 0 || memcmp(head + REST, end, sizeof end) != 0 || *length < PACKET)
        return PART_STRANGE;
    return head[TYPE] == EOS ? PART_END : PART_OTHER;
}

/* The status of an MXF's partitions, behind their kind: 2 a header's, 3 a body's, 4 a footer's. */
static bool is_partition(const uint8_t key[16], int kind)
{
    static const uint8_t id[] = {0x06, 0x0e, 0x2b, 0x34, 0x02, 0x05, 0x01}, of[] = {0x0d, 0x01, 0x02, 0x01, 0x01};
    return memcmp(key, id, sizeof id) == 0 && memcmp(key + 8, of, sizeof of) == 0 && key[13] == kind;
}

/* MXF: a key, a length in as many bytes as its first byte says, a value. */
static enum part part_of_mxf(const uint8_t head[HEAD], int *inside, int64_t *length)
{
    enum { KEY = 16, LONG = 0x80, FOOTER = 4, BYTES_MAX = 8 };
    static const uint8_t label[] = {0x06, 0x0e, 0x2b, 0x34};
    (void)inside;
    int bytes = head[KEY] & LONG ? head[KEY] & ~LONG : 0;
    if (memcmp(head, label, sizeof label) != 0 || bytes > BYTES_MAX)
        return PART_STRANGE;
    uint64_t value = bytes ? 0 : head[KEY];
    for (int i = 0; i < bytes; i++)
        value = value << 8 | head[KEY + 1 + i];
    if (value > INT64_MAX / 2)
        return PART_STRANGE;
    *length = KEY + 1 + bytes + (int64_t)value;
    return is_partition(head, FOOTER) ? PART_END : PART_OTHER;
}

/* What the file comes to, part by part from `at` on: PART_LOST also if it is over without the film's own end. */
static enum part follow(const AVFormatContext *format, int64_t at, part_fn *part_of)
{
    enum { PARTS_MAX = 1 << 20 };
    int64_t size = avio_size(format->pb);
    int inside = 0;
    for (int i = 0; at >= 0 && at < size && i < PARTS_MAX; i++) {
        uint8_t head[HEAD] = {0};
        int64_t length = 0;
        if (film_av_peek(format, at, head, HEAD) <= 0)
            return PART_STRANGE;
        enum part part = part_of(head, &inside, &length);
        if (part != PART_OTHER)
            return part;
        at += length;
    }
    return size > 0 && at >= size ? PART_LOST : PART_STRANGE;
}

static bool lacks_end(const AVFormatContext *format, int64_t at, part_fn *part_of)
{
    return follow(format, at, part_of) == PART_LOST;
}

/* An APNG says how many pictures it has. What lacks nothing but the end lost none. */
static bool is_torn_apng(const struct film_end *x, const AVFormatContext *format, const AVStream *s)
{
    const uint8_t *head = s->codecpar->extradata;
    size_t size = (size_t)s->codecpar->extradata_size;
    for (size_t at = 0; at + 12 <= size; at += 12 + (size_t)AV_RB32(head + at))
        if (memcmp(head + at + 4, "acTL", 4) == 0)
            return x->packets < AV_RB32(head + at + 8) && lacks_end(format, x->behind, part_of_apng);
    return false;
}

/*
 * A footer is wanted where the header says that there is one, or was never closed, as a camera leaves it that lost power. Others
 * may do without.
 */
static bool is_torn_mxf(const struct film_end *x, const AVFormatContext *format)
{
    enum { PACK = 88, HEADER = 2, STATUS = 14, LENGTH = 16, LONG = 0x80, FOOTER_AT = 24, OPEN = 1 };
    uint8_t head[PACK], key[4] = {0};
    if (film_av_peek(format, 0, head, PACK) != PACK || !is_partition(head, HEADER))
        return false;
    const uint8_t *value = head + LENGTH + 1 + (head[LENGTH] & LONG ? head[LENGTH] & 7 : 0);
    bool wanted = AV_RB64(value + FOOTER_AT) > 0 || (head[STATUS] & 1) == OPEN;
    /* A picture is all that a key has, or a part of it. */
    bool own = x->at >= 0 && film_av_peek(format, x->at, key, sizeof key) == sizeof key && AV_RB32(key) == 0x060e2b34;
    return wanted && lacks_end(format, own ? x->at : x->behind, part_of_mxf);
}

/* The demuxer of YUV4MPEG throws away a picture that breaks off. */
static bool is_torn_y4m(const struct film_end *x, const AVFormatContext *format)
{
    char rest[5];
    int got = x->behind >= 0 ? film_av_peek(format, x->behind, (uint8_t *)rest, sizeof rest) : 0;
    return got > 0 && memcmp(rest, "FRAME", (size_t)got) == 0;
}

/* SMJPEG's demuxer goes on behind the end of a film that was read once when it was opened, where it finds nothing. */
static bool ends_in_done(const AVFormatContext *format)
{
    uint8_t last[4];
    return avio_feof(format->pb) && film_av_peek(format, avio_size(format->pb) - 4, last, 4) == 4 && memcmp(last, "DONE", 4) == 0;
}

/*
 * The head of an IVF has room for the number of its pictures, and FFmpeg writes the length there, in steps of time; others write
 * 0, -1 or what they were asked for. The film lacks pictures by either reading, and comes at an even pace, so that no
 * picture may be what lasts so long.
 */
static bool is_torn_ivf(const struct film_end *x, const AVFormatContext *format)
{
    enum { HEADER = 32, COUNT = 24 };
    uint8_t head[HEADER];
    if (x->jumped || x->step <= 0 || film_av_peek(format, 0, head, HEADER) != HEADER || AV_RL32(head + COUNT + 4) != 0)
        return false;
    uint32_t said = AV_RL32(head + COUNT);
    return said <= INT32_MAX && said != UINT16_MAX && said > x->packets * (uint64_t)x->step && said % (uint64_t)x->step == 0;
}

/* An index ends a NUT, and nothing else does. Versions from 4 on are for pipes and broadcasts, and may have none. */
static bool is_torn_nut(const AVFormatContext *format)
{
    enum { FILE_ID = 25, CODE = 8, LENGTH_MAX = 8, VERSION = 3, TAIL = 12 };
    static const uint8_t header[CODE] = {'N', 'M', 0x7a, 0x56, 0x1f, 0x5f, 0x04, 0xad};
    static const uint8_t index[CODE] = {'N', 'X', 0xdd, 0x67, 0x2f, 0x23, 0xe6, 0x4e};
    uint8_t head[FILE_ID + CODE + LENGTH_MAX + 1], end[TAIL], id[CODE];
    int64_t size = avio_size(format->pb);
    if (film_av_peek(format, 0, head, sizeof head) != sizeof head || memcmp(head + FILE_ID, header, CODE) != 0)
        return false;
    size_t at = FILE_ID + CODE;
    while (at < sizeof head - 1 && head[at++] & 0x80) {}
    if (head[at] > VERSION || film_av_peek(format, size - TAIL, end, TAIL) != TAIL)
        return false;
    uint64_t back = AV_RB64(end);            /* from the index to the end */
    return back > (uint64_t)size || film_av_peek(format, size - (int64_t)back, id, CODE) != CODE || memcmp(id, index, CODE) != 0;
}

/* True if the file's last line is a boundary: nothing but another part may follow it. */
static bool ends_in_boundary(const AVFormatContext *format)
{
    enum { TAIL = 128 };
    char end[TAIL + 1] = {0};
    if (!film_av_seekable(format))           /* a pipe's end cannot be looked at again */
        return true;
    int64_t size = avio_size(format->pb);
    int got = size > 0 ? film_av_peek(format, size > TAIL ? size - TAIL : 0, (uint8_t *)end, TAIL) : 0;
    size_t length = got > 0 ? (size_t)got : 0;
    while (length > 0 && strchr("\r\n", end[length - 1]))
        length--;
    size_t line = length;
    while (line > 0 && end[line - 1] != '\n')
        line--;
    return length - line > 2 && memcmp(end + line, "--", 2) == 0;
}

/*
 * True if the file ends in a picture that lacks its own end: of parts whose length is not told the last one goes on to there. Cameras
 * fill parts up with zeros, so the end may lie well before the file's.
 */
static bool is_torn_mpjpeg(const AVFormatContext *format)
{
    enum { TAIL = 16384, BEGIN = 0xd8, END = 0xd9 };
    uint8_t tail[TAIL];
    int64_t size = avio_size(format->pb);
    int got = ends_in_boundary(format) ? 0 : film_av_peek(format, size > TAIL ? size - TAIL : 0, tail, TAIL);
    int last = 0;
    for (int i = 0; i + 1 < got; i++)
        if (tail[i] == 0xff && (tail[i + 1] == BEGIN || tail[i + 1] == END))
            last = tail[i + 1];
    return got > 0 && last != END;
}

void film_end_open(struct film_end *x)
{
    *x = (struct film_end){.last_pts = AV_NOPTS_VALUE, .at = -1, .behind = -1};
}

void film_end_packet(struct film_end *x, const AVFormatContext *format, AVPacket *packet)
{
    bool timed = packet->pts != AV_NOPTS_VALUE && x->last_pts != AV_NOPTS_VALUE && packet->pts > x->last_pts;
    if (x->packets == 1)
        x->step = timed ? packet->pts - x->last_pts : 0;
    else if (x->packets > 1 && (!timed || packet->pts - x->last_pts != x->step))
        x->step = 0;
    x->packets++;
    x->last_pts = packet->pts;
    x->at = packet->pos;
    x->behind = packet->pos >= 0 ? packet->pos + packet->size : -1;
    /* NUT's demuxer hands out what there is of a picture. */
    if (strcmp(format->iformat->name, "nut") == 0 && format->pb && format->pb->eof_reached && x->behind >= avio_tell(format->pb))
        packet->flags |= AV_PKT_FLAG_CORRUPT;
}

bool film_end_is_torn(const struct film_end *x, const AVFormatContext *format, const AVStream *stream)
{
    const char *name = format->iformat->name;
    if (!film_av_seekable(format) || x->packets == 0)
        return false;
    if (strcmp(name, "gif") == 0)
        return lacks_end(format, x->behind, part_of_gif);
    if (strcmp(name, "apng") == 0)
        return !x->jumped && is_torn_apng(x, format, stream);
    if (strcmp(name, "gxf") == 0)
        return lacks_end(format, x->behind, part_of_gxf);
    if (strcmp(name, "mxf") == 0)
        return is_torn_mxf(x, format);
    if (strcmp(name, "yuv4mpegpipe") == 0)
        return is_torn_y4m(x, format);
    if (strcmp(name, "ivf") == 0)
        return is_torn_ivf(x, format);
    return film_end_may_hurt(x, format);
}

/* The demuxers hand out what there is of a picture; NUT's may have done so while the film was opened. */
bool film_end_may_hurt(const struct film_end *x, const AVFormatContext *format)
{
    const char *name = format->iformat->name;
    if (!film_av_seekable(format) || x->packets == 0)
        return false;
    return strcmp(name, "nut") == 0 ? is_torn_nut(format) : strcmp(name, "mpjpeg") == 0 && is_torn_mpjpeg(format);
}

bool film_end_is_over(const struct film_end *x, const AVFormatContext *format)
{
    const char *name = format->iformat->name;
    if (!film_av_seekable(format))
        return false;
    return (strcmp(name, "gif") == 0 && follow(format, x->behind, part_of_gif) == PART_END) || (strcmp(name, "smjpeg") == 0 && ends_in_done(format));
}

bool film_end_is_end(const AVFormatContext *format, int code)
{
    const char *name = format->iformat->name;
    AVIOContext *file = format->pb;
    if (!file || file->error < 0 || !avio_feof(file))
        return false;
    /* Some demuxers say that they cannot read when they came to the end. GXF's error has no name. */
    return code == AVERROR(EIO) || (code == -1 && strcmp(name, "gxf") == 0) ||
           (code == AVERROR_INVALIDDATA && strcmp(name, "mpjpeg") == 0 && ends_in_boundary(format));
}

/* Where in end[0..size), the end of an MPEG-TS, a packet begins that breaks off; `size`: its last one is whole. */
static size_t torn_packet(const uint8_t *end, size_t size)
{
    for (size_t left = 1; left < TS_PACKET_BYTES; left++)
        for (size_t k = 0; k < TS_PACKET_LENGTHS; k++)
            if (ts_packet_is(end, size - left, ts_packet_length[k]))
                return size - left;
    return size;
}

void film_end_of_ts(AVFormatContext *format, const AVStream *stream, bool *hole, bool *doubt)
{
    enum { TAIL = 1024 };
    uint8_t end[TAIL];
    if (strcmp(format->iformat->name, "mpegts") != 0 || !film_av_seekable(format))
        return;
    int64_t size = avio_size(format->pb);
    if (size < TAIL || film_av_peek(format, size - TAIL, end, TAIL) != TAIL)
        return;
    bool zeros = nal_zeros_at_end(end, TAIL) >= TS_PACKET_BYTES;
    size_t at = torn_packet(end, TAIL);
    bool torn = !zeros && at < TAIL;
    bool ours = torn && at + 3 <= TAIL && ((end[at + 1] & 31) << 8 | end[at + 2]) == stream->id;
    *hole |= zeros || ours;
    *doubt |= torn;
}

bool film_end_is_stopgap(const AVFormatContext *format, const AVStream *s)
{
    const int64_t hour_ms = 3600000, avi_most = 1 << 30;
    return (strcmp(format->iformat->name, "ivf") == 0 && (s->duration > INT32_MAX || s->duration == UINT16_MAX)) ||
           (strcmp(format->iformat->name, "rm") == 0 && s->duration == hour_ms) ||
           (strcmp(format->iformat->name, "avi") == 0 && s->nb_frames == avi_most);
}
