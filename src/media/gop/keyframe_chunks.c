#include "chunker.h"

#include <stdlib.h>
#include <string.h>

#include "media/ffmpeg/packet.h"
#include "media/select/timeline.h"
#include "barcode/engine/column.h"

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

/*
 * Returns the second field as the picture after its key frame in a chunk. What was found in its
 * bytes is kept: a worker checks each picture that it decodes.
 */
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

/*
 * Makes a chunk of the held key frame, or of its two fields. Both are decoded: a chunk of one frame
 * skips nothing.
 */
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
    bool ok = !k->holds || (k->held.tag.repeat == 0 && k->held.tag.previews == 0) || send_off(k, e);
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
