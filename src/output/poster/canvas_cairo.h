/*
 * canvas_cairo.h - draws sheets: the only place that knows cairo, pango and fontconfig. canvas_none.c stands for it in a build without them.
 *
 * Letters come from the fonts that are installed: two machines may draw them differently, one machine always the same. Hints and
 * subpixels are off, so that a letter has the same outline at every size. pango ends the process when memory runs out. One thread.
 */
#ifndef BARCODE_POSTER_CANVAS_CAIRO_H
#define BARCODE_POSTER_CANVAS_CAIRO_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "layout.h"

/* True if words can be drawn. False: no font is installed (ERR_FAILED), or the build has no letters (ERR_USAGE). Starts no thread. */
bool ink_ready(struct err *e);

/* The caller's, ink_close. NULL: as ink_ready, or memory. */
struct ink *ink_open(struct err *e);

/* NULL is fine. Sets *ink to NULL. */
void ink_close(struct ink **ink);

/* The size of a text's box as it is drawn. */
void ink_measure(struct ink *ink, const struct sheet_text *text, double *w, double *h);

/* True if the text runs to the left, as Arabic and Hebrew do. */
bool ink_leftward(struct ink *ink, const struct sheet_text *text);

/* How many characters of the text no installed font has: they are drawn as boxes with their number. */
int ink_unknown(struct ink *ink, const struct sheet_text *text);

/* Rows y..y + rows of the sheet's pixels, without its strips, into rgb[rows][width][3]; width: the sheet's, in pixels. */
bool ink_pixels(struct ink *ink, const struct sheet *s, int y, int rows, int width, uint8_t *rgb, struct err *e);

/* Takes the bytes of a file, in order. False with *e ends the drawing. */
typedef bool ink_sink(void *user, const void *bytes, size_t size, struct err *e);

/* What a PDF says of itself; UTF-8. */
struct ink_about {
    const char *title, *subject, *keywords, *creator;
};

/* The whole PDF, its strips at their own pixels (shape.h), which are embedded without loss and drawn without interpolation. */
bool ink_pdf(struct ink *ink, const struct sheet *s, const struct ink_about *about, ink_sink *sink, void *user, struct err *e);

/* The outlines of a text as the `d` of an SVG's path, in units of the sheet; the caller's, free(). NULL: memory. */
char *ink_outlines(struct ink *ink, const struct sheet_text *text, struct err *e);

#endif
