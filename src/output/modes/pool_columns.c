#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/interrupt.h"
#include "base/watch.h"
#include "cluster_pool.h"
#include "fit_width.h"
#include "render_line.h"

/* TURN: the pixels that a thread takes at a time. */
enum { POOL_PIXELS = 1 << 14, TURN = 8, THREADS_MOST = 64 };

/* A walk over the columns from left to right. A column that cannot be painted is replaced by the
 * column it is painted as. */
struct walk {
    const struct strip *strip;
    const struct column *shown; /* what column `next` - 1 is painted as */
    uint64_t next;
};

/* Returns column i, which must be `next` - 1 or later. */
static const struct column *walk_to(struct walk *w, uint64_t i)
{
    for (; w->next <= i; w->next++) {
        const struct column *c = columns_get(w->strip->columns, w->next);
        if (strip_shows(w->strip, c))
            w->shown = c;
    }
    return w->shown;
}

/* Lays out the clusters of pixel x as a frame of POOL_PIXELS. The sum of all weights stays below
 * 2^48. */
static void lay_out(struct walk *w, uint64_t x, uint8_t *rgb)
{
    uint64_t count = w->strip->count, width = (uint64_t)w->strip->width, weight[CLUSTERS_MAX];
    struct pool pool = {.rgb = rgb, .pixels = POOL_PIXELS};
    struct strip_under u = strip_under(x, count, width);
    struct walk first = *w;
    for (uint64_t i = u.first; i <= u.last; i++)
        pool.total += pool_weigh(walk_to(&first, i), strip_overlap(x, i, count, width), weight);
    for (uint64_t i = u.first; i <= u.last; i++) {
        const struct column *c = walk_to(w, i);
        pool_weigh(c, strip_overlap(x, i, count, width), weight);
        for (int j = 0; j < c->clusters; j++)
            pool_put(&pool, c->cluster[j].rgb, weight[j]);
    }
}

/* The state that the threads share. Each pixel belongs to one thread and depends only on its
 * number, so that the number of threads does not change the result. */
struct pooling {
    const struct strip *strip;
    struct columns *to;
    atomic_uint_fast64_t next; /* the next pixel that no thread has taken */
    pthread_mutex_t lock;      /* guards `error`, which keeps the first error */
    struct err error;
};

/* Returns a walk that starts before column i. */
static struct walk walk_from(const struct strip *s, uint64_t i)
{
    struct walk w = {.strip = s, .shown = columns_get(s->columns, s->first), .next = i};
    while (i > s->first && !strip_shows(s, columns_get(s->columns, i - 1)))
        i--;
    if (i > s->first)
        w.shown = columns_get(s->columns, i - 1);
    return w;
}

static bool pool_pixel(struct pooling *p, struct kmeans *km, struct walk *w, uint64_t x,
                       uint8_t *rgb, struct err *e)
{
    struct column *c = columns_at(p->to, x, e);
    if (!c)
        return false;
    lay_out(w, x, rgb);
    c->status = COLUMN_OK;
    c->clusters = (uint8_t)kmeans_run(km, rgb, POOL_PIXELS, x, c->cluster, NULL);
    return c->clusters > 0 || interrupt_error(e);
}

static bool pool_turns(struct pooling *p, struct kmeans *km, uint8_t *rgb, struct err *e)
{
    uint64_t width = (uint64_t)p->strip->width, x;
    while ((x = atomic_fetch_add(&p->next, TURN)) < width) {
        struct walk w = walk_from(p->strip, strip_under(x, p->strip->count, width).first);
        for (uint64_t end = x + TURN < width ? x + TURN : width; x < end; x++)
            if (!pool_pixel(p, km, &w, x, rgb, e))
                return false;
    }
    return true;
}

/* Returns the fastest instruction set for a few dozen colours. AVX2 is faster here than AVX-512,
 * whose vectors would be mostly empty. */
static enum isa quickest(void) { return isa_supported(ISA_AVX2) ? ISA_AVX2 : ISA_C; }

static void *pool_main(void *argument)
{
    struct pooling *p = argument;
    struct err e = ERR_INIT;
    uint8_t *rgb = malloc((size_t)POOL_PIXELS * 3);
    struct kmeans *km =
        rgb ? kmeans_open(&p->strip->report->kmeans, POOL_PIXELS, quickest(), &e) : NULL;
    if (!rgb)
        err_memory(&e, (size_t)POOL_PIXELS * 3);
    if (!km || !pool_turns(p, km, rgb, &e)) {
        atomic_store(&p->next, (uint64_t)p->strip->width); /* stops the other threads */
        pthread_mutex_lock(&p->lock);
        if (p->error.code == ERR_NONE)
            p->error = e;
        pthread_mutex_unlock(&p->lock);
    }
    kmeans_free(&km);
    free(rgb);
    return NULL;
}

/* Pools on this thread and on as many others as the report permits and can be started. */
static void pool_on_threads(struct pooling *p)
{
    int turns = (p->strip->width + TURN - 1) / TURN,
        most = turns < THREADS_MOST ? turns : THREADS_MOST, started = 0;
    pthread_t thread[THREADS_MOST];
    while (started + 1 < most && started + 1 < p->strip->report->threads &&
           watch_thread(&thread[started], pool_main, p) == 0)
        started++;
    pool_main(p);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}

struct columns *strip_pool(const struct strip *s, struct err *e)
{
    struct pooling p = {
        .strip = s, .to = columns_open(s->report->kmeans.k, 0, e), .error = ERR_INIT};
    if (!p.to)
        return NULL;
    pthread_mutex_init(&p.lock, NULL);
    pool_on_threads(&p);
    pthread_mutex_destroy(&p.lock);
    if (p.error.code != ERR_NONE) {
        *e = p.error;
        columns_free(&p.to);
    }
    return p.to;
}
