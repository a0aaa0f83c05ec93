/*
 * paint.h - paints columns as pixels, one row at a time, so that a very wide image needs little
 * memory. Pure: the same report gives the same bytes.
 *
 * One mode alone fills the image, in the report's shape. Around a ring is the background of
 * report.style, or transparency. Several modes are stacked: the film's title on top, each strip
 * below its own label, and a time axis at the bottom. With report.poster the image is a page with
 * all of these.
 *
 * The pixels of the strips are exact on every machine. Text is drawn with the installed fonts, so
 * an image with text is reproducible only on one machine.
 */
#ifndef BARCODE_PAINT_H
#define BARCODE_PAINT_H

#include <stdbool.h>
#include <stdint.h>

#include "output/report.h"
#include "output/modes/strip.h"

/* The maximum number of pixels of an image. Image viewers have lower limits, and a larger image is
 * most likely a mistake that would take hours to write. */
#define PAINT_PIXELS_MOST (UINT64_C(1) << 31)

/* Returns true if text can be drawn. Fails with ERR_FAILED if no font is installed, and with
 * ERR_USAGE if the build has no cairo and pango. Main thread, before other threads start. */
bool paint_has_letters(struct err *e);

/*
 * Logs a warning if no font of the family `font` is installed, so that text is drawn with another
 * one. Main thread, after paint_has_letters.
 */
void paint_check_font(const char *font);

/*
 * Calls `visit` with the folders and files that drawing text reads, as fontconfig is configured.
 * Does nothing if paint_has_letters was not called. Returns false when `visit` does.
 */
typedef bool paint_visit(void *user, const char *path, struct err *e);
bool paint_letter_places(paint_visit *visit, void *user, struct err *e);

struct painter;

/*
 * Opens a painter for one image of `strips`. The report and the array of `strips` must outlive it.
 * One thread.
 *
 * Fails if no column has what a mode needs (strip_kind.needs), if the image would have more than
 * PAINT_PIXELS_MOST pixels, or if a poster has no font.
 *
 * The size comes from the report. A length of 0 along time means one pixel per column. A stacked
 * image of a short film has several, because its labels need room. A poster has the size of its
 * page.
 *
 * Memory: about 12 MB for a layout, otherwise a few rows, and what the strips keep. Shapes other
 * than SHAPE_STRIP hold their strip completely.
 */
struct painter *painter_open(const struct report *r, struct strips strips, struct err *e);

int painter_width(const struct painter *p);
int painter_height(const struct painter *p);
int painter_channels(const struct painter *p); /* 3: R'G'B'; 4: with alpha, not premultiplied */

/* Writes row y (0..height - 1) into out[width][channels]. Ascending order is fastest; any order
 * gives the same bytes. */
void painter_row(struct painter *p, int y, uint8_t *out);

/*
 * As painter_row, for a writer: returns false if the row could not be drawn, or with
 * ERR_INTERRUPTED if interrupted() is true.
 */
bool painter_next_row(struct painter *p, int y, uint8_t *out, struct err *e);

/* Returns false if a row could not be drawn; *e has the reason. Such a row is black. */
bool painter_ok(const struct painter *p, struct err *e);

/* Frees the painter and sets *p to NULL. Does nothing if *p is NULL. */
void painter_free(struct painter **p);

#endif
