/* max_rows_template.h - max_rows.h in plain loops, which the compiler vectorizes. */
#include "max_rows.h"

static inline int16_t larger(int16_t a, int16_t b) { return a > b ? a : b; }

static void cross_row(const int16_t *restrict up, const int16_t *restrict row,
                      const int16_t *restrict down, size_t n, int16_t *restrict to)
{
    for (size_t x = 0; x < n; x++)
        to[x] = larger(larger(larger(up[x], down[x]), larger(row[x - 1], row[x + 1])), row[x]);
}

static void merge_row(const int16_t *restrict row, const int16_t *restrict suffix, size_t n,
                      int16_t *restrict prefix, int16_t *restrict to)
{
    for (size_t x = 0; x < n; x++) {
        int16_t most = larger(prefix[x], row[x]);
        prefix[x] = most;
        to[x] = larger(most, suffix[x]);
    }
}

static void raise_row(const int16_t *restrict next, size_t n, int16_t *restrict row)
{
    for (size_t x = 0; x < n; x++)
        row[x] = larger(row[x], next[x]);
}

const struct max_rows MAX_ROWS = {.cross = cross_row, .merge = merge_row, .raise = raise_row};
