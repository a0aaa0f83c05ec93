#include "film_cut.h"

#include <libavutil/intreadwrite.h>
#include <string.h>

#include "av.h"

/* libavformat counts the pictures of an AVI that is shorter than its RIFF chunk down by the same ratio. */
static struct film_cut cut_of_avi(const AVStream *s)
{
    struct film_cut cut = {.off = s->duration > 0 && s->nb_frames > s->duration && s->nb_frames < INT32_MAX};
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

struct film_cut film_cut_of(const AVFormatContext *format, const AVStream *stream)
{
    static const int64_t room = 66000;        /* more than a page of Ogg, or the objects before ASF's properties */
    struct film_cut cut = {.duration_us = -1};
    const char *name = format->iformat->name;
    bool asf = strcmp(name, "asf") == 0, ogg = strcmp(name, "ogg") == 0;
    if (!film_av_seekable(format))
        return cut;
    if (strcmp(name, "avi") == 0)
        return cut_of_avi(stream);
    int64_t size = avio_size(format->pb);
    uint8_t *bytes = (asf || ogg) && size > 0 ? av_malloc((size_t)room) : NULL;
    if (!bytes)                               /* without memory nothing is known of it */
        return cut;
    int got = film_av_peek(format, ogg && size > room ? size - room : 0, bytes, (int)room);
    if (got > 0 && asf)
        cut = cut_of_asf(bytes, (size_t)got, size);
    else if (got > 0)
        cut.off = is_torn_page(bytes, (size_t)got);
    av_free(bytes);
    return cut;
}
