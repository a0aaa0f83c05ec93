/*
 * fit_width.h - scales a line of columns' pixels to another width: enum strip_fit. Pure; any
 * thread.
 */
#ifndef BARCODE_FIT_WIDTH_H
#define BARCODE_FIT_WIDTH_H

#include "barcode/engine/column.h"
#include "barcode/engine/shrink.h"

/*
 * Writes the mean of the pixels of line[count][3] under a span of shrink_span(x, count, width),
 * rounded half up. With the SDR table in `means` it is in linear light; NULL means R'G'B' values.
 */
void strip_mean_span(const uint8_t *line, const struct shrink_span *s, uint64_t count,
                     uint64_t width, const struct light_table *means, uint8_t rgb[3]);

/* Scale line[count][3] to rgb[width][3] (>= 1 each) by FIT_MEAN and FIT_MEDOID. `means`: as above.
 */
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
