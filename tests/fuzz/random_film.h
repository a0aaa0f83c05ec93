/*
 * random_film.h - random films as pictures in decoding order, with the truth beside them: which
 * pictures are displayed, in which order, and what refers to what. For test_chunk, test_chunker and
 * fuzz_chunker.
 *
 * A film is made of GOPs as encoders make them:
 *     decoding order   K l l P b b P b b ...     (l: leading pictures of an open key)
 *     display order    l l K b b P b b P ...
 */
#ifndef BARCODE_TESTS_RANDOM_FILM_H
#define BARCODE_TESTS_RANDOM_FILM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "media/bitstream/packet_scan.h"
#include "media/ffmpeg/packet.h"
#include "media/select/timeline.h"

/* Packets that count themselves, in place of packet.c's; weak, as several files of a program may
 * include this header. */
struct AVPacket {
    size_t size;
};

__attribute__((weak)) long live_packets;

static inline struct AVPacket *packet_make(size_t size)
{
    struct AVPacket *p = malloc(sizeof *p);
    if (!p)
        abort();
    p->size = size;
    live_packets++;
    return p;
}

__attribute__((weak)) struct AVPacket *packet_clone(const struct AVPacket *p)
{
    return p ? packet_make(p->size) : NULL;
}

__attribute__((weak)) void packet_free(struct AVPacket **p)
{
    live_packets -= *p != NULL;
    free(*p);
    *p = NULL;
}

__attribute__((weak)) size_t packet_size(const struct AVPacket *p) { return p ? p->size : 0; }

struct film_shape {
    enum bitstream stream;
    int gops, gop_least, gop_most; /* pictures of a GOP */
    int open;                      /* percent of keys that have leading pictures */
    int missing, duplicate;        /* percent of pictures without a time, or with another's */
    int empty;                     /* percent: a packet without a picture follows */
    int lead_in;                   /* pictures before the first key */
    int edited;                    /* displayed pictures that an edit list hides at the start */
    /* each picture is stamped with its time of decoding: the order says otherwise */
    bool decoding_times;
    int64_t step_us, jitter_us;
};

struct truth {
    int64_t rank;   /* in display order over the film, hidden ones counted too */
    int64_t number; /* of the displayed frame, -1 when it is never displayed */
    long refs[2];   /* serials that it refers to, -1 none */
    int gop;        /* 0 is the first; -1: lead-in */
};

struct random_film {
    struct film_shape shape;
    struct picture *picture; /* [count] in decoding order, without packets */
    struct truth *truth;
    size_t count, room;
    size_t *shown; /* [frames] serials in display order */
    size_t frames;
    int64_t next_rank, idr_rank;
    long anchor; /* the last picture that later ones refer to */
};

static inline bool reorders(const struct film_shape *s) { return codec_traits(s->stream).reorder; }

/* Adds a picture; -1 as rank: nothing to display. */
static inline size_t add_picture(struct random_film *f, int gop, int64_t rank, long ref0, long ref1)
{
    if (f->count == f->room) {
        f->room = f->room ? f->room * 2 : 256;
        f->picture = realloc(f->picture, f->room * sizeof *f->picture);
        f->truth = realloc(f->truth, f->room * sizeof *f->truth);
        if (!f->picture || !f->truth)
            abort();
    }
    size_t at = f->count++;
    f->picture[at] =
        (struct picture){.serial = at, .pts_us = TIME_NONE, .order = TIME_NONE, .hidden = rank < 0};
    f->truth[at] = (struct truth){.rank = rank, .number = -1, .refs = {ref0, ref1}, .gop = gop};
    return at;
}

/* Adds the pictures displayed at ranks first .. first + n - 1, all between two anchors; the middle
 * one is decoded first and may be referred to by the others. `layer` is their temporal layer. */
static inline void add_between(struct random_film *f, struct dice *d, int gop, int64_t first, int n,
                               long before, long behind)
{
    int middle = n >= 3 && chance(d, 50) ? n / 2 : -1;
    long inner = -1;
    if (middle >= 0) {
        inner = (long)add_picture(f, gop, first + middle, before, behind);
        f->picture[inner].temporal_id = 1;
    }
    for (int i = 0; i < n; i++) {
        if (i == middle)
            continue;
        bool early = i < middle || middle < 0;
        size_t at = add_picture(f, gop, first + i, inner >= 0 && !early ? inner : before,
                                inner >= 0 && early ? inner : behind);
        f->picture[at].temporal_id = middle >= 0 ? 2 : 1;
    }
}

