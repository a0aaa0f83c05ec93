#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "band_order.h"
#include "render_line.h"

/* The current band of a column. Rows are painted from top to bottom, so the bands are walked, not
 * searched. */
struct band {
    uint64_t below;  /* pixels of the bands up to this one */
    uint64_t total;  /* pixels of all bands */
    int32_t end;     /* first row after the band */
    uint8_t cluster; /* cluster of the band */
};

struct bands {
    int next;           /* the bands are at or before this row */
    struct band band[]; /* [count] */
};

static void note_palette(const struct report *r, char *out, size_t size)
{
    if (r->kmeans.k == 1)
        snprintf(out, size, "one cluster");
    else
        snprintf(out, size, "all %d clusters by %s", r->kmeans.k, palette_order_name(r->order));
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

static void restart(const struct strip *s, struct bands *bands)
{
    for (uint64_t i = s->first; i < s->count; i++) {
        const struct column *c = columns_get(s->columns, i);
        if (!strip_shows(s, c))
            continue;
        struct band *b = &bands->band[i];
        *b = (struct band){0};
        for (int j = 0; j < c->clusters; j++)
            b->total += c->cluster[j].count;
        b->cluster = (uint8_t)strip_order_next(s->report->order, c->cluster, c->clusters, -1);
        b->below = c->cluster[b->cluster].count;
        b->end = band_end(s, b);
    }
}

static bool open_bands(struct strip *s, struct err *e)
{
    size_t bytes = sizeof(struct bands) + s->count * sizeof(struct band);
    s->state = calloc(1, bytes);
    if (!s->state)
        return err_memory(e, bytes);
    restart(s, s->state);
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
    while (s->y >= b->end) {
        int next = strip_order_next(s->report->order, c->cluster, c->clusters, b->cluster);
        if (next < 0)
            break;
        b->cluster = (uint8_t)next;
        b->below += c->cluster[next].count;
        b->end = band_end(s, b);
    }
    memcpy(rgb, c->cluster[b->cluster].rgb, 3);
}

const struct strip_kind strip_palette = {.name = "palette",
                                         .title = "palette",
                                         .needs = STRIP_CLUSTERS,
                                         .obeys = STRIP_ORDER,
                                         .fit = FIT_POOL,
                                         .settled = true,
                                         .note = note_palette,
                                         .open = open_bands,
                                         .row = row,
                                         .pixel = pixel_palette};
