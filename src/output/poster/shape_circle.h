/*
 * shape_circle.h - a strip bent to a ring: shape.h's definition.
 */
#ifndef BARCODE_POSTER_SHAPE_CIRCLE_H
#define BARCODE_POSTER_SHAPE_CIRCLE_H

#include <stdint.h>

#include "barcode/base/err.h"

struct circle;

/*
 * A ring of `side` pixels (1..SHAPE_SIDE_MOST) of the strip [rows][along][3], which must outlive it
 * and stands for `across` rows: rows is that, or 1. The caller's, circle_free. NULL: memory. One
 * thread.
 */
struct circle *circle_open(const uint8_t *strip, int along, int rows, int across, int side,
                           struct err *e);

/* Row y into out[side][4]. */
void circle_row(struct circle *c, int y, uint8_t *out);

/* The angle of the point (x, y), y downwards, clockwise from twelve o'clock, in 2^-32 of a turn.
 * Both below 2^20, not both 0. */
uint32_t circle_turn(const struct circle *c, int x, int y);

/* NULL is fine. Sets *c to NULL. */
void circle_free(struct circle **c);

#endif
