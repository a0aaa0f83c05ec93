/*
 * render_line.h - one strip of pixels, row by row: what all strips share, and what an entry of the
 * table sees of it. One thread; strip_shows: any, while nothing paints.
 */
#ifndef BARCODE_MODES_RENDER_LINE_H
#define BARCODE_MODES_RENDER_LINE_H

#include "barcode/output/report.h"
#include "barcode/output/strip.h"

/* A strip's own file may read all of it and sets only `state`, in its open(); render_line.c sets
 * the rest. */
struct strip {
    const struct strip_kind *kind;
    const struct report *report;
    const struct columns *columns; /* what is painted: the report's, or `pooled` */
    uint64_t count;                /* of them */
    struct columns *pooled;        /* FIT_POOL: a column a pixel; NULL: none were pooled */
    int width, height;             /* 1 or more each */
    int y;                         /* the row that is being painted, 0..height */
    void *state;                   /* the kind's */
    uint64_t first;                /* first column that can be painted */
    uint8_t *line; /* [count][3]: one row before it is fitted; NULL when the width is the count */
    struct smooth *smooth; /* --smooth; NULL: not asked for */
    uint8_t *solid;        /* [width][3]: the one row of a flat strip */
};

/* A strip of width x height pixels (1 or more each). The report must outlive it. Fails when no
 * column has what the kind needs. */
struct strip *strip_open(const struct report *r, const struct strip_kind *kind, int width,
                         int height, struct err *e);

/* Row y (0..height) into rgb[width][3]. Quickest in ascending order; any order gives the same
 * bytes. */
void strip_row(struct strip *s, int y, uint8_t *rgb);

/* True if the column has what the strip needs. */
bool strip_shows(const struct strip *s, const struct column *c);

/*
 * The strip's columns pooled to one a pixel (FIT_POOL), each with at least one cluster; the
 * caller's. The strip has at least one column that can be painted. Works on as many threads as the
 * report says. NULL: memory, or ERR_INTERRUPTED when interrupted() turned true.
 */
struct columns *strip_pool(const struct strip *s, struct err *e);

/* Frees; sets *s to NULL. NULL is fine. */
void strip_free(struct strip **s);

#endif
