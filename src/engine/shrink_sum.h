/*
 * shrink_sum.h - the parts of the downscaler that do not depend on pixel formats: how output pixels
 * overlap input samples along one axis, sums down columns, and means along a row.
 */
#ifndef BARCODE_SRC_SHRINK_SUM_H
#define BARCODE_SRC_SHRINK_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/engine/shrink.h"

enum { SHRINK_LARGEST = 16384 };

/* The border between two output pixels: `part` units into sample `whole`. */
struct edge {
    uint32_t whole, part;
};

/*
 * One axis, `in` samples to `out` pixels. Weights are counted in the largest unit that keeps them
 * integers. With g = gcd(in, out), a full sample weighs out / g and every pixel in / g.
 */
struct axis {
    uint32_t in, out;         /* 0 before the first shrink_axis_fit */
    uint32_t sample;          /* weight of a completely covered sample */
    uint32_t pixel;           /* sum of the weights of one pixel */
    uint32_t room;            /* capacity of the tables in pixels */
    struct shrink_span *span; /* [out]; owned; for the sums down columns */
    struct edge *edge;        /* [out]; owned; the far edge of each pixel, for the means */
};

/* Prepares `a` for this ratio; does nothing if it already fits. Sizes are 1..SHRINK_LARGEST. */
bool shrink_axis_fit(struct axis *a, uint32_t in, uint32_t out, struct err *e);
void shrink_axis_free(struct axis *a);

/* Rows of adjacent samples in memory, `count` in a row, of any component. */
struct rows {
    const uint8_t *data;
    ptrdiff_t pitch;
    uint32_t count;
    int shift; /* of 16-bit words; unused for bytes */
};

/*
 * Compute sum[i], the weighted sum of column i over `span`. It is at most 65535 * SHRINK_LARGEST
 * and fits. `scratch` has room for r->count and need not be initialized.
 */
void shrink_column_sums_8(const struct rows *r, const struct shrink_span *span, uint32_t weight,
                          uint16_t *scratch, uint32_t *sum);
void shrink_column_sums_16(const struct rows *r, const struct shrink_span *span, uint32_t weight,
                           uint32_t *sum);

/*
 * One row of means: mean[x] = min(65535, floor((S * 2^scale + floor(T / 2)) / T)). S is the
 * weighted sum of sum[i * step] over pixel x of `axis`, and T = axis->pixel * column_weight.
 */
struct mean_rule {
    const struct axis *axis;
    uint32_t column_weight;
    uint32_t step;
    int scale;        /* 16 - bits, 0..8 */
    uint32_t largest; /* largest sample value, at most 65535 */
};

/* Scratch for one row, owned by the caller: prefix[axis->in + 1], total[axis->out]. */
struct mean_scratch {
    uint64_t *prefix;
    uint32_t *total;
};

void shrink_row_means(const struct mean_rule *rule, const uint32_t *sum,
                      const struct mean_scratch *scratch, uint16_t *mean);

#endif
