/*
 * shape.h - a strip in its shape, as rows of pixels.
 *
 * strip     strip.h's picture: time from left to right.
 * vertical  the same turned by its diagonal: pixel (x, y) is the strip's pixel (y, x), so time runs
 * from top to bottom and the strip's top is on the left. circle    a ring, D pixels across, with a
 * hole of floor(2 D / 5): time runs clockwise from twelve o'clock, the strip's top is outside. The
 * strip is painted for it with min(columns, floor(355 D / 113)) x ceil(3 D / 10) pixels, W x H. Of
 * each pixel 4 x 4 points count: point (a, b) of pixel (x, y) has the distance (X, Y) = (8x + 2a +
 * 1 - 4D, 8y + 2b + 1 - 4D) to the middle, in 1/8 pixel. It lies on the ring if (4h)^2 <= X^2 + Y^2
 * < (4D)^2 with the hole's h; its strip pixel is column floor(turn W / 2^32) for its angle as a
 * fraction of a turn in 2^-32, and row floor((4D - r) H / (4D - 4h)) for r = floor(sqrt(X^2 +
 * Y^2)). The pixel has the mean light (srgb.h) of its points on the ring, rounded half up and then
 * to the nearest level, and the alpha round(255 n / 16) of the n of them; pixels without any are
 * black and clear. The angle comes from a table of 1,025 arctangents, made in integers, with
 * straight lines between: it is within 2^-21 of a turn, the same on every machine.
 */
#ifndef BARCODE_POSTER_SHAPE_H
#define BARCODE_POSTER_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/output/report.h"
#include "barcode/output/strip.h"

enum {
    SHAPE_CIRCLE_USUAL = 1080, /* pixels across */
    SHAPE_ACROSS_USUAL = 360,  /* pixels across time */
    SHAPE_SIDE_MOST = 16384,   /* of a circle; of what a PDF or SVG embeds */
    SHAPE_WHOLE_MOST = 1 << 28 /* pixels of a strip that is held as a whole */
};

struct shape;

/*
 * Gets the size of the shape: the report's width and height (report.h) where it has them, else the
 * usual ones. Neither side exceeds `most`.
 */
void shape_size(const struct report *r, int most, int *width, int *height);

/*
 * The report's shape of this strip, width x height pixels (1 or more; a circle's are the same). The
 * report must outlive it. The caller's, shape_free. NULL: as strip_open; more than SHAPE_WHOLE_MOST
 * pixels where the strip is held as a whole; interrupted.
 */
struct shape *shape_open(const struct report *r, const struct strip_kind *kind, int width,
                         int height, struct err *e);

/* 3, or 4 of a circle: R'G'B' and alpha, not multiplied. */
int shape_channels(enum strip_shape shape);

/* Row y into out[width][channels]. Quickest in ascending order; any order gives the same bytes. */
void shape_row(struct shape *f, int y, uint8_t *out);

/* Frees; sets *f to NULL. NULL is fine. */
void shape_free(struct shape **f);

#endif
