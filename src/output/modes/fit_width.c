
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/watch.h"
#include "render_line.h"

uint64_t pool_weigh(const struct column *c, uint64_t part, uint64_t weight[CLUSTERS_MAX])
{
    uint64_t pixels = 0, sum = 0;
    for (int j = 0; j < c->clusters; j++)
        pixels += c->cluster[j].count;
    for (int j = 0; j < c->clusters; j++) {
        if (pixels > 0)
            weight[j] = (uint64_t)c->cluster[j].count * POOL_SHARE / pixels * part;
        else
            weight[j] = j == 0 ? POOL_SHARE * part : 0;
        sum += weight[j];
    }
    return sum;
}

void pool_put(struct pool *p, const uint8_t rgb[3], uint64_t weight)
{
    p->sum += weight;
    uint64_t end = p->total > 0 ? p->pixels * p->sum / p->total : 0;
    for (; p->at < end; p->at++)
        memcpy(p->rgb + p->at * 3, rgb, 3);
}

/* TURN: the pixels that a thread takes at a time. */
enum { POOL_PIXELS = 1 << 14, TURN = 8, THREADS_MOST = 64 };

/* The columns first..last that a pixel covers. */
struct under {
    uint64_t first, last;
};

static struct under columns_under(uint64_t x, uint64_t count, uint64_t width)
{
    return (struct under){x * count / width, ((x + 1) * count - 1) / width};
}

/* Returns how much of column i is in pixel x, in units of 1 / width of a column: 0..width. The sum
 * over the columns of a pixel is `count`. */
static uint64_t overlap(uint64_t x, uint64_t i, uint64_t count, uint64_t width)
{
    uint64_t from = x * count > i * width ? x * count : i * width;
    uint64_t to = (x + 1) * count < (i + 1) * width ? (x + 1) * count : (i + 1) * width;
    return to > from ? to - from : 0;
}

/* Returns what column i is painted as. `previous`: the same of the column before; NULL: unknown. */
static const struct column *painted_as(const struct strip *s, uint64_t i,
                                       const struct column *previous)
{
    while (i > s->first && !strip_shows(s, columns_get(s->columns, i))) {
        if (previous)
            return previous;
        i--;
    }
    return columns_get(s->columns, i > s->first ? i : s->first);
}

/* Gives the columns under pixel x of a strip, as strip_pool pools them. */
static const struct column *column_under(const struct pool_source *from, uint64_t x, uint64_t n,
                                         const struct column *before, uint64_t *weight)
{
    const struct strip *s = from->of;
    const struct under u = columns_under(x, s->count, from->count);
    const uint64_t i = u.first + n;
    *weight = overlap(x, i, s->count, from->count);
    return i <= u.last ? painted_as(s, i, before) : NULL;
}

/*
 * Lays out the clusters of pixel x as a frame of POOL_PIXELS. The sum of all weights stays below
 * 2^48. `*last`: the column that was given last, for the pixel before; NULL: none. Returns false if
 * the pixel has no colours.
 */
static bool lay_out(const struct pool_source *s, uint64_t x, const struct column **last,
                    uint8_t *rgb)
{
    uint64_t weight[CLUSTERS_MAX], part;
    struct pool pool = {.rgb = rgb, .pixels = POOL_PIXELS};
    const struct column *c = *last, *next;
    for (uint64_t n = 0; (next = s->column(s, x, n, c, &part)); n++) {
        c = next;
        pool.total += pool_weigh(c, part, weight);
    }
    c = *last;
    for (uint64_t n = 0; (next = s->column(s, x, n, c, &part)); n++) {
        c = next;
        pool_weigh(c, part, weight);
        for (int j = 0; j < c->clusters; j++)
            pool_put(&pool, c->cluster[j].rgb, weight[j]);
    }
    *last = c;
    return pool.total > 0;
}

/* The state that the threads share. Each pixel belongs to one thread and depends only on its
 * number, so that the number of threads does not change the result. */
