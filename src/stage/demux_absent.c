/*
 * demux_absent.c - the reader's part in pictures that were lost before the film was written.
 */
#include "absent.h"
#include "av.h"

/* What refers to an absent picture is damaged. Frames are missing there only if there is a gap in time. */
void demux_note_absent(struct demux *r, const AVPacket *packet, const struct nal_info *info, struct picture *p, int64_t dts_us)
{
    struct absent_packet look = {.length_size = r->length_size, .data = packet->data, .size = (size_t)packet->size, .info = info,
                                 .dts_us = dts_us};
    struct absent_sign sign = absent_look(r->absent, &r->sets, &look);
    p->suspect |= sign.hurts;
    p->after_hole |= sign.before;
}
