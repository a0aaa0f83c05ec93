/*
 * cached.h - for tests: a cache in the folder of folder.h, and entries of frames that are made of
 * their number.
 */
#ifndef BARCODE_TESTS_CACHED_H
#define BARCODE_TESTS_CACHED_H

#include <sys/mman.h>

#include "cache/cache_store.h"
#include "cache/cache_entry.h"
#include "files.h"
#include "staged.h"

/* A film of `frames` frames, 40 ms each, of which every `every`th from `start_us` to `end_us` is
 * wanted. */
struct cached_film {
    uint64_t frames, every;
    int64_t start_us, end_us;
    int width, height;
    bool partial;
    uint64_t first, last; /* only frames from first to before last were staged; last 0: all */
    struct decode_counts counts; /* damaged and the like */
    struct cache_place place;
    const char *name, *key; /* what a stranger wrote as the film's name and as the text of its key
                             */
};

static inline struct selection cached_rule(const struct cached_film *f)
{
    return (struct selection){.kind = SELECT_EVERY,
                              .every = f->every,
                              .start_us = f->start_us,
                              .end_us = f->end_us ? f->end_us : INT64_MAX};
}

static inline struct cache_key cached_key(const struct cached_film *f)
{
    struct cache_key key;
    struct cache_film id = {.size = f->frames, .modified_ns = 7};
    struct film film = {.codec = "test", .rate_num = 25, .rate_den = 1};
    struct selection rule = cached_rule(f);
    if (!cache_key_make(&key, &id, &film, &rule, f->width, f->height, "", "", "any"))
        abort();
    return key;
}

static inline struct frame_times *cached_timetable(const struct cached_film *f)
{
    struct frame_times *t = frame_times_open(NULL);
    frame_times_begin(t, 40000);
    for (uint64_t i = 0; i < f->frames; i++) {
        frame_times_add(t, (int64_t)i * 40000,
                        i + 1 == f->frames ? FRAME_TIMES_OPEN : (int64_t)(i + 1) * 40000);
        if (i % 25 == 24)
            frame_times_check(t);
    }
    frame_times_end(t);
    return t;
}

struct cached_put {
    struct cache_writer *writer;
    const struct cached_film *film;
    struct columns *columns;
};

static inline bool cached_put(void *user, const struct frame_tag *tag)
{
    struct cached_put *p = user;
    struct column *c = columns_at(p->columns, tag->column, NULL);
    c->frame = tag->frame;
    c->time_us = tag->time_us;
    c->repeat = tag->repeat;
    if (tag->frame < p->film->first || (p->film->last > 0 && tag->frame >= p->film->last))
        return true;
    c->status = COLUMN_OK;
    uint8_t *rgb = malloc((size_t)p->film->width * (size_t)p->film->height * 3);
    staged_draw(rgb, p->film->width, p->film->height, tag->frame);
    cache_writer_put(p->writer, tag, rgb);
    free(rgb);
    return true;
}

/* Writes the film's entry under its key's name. */
static inline bool cached_write(const struct cached_film *f, struct err *e)
{
    struct cache_key key = cached_key(f);
    struct selection rule = cached_rule(f);
    struct frame_times *t = cached_timetable(f);
    struct frame_times_walked walked;
    struct cached_put p = {
        cache_writer_open(".", f->key ? f->key : key.text, f->width, f->height, 2, UINT64_MAX, e),
        f, columns_open(0, 0, NULL)};
    if (!p.writer || !p.columns)
        abort();
    frame_times_walk(t, &rule, cached_put, &p, &walked);
    struct cache_index facts = {.partial = f->partial,
                                .counts = f->counts,
                                .film = f->place,
                                .frame_times = f->partial ? NULL : t};
    snprintf(facts.name, sizeof facts.name, "%s", f->name ? f->name : "");
    facts.counts.displayed = walked.displayed;
    facts.counts.last_us = walked.last_us;
    bool ok = cache_writer_finish(&p.writer, &facts, f->partial ? NULL : p.columns, key.name, e);
    columns_free(&p.columns);
    frame_times_free(&t);
    return ok;
}

static inline struct cache_store cached_store(void)
{
    return (struct cache_store){.limit = UINT64_MAX, .folder = "."};
}

/* A file in memory, open. */
static inline int cached_memory(const uint8_t *data, size_t size)
{
    int fd = memfd_create("entry", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    return fd;
}

/* Every frame of the entry is what staged_draw makes of its number. False: a block cannot be read;
 * a wrong pixel aborts. */
static inline bool cached_frames_right(const struct cache_entry *c)
{
    const struct cache_index *x = &c->index;
    size_t bytes = (size_t)x->width * (size_t)x->height * 3;
    struct cache_entry_reader *r = cache_entry_reader_open(c, NULL);
    uint8_t *want = malloc(bytes);
    bool ok = r && want;
    for (uint64_t i = 0; i < x->frames && ok; i++) {
        if (x->frame[i].status == COLUMN_MISSING)
            continue;
        uint64_t block = cache_entry_block_of(c, x->frame[i].place);
        ok = cache_entry_reader_block(r, block, NULL);
        staged_draw(want, x->width, x->height, x->frame[i].tag.frame);
        if (ok && memcmp(cache_entry_reader_frame(
                             r, (uint32_t)(x->frame[i].place - x->block[block].first)),
                         want, bytes) != 0)
            abort();
    }
    free(want);
    cache_entry_reader_close(&r);
    return ok;
}

#endif
