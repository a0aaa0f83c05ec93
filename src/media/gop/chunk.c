#include <stdlib.h>
#include <string.h>

#include "chunker.h"
#include "media/ffmpeg/packet.h"
#include "barcode/engine/column.h"

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

/* ---- key frames ---- */

void keys_begin(struct keys *k, const struct keys_config *config)
{
    *k = (struct keys){.config = *config, .cursor = selection_begin(&config->selection)};
}

void keys_drop(struct keys *k)
{
    packet_free(&k->held.packet);
    packet_free(&k->second.packet);
    k->holds = false;
}

/* Returns the second field as a chunk's next picture, with what was found in its bytes. */
static struct picture join_second_field(const struct picture *key, const struct picture *second)
{
    struct picture p = *second;
    p.serial = key->serial + 1;
    p.frame = key->frame;
    p.pts_us = p.order = TIME_NONE;
    p.rap = RAP_NONE;
    p.hidden = p.selected = false;
    p.second = true;
    return p;
}

/* Makes a chunk of the held key frame, or of its two fields. Nothing of it is skipped. */
static struct chunk *make_chunk(struct keys *k, struct err *e)
{
    struct chunk *chunk = err_calloc(1, sizeof *chunk, e);
    if (!chunk)
        return NULL;
    struct picture second = join_second_field(&k->held, &k->second);
    if (!chunk_append(chunk, &k->held, e)) {
        chunk_free(&chunk);
        return NULL;
    }
    k->held.packet = NULL;
    if (second.packet && !chunk_append(chunk, &second, e)) {
        chunk_free(&chunk);
        return NULL;
    }
    k->second.packet = NULL;
    chunk->own = chunk->count;
    chunk->selected = 1;
    chunk->unsure = true;
    chunk->frames = k->held.frame + 1;
    return chunk;
}

static bool send_off(struct keys *k, struct err *e)
{
    const struct keys_config *c = &k->config;
    struct picture *p = &k->held;
    p->frame = p->tag.frame;
    p->selected = true;
    if (!columns_announce(c->columns, &p->tag, e))
        return false;
    if (c->have && c->have(c->have_user, &p->tag, false) && c->have(c->have_user, &p->tag, true))
        return true;
    struct chunk *chunk = make_chunk(k, e);
    if (!chunk)
        return false;
    k->sent++;
    return c->emit(c->user, chunk, e);
}

bool keys_end(struct keys *k, struct err *e)
{
    bool ok = !k->holds || !frame_is_selected(&k->held.tag) || send_off(k, e);
    keys_drop(k);
    return ok;
}

bool keys_hold(struct keys *k, struct picture *p, struct picture *second, struct err *e)
{
    bool ok = keys_end(k, e);
    k->held = *p;
    k->second = second ? *second : (struct picture){.packet = NULL};
    k->holds = ok;
    p->packet = NULL;
    if (second)
        second->packet = NULL;
    k->held.tag.column = k->cursor.column;
    k->held.tag.repeat = k->held.tag.previews = 0;
    if (!ok)
        keys_drop(k);
    return ok;
}

void keys_serve(struct keys *k, int64_t until)
{
    struct frame_tag *tag = &k->held.tag, more;
    if (!k->holds)
        return;
    /* The key frame's own time does not matter: the first key frame also fills earlier columns. */
    selection_pick(&k->cursor, until == INT64_MAX ? tag->time_us : until - 1, until, &more);
    if (tag->repeat == 0)
        tag->column = more.column;
    if (tag->previews == 0)
        tag->preview = more.preview;
    tag->repeat += more.repeat;
    tag->previews += more.previews;
}

/* ------------------------------------------------------------------ bad key frames */

static size_t place_of(const struct bad_key_list *f, uint64_t serial)
{
    size_t low = 0, high = f->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->serial[middle] < serial)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool bad_key_list_has(const struct bad_key_list *f, uint64_t serial)
{
    size_t at = place_of(f, serial);
    return at < f->count && f->serial[at] == serial;
}

bool bad_key_list_add(struct bad_key_list *f, uint64_t serial, struct err *e)
{
    size_t at = place_of(f, serial);
    if (at < f->count && f->serial[at] == serial)
        return true;
    if (!err_reserve(&f->serial, f->count + 1, &f->room, sizeof *f->serial, e))
        return false;
    memmove(&f->serial[at + 1], &f->serial[at], (f->count - at) * sizeof *f->serial);
    f->serial[at] = serial;
    f->count++;
    return true;
}

void bad_key_list_clear(struct bad_key_list *f)
{
    free(f->serial);
    *f = (struct bad_key_list){0};
}
