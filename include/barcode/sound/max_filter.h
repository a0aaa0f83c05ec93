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
 * (Soille, Breen and Jones, PAMI 1996).
 */
#ifndef BARCODE_MAX_FILTER_H
#define BARCODE_MAX_FILTER_H

#include "barcode/base/err.h"

SHARED_BEGIN

enum { MAX_FILTER_RADIUS_MOST = 1024 };

/*
 * Computes out[rows][columns] from in[rows][columns], which do not overlap and may be empty, with a
 * radius of 1..MAX_FILTER_RADIUS_MOST. Returns false if out of memory. Any thread.
 */
bool max_filter_run(const int16_t *in, size_t rows, size_t columns, int radius, int16_t *out,
                    struct err *e);

SHARED_END
#endif
