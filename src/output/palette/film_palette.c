#include "film_palette.h"

#include <stdlib.h>
#include <string.h>

#include "output/modes/band_order.h"
#include "output/modes/cluster_pool.h"
#include "barcode/base/interrupt.h"

/* Storage for the contribution of a column without clusters: one colour. */
struct given {
    struct cluster one;
    struct column column;
};

static const struct column *given(const struct report *r, const struct column *shown,
                                  struct given *g)
{
    if (shown->cluster && shown->clusters > 0)
        return shown;
    memcpy(g->one.rgb, r->needs & STRIP_DOMINANT ? shown->dominant : shown->average, 3);
    g->one.count = 1;
    g->column = (struct column){.clusters = 1, .cluster = &g->one};
    return &g->column;
}

/* Returns the first column with a frame, or NULL if there is none. */
static const struct column *first_shown(const struct report *r)
{
    for (uint64_t i = 0; i < r->count; i++) {
        const struct column *c = columns_get(r->columns, i);
        if (c->status != COLUMN_MISSING)
            return c;
    }
    return NULL;
}

/* Puts the colours of every column into `pool`. With `sum`, only adds up their weights, for
 * pool.total. */
static void pour(const struct report *r, const struct column *shown, struct pool *pool,
                 uint64_t *sum)
{
    uint64_t weight[CLUSTERS_MAX];
    struct given room;
    for (uint64_t i = 0; i < r->count; i++) {
        const struct column *here = columns_get(r->columns, i);
        if (here->status != COLUMN_MISSING)
            shown = here;
        const struct column *c = given(r, shown, &room);
        uint64_t weighed = pool_weigh(c, 1, weight);
        if (sum)
            *sum += weighed;
        for (int j = 0; !sum && j < c->clusters; j++)
            pool_put(pool, c->cluster[j].rgb, weight[j]);
    }
}

static void arrange(const struct cluster *cluster, int count, struct film_palette *to)
{
    to->count = 0;
    for (int j = -1; (j = strip_order_next(ORDER_LIGHTNESS, cluster, count, j)) >= 0;) {
        struct film_colour *c = &to->colour[to->count++];
        memcpy(c->rgb, cluster[j].rgb, 3);
        c->share = cluster[j].count;
    }
}

bool film_palette_make(const struct report *r, int colours, struct film_palette *to, struct err *e)
{
    struct cluster cluster[CLUSTERS_MAX];
    struct kmeans_params params = r->kmeans;
    params.k = colours;
    const struct column *first = first_shown(r);
    if (!first)
        return err_set(e, ERR_FAILED, "no column has a frame for the film's palette");
    struct pool pool = {.rgb = malloc((size_t)FILM_PALETTE_PIXELS * 3),
                        .pixels = FILM_PALETTE_PIXELS};
    if (!pool.rgb)
        return err_memory(e, (size_t)FILM_PALETTE_PIXELS * 3);
    struct kmeans *km =
        kmeans_open(&params, FILM_PALETTE_PIXELS, isa_supported(ISA_AVX2) ? ISA_AVX2 : ISA_C, e);
    bool ok = km != NULL;
    if (ok) {
        pour(r, first, &pool, &pool.total);
        pour(r, first, &pool, NULL);
        int count = kmeans_run(km, pool.rgb, FILM_PALETTE_PIXELS, 0, cluster, NULL);
        ok = !interrupted() || interrupt_error(e);
        if (ok)
            arrange(cluster, count, to);
    }
    kmeans_free(&km);
    free(pool.rgb);
    return ok;
}