struct pooling {
    const struct pool_source *from;
    struct columns *to;
    atomic_uint_fast64_t next; /* the next pixel that no thread has taken */
    pthread_mutex_t lock;      /* guards `error`, which keeps the first error */
    struct err error;
};

static bool pool_pixel(struct pooling *p, struct kmeans *km, uint64_t x, const struct column **last,
                       uint8_t *rgb, struct err *e)
{
    struct column *c = columns_at(p->to, x, e);
    if (!c)
        return false;
    if (!lay_out(p->from, x, last, rgb))
        return true;
    c->status = COLUMN_OK;
    c->clusters = (uint8_t)kmeans_run(km, rgb, POOL_PIXELS, x, c->cluster, NULL);
    return c->clusters > 0 || interrupt_error(e);
}

static bool pool_turns(struct pooling *p, struct kmeans *km, uint8_t *rgb, struct err *e)
{
    const uint64_t count = p->from->count;
    uint64_t x;
    while ((x = atomic_fetch_add(&p->next, TURN)) < count) {
        const struct column *last = NULL;
        for (uint64_t end = x + TURN < count ? x + TURN : count; x < end; x++)
            if (!pool_pixel(p, km, x, &last, rgb, e))
                return false;
    }
    return true;
}

/* Returns the fastest instruction set for a few dozen colours. AVX2 is faster here than AVX-512,
 * whose vectors would be mostly empty. */
static enum isa quickest(void) { return isa_supported(ISA_AVX2) ? ISA_AVX2 : ISA_BASE; }