static inline void add_empty(struct random_film *f, struct dice *d, int gop)
{
    if (chance(d, f->shape.empty))
        add_picture(f, gop, -1, -1, -1);
}

/* The key and its leading pictures. */
static inline void add_key(struct random_film *f, struct dice *d, int gop)
{
    enum bitstream stream = f->shape.stream;
    bool open = reorders(&f->shape) && chance(d, f->shape.open);
    int leading = open ? (int)roll(d, 5) : 0;
    bool closed = stream == STREAM_H264 ? !open
                  : open                ? chance(d, 30)
                                        : stream != STREAM_MPEG2 || chance(d, 50);
    long before = f->anchor;
    size_t key = add_picture(f, gop, f->next_rank + leading, -1, -1);
    struct picture *k = &f->picture[key];
    k->rap = open || stream == STREAM_MPEG2 ? RAP_OPEN : RAP_CLOSED;
    k->closed = closed;
    if (closed || f->idr_rank < 0 || stream == STREAM_MPEG2)
        f->idr_rank = stream == STREAM_MPEG2 ? f->next_rank : f->next_rank + leading;
    f->anchor = (long)key;
    add_empty(f, d, gop);
    add_between(f, d, gop, f->next_rank, leading, closed ? (long)key : before, (long)key);
    for (size_t i = key; i < f->count; i++) {
        struct picture *p = &f->picture[i];
        if (f->truth[i].rank < 0)
            continue;
        p->order = f->truth[i].rank - f->idr_rank;
        if (i > key && stream == STREAM_HEVC) {
            p->marked_leading = true;
            p->needs_before = !closed;
        }
    }
    f->next_rank += leading + 1;
    add_empty(f, d, gop);
}

static inline void add_gop(struct random_film *f, struct dice *d, int gop)
{
    const struct film_shape *s = &f->shape;
    size_t length = (size_t)s->gop_least + roll(d, (uint64_t)(s->gop_most - s->gop_least + 1));
    size_t start = f->count;
    add_key(f, d, gop);
    while (f->count - start < length) {
        long hidden = -1;
        if (!reorders(s) && chance(d, 10))
            /* VP8, VP9: a reference that is not shown */
            hidden = (long)add_picture(f, gop, -1, f->anchor, -1);
        int between = reorders(s) ? (int)roll(d, 4) : 0;
        size_t before = f->count;
        long last = f->anchor;
        f->anchor = (long)add_picture(f, gop, f->next_rank + between, last, hidden);
        add_between(f, d, gop, f->next_rank, between, last, f->anchor);
        for (size_t i = before; i < f->count && reorders(s); i++)
            f->picture[i].order = f->truth[i].rank - f->idr_rank;
        f->next_rank += between + 1;
        add_empty(f, d, gop);
    }
}

/* Droppable: nothing (HEVC: nothing of the same temporal layer) refers to it. */
static inline void mark_droppable(struct random_film *f)
{
    bool layers = f->shape.stream == STREAM_HEVC;
    for (size_t i = 0; i < f->count; i++)
        f->picture[i].droppable =
            f->truth[i].rank >= 0 && f->picture[i].rap == RAP_NONE && reorders(&f->shape);
    for (size_t i = 0; i < f->count; i++) {
        if (!layers)
            f->picture[i].temporal_id = 0;
        for (int r = 0; r < 2; r++) {
            long to = f->truth[i].refs[r];
            if (to >= 0 && (!layers || f->picture[to].temporal_id == f->picture[i].temporal_id))
                f->picture[to].droppable = false;
        }
    }
}

static inline int by_rank(const void *a, const void *b)
{
    const struct truth *p = *(const struct truth *const *)a, *q = *(const struct truth *const *)b;
    return (p->rank > q->rank) - (p->rank < q->rank);
}

