#include <stdlib.h>
#include <string.h>

#include "barcode/interrupt.h"
#include "strip_fit.h"
#include "strip_paint.h"

enum { POOL_PIXELS = 1 << 14, SHARE = 1 << 16 };

/* The columns from left to right; one that cannot be painted is what it is painted as. */
struct walk {
    const struct strip *strip;
    const struct column *shown;     /* at `next` - 1 */
    uint64_t next;
};

/* Column i, which is `next` - 1 or beyond. */
static const struct column *walk_to(struct walk *w, uint64_t i)
{
    for (; w->next <= i; w->next++) {
        const struct column *c = columns_get(w->strip->columns, w->next);
        if (strip_shows(w->strip, c))
            w->shown = c;
    }
    return w->shown;
}

/* The clusters' shares of a column times `part` go to weight[]; returns their sum. */
static uint64_t weigh(const struct column *c, uint64_t part, uint64_t weight[CLUSTERS_MAX])
{
    uint64_t pixels = 0, sum = 0;
    for (int j = 0; j < c->clusters; j++)
        pixels += c->cluster[j].count;
    for (int j = 0; j < c->clusters; j++) {
        weight[j] = pixels > 0 ? (uint64_t)c->cluster[j].count * SHARE / pixels * part : j == 0 ? SHARE * part : 0;
        sum += weight[j];
    }
    return sum;
}

/* The clusters under pixel x as a frame of POOL_PIXELS. The sum of all weights stays below 2^48, times POOL_PIXELS below 2^62. */
static void lay_out(struct walk *w, uint64_t x, uint8_t *rgb)
{
    uint64_t count = w->strip->count, width = (uint64_t)w->strip->width, weight[CLUSTERS_MAX], total = 0, sum = 0, at = 0;
    struct strip_under u = strip_under(x, count, width);
    struct walk first = *w;
    for (uint64_t i = u.first; i <= u.last; i++)
        total += weigh(walk_to(&first, i), strip_overlap(x, i, count, width), weight);
    for (uint64_t i = u.first; i <= u.last; i++) {
        const struct column *c = walk_to(w, i);
        weigh(c, strip_overlap(x, i, count, width), weight);
        for (int j = 0; j < c->clusters; j++) {
            sum += weight[j];
            uint64_t end = total > 0 ? POOL_PIXELS * sum / total : 0;
            for (; at < end; at++)
                memcpy(rgb + at * 3, c->cluster[j].rgb, 3);
        }
    }
}

static bool pool_pixel(struct columns *to, struct kmeans *km, struct walk *w, uint64_t x, uint8_t *rgb, struct err *e)
{
    struct column *c = columns_at(to, x, e);
    if (!c)
        return false;
    lay_out(w, x, rgb);
    c->status = COLUMN_OK;
    c->clusters = (uint8_t)kmeans_run(km, rgb, POOL_PIXELS, x, c->cluster, NULL);
    return c->clusters > 0 || interrupt_error(e);
}

/* The last of them that is supported: whichever it is, the bytes are the same. */
static enum isa quickest(void)
{
    enum isa isa = ISA_VNNI;
    while (isa > ISA_C && !isa_supported(isa))
        isa--;
    return isa;
}

struct columns *strip_pool(const struct strip *s, struct err *e)
{
    struct walk w = {.strip = s, .shown = columns_get(s->columns, s->first)};
    uint8_t *rgb = malloc((size_t)POOL_PIXELS * 3);
    if (!rgb) {
        err_memory(e, (size_t)POOL_PIXELS * 3);
        return NULL;
    }
    struct columns *pooled = columns_open(s->report->kmeans.k, 0, e);
    struct kmeans *km = pooled ? kmeans_open(&s->report->kmeans, POOL_PIXELS, quickest(), e) : NULL;
    bool fine = km != NULL;
    for (uint64_t x = 0; fine && x < (uint64_t)s->width; x++)
        fine = pool_pixel(pooled, km, &w, x, rgb, e);
    kmeans_free(&km);
    free(rgb);
    if (!fine)
        columns_free(&pooled);
    return pooled;
}