static void *pool_main(void *argument)
{
    struct pooling *p = argument;
    struct err e = ERR_INIT;
    uint8_t *rgb = malloc((size_t)POOL_PIXELS * 3);
    struct kmeans *km =
        rgb ? kmeans_open(&p->from->report->analysis.kmeans, POOL_PIXELS, quickest(), &e) : NULL;
    if (!rgb)
        err_memory(&e, (size_t)POOL_PIXELS * 3);
    if (!km || !pool_turns(p, km, rgb, &e)) {
        atomic_store(&p->next, p->from->count); /* stops the other threads */
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
    const uint64_t turns = (p->from->count + TURN - 1) / TURN;
    const int most = turns < THREADS_MOST ? (int)turns : THREADS_MOST;
    int started = 0;
    pthread_t thread[THREADS_MOST];
    while (started + 1 < most && started + 1 < p->from->report->run.threads &&
           watch_thread(&thread[started], pool_main, p) == 0)
        started++;
    pool_main(p);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}

bool pool_columns(const struct pool_source *from, struct columns *to, struct err *e)
{
    struct pooling p = {.from = from, .to = to, .error = ERR_INIT};
    pthread_mutex_init(&p.lock, NULL);
    pool_on_threads(&p);
    pthread_mutex_destroy(&p.lock);
    if (p.error.code != ERR_NONE)
        *e = p.error;
    return p.error.code == ERR_NONE;
}

struct columns *strip_pool(const struct strip *s, struct err *e)
{
    const struct pool_source from = {
        .report = s->report, .count = (uint64_t)s->width, .column = column_under, .of = s};
    struct columns *to = columns_open(s->report->analysis.kmeans.k, 0, e);
    if (to && !pool_columns(&from, to, e))
        columns_free(&to);
    return to;
}

/*
 * Returns the mean of a channel in linear light over a span. Values are 3 bytes apart. Those
 * between head and tail have the weight `whole`, and all weights sum to `total`: at most 2^40, so
 * that the sum stays below 2^64.
 */
static uint8_t mean_light(const uint8_t *channel, const struct shrink_span *s, uint64_t whole,
                          uint64_t total, const struct light_table *sdr)
{
    uint64_t middle = 0;
    uint64_t sum = light_of_byte(sdr, channel[s->head * 3]) * s->head_weight +
                   light_of_byte(sdr, channel[s->tail * 3]) * s->tail_weight;
    for (uint64_t i = s->begin; i < s->end; i++)
        middle += light_of_byte(sdr, channel[i * 3]);
    return light_to_byte(sdr, (uint32_t)((sum + middle * whole + total / 2) / total));
}

void strip_mean_span(const uint8_t *line, const struct shrink_span *s, uint64_t count,
                     uint64_t width, const struct light_table *means, uint8_t rgb[3])
{
    const uint8_t *head = line + s->head * 3, *tail = line + s->tail * 3, *end = line + s->end * 3;
    if (s->begin == s->end && s->head == s->tail) { /* within one pixel */
        memcpy(rgb, head, 3);
        return;
    }
    if (means) {
        for (int c = 0; c < 3; c++)
            rgb[c] = mean_light(line + c, s, width, count, means);
        return;
    }
    uint64_t whole[3] = {0};
    for (const uint8_t *q = line + s->begin * 3; q < end; q += 3)
        for (int c = 0; c < 3; c++)
            whole[c] += q[c];
    for (int c = 0; c < 3; c++) {
        uint64_t sum = head[c] * s->head_weight + whole[c] * width + tail[c] * s->tail_weight;
        rgb[c] = (uint8_t)((2 * sum + count) / (2 * count));
    }
}

void strip_fit_mean(const uint8_t *line, uint64_t count, uint8_t *rgb, uint64_t width,
                    const struct light_table *means)
{
    for (uint64_t x = 0; x < width; x++, rgb += 3) {
        struct shrink_span s = shrink_span(x, count, width);
        strip_mean_span(line, &s, count, width, means, rgb);
    }
}

/* Sets distance[v] to the sum of weight[u] * |u - v|. From v to v + 1, values at or below v become
 * 1 farther and the others 1 nearer. */
static void distances(const uint64_t weight[256], uint64_t distance[256])
{
    uint64_t above = 0, below = 0;
    distance[0] = 0;
    for (uint64_t v = 0; v < 256; v++) {
        distance[0] += weight[v] * v;
        above += weight[v];
    }
    for (int v = 0; v < 255; v++) {
        below += weight[v];
        above -= weight[v];
        distance[v + 1] = distance[v] + below - above;
    }
}

/* Finds the medoid of the columns in one pass: a Manhattan distance is a sum over the channels, so
 * no pairs of columns need to be compared. */
static const uint8_t *medoid(const uint8_t *line, struct under u, uint64_t x, uint64_t count,
                             uint64_t width)
{
    uint64_t weight[3][256] = {{0}}, distance[3][256], least = UINT64_MAX;
    const uint8_t *found = line + u.first * 3;
    for (uint64_t i = u.first; i <= u.last; i++)
        for (int c = 0; c < 3; c++)
            weight[c][line[i * 3 + (uint64_t)c]] += overlap(x, i, count, width);
    for (int c = 0; c < 3; c++)
        distances(weight[c], distance[c]);
    for (const uint8_t *p = line + u.first * 3; p <= line + u.last * 3; p += 3) {
        uint64_t sum = 2 * distance[0][p[0]] + 4 * distance[1][p[1]] + 3 * distance[2][p[2]];
        if (sum < least) {
            least = sum;
            found = p;
        }
    }
    return found;
}

void strip_fit_medoid(const uint8_t *line, uint64_t count, uint8_t *rgb, uint64_t width)
{
    for (uint64_t x = 0; x < width; x++, rgb += 3) {
        struct under u = columns_under(x, count, width);
        const uint8_t *p = line + u.first * 3;
        if (u.last == u.first + 1 &&
            overlap(x, u.last, count, width) > overlap(x, u.first, count, width))
            p += 3; /* of two columns the one that covers more: a fast path for wide images */
        else if (u.last > u.first + 1)
            p = medoid(line, u, x, count, width);
        memcpy(rgb, p, 3);
    }
}
