/*
 * render_line.h - paints one strip, row by row: the part that all modes share, and the struct that
 * an entry of the table sees. One thread; strip_shows may be called from any thread while nothing
 * is painted.
 */
#ifndef BARCODE_MODES_RENDER_LINE_H
#define BARCODE_MODES_RENDER_LINE_H

#include "barcode/engine/shrink.h"
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
    uint32_t *under;   /* [width]: axis_by_time: the column of each pixel; NULL: they are fitted */
    int width, height; /* >= 1 each */
    int y;             /* the row being painted, 0..height - 1 */
    void *state;       /* data of the mode */
    uint64_t first;    /* the first column that can be painted */
    uint8_t *line;     /* [count][3]: a row before it is fitted; NULL if a column is a pixel */
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

/* What is pooled: `count` columns are made, each of columns of the report. */
struct pool_source {
    const struct report *report;
    uint64_t count;
    /*
     * Returns the n-th column that becomes a part of column x, and sets its weight, below 2^40; 0
     * leaves it out. Returns NULL after the last. `before` is the one that was returned before,
     * also for column x - 1; NULL if unknown. Any thread; must return the same on every call.
     */
    const struct column *(*column)(const struct pool_source *from, uint64_t x, uint64_t n,
                                   const struct column *before, uint64_t *weight);
    const void *of; /* the function's */
};

/*
 * Pools as FIT_POOL does (strip.h), and sets status and clusters of the columns of `to`, which has
 * room for the report's clusters. A column whose weights are all 0 is MISSING. Uses as many threads
 * as the report permits. Returns false if out of memory, or with ERR_INTERRUPTED.
 */
bool pool_columns(const struct pool_source *from, struct columns *to, struct err *e);

void strip_free(struct strip **s);

/* Writes the colour of a level in the mode `spectrum`. Any thread. */
void colour_map_at(uint16_t level, uint8_t rgb[3]);

/* ---- fit_width.c: columns' pixels at another width (enum strip_fit). Pure; any thread ---- */

/*
 * Writes the mean of the pixels of line[count][3] under a span of shrink_span(x, count, width),
 * rounded half up. With the SDR table in `means` it is in linear light; NULL means R'G'B' values.
 */
void strip_mean_span(const uint8_t *line, const struct shrink_span *s, uint64_t count,
                     uint64_t width, const struct light_table *means, uint8_t rgb[3]);

/* Scale line[count][3] to rgb[width][3] (>= 1 each) by FIT_MEAN, with `means`, and FIT_MEDOID. */
void strip_fit_mean(const uint8_t *line, uint64_t count, uint8_t *rgb, uint64_t width,
                    const struct light_table *means);
void strip_fit_medoid(const uint8_t *line, uint64_t count, uint8_t *rgb, uint64_t width);

/*
 * A pool lays out weighted colours as a frame for kmeans.h. Any thread.
 *
 * A frame of N pixels receives colours one after another. Let T be the sum of all weights. The
 * colour from t to u of that sum gets the pixels floor(N t / T) to floor(N u / T). So the pixels
 * follow the weights to less than one pixel, however many colours there are. A colour with the
 * weight of less than one pixel may get none.
 */

/* The maximum sum of the weights of a column's clusters, before `part`: shares of a frame are in
 * 2^-16. */
enum { POOL_SHARE = 1 << 16 };

/* A frame that is being filled. Its owner sets the first three fields. */
struct pool {
    uint8_t *rgb;     /* [pixels][3], the caller's */
    uint64_t pixels;  /* 1..2^28 */
    uint64_t total;   /* T: the sum of all weights for pool_put, pixels * total < 2^64 */
    uint64_t sum, at; /* weight and pixels so far; begin as 0 */
};

/*
 * Sets weight[] to the shares of the clusters in their column (rounded down to 2^-16) times `part`
 * (below 2^40). Returns their sum. If all clusters have a count of 0, the first gets the full
 * weight.
 */
uint64_t pool_weigh(const struct column *c, uint64_t part, uint64_t weight[CLUSTERS_MAX]);

/* Appends a colour. The frame is full when the weights sum to `total`. Does nothing if `total` is
 * 0. */
void pool_put(struct pool *p, const uint8_t rgb[3], uint64_t weight);

#endif
