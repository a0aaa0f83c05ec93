/*
 * shrink_sum.h - the parts of the downscaler. Those of shrink_sum.c do not depend on pixel formats:
 * how output pixels overlap input samples along one axis, sums down columns, and means along a row.
 */
#ifndef BARCODE_SRC_SHRINK_SUM_H
#define BARCODE_SRC_SHRINK_SUM_H

#include "barcode/engine/light.h"
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

/* ---- light.h's steps 1 to 5 on a row of samples, for one instruction set: light_row_isa.c ---- */

/* Rows are planar: component i of sample x is at [i * room + x]. n is 1..room. Any thread. */
struct light_row {
    /* Converts the samples of a row of `plane` to fix16. */
    void (*read)(const struct frame_view *view, const struct plane *plane, const uint8_t *row,
                 int32_t *to);

    /* Computes what the chroma samples cb[n] and cr[n] add to the three sums of step 1. */
    void (*chroma)(const struct colour_transform *m, const int32_t *cb, const int32_t *cr, size_t n,
                   int32_t *part, size_t room);

    /* Computes codes from luma samples and chroma's parts (NULL: grey). */
    void (*codes)(const struct colour_transform *m, const int32_t *luma, const int32_t *part,
                  size_t n, uint32_t *code, size_t room);

    /* Replaces codes by the results of light_apply. */
    void (*apply)(const struct light_table *t, const struct light_gamut *g, uint32_t *row, size_t n,
                  size_t room);

    /* Adds: sum[i] += lit[i] * weight, 0 <= i < n. */
    void (*add)(uint64_t *sum, const uint32_t *lit, uint32_t weight, size_t n);
};

extern const struct light_row light_row_base, light_row_avx2; /* light_row_avx2: x86-64 only */

/*
 * ---- Frames with transparent samples: shrink_alpha.c, for engine.c ----
 *
 * The coverage-weighted area mean of shrink.h. Plain C for every engine, because such frames are
 * rare and come from software decoders.
 */

struct shrink_alpha;

/* Creates a workspace for one thread. `light` is as for shrink_use_light. */
struct shrink_alpha *shrink_alpha_open(int width, int height, struct light *light, struct err *e);
void shrink_alpha_free(struct shrink_alpha **s);

/* Returns true if no sample is transparent, even partly. The view passed shrink_check_view. */
bool shrink_alpha_is_opaque(const struct frame_view *view);

/*
 * Downscales a view with alpha, with the orientation applied. Sets *rgb to the analysis frame
 * [height][width][3], owned by the workspace until the next call, or to NULL if no sample is
 * visible. Returns false if the view is invalid or if out of memory.
 */
bool shrink_alpha_frame(struct shrink_alpha *s, const struct frame_view *view, const uint8_t **rgb,
                        struct err *e);

/* Fills the pixels without a share (shrink.h). cover[n] is not 0 everywhere; n is 1..2^28. */
void shrink_alpha_fill(const uint8_t *cover, uint8_t *rgb, size_t n);

#endif
