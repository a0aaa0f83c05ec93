#include "barcode/sound/peaks.h"

#include <stdlib.h>
#include <string.h>

/* Rows of the result that are computed at once: with margins they stay in the second cache. */
enum { BAND = 128 };

/* Loops over a row are vectorized by the compiler. */
static void raise_row(int16_t *restrict to, const int16_t *restrict from, size_t n)
{
    for (size_t x = 0; x < n; x++)
        to[x] = to[x] > from[x] ? to[x] : from[x];
}

/* The rows of a band, with `radius` rows and columns around them. All begin as INT16_MIN. */
struct band {
    int16_t *value; /* [rows][width] */
    size_t rows, width, radius;
};

/* Raises the five points that have a value of in[columns] in their cross. */
static void add_row(const struct band *b, size_t y, const int16_t *in, size_t columns)
{
    int16_t *to = b->value + y * b->width + b->radius;
    for (int away = -1; away <= 1; away++)
        raise_row(to + away, in, columns);
    if (y > 0)
        raise_row(to - b->width, in, columns);
    if (y + 1 < b->rows)
        raise_row(to + b->width, in, columns);
}

/*
 * Makes each value the maximum of the `radius` values from there on along a diagonal, which moves
 * by `lean` columns a row. The maxima of `have` values give those of up to twice as many.
 */
static void run_diagonal(const struct band *b, ptrdiff_t lean)
{
    for (size_t have = 1, step; have < b->radius; have += step) {
        step = have < b->radius - have ? have : b->radius - have;
        for (size_t y = 0; y + step < b->rows; y++)
            raise_row(b->value + y * b->width,
                      b->value + (y + step) * b->width + lean * (ptrdiff_t)step,
                      b->width - b->radius);
    }
}

bool max_filter_run(const int16_t *in, size_t rows, size_t columns, int radius, int16_t *out,
                    struct err *e)
{
    const size_t r = (size_t)radius, width = columns + 2 * r, most = rows < BAND ? rows : BAND;
    struct band b = {err_calloc((most + 2 * r) * width, sizeof *b.value, e), 0, width, r};
    for (size_t first = 0; b.value && first < rows; first += BAND) {
        size_t n = rows - first < BAND ? rows - first : BAND, from = first < r ? 0 : first - r;
        b.rows = n + 2 * r;
        for (size_t i = 0; i < b.rows * width; i++)
            b.value[i] = INT16_MIN;
        for (size_t y = from; y < rows && y < first + n + r; y++)
            add_row(&b, y + r - first, in + y * columns, columns);
        run_diagonal(&b, 1);
        run_diagonal(&b, -1);
        for (size_t i = 0; i < n; i++)
            memcpy(out + (first + i) * columns, b.value + (i + 1) * width + r,
                   columns * sizeof *out);
    }
    free(b.value);
    return b.value != NULL;
}
