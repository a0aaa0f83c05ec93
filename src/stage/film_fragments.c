#include "film_fragments.h"

#include <string.h>

#include <libavutil/intreadwrite.h>

#include "av.h"

void film_fragments_open(struct film_fragments *f, const AVFormatContext *format, AVStream *stream)
{
    *f = (struct film_fragments){.next = -1, .at = -1};
    AVRational rate = av_guess_frame_rate((AVFormatContext *)format, stream, NULL);
    if (!film_av_seekable(format) || !strstr(format->iformat->name, "mp4") || rate.num <= 0 || rate.den <= 0)
        return;
    f->frame = av_rescale_q(1, av_inv_q(rate), stream->time_base);
    f->next = f->frame > 0 ? 0 : -1;
}

/* A fragment begins at `at`: true if the one before it in the file is not the one before it by number. */
static bool take_fragment(struct film_fragments *f, uint32_t number, bool behind)
{
    uint32_t up = number - f->number;
    bool first = f->number == 0, forward = !first && up > 0 && up < INT32_MAX;
    bool lost = behind && forward && up > (f->step > 0 ? f->step : 1);
    if (forward && (f->step == 0 || up < f->step))
        f->step = up;
    f->number = number;
    return lost;
}

/* Looks at the boxes up to `end`. True if fragments are missing behind the last packet. */
static bool look(struct film_fragments *f, const AVFormatContext *format, int64_t end)
{
    enum { BOX = 8, LONG = 16, HEADER = 24 };       /* a moof's: its own head, its mfhd's with flags, the number */
    uint8_t head[HEADER];
    bool lost = false;
    while (f->next >= 0 && f->next <= end) {
        int got = film_av_peek(format, f->next, head, HEADER);
        uint64_t size = got >= BOX ? AV_RB32(head) : 0;
        if (size == 1 && got >= LONG)
            size = AV_RB64(head + BOX);
        if (got == HEADER && memcmp(head + 4, "moof", 4) == 0 && memcmp(head + 12, "mfhd", 4) == 0)
            lost |= take_fragment(f, AV_RB32(head + 20), f->next > f->at);
        /* One without a length goes on to the file's end. */
        f->next = size >= BOX && size < (uint64_t)(INT64_MAX - f->next) ? f->next + (int64_t)size : -1;
    }
    return lost;
}

bool film_fragments_lost(struct film_fragments *f, const AVFormatContext *format, const AVPacket *packet)
{
    bool placed = packet->pos >= 0, timed = packet->dts != AV_NOPTS_VALUE;
    /* A damaged film may have any times. */
    uint64_t since = (uint64_t)packet->dts - (uint64_t)f->dts, usual = (uint64_t)f->frame;
    bool jumped = placed && timed && f->at >= 0 && packet->dts > f->dts && since >= usual + usual / 2;
    bool lost = jumped && look(f, format, packet->pos);
    if (placed)
        f->at = packet->pos;
    if (timed)
        f->dts = packet->dts;
    return lost;
}
