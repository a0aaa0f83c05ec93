#include "film_fragments.h"

#include <string.h>

#include <libavutil/intreadwrite.h>

#include "av.h"
#include "film_jump.h"
#include "mp4_box.h"
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

enum { HEADER = 24 };            /* a moof's: its own head, its mfhd's with flags, the number */

/* Looks at the box that is next, of which these are the first bytes, and goes on to the one behind it. True if fragments are missing before it. */
static bool look_at_box(struct film_fragments *f, const uint8_t *head, int count)
{
    enum { OTHERS_MOST = 1000 };
    bool lost = false;
    f->others++;
    if (count >= HEADER && mp4_box_is(head, count, "moof") && mp4_box_is(head + MP4_BOX_HEAD, count - MP4_BOX_HEAD, "mfhd")) {
        lost = take_fragment(f, AV_RB32(head + 20), f->next > f->at);
        f->others = 0;
    }
    f->next = f->others < OTHERS_MOST ? mp4_box_next(head, count, f->next) : -1;
    return lost;
}

/* Looks at the boxes up to `end`. True if fragments are missing behind the last packet. What has ever more boxes and no fragments is no film's. */
static bool look(struct film_fragments *f, const AVFormatContext *format, int64_t end)
{
    enum { BLOCK = 4096 };
    uint8_t block[BLOCK];
    bool lost = false;
    while (f->next >= 0 && f->next <= end && !interrupted()) {
        int got = film_av_peek(format, f->next, block, BLOCK);
        int64_t at = f->next;
        do {
            int from = (int)(f->next - at);
            lost |= look_at_box(f, block + from, got - from);
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
