#include "cache_store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/interrupt.h"
#include "base/watch.h"

struct source_cache {
    struct source base;
    struct source *film;
    const struct cache_found *found;
    /* frames of the entry, each with its tag in the current selection */
    struct index_frame *selected;
    size_t count, room;
    bool no_memory;
    atomic_size_t next; /* index of the next frame to read */
    atomic_uint_fast64_t put;
    atomic_bool reading_film, stop;
    const struct decode_job *job; /* during the decode pass */
    pthread_mutex_t lock;         /* guards the rest */
    struct err error;             /* of the engine or the system */
    struct err broken;            /* of the entry */
};

/* Adds frame `f` of the entry to the frames to put, with this tag. */
static bool want(struct source_cache *s, const struct frame_tag *tag, const struct index_frame *f)
{
    if (!err_reserve(&s->selected, s->count + 1, &s->room, sizeof *s->selected, NULL)) {
        s->no_memory = true;
        return false;
    }
    s->selected[s->count++] =
        (struct index_frame){.tag = *tag, .status = f->status, .place = f->place};
    return true;
}

/* ---- Output to the engine ---- */

static void fail(struct source_cache *s, struct err *to, const struct err *e)
{
    pthread_mutex_lock(&s->lock);
    if (to->code == ERR_NONE)
        *to = *e;
    pthread_mutex_unlock(&s->lock);
    atomic_store(&s->stop, true);
}

/* Reads a block and puts all its selected frames; frame `i` is the first of them. */
static bool put_block(struct source_cache *s, struct cache_entry_reader *r,
                      struct engine_port *port, size_t i, struct err *e)
{
    const struct cache_index *x = &s->found->entry->index;
    uint64_t number = cache_entry_block_of(s->found->entry, s->selected[i].place);
    const struct index_block *b = &x->block[number];
    struct err broken = ERR_INIT;
    if (!cache_entry_reader_block(r, number, &broken)) {
        fail(s, &s->broken, &broken);
        return false;
    }
    for (; i < s->count && s->selected[i].place - b->first < b->frames; i++) {
        const uint8_t *rgb =
            cache_entry_reader_frame(r, (uint32_t)(s->selected[i].place - b->first));
        if (!engine_put_analysed(port, rgb, &s->selected[i].tag, e))
            return false;
        atomic_fetch_add(&s->put, 1);
    }
    return true;
}

/* Returns true if frame `i` is the first selected one of its block. Threads take whole blocks. */
static bool is_first_of_block(const struct source_cache *s, size_t i)
{
    const struct cache_entry *c = s->found->entry;
    return i == 0 || cache_entry_block_of(c, s->selected[i].place) !=
                         cache_entry_block_of(c, s->selected[i - 1].place);
}

static void *putter_main(void *argument)
{
    struct source_cache *s = argument;
    struct err e = ERR_INIT;
    struct cache_entry_reader *r = cache_entry_reader_open(s->found->entry, &e);
    struct engine_port *port = r ? engine_port_open(s->job->engine, &e) : NULL;
    bool ok = port != NULL;
    while (ok && !atomic_load(&s->stop)) {
        size_t i = atomic_fetch_add(&s->next, 1);
        if (i >= s->count)
            break;
        if (interrupted())
            ok = interrupt_error(&e);
        else if (is_first_of_block(s, i))
            ok = put_block(s, r, port, i, &e);
    }
    if (e.code != ERR_NONE)
        fail(s, &s->error, &e);
    engine_port_close(&port);
    cache_entry_reader_close(&r);
    return NULL;
}

/* Puts all selected frames with the job's threads. */
static bool put_all(struct source_cache *s, struct err *e)
{
    int threads = s->job->threads, started = 0;
    pthread_t *thread = calloc((size_t)threads, sizeof *thread);
    if (!thread)
        return err_memory(e, (size_t)threads * sizeof *thread);
    cache_index_sort_by_place(s->selected, s->count);
    for (; started < threads && s->count > 0; started++)
        if (watch_thread(&thread[started], putter_main, s) != 0)
            break;
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    if (s->count > 0 && started == 0)
        return err_set(e, ERR_MEMORY, "cannot start a thread");
    if (s->error.code == ERR_NONE)
        return true;
    *e = s->error;
    return false;
}

/* ---- Selection ---- */

static bool announce(struct columns *columns, const struct index_frame *f, struct err *e)
{
    if (!columns_announce(columns, &f->tag, e))
        return false;
    struct column *column =
        columns && f->transparent ? columns_at(columns, f->tag.column, e) : NULL;
    if (column) {
        column_fill_transparent(column, &f->tag);
        columns_note_done(columns, &f->tag);
    }
    return true;
}

/* Selects all frames of an entry with the same selection; announces the missing ones too. */
static bool want_all(struct source_cache *s, struct decode_counts *counts, struct err *e)
{
    const struct cache_index *x = &s->found->entry->index;
    for (uint64_t i = 0; i < x->frames; i++) {
        const struct index_frame *f = &x->frame[i];
        if (!announce(s->job->columns, f, e))
            return false;
        if (f->status != COLUMN_MISSING && !want(s, &f->tag, f))
            return err_memory(e, s->room * sizeof *s->selected);
    }
    *counts = x->counts;
    return true;
}

