/*
 * smooth.h - --smooth: a line of columns' pixels, smoothed along time in linear light.
 *
 * Column i is on the screen for d_i milliseconds, 1 at least, and its middle is at m_i
 * (time_axis.h's edges, each rounded down to a millisecond; m_i is rounded down, too). With S =
 * --smooth in milliseconds a channel of column i becomes
 *
 *     level((2 N + D) / (2 D))    N = sum of d_j (S - |m_j - m_i|) linear(v_j),    D = sum of d_j
 * (S - |m_j - m_i|),
 *
 * over the columns j with |m_j - m_i| < S: a triangle, 2 S wide at its foot and S at half its
 * height, weighted by time, in linear light (srgb.h), rounded half up and then to the nearest
 * level. At the film's ends the triangle is cut. A line of one colour stays as it is.
 *
 * Every line that a strip paints goes through it, before the line is fitted to the picture's width:
 * the one line of a flat strip, each row of the others, so that the bands of a palette run into
 * each other along time. Columns themselves stay, and so does the JSON.
 *
 * S is an hour at most, so N < 2 S^2 2^16 < 2^61; a column of more than an hour weighs one. Partial
 * sums wrap modulo 2^64 and come out right.
 */
#ifndef BARCODE_MODES_SMOOTH_H
#define BARCODE_MODES_SMOOTH_H

#include <stdint.h>

#include "barcode/base/err.h"

struct smooth;

/* For lines of `count` (1 or more) columns with edges edge[count + 1], in microseconds. smooth_us:
 * 1000..STRIP_SMOOTH_MOST_US, whole milliseconds. The caller's, smooth_free. NULL: memory. */
struct smooth *smooth_open(const int64_t *edge, uint64_t count, int64_t smooth_us, struct err *e);

/* line[count][3] in place. One thread a smooth. Takes one step a column. */
void smooth_line(struct smooth *s, uint8_t *line);

/* NULL is fine. Sets *s to NULL. */
void smooth_free(struct smooth **s);

#endif
