/*
 * paint.h - columns to pixels, a row at a time, so that a very wide picture needs no
 * memory of its own. Pure: same report, same bytes.
 *
 * kmeans      a column is the colour of its largest cluster, top to bottom.
 * palette     all clusters, largest at the top; band j ends at row floor((H * c_j + T/2) / T),
 *             c_j the pixels of clusters 0..j and T of all: exact to the pixel, no slivers.
 * average     the mean colour.
 * downsample  the mean of each staged row; the rows are fitted to the height by the exact
 *             area mean (shrink.h's rule), enlarging included.
 *
 * A MISSING column is painted as its nearest earlier column that has a picture (or the nearest
 * later one at the start). Columns are fitted to the width by the exact area mean, rounded half up.
 * Stacked (-m all): the four modes one below the other in the order above, each with a label.
 */
#ifndef BARCODE_PAINT_H
#define BARCODE_PAINT_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/report.h"
#include "barcode/strip.h"

#ifdef __cplusplus
extern "C" {
#endif

struct painter;

/*
 * A painter for one picture of `mode` (stacked false) or of all modes (stacked true; mode is
 * ignored). The report must outlive it. Fails when no column has what the mode needs (clusters, row
 * means), or when the picture would be higher or wider than 2^31 - 1. Takes the size from report->options:
 * width 0 is one pixel a column, height is of one mode's strip. Memory: a few rows, and 32 bytes a column
 * for palette.
 */
struct painter *painter_open(const struct report *r, enum mode mode, bool stacked, struct err *e);

int painter_width(const struct painter *p);
int painter_height(const struct painter *p);

/* Row y (0..height) into rgb[width][3]. Quickest from top to bottom; any order gives the same bytes. */
void painter_row(struct painter *p, int y, uint8_t *rgb);

/* Frees; sets *p to NULL. NULL is fine. */
void painter_free(struct painter **p);

#ifdef __cplusplus
}
#endif
#endif
