/* shape_circle.h - a strip bent into a ring, as shape.h defines it. */
#ifndef BARCODE_POSTER_SHAPE_CIRCLE_H
#define BARCODE_POSTER_SHAPE_CIRCLE_H

#include <stdint.h>

#include "barcode/base/err.h"

struct circle;

/*
 * Opens a ring of `side` pixels (1..SHAPE_SIDE_MOST) from strip[rows][along][3], which must outlive
 * it. The strip represents `across` rows: `rows` is `across`, or 1 for a flat strip. The caller
 * frees the ring with circle_free. Returns NULL if out of memory. One thread.
 */
struct circle *circle_open(const uint8_t *strip, int along, int rows, int across, int side,
                           struct err *e);

/* Writes row y into out[side][4]. */
void circle_row(struct circle *c, int y, uint8_t *out);

/* Returns the angle of the point (x, y), with y downwards: clockwise from twelve o'clock in 2^-32
 * of a turn. Both coordinates are below 2^20, and not both are 0. */
uint32_t circle_turn(const struct circle *c, int x, int y);

/* Frees the ring and sets *c to NULL. Does nothing if *c is NULL. */
void circle_free(struct circle **c);

#endif
