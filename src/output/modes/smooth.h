/*
 * smooth.h - --smooth: smooths a line of columns' pixels along time in linear light.
 *
 * Column i is displayed for d_i milliseconds, at least 1, and its middle is at m_i. Both come from
 * the edges of time_axis.h, each rounded down to a millisecond; m_i is rounded down, too. With S =
 * --smooth in milliseconds a channel of column i becomes
 *
 *     level((2 N + D) / (2 D))
 *     N = sum of d_j (S - |m_j - m_i|) linear(v_j)
 *     D = sum of d_j (S - |m_j - m_i|)
 *
 * over the columns j with |m_j - m_i| < S. This is a triangular filter, 2 S wide at its base and S
 * at half its height, weighted by duration. It works in linear light (srgb.h) and rounds half up
 * and then to the nearest level. At the ends of the film the triangle is truncated. A line of one
 * colour does not change.
 *
 * Every line of a strip is smoothed before it is fitted to the width of the image: the single line
 * of a flat strip, or each row of other strips. So the bands of a palette blend along time. The
 * columns and the JSON do not change.
 *
 * S is at most one hour, so N < 2 S^2 2^16 < 2^61; a column longer than an hour counts as one hour.
 * Partial sums wrap modulo 2^64 without affecting the result.
 */
#ifndef BARCODE_MODES_SMOOTH_H
#define BARCODE_MODES_SMOOTH_H

#include <stdint.h>

#include "barcode/base/err.h"

struct smooth;

/*
 * Opens a filter for lines of `count` (>= 1) columns with edge[count + 1] in microseconds.
 * smooth_us is 1000..STRIP_SMOOTH_MOST_US, in whole milliseconds. The caller frees it with
 * smooth_free. Returns NULL if out of memory.
 */
struct smooth *smooth_open(const int64_t *edge, uint64_t count, int64_t smooth_us, struct err *e);

/* Smooths line[count][3] in place, in one pass. One thread per filter. */
void smooth_line(struct smooth *s, uint8_t *line);

/* Smooths value[count] in place as it does a channel in linear light. One thread per filter. */
void smooth_values(struct smooth *s, uint16_t *value);

void smooth_free(struct smooth **s);

#endif
