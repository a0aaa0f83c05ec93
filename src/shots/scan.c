/*
 * scan.c - the memory of a film's small frames. A fact of two or three frames is computed when the
 * last of them arrives; a frame is freed when all facts that it is part of are known.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "small_frame.h"

enum { FACTS = 2 * SCAN_NEAR + 3 * SCAN_FAR /* of a frame */ };
const uint8_t scan_lag[SCAN_LAGS] = {1, 2, 3, 4, 5, 6, 12, 16, 24, 32, 48, 64, 96};

struct slot {
    struct scan_frame facts;
    struct small_frame *small; /* NULL: freed, or did not arrive */
    bool arrived;
    uint8_t missing; /* facts that are not known yet */
};

struct scan {
    pthread_mutex_t lock;
    struct slot *slot; /* by number */
    size_t count, room;
};

struct scan *scan_open(struct err *e)
{
    struct scan *s = err_calloc(1, sizeof *s, e);
    if (s)
        pthread_mutex_init(&s->lock, NULL);
    return s;
}

void scan_free(struct scan **s)
{
    if (!*s)
        return;
    for (size_t i = 0; i < (*s)->count; i++)
        free((*s)->slot[i].small);
    free((*s)->slot);
    pthread_mutex_destroy(&(*s)->lock);
    free(*s);
    *s = NULL;
}

/* Computes the facts of `b` and the frame that is scan_lag[lag] before it. */
static void compare(struct scan_frame *b, int lag, const struct small_frame *from,
                    const struct small_frame *middle, const struct small_frame *to)
{
    b->distance[lag] = (uint16_t)small_distance(from, to);
    b->likeness[lag] = small_likeness(from, to);
    if (lag >= SCAN_NEAR)
        b->residue[lag - SCAN_NEAR] = (uint16_t)small_residue(from, middle, to);
}

static void count_fact(struct slot *p)
{
    if (--p->missing == 0) {
        free(p->small);
        p->small = NULL;
    }
}

/* Computes the fact of frame `n` at a lag if its frames are there, which is true but once. */
static void try_fact(struct scan *s, size_t n, int lag)
{
    size_t before = scan_lag[lag], half = lag < SCAN_NEAR ? 0 : before / 2;
    if (n >= s->count || n < before)
        return;
    struct slot *to = &s->slot[n], *middle = to - half, *from = to - before;
    if (!from->small || !middle->small || !to->small)
        return;
    compare(&to->facts, lag, from->small, middle->small, to->small);
    count_fact(from);
    count_fact(to);
    if (half)
        count_fact(middle);
}

static bool put_frame(struct scan *s, struct slot frame, struct err *e)
{
    uint64_t n = frame.facts.frame;
    if (n >= SIZE_MAX / sizeof *s->slot)
        return err_memory(e, SIZE_MAX);
    if (!err_reserve(&s->slot, n + 1, &s->room, sizeof *s->slot, e))
        return false;
    if (n >= s->count) {
        memset(s->slot + s->count, 0, (n + 1 - s->count) * sizeof *s->slot);
        s->count = n + 1;
    }
    if (s->slot[n].arrived) {
        free(frame.small);
        return true;
    }
    s->slot[n] = frame;
    for (int lag = 0; lag < SCAN_LAGS; lag++) {
        try_fact(s, n, lag);
        try_fact(s, n + scan_lag[lag], lag);
        if (lag >= SCAN_NEAR)
            try_fact(s, n + scan_lag[lag] / 2, lag);
    }
    return true;
}

bool scan_put(struct scan *s, uint64_t frame, int64_t time_us, const uint8_t *rgb, struct err *e)
{
    struct slot slot = {.facts.frame = frame,
                        .facts.time_us = time_us,
                        .small = malloc(sizeof *slot.small),
                        .arrived = true,
                        .missing = FACTS};
    if (!slot.small)
        return err_memory(e, sizeof *slot.small);
    small_frame_make(rgb, slot.small, &slot.facts);
    pthread_mutex_lock(&s->lock);
    bool ok = put_frame(s, slot, e);
    pthread_mutex_unlock(&s->lock);
    if (!ok)
        free(slot.small);
    return ok;
}

/* Computes the facts of frame `n` that lack a frame. last[i] is the last frame up to i; `first` is
 * the first one. All these frames are still there, because their own facts lack that frame too. */
static void complete_frame(struct scan *s, size_t n, size_t first, const size_t *last)
{
    for (int lag = 0; lag < SCAN_LAGS; lag++) {
        size_t before = scan_lag[lag], half = lag < SCAN_NEAR ? 0 : before / 2;
        size_t from = n < first + before ? first : last[n - before];
        size_t middle = n < first + half ? first : last[n - half];
        if (n >= before && from == n - before && middle == n - half)
            continue;
        compare(&s->slot[n].facts, lag, s->slot[from].small, s->slot[middle].small,
                s->slot[n].small);
    }
}

bool scan_end(struct scan *s, int64_t end_us, struct film_scan *out, struct err *e)
{
    size_t first = 0, at = 0;
    int64_t latest_us = INT64_MIN;
    *out = (struct film_scan){.end_us = end_us};
    size_t *last = err_calloc(s->count + 1, sizeof *last, e);
    out->frame = err_calloc(s->count + 1, sizeof *out->frame, e);
    bool ok = last && out->frame;
    while (ok && first < s->count && !s->slot[first].arrived)
        first++;
    for (size_t i = first; ok && i < s->count; i++) {
        at = s->slot[i].arrived ? i : at;
        last[i] = at;
    }
    for (size_t i = first; ok && i < s->count; i++)
        if (s->slot[i].arrived) {
            struct scan_frame *f = &s->slot[i].facts;
            complete_frame(s, i, first, last);
            if (f->time_us < latest_us)
                f->time_us = latest_us; /* no time runs back */
            latest_us = f->time_us;
            out->frame[out->count++] = *f;
        }
    free(last);
    return ok;
}