/* Times by rank, in one walk through display order; then some are taken away or doubled. */
static inline void give_times(struct random_film *f, struct dice *d)
{
    const struct film_shape *s = &f->shape;
    const struct truth **order = malloc((f->count + 1) * sizeof *order);
    if (!order)
        abort();
    size_t n = 0;
    for (size_t i = 0; i < f->count; i++)
        if (f->truth[i].rank >= 0)
            order[n++] = &f->truth[i];
    if (!s->decoding_times)
        qsort(order, n, sizeof *order, by_rank);
    int64_t base = (int64_t)roll(d, 10000000) - 2000000, last = TIME_NONE;
    for (size_t i = 0; i < n; i++) {
        struct picture *p = &f->picture[order[i] - f->truth];
        int64_t rank = s->decoding_times ? (int64_t)i : order[i]->rank;
        int64_t own = base + rank * s->step_us +
                      (s->jitter_us ? (int64_t)roll(d, (uint64_t)s->jitter_us) : 0),
                time = own;
        if (last != TIME_NONE && chance(d, s->duplicate))
            time = last;
        /* Times that are missing are thought on: one that stood still behind them would go back,
         * and the model knows no jumps. */
        bool missing = chance(d, s->missing);
        last = missing ? own : time;
        if (!missing)
            p->pts_us = time;
    }
    free(order);
}

/* Numbers what is displayed: not the lead-in, not what an edit list hides, not the first GOP's
 * leading pictures unless they can be decoded without what came before. */
static inline void number_shown(struct random_film *f)
{
    size_t key = (size_t)f->shape.lead_in;
    const struct truth **order = malloc((f->count + 1) * sizeof *order);
    f->shown = malloc((f->count + 1) * sizeof *f->shown);
    if (!order || !f->shown)
        abort();
    size_t n = 0;
    for (size_t i = key; i < f->count; i++) {
        struct picture *p = &f->picture[i];
        if (f->truth[i].gop == 0 && f->truth[i].rank < f->truth[key].rank + f->shape.edited)
            p->hidden |= f->shape.edited > 0;
        bool leads = f->truth[i].gop == 0 && f->truth[i].rank < f->truth[key].rank;
        bool whole = f->picture[key].closed && !p->needs_before;
        if (!p->hidden && (!leads || whole))
            order[n++] = &f->truth[i];
    }
    qsort(order, n, sizeof *order, by_rank);
    for (size_t i = 0; i < n; i++) {
        f->shown[i] = (size_t)(order[i] - f->truth);
        f->truth[f->shown[i]].number = (int64_t)i;
    }
    f->frames = n;
    free(order);
}

static inline struct random_film random_film_make(const struct film_shape *shape, struct dice *d)
{
    struct random_film f = {.shape = *shape, .idr_rank = -1, .anchor = -1};
    for (int i = 0; i < shape->lead_in; i++) {
        f.anchor = (long)add_picture(&f, -1, f.next_rank++, f.anchor, -1);
        f.picture[f.anchor].order = reorders(shape) ? i : TIME_NONE;
    }
    for (int g = 0; g < shape->gops; g++)
        add_gop(&f, d, g);
    if (!reorders(shape))
        for (size_t i = 0; i < f.count; i++)
            f.picture[i].order = TIME_NONE;
    mark_droppable(&f);
    give_times(&f, d);
    number_shown(&f);
    return f;
}

static inline void random_film_free(struct random_film *f)
{
    free(f->picture);
    free(f->truth);
    free(f->shown);
    *f = (struct random_film){.count = 0};
}

static inline struct film_shape random_shape(struct dice *d)
{
    static const enum bitstream streams[] = {STREAM_H264, STREAM_HEVC, STREAM_MPEG2, STREAM_VP9};
    struct film_shape s = {
        .stream = streams[roll(d, 4)], .gops = 1 + (int)roll(d, 12), .gop_least = 1};
    s.gop_most = 1 + (int)roll(d, 50);
    s.open = chance(d, 60) ? (int)roll(d, 101) : 0;
    s.missing = chance(d, 30) ? (int)roll(d, 101) : 0;
    s.duplicate = chance(d, 15) ? (int)roll(d, 30) : 0;
    s.empty = chance(d, 30) ? (int)roll(d, 20) : 0;
    s.lead_in = chance(d, 25) ? (int)roll(d, 12) : 0;
    s.edited = chance(d, 15) ? (int)roll(d, 8) : 0;
    s.step_us = 1 + (int64_t)roll(d, 60000);
    s.decoding_times = (s.stream == STREAM_H264 || s.stream == STREAM_HEVC) && chance(d, 10);
    s.jitter_us = chance(d, 50) ? (int64_t)roll(d, (uint64_t)s.step_us) : 0;
    return s;
}

#endif
