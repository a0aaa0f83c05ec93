/*
 * fit_width.h - scales a line of columns' pixels to another width: enum strip_fit. Pure; any
 * thread.
 */
#ifndef BARCODE_FIT_WIDTH_H
#define BARCODE_FIT_WIDTH_H

#include <stdint.h>

#include "barcode/engine/column.h"
#include "barcode/engine/light.h"
#include "barcode/engine/shrink.h"

/* The columns first..last that pixel x of `width` covers, of `count` columns. */
struct strip_under {
    uint64_t first, last;
};
struct strip_under strip_under(uint64_t x, uint64_t count, uint64_t width);

/* Returns how much of column i is in pixel x, in units of 1 / width of a column: 0..width. The sum
 * over the columns of a pixel is `count`. */
uint64_t strip_overlap(uint64_t x, uint64_t i, uint64_t count, uint64_t width);

/*
 * Returns the mean of a channel in linear light over a span. Values are 3 bytes apart. Those
 * between head and tail have the weight `whole`, and all weights sum to `total`. `total` is at most
 * 2^40, so that the sum stays below 2^64.
 */
uint8_t strip_mean_light(const uint8_t *channel, const struct shrink_span *s, uint64_t whole,
                         uint64_t total, const struct light_table *sdr);

/*
 * Writes the mean of the pixels of line[count][3] under a span of shrink_span(x, count, width),
 * rounded half up. With the SDR table in `means` it is in linear light; NULL means R'G'B' values.
 */
void strip_mean_span(const uint8_t *line, const struct shrink_span *s, uint64_t count,
                     uint64_t width, const struct light_table *means, uint8_t rgb[3]);

/* Scales line[count][3] to rgb[width][3] (>= 1 each) by FIT_MEAN. With the SDR table in `means` the
 * means are in linear light; NULL means R'G'B' values. */
void strip_fit_mean(const uint8_t *line, uint64_t count, uint8_t *rgb, uint64_t width,
                    const struct light_table *means);

/* Scales as strip_fit_mean does, by FIT_MEDOID. */
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
    uint64_t total;   /* T: the sum of all weights for pool_put, below 2^63 */
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
