/*
 * max_filter.h - the maximum over a diamond around each point of an array of 16-bit values.
 *
 *   out(y, x) = max of in(y + dy, x + dx) over |dy| + |dx| <= r, with points inside the array only
 *
 * This is SciPy's maximum_filter with iterate_structure(generate_binary_structure(2, 1), r) and its
 * border `reflect`: a mirrored point lies nearer to the centre than its mirror image, so the
 * diamond contains it anyway. It holds for every size. SciPy itself reads outside of an array that
 * has an axis much shorter than the diamond.
 *
 * The diamond D(r) is decomposed exactly (r >= 1):
 *
 *   D(r) = D(1) + {i (1, 1): 0 <= i < r} + {j (1, -1): 0 <= j < r} + (-(r - 1), 0)
 *
 * So a maximum of five points is followed by running maxima of r points along both diagonals
 * (Soille, Breen and Jones, PAMI 1996). A running maximum takes three comparisons (van Herk 1992;
 * Gil and Werman 1993): rows are grouped in blocks of r, and a window is the end of one block and
 * the beginning of the next. That is 10 comparisons a point for every r. All of them are along
 * rows, for vectors, and the rows in work stay in the first or second cache.
 */
#ifndef BARCODE_MAX_FILTER_H
#define BARCODE_MAX_FILTER_H

#include "barcode/base/err.h"

SHARED_BEGIN

enum { MAX_FILTER_RADIUS_MOST = 1024 };

struct max_filter;

/* Opens a filter of radius 0..MAX_FILTER_RADIUS_MOST for any size. One thread an object. */
struct max_filter *max_filter_open(int radius, struct err *e);
void max_filter_free(struct max_filter **m);

/* Computes out[rows][columns] from in[rows][columns], which do not overlap and may be empty. */
void max_filter_run(struct max_filter *m, const int16_t *in, size_t rows, size_t columns,
                    int16_t *out);

SHARED_END
#endif