struct picking {
    struct source_cache *source;
    struct err *e;
};

static bool pick(void *user, const struct frame_tag *tag)
{
    struct picking *p = user;
    const struct index_frame *f = cache_index_find(&p->source->found->entry->index, tag->frame);
    if (!f)
        return err_set(p->e, ERR_FAILED, "the cache entry lacks a frame");
    return columns_announce(p->source->job->columns, tag, p->e) &&
           (want(p->source, tag, f) ||
            err_memory(p->e, p->source->room * sizeof *p->source->selected));
}

/* Selects frames from an entry with another selection, with their columns in this one. */
static bool want_picked(struct source_cache *s, struct decode_counts *counts, struct err *e)
{
    struct picking p = {s, e};
    struct frame_times_walked walked;
    if (!frame_times_walk(s->found->entry->index.frame_times, &s->job->selection, pick, &p,
                          &walked))
        return err_set(e, ERR_FAILED, "the cache entry does not cover the film");
    /* the entry is clean; the costs are those of the original decode pass */
    *counts = s->found->entry->index.counts;
    counts->displayed = walked.displayed;
    counts->first_us = walked.first_us;
    counts->last_us = walked.last_us;
    counts->end_us = walked.end_us;
    counts->to_end = walked.end_us >= 0;
    return true;
}

/*
 * Returns true if the entry has the frame. An entry has no previews, because its frames are
 * cropped. A frame_have, called on the film's reading thread.
 */
static bool have(void *user, const struct frame_tag *tag, bool taking)
{
    struct source_cache *s = user;
    const struct index_frame *f = cache_index_find(&s->found->entry->index, tag->frame);
    /* A modified film most likely has other times. */
    if (!f || f->tag.time_us != tag->time_us || tag->previews > 0 || tag->scan)
        return false;
    return !taking || want(s, tag, f);
}

/* Reads the film and decodes the frames that the entry lacks. have() selects the others. */
static bool want_beside_film(struct source_cache *s, struct decode_counts *counts,
                             struct decode_times *times, struct err *e)
{
    struct decode_job job = *s->job;
    job.have = source_can(s->film, SOURCE_SPARING) ? have : NULL;
    job.have_user = s;
    atomic_store(&s->reading_film, true);
    bool ok = source_decode(s->film, &job, counts, times, e);
    atomic_store(&s->reading_film, false);
    if (ok && s->no_memory)
        return err_memory(e, s->room * sizeof *s->selected);
    return ok;
}

static bool cache_decode(struct source *base, const struct decode_job *job,
                         struct decode_counts *counts, struct decode_times *times, struct err *e)
{
    struct source_cache *s = (struct source_cache *)base;
    s->job = job;
    s->count = 0;
    atomic_store(&s->next, 0);
    bool ok;
    switch (s->found->answer) {
    case CACHE_HIT: ok = want_all(s, counts, e); break;
    case CACHE_HIT_OTHER: ok = want_picked(s, counts, e); break;
    default: ok = want_beside_film(s, counts, times, e); break;
    }
    if (ok && !decode_must_restart(counts))
        ok = put_all(s, e);
    counts->cache_failed = s->broken.code != ERR_NONE;
    return ok;
}

static void cache_progress(struct source *base, struct decode_progress *p)
{
    struct source_cache *s = (struct source_cache *)base;
    if (atomic_load(&s->reading_film)) {
        source_progress(s->film, p);
        return;
    }
    uint64_t all = s->base.film.length.frames > 0 ? (uint64_t)s->base.film.length.frames : 0,
             put = atomic_load(&s->put);
    uint64_t frames = s->found->entry->index.frames;
    bool known = s->found->answer != CACHE_PARTIAL && all > 0 && frames > 0;
    *p = (struct decode_progress){.frames =
                                      known ? (put < frames ? put : frames) * all / frames : all};
}

static void cache_close(struct source **base)
{
    struct source_cache *s = (struct source_cache *)*base;
    pthread_mutex_destroy(&s->lock);
    free(s->selected);
    free(s);
    *base = NULL;
}

static const struct source_ops cache_ops = {
    .name = "cache",
    .can = SOURCE_HAS_FRAME_TIMES | SOURCE_EXACT_DAMAGE,
    .decode_frames = cache_decode,
    .progress = cache_progress,
    .close = cache_close,
};

struct source *source_cache_open(struct source *film, const struct cache_found *found,
                                 struct err *e)
{
    struct source_cache *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->base.ops = &cache_ops;
    s->base.film = film->film; /* with the film's path */
    /* The film's abilities count only if the film is read and has them. */
    s->base.lacks = found->answer == CACHE_PARTIAL ? film->lacks | ~film->ops->can : cache_ops.can;
    s->film = film;
    s->found = found;
    pthread_mutex_init(&s->lock, NULL);
    return &s->base;
}

uint64_t source_cache_frames(const struct source *base)
{
    return atomic_load(&((const struct source_cache *)base)->put);
}

const struct err *source_cache_broken(const struct source *base)
{
    return &((const struct source_cache *)base)->broken;
}
