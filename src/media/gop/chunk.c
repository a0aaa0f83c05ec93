#include "chunker.h"

#include <stdlib.h>

#include "media/bitstream/packet_scan.h"
#include "media/ffmpeg/packet.h"

bool chunk_append(struct chunk *r, const struct picture *p, struct err *e)
{
    if (!err_reserve(&r->picture, r->count + 1, &r->room, sizeof *r->picture, e))
        return false;
    r->picture[r->count++] = *p;
    r->bytes += packet_size(p->packet);
    return true;
}

/* Decides the actions of [begin, end), a segment that begins at a random access point. */
static void plan_segment(struct chunk *r, const struct codec_traits *t, size_t begin, size_t end,
                         int top_layer)
{
    size_t stop = begin; /* one past the last selected picture: later ones are not needed */
    for (size_t i = begin; i < end; i++)
        if (r->picture[i].selected)
            stop = i + 1;
    for (size_t i = begin; i < end; i++) {
        struct picture *p = &r->picture[i];
        bool layer_ok = t->stream != STREAM_HEVC || p->temporal_id == top_layer;
        if (p->selected)
            p->action = ACTION_OUTPUT;
        else if (i >= stop || (t->drop && p->droppable && layer_ok))
            p->action = ACTION_SKIP;
        else
            p->action = t->discard ? ACTION_DECODE : ACTION_OUTPUT;
    }
}

static void plan_everything(struct chunk *r, const struct codec_traits *t)
{
    for (size_t i = 0; i < r->count; i++) {
        struct picture *p = &r->picture[i];
        p->action = p->hidden && t->discard ? ACTION_DECODE : ACTION_OUTPUT;
    }
}

void chunk_plan(struct chunk *r, const struct codec_traits *t, bool everything)
{
    if (everything) {
        plan_everything(r, t);
    } else {
        int top_layer = 0;
        for (size_t i = 0; i < r->count; i++)
            if (r->picture[i].temporal_id > top_layer)
                top_layer = r->picture[i].temporal_id;
        for (size_t begin = 0, end; begin < r->count; begin = end) {
            for (end = begin + 1; end < r->count && r->picture[end].rap != RAP_CLOSED; end++)
                continue;
            plan_segment(r, t, begin, end, top_layer);
        }
    }
    /* RASL pictures of the first key frame refer to a chunk that was not sent to this decoder. */
    for (size_t i = 0; i < r->count && (i == 0 || r->picture[i].rap == RAP_NONE); i++)
        if (r->picture[i].needs_before && !r->picture[i].selected)
            r->picture[i].action = ACTION_SKIP;
}

int chunk_reorder_depth(const struct chunk *r)
{
    enum { WINDOW = 32 }; /* no codec reorders by more than 16 */
    int most = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (r->picture[i].hidden)
            continue;
        int later = 0;
        for (size_t j = i > WINDOW ? i - WINDOW : 0; j < i; j++)
            later += !r->picture[j].hidden && r->picture[j].frame > r->picture[i].frame;
        if (later > most)
            most = later;
    }
    return most;
}

void chunk_order_check(struct chunk_order *o, const struct codec_traits *t, const struct picture *p)
{
    if (!t->reorder || p->hidden || p->done)
        return;
    o->wrong |= p->frame < o->last;
    o->last = p->frame > o->last ? p->frame : o->last;
}

bool chunk_may_use_threads(const struct chunk *r)
{
    enum { LEAST = 8 }; /* pictures: a shorter chunk ends before all threads are busy */
    if (r->unsure || r->count < LEAST)
        return false;
    for (size_t i = 0; i < r->count; i++) {
        const struct picture *p = &r->picture[i];
        if (p->lost || p->suspect || p->field || (p->after_gap && i > 0))
            return false;
    }
    return true;
}

bool chunk_is_complete(const struct chunk *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->picture[i].selected && !r->picture[i].done)
            return false;
    return true;
}

void chunk_free(struct chunk **r)
{
    if (!*r)
        return;
    for (size_t i = 0; i < (*r)->count; i++)
        packet_free(&(*r)->picture[i].packet);
    free((*r)->picture);
    free(*r);
    *r = NULL;
}
