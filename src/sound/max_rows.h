/*
 * max_rows.h - the loops of max_filter.c, for one instruction set. max_rows.c, max_rows_avx2.c and
 * max_rows_avx512.c compile the same code (max_rows_template.h).
 */
#ifndef BARCODE_SRC_MAX_ROWS_H
#define BARCODE_SRC_MAX_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "barcode/base/isa.h"

/* n values each. Rows with different names do not overlap. Any thread. */
struct max_rows {
    /* to[x] = the largest of up[x], down[x], row[x - 1], row[x] and row[x + 1] */
    void (*cross)(const int16_t *up, const int16_t *row, const int16_t *down, size_t n,
                  int16_t *to);

    /* prefix[x] = max(prefix[x], row[x]); to[x] = max(prefix[x], suffix[x]) */
    void (*merge)(const int16_t *row, const int16_t *suffix, size_t n, int16_t *prefix,
                  int16_t *to);

    /* row[x] = max(row[x], next[x]) */
    void (*raise)(const int16_t *next, size_t n, int16_t *row);
};

extern const struct max_rows max_rows_c;
extern const struct max_rows max_rows_avx2, max_rows_avx512; /* x86-64 only */

/* Returns the loops for a supported instruction set. */
const struct max_rows *max_rows_for(enum isa isa);

#endif
