#include "film_cut.h"

#include <libavutil/intfloat.h>
#include <libavutil/intreadwrite.h>
#include <string.h>

#include "av.h"

/* libavformat counts the pictures of an AVI that is shorter than its RIFF chunk down by the same ratio. */
static struct film_cut cut_of_avi(const AVStream *s)
{
    enum { PIPED = 1 << 30 };                 /* what FFmpeg writes into a pipe */
    struct film_cut cut = {.off = s->duration > 0 && s->nb_frames > s->duration && s->nb_frames < PIPED};
    int64_t frame_us = av_rescale_q(1, s->time_base, AV_TIME_BASE_Q);
    cut.duration_us = av_rescale_q(s->nb_frames, s->time_base, AV_TIME_BASE_Q);
    cut.slack_us = frame_us + frame_us / 2;
    return cut;
}

/* ASF's File Properties: the size of the file, how long it plays, how long players wait first, whether the size is known. */
static struct film_cut cut_of_asf(const uint8_t *head, size_t size, int64_t file_size)
{
    enum { FILE_SIZE = 40, PLAYS = 64, WAITS = 80, FLAGS = 88, OBJECT = 104, LIVE = 1 };
    static const uint8_t id[16] = {0xa1, 0xdc, 0xab, 0x8c, 0x47, 0xa9, 0xcf, 0x11, 0x8e, 0xe4, 0x00, 0xc0, 0x0c, 0x20, 0x53, 0x65};
    const int64_t day = INT64_C(86400000000);
    for (size_t at = 0; at + OBJECT <= size; at++) {
        if (memcmp(head + at, id, sizeof id) != 0)
            continue;
        uint64_t plays = AV_RL64(head + at + PLAYS) / 10, waits = AV_RL64(head + at + WAITS);
        bool sane = plays < (uint64_t)day && waits < (uint64_t)day / 1000 && waits * 1000 < plays;
        bool off = sane && !(AV_RL32(head + at + FLAGS) & LIVE) && AV_RL64(head + at + FILE_SIZE) > (uint64_t)file_size;
        return (struct film_cut){.off = off, .duration_us = sane ? (int64_t)(plays - waits * 1000) : -1, .slack_us = 200000};
    }
    return (struct film_cut){.duration_us = -1};
}

/* True if the last page of an Ogg that ends in end[0..size) breaks off. */
static bool is_torn_page(const uint8_t *end, size_t size)
{
    enum { HEAD = 27, FLAGS = 7 };
    for (size_t at = size < HEAD ? 0 : size - HEAD + 1; at-- > 0;) {
        if (memcmp(end + at, "OggS", 4) != 0 || end[at + 4] != 0 || end[at + 5] > FLAGS)
            continue;
        size_t length = HEAD + end[at + HEAD - 1];
        for (size_t i = 0; i < end[at + HEAD - 1] && at + HEAD + i < size; i++)
            length += end[at + HEAD + i];
        return at + length > size;
    }
    return false;
}

/* RealMedia's DATA chunk: its size, which some writers take for a few bytes more than it is. A film sent live has none. */
static struct film_cut cut_of_rm(const AVStream *s, const uint8_t *head, size_t size, int64_t file_size)
{
    enum { CHUNK = 8, FIRST = 18, MORE = 64 };
    struct film_cut cut = {.duration_us = -1, .slack_us = 200000};
    uint32_t length = FIRST;
    for (size_t at = 0; at + CHUNK <= size && length >= CHUNK; at += length) {
        length = AV_RB32(head + at + 4);
        if (memcmp(head + at, "DATA", 4) != 0)
            continue;
        cut.off = length <= INT32_MAX && (int64_t)(at + length) > file_size + MORE && s->duration > 0;
        cut.duration_us = cut.off ? av_rescale_q(s->duration, s->time_base, AV_TIME_BASE_Q) : -1;
        break;
    }
    return cut;
}

/* A number of FLV's onMetaData, -1: it has none of that name. `name` stands behind its length there. */
static double meta_of_flv(const uint8_t *head, size_t size, const char *name)
{
    size_t n = strlen(name);
    for (size_t at = 0; at + 2 + n + 9 <= size; at++)
        if (AV_RB16(head + at) == n && memcmp(head + at + 2, name, n) == 0 && head[at + 2 + n] == 0)
            return av_int2double(AV_RB64(head + at + 2 + n + 1));
    return -1;
}

/* A tag of an FLV. */
struct tag {
    int64_t at;              /* in the file; -1: there is none */
    int64_t ms;              /* when it begins                 */
    bool pictures, over;     /* it has some; it says that no more come */
};

/* The tag that ends at `end`: its size is there once more. */
static struct tag tag_before(const AVFormatContext *format, int64_t end)
{
    enum { HEAD = 11, SIZE = 4, TYPE = 31, PICTURES = 9, AVC = 7, OVER = 2 };
    uint8_t head[HEAD + 2], size[SIZE];
    struct tag none = {.at = -1};
    if (end < HEAD + SIZE || film_av_peek(format, end - SIZE, size, SIZE) != SIZE)
        return none;
    int64_t at = end - SIZE - (int64_t)AV_RB32(size);
    if (at <= 0 || film_av_peek(format, at, head, sizeof head) != sizeof head || (uint32_t)AV_RB24(head + 1) + HEAD != AV_RB32(size))
        return none;
    /* Of H.264 a tag at the very end says that, with the last picture's time. */
    bool over = (head[0] & TYPE) == PICTURES && (head[HEAD] & 15) == AVC && head[HEAD + 1] == OVER;
    return (struct tag){.at = at, .ms = (int64_t)(AV_RB24(head + 4) | (uint32_t)head[7] << 24), .pictures = (head[0] & TYPE) == PICTURES && !over, .over = over};
}

