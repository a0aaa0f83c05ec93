#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "band_order.h"
#include "render_line.h"

/* The current band of a column. Rows are painted from top to bottom, so the bands are walked, not
 * searched. */
struct band {
    uint64_t below; /* pixels of the bands up to this one */
    uint64_t total; /* pixels of all bands */
    int32_t end;    /* first row after the band */
    uint8_t place;  /* of the band, from the top */
};

struct bands {
    int next;           /* the bands are at or before this row */
    size_t stride;      /* the largest number of clusters */
    uint8_t *order;     /* [count][stride] clusters from top to bottom, behind the bands */
    struct band band[]; /* [count] */
};

static void note_palette(const struct report *r, char *out, size_t size)
{
    if (r->analysis.kmeans.k == 1)
        snprintf(out, size, "one cluster");
    else
        snprintf(out, size, "all %d clusters by %s", r->analysis.kmeans.k,
                 palette_order_name(r->picture.order));
}

/*
 * Returns floor((H * c_j + T/2) / T). A column without any count is filled with its first colour.
 */
static int32_t band_end(const struct strip *s, const struct band *b)
{
    if (b->total == 0)
        return s->height;
    return (int32_t)(((uint64_t)s->height * b->below + b->total / 2) / b->total);
}

static const struct column *column_of(const void *user, uint64_t i)
{
    const struct strip *s = user;
    const struct column *c = i < s->first ? NULL : columns_get(s->columns, i);
    return c && strip_shows(s, c) ? c : NULL;
}

static void restart(const struct strip *s, struct bands *bands)
{
    for (uint64_t i = s->first; i < s->count; i++) {
        const struct column *c = column_of(s, i);
        if (!c)
            continue;
        struct band *b = &bands->band[i];
        *b = (struct band){0};
        for (int j = 0; j < c->clusters; j++)
            b->total += c->cluster[j].count;
        b->below = c->cluster[bands->order[i * bands->stride]].count;
        b->end = band_end(s, b);
    }
}

/* Orders the clusters of every column. */
static bool order_bands(const struct strip *s, struct bands *bands, struct err *e)
{
    if (s->report->picture.order == ORDER_LIGHTNESS)
        return band_follow(column_of, s, s->count, bands->order, bands->stride, e);
    for (uint64_t i = 0; i < s->count; i++) {
        const struct column *c = column_of(s, i);
        if (c)
            strip_order(s->report->picture.order, c->cluster, c->clusters,
                        bands->order + i * bands->stride);
    }
    return true;
}

static bool open_bands(struct strip *s, struct err *e)
{
    size_t stride = 1;
    for (uint64_t i = s->first; i < s->count; i++) {
        const struct column *c = column_of(s, i);
        stride = c && c->clusters > stride ? c->clusters : stride;
    }
    size_t bytes = sizeof(struct bands) + s->count * (sizeof(struct band) + stride);
    struct bands *bands = s->state = calloc(1, bytes);
    if (!bands)
        return err_memory(e, bytes);
    bands->stride = stride;
    bands->order = (uint8_t *)(bands->band + s->count);
    if (!order_bands(s, bands, e))
        return false;
    restart(s, bands);
    return true;
}

static void row(struct strip *s)
{
    struct bands *bands = s->state;
    if (s->y < bands->next)
        restart(s, bands);
    bands->next = s->y;
}

static void pixel_palette(struct strip *s, uint64_t i, const struct column *c, uint8_t rgb[3])
{
    struct bands *bands = s->state;
    struct band *b = &bands->band[i];
    const uint8_t *order = bands->order + i * bands->stride;
    while (s->y >= b->end && b->place + 1 < c->clusters) {
        b->below += c->cluster[order[++b->place]].count;
        b->end = band_end(s, b);
    }
    memcpy(rgb, c->cluster[order[b->place]].rgb, 3);
}

const struct strip_kind strip_palette = {.name = "palette",
                                         .title = "palette",
                                         .caption = "All colours",
                                         .needs = STRIP_CLUSTERS,
                                         .obeys = STRIP_ORDER,
                                         .fit = FIT_POOL,
                                         .no_race = true,
                                         .note = note_palette,
                                         .open = open_bands,
                                         .row = row,
                                         .pixel = pixel_palette};
