/*
 * paint.h - columns to pixels, a row at a time, so that a very wide picture needs no
 * memory of its own. Pure: same report, same bytes.
 *
 * One strip alone is a picture of nothing else, in the report's shape. Several are stacked one
 * below the other: the film's title on top, then each strip after its own label, and a time axis
 * below. With report.poster the picture is a page with all of this on it.
 *
 * The strips' pixels are exact everywhere. Words are drawn with the fonts that are installed, so
 * that all the bytes of a picture with words are the same on one machine only.
 */
#ifndef BARCODE_PAINT_H
#define BARCODE_PAINT_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/output/report.h"
#include "barcode/output/strip.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pixels of one picture. Picture viewers give up earlier, and asking for more is a slip that would
 * take hours to write. */
#define PAINT_PIXELS_MOST (UINT64_C(1) << 31)

/*
 * True if posters can be lettered: a font is there (else ERR_FAILED), and the build has cairo and
 * pango (else ERR_USAGE). Main thread, before others start.
 */
bool paint_has_letters(struct err *e);

struct painter;

/*
 * A painter for one picture of `strips`. The report and the strips' array must outlive it. Fails
 * when no column has what a strip needs (strip_kind.needs), when the picture would have more than
 * PAINT_PIXELS_MOST, or a poster has no font. Takes the size from the report: 0 along time is one
 * pixel a column (several in a stacked picture of a short film, whose labels need room), a poster's
 * is its page's. Memory: 12 MB for a sheet, a few rows else, and what the strips keep; other shapes
 * hold their strip as a whole. One thread.
 */
struct painter *painter_open(const struct report *r, struct strips strips, struct err *e);

int painter_width(const struct painter *p);
int painter_height(const struct painter *p);
int painter_channels(const struct painter *p); /* 3: R'G'B'; 4: and alpha, not multiplied */

/* Row y (0..height) into out[width][channels]. Quickest from top to bottom; any order gives the
 * same bytes. */
void painter_row(struct painter *p, int y, uint8_t *out);

/* False when a row could not be drawn, and is black; *e says why. */
bool painter_ok(const struct painter *p, struct err *e);

/* Frees; sets *p to NULL. NULL is fine. */
void painter_free(struct painter **p);

#ifdef __cplusplus
}
#endif
#endif