/* By how much a whole FLV may be longer than its last tag's time. */
static int64_t slack_of_flv(const AVStream *s)
{
    AVRational rate = s->avg_frame_rate;
    int64_t frame_ms = rate.num > 0 && rate.den > 0 ? av_rescale(1000, rate.den, rate.num) : 100;
    return 100 + frame_ms + frame_ms / 2;
}

/*
 * FLV's onMetaData has the size of the file and how long the film is. What was sent by a server, or changed later, may keep the
 * size of another file, and what is live has none: the film must be too short besides, sound included.
 */
static struct film_cut cut_of_flv(const AVFormatContext *format, const AVStream *s, const uint8_t *head, size_t size, int64_t file_size)
{
    struct film_cut cut = {.duration_us = -1};
    double told_size = meta_of_flv(head, size, "filesize"), told_s = meta_of_flv(head, size, "duration");
    if (!(told_size >= (double)file_size && told_size < 1e15 && told_s > 0 && told_s < 86400))
        return cut;
    struct tag last = tag_before(format, file_size);
    /* It is as long as it says, and ends in no tag: its end was overwritten. */
    if (!(told_size > (double)file_size)) {
        cut.off = last.at < 0;
        return cut;
    }
    cut.off = last.at < 0 || told_s * 1000 - (double)last.ms > (double)slack_of_flv(s);
    return cut;
}

/*
 * SWF's head has the file's length, unless the rest is compressed, and its last tags are a ShowFrame and an End, two zeros, which alone
 * also stand where a picture begins. A pipe's length is 100 MiB.
 */
static struct film_cut cut_of_swf(const AVFormatContext *format, const uint8_t *head, size_t size, int64_t file_size)
{
    enum { HEAD = 8, UNKNOWN = 100 << 20, END = 4, SHOWS_AND_ENDS = 0x40000000 };
    uint8_t end[END];
    bool plain = size >= HEAD && memcmp(head, "FWS", 3) == 0;
    uint32_t length = plain ? AV_RL32(head + 4) : 0;
    bool off = length > file_size && length != UNKNOWN && film_av_peek(format, file_size - END, end, END) == END && AV_RB32(end) != SHOWS_AND_ENDS;
    return (struct film_cut){.off = off, .duration_us = -1};
}

/* By what stands in bytes[0..size): an Ogg's end, of others the head. */
static struct film_cut cut_by_bytes(const AVFormatContext *format, const AVStream *s, const uint8_t *bytes, size_t size, int64_t file_size)
{
    const char *name = format->iformat->name;
    if (strcmp(name, "asf") == 0)
        return cut_of_asf(bytes, size, file_size);
    if (strcmp(name, "flv") == 0)
        return cut_of_flv(format, s, bytes, size, file_size);
    if (strcmp(name, "rm") == 0)
        return cut_of_rm(s, bytes, size, file_size);
    if (strcmp(name, "swf") == 0)
        return cut_of_swf(format, bytes, size, file_size);
    return (struct film_cut){.off = is_torn_page(bytes, size), .duration_us = -1};
}

struct film_cut film_cut_of(const AVFormatContext *format, const AVStream *stream)
{
    static const char *const known[] = {"asf", "flv", "ogg", "rm", "swf"};
    static const int64_t room = 66000;        /* more than a page of Ogg, or what stands before ASF's properties */
    struct film_cut cut = {.duration_us = -1};
    if (!film_av_seekable(format))
        return cut;
    if (strcmp(format->iformat->name, "avi") == 0)
        return cut_of_avi(stream);
    int64_t size = avio_size(format->pb);
    bool one = film_av_is_one_of(format, known, sizeof known / sizeof *known);
    uint8_t *bytes = one && size > 0 ? av_malloc((size_t)room) : NULL;
    if (!bytes)                               /* without memory nothing is known of it */
        return cut;
    bool ogg = strcmp(format->iformat->name, "ogg") == 0;
    int got = film_av_peek(format, ogg && size > room ? size - room : 0, bytes, (int)room);
    if (got > 0)
        cut = cut_by_bytes(format, stream, bytes, (size_t)got, size);
    av_free(bytes);
    return cut;
}

int64_t film_cut_pictures(const AVFormatContext *format, const AVStream *stream)
{
    enum { TAGS_MAX = 4096 };
    if (strcmp(format->iformat->name, "flv") != 0 || !film_av_seekable(format) || format->duration <= 0)
        return -1;
    int64_t told_ms = format->duration / 1000, slack_ms = slack_of_flv(stream);
    struct tag tag = tag_before(format, avio_size(format->pb));
    for (int i = 0; i < TAGS_MAX && tag.at >= 0 && tag.over; i++)
        tag = tag_before(format, tag.at);
    if (tag.at < 0 || tag.ms < told_ms - slack_ms || tag.ms > told_ms + slack_ms)
        return -1;
    for (int i = 0; i < TAGS_MAX && tag.at >= 0 && !tag.pictures; i++)
        tag = tag_before(format, tag.at);
    bool early = tag.at >= 0 && tag.pictures && tag.ms > 0 && tag.ms < told_ms - slack_ms;
    return early ? (tag.ms + slack_ms - 100) * 1000 : -1;
}

bool film_cut_is_whole(const AVFormatContext *format, const struct film_cut *cut)
{
    /* A NUT's length is the time at which the last packet begins, found where the file ends. */
    if (strcmp(format->iformat->name, "nut") == 0)
        return format->nb_streams > 1;
    return strcmp(format->iformat->name, "asf") == 0 && format->nb_streams > 1 && !cut->off && cut->duration_us > 0 && film_av_seekable(format);
}
