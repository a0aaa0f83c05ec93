#include "film_fragments.h"

#include <string.h>

#include <libavutil/intreadwrite.h>

#include "av.h"
#include "film_jump.h"
#include "barcode/interrupt.h"

void film_fragments_open(struct film_fragments *f, const AVFormatContext *format, AVStream *stream)
{
    *f = (struct film_fragments){.next = -1, .frame = film_jump_frame(format, stream), .dts = AV_NOPTS_VALUE, .at = -1};
    if (film_av_seekable(format) && strstr(format->iformat->name, "mp4") && f->frame > 0)
        f->next = 0;
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

enum { BOX = 8, LONG = 16, HEADER = 24 };       /* a moof's: its own head, its mfhd's with flags, the number */

/* The box whose first bytes these are: how long it is, 0 if it goes on to the file's end or is none. *lost: fragments are missing before it. */
static uint64_t look_at_box(struct film_fragments *f, const uint8_t *head, int count, bool *lost)
{
    uint64_t size = count >= BOX ? AV_RB32(head) : 0;
    if (size == 1)
        size = count >= LONG ? AV_RB64(head + BOX) : 0;
    f->others++;
    if (count >= HEADER && memcmp(head + 4, "moof", 4) == 0 && memcmp(head + 12, "mfhd", 4) == 0) {
        *lost |= take_fragment(f, AV_RB32(head + 20), f->next > f->at);
        f->others = 0;
    }
    return size >= BOX && size < (uint64_t)(INT64_MAX - f->next) ? size : 0;
}

/* Looks at the boxes up to `end`. True if fragments are missing behind the last packet. What has ever more boxes and no fragments is no film's. */
static bool look(struct film_fragments *f, const AVFormatContext *format, int64_t end)
{
    enum { BLOCK = 4096, OTHERS_MOST = 1000 };
    uint8_t block[BLOCK];
    bool lost = false;
    while (f->next >= 0 && f->next <= end && !interrupted()) {
        int got = film_av_peek(format, f->next, block, BLOCK);
        int64_t at = f->next;
        do {
            int from = (int)(f->next - at);
            uint64_t size = look_at_box(f, block + from, got - from, &lost);
            f->next = size > 0 && f->others < OTHERS_MOST ? f->next + (int64_t)size : -1;
        } while (f->next >= 0 && f->next <= end && f->next - at + HEADER <= got);
    }
    return lost;
}

bool film_fragments_lost(struct film_fragments *f, const AVFormatContext *format, const AVPacket *packet)
{
    bool placed = packet->pos >= 0;
    bool lost = placed && f->at >= 0 && film_jump_is(f->frame, f->dts, packet->dts) && look(f, format, packet->pos);
    if (placed)
        f->at = packet->pos;
    if (packet->dts != AV_NOPTS_VALUE)
        f->dts = packet->dts;
    return lost;
}
