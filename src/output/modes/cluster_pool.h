/*
 * cluster_pool.h - colours with weights, laid out as a frame that kmeans.h can cluster. Any thread.
 *
 * A frame of N pixels takes colours one after another; of the sum T of all weights the colour that
 * reaches from t to u of it gets the pixels floor(N t / T) to floor(N u / T). So the frame's pixels
 * follow the weights to less than a pixel, however many colours there are, and a colour that weighs
 * less than one may get none.
 */
#ifndef BARCODE_MODES_CLUSTER_POOL_H
#define BARCODE_MODES_CLUSTER_POOL_H

#include <stdint.h>

#include "barcode/engine/column.h"

/* What all clusters of a column weigh together, before `part`, is at most this: shares of a frame
 * are in 2^-16. */
enum { POOL_SHARE = 1 << 16 };

/* A frame in the making; its owner sets the first three. */
struct pool {
    uint8_t *rgb;     /* [pixels][3]: the caller's */
    uint64_t pixels;  /* 1..2^28 */
    uint64_t total;   /* T: what pool_put will be given in all, below 2^63 */
    uint64_t sum, at; /* given so far: weight and pixels; begin as 0 */
};

/*
 * The clusters' shares of their column (rounded down to 2^-16) times `part` (below 2^40) go to
 * weight[]; returns their sum. Of clusters that count nothing, the first has it all.
 */
uint64_t pool_weigh(const struct column *c, uint64_t part, uint64_t weight[CLUSTERS_MAX]);

/* The next colour. Once `total` was put the frame is full; a total of 0 fills nothing. */
void pool_put(struct pool *p, const uint8_t rgb[3], uint64_t weight);

#endif
