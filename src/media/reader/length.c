/*
 * length.c - PROBE_LENGTH: counts the frames of a film and measures its duration.
 */
#include "reader.h"
#include "media/bitstream/coded_picture.h"
#include "media/container/demux.h"
#include "media/container/open.h"
#include "media/ffmpeg/packet.h"
#include "media/select/timeline.h"
#include "barcode/base/interrupt.h"

/* Displayed pictures, and their duration by the clock that decoding uses (timeline.h). */
struct tally {
    struct timeline timeline;
    /* lead: how far the earliest picture is before the first one stored */
    int64_t shown, lead_us;
};

/*
 * Adds a picture. Pictures come in decoding order, so the timeline only moves on to the latest one.
 */
static void tally_add(struct tally *t, const struct picture *p)
{
    struct timeline *line = &t->timeline;
    t->shown++;
    int64_t time = timeline_at(line, p->pts_us);
    if (p->pts_us != TIME_NONE && line->shift_us == 0 && line->origin_us - p->pts_us > t->lead_us &&
        time == 0)
        t->lead_us = line->origin_us - p->pts_us;
    if (time > line->last_us)
        timeline_step(line, time);
}

bool film_probe_length(struct demux *r, const struct film *film, struct probe_facts *facts,
                       struct err *e)
{
    struct tally t = {.timeline = timeline_begin(container_frame_us(film))};
    struct picture p;
    while (!interrupted() && demux_next(r, &p, e)) {
        if (!p.hidden)
            tally_add(&t, &p);
        packet_free(&p.packet);
    }
    if (interrupted())
        return interrupt_error(e);
    if (e->code != ERR_NONE)
        return false;
    facts->found |= PROBE_LENGTH;
    facts->frames = t.shown;
    facts->duration_us = t.shown > 0 ? t.lead_us + t.timeline.last_us + t.timeline.frame_us : 0;
    return true;
}
