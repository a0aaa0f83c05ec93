/* light_row.h - light.h's steps 1 to 5 on a row of samples, for one instruction set. */
#ifndef BARCODE_SRC_LIGHT_ROW_H
#define BARCODE_SRC_LIGHT_ROW_H

#include "barcode/base/isa.h"
#include "barcode/engine/light.h"

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

extern const struct light_row light_row_c, light_row_avx2; /* light_row_avx2: x86-64 only */

#endif
