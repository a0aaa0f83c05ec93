/*
 * shape.h - a strip in its shape, as rows of pixels.
 *
 * strip: the image of strip.h. Time runs from left to right.
 *
 * vertical: the strip mirrored at its diagonal: pixel (x, y) is pixel (y, x) of the strip. So time
 * runs from top to bottom, and the top of the strip is on the left.
 *
 * ring: on a square of S pixels, a ring with a diameter of D = S - 2 floor(S / 25) and a hole of
 * floor(2 D / 5). Time runs clockwise from twelve o'clock, and the top of the strip is outside. For
 * the ring the strip is painted with W x H pixels: min(columns, floor(355 D / 113)) x ceil(3 D /
 * 10), or with floor(355 D / 113) x ceil(3 D / 10) if axis_by_time (time_axis.h).
 *
 * Each pixel of a ring has 4 x 4 sample points. Point (a, b) of pixel (x, y) has the distance (X,
 * Y) = (8x + 2a + 1 - 4S, 8y + 2b + 1 - 4S) to the centre, in 1/8 pixel. With h the diameter of the
 * hole, the point is on the ring if (4h)^2 <= X^2 + Y^2 < (4D)^2. Its colour is that of the strip's
 * pixel in column floor(turn W / 2^32) and row floor((4D - r) H / (4D - 4h)). `turn` is its angle
 * in 2^-32 of a turn, and r = floor(sqrt(X^2 + Y^2)).
 *
 * Let n be the number of points of a pixel on the ring. The pixel gets their mean light (colour.h),
 * rounded half up and then to the nearest level, and the alpha round(255 n / 16). Pixels with n = 0
 * are black and transparent.
 *
 * The angle is interpolated linearly in a table of 1,025 arctangents that is computed in integers.
 * Its error is below 2^-21 of a turn, and it is the same on every machine.
 */
#ifndef BARCODE_SHAPE_H
#define BARCODE_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "output/modes/strip.h"
#include "output/report.h"

enum {
    SHAPE_RING_USUAL = 1080,   /* side of a ring's square in pixels */
    SHAPE_RING_MARGIN = 25,    /* one of so many parts of the side, around the ring */
    SHAPE_ACROSS_USUAL = 800,  /* pixels across the direction of time */
    SHAPE_SIDE_MOST = 16384,   /* of a circle, and of an image embedded in PDF or SVG */
    SHAPE_WHOLE_MOST = 1 << 28 /* pixels of a strip that is held completely */
};

struct shape;

/* Returns the size of the shape: width and height of the report (report.h) if set, otherwise the
 * defaults. Neither side exceeds `most`. */
void shape_size(const struct report *r, int most, int *width, int *height);

/*
 * Opens the report's shape of this strip with width x height pixels (>= 1 each; equal for a
 * circle). The report must outlive it. The caller frees it with shape_free. Returns NULL if
 * strip_open fails, if a strip that is held completely has more than SHAPE_WHOLE_MOST pixels, if
 * out of memory, or if interrupted.
 */
struct shape *shape_open(const struct report *r, const struct strip_kind *kind, int width,
                         int height, struct err *e);

/* Returns 3 (R'G'B'), or 4 for a circle (with alpha, not premultiplied). */
int shape_channels(enum strip_shape shape);

/* Writes row y into out[width][channels]. Ascending order is fastest; any order gives the same
 * bytes. */
void shape_row(struct shape *f, int y, uint8_t *out);

void shape_free(struct shape **f);

/* ---- The angles of a ring ---- */

enum { CIRCLE_ARCS = 1026 };

/* Fills the table of arctan(i / 1024) in 2^-32 of a turn. */
void circle_fill(uint32_t arc[CIRCLE_ARCS]);

/* Returns the angle of the point (x, y), with y downwards: clockwise from twelve o'clock in 2^-32
 * of a turn. Both coordinates are below 2^20, and not both are 0. */
uint32_t circle_turn(const uint32_t arc[CIRCLE_ARCS], int x, int y);

#endif
