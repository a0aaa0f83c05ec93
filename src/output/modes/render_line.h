/*
 * render_line.h - paints one strip, row by row: the part that all modes share, and the struct that
 * an entry of the table sees. One thread; strip_shows may be called from any thread while nothing
 * is painted.
 */
#ifndef BARCODE_MODES_RENDER_LINE_H
#define BARCODE_MODES_RENDER_LINE_H

#include "output/report.h"
#include "strip.h"

/* The file of a mode may read all fields but sets only `state`, in its open(). render_line.c sets
 * the others. */
struct strip {
    const struct strip_kind *kind;
    const struct report *report;
    const struct columns *columns; /* the columns to paint: the report's, or `pooled` */
    uint64_t count;                /* number of columns */
    struct columns *pooled;        /* FIT_POOL: one column per pixel; NULL: not pooled */
    int width, height;             /* >= 1 each */
    int y;                         /* the row being painted, 0..height - 1 */
    void *state;                   /* data of the mode */
    uint64_t first;                /* the first column that can be painted */
    uint8_t *line; /* [count][3]: a row before it is fitted; NULL if the width equals the count */
    struct smooth *smooth; /* --smooth; NULL: off */
    uint8_t *solid; /* [rows][width][3]: the rows of a flat strip that differ: 1, or GAP_ROWS */
};

/* Opens a strip of width x height pixels (>= 1 each). The report must outlive it. Fails if no
 * column has what the mode needs, if out of memory, or if interrupted. */
struct strip *strip_open(const struct report *r, const struct strip_kind *kind, int width,
                         int height, struct err *e);

/* Writes row y (0..height - 1) into rgb[width][3]. Ascending order is fastest; any order gives the
 * same bytes. */
void strip_row(struct strip *s, int y, uint8_t *rgb);

/* Returns true if the column has what the mode needs. */
bool strip_shows(const struct strip *s, const struct column *c);

/*
 * Pools the columns of the strip into one per pixel (FIT_POOL), each with at least one cluster. At
 * least one column of the strip must be paintable. Uses as many threads as the report permits. The
 * caller frees the columns. Returns NULL if out of memory, or with ERR_INTERRUPTED if interrupted()
 * is true.
 */
struct columns *strip_pool(const struct strip *s, struct err *e);

/* Frees the strip and sets *s to NULL. Does nothing if *s is NULL. */
void strip_free(struct strip **s);

#endif
