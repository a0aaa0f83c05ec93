/*
 * paint.h - columns to pixels, a row at a time, so that a very wide picture needs no
 * memory of its own. Pure: same report, same bytes.
 *
 * One strip alone is a picture of nothing else. Several are stacked one below the other: the film's label on top, then each
 * strip after its own label.
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

/* Pixels of one picture. Picture viewers give up earlier, and asking for more is a slip that would take hours to write. */
#define PAINT_PIXELS_MOST (UINT64_C(1) << 31)

struct painter;

/*
 * A painter for one picture of `strips`. The report and the strips' array must outlive it. Fails when no column has what a
 * strip needs (strip_kind.needs), or when the picture would have more than PAINT_PIXELS_MOST. Takes the size from the
 * report: picture_width 0 is one pixel a column (several in a stacked picture of a short film, whose labels need room),
 * picture_height is that of one strip. Memory: a few rows, and what the strips keep. One thread.
 */
struct painter *painter_open(const struct report *r, struct strips strips, struct err *e);

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
