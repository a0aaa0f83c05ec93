/*
 * canvas_cairo.h - draws layouts: the only place that knows cairo, pango and fontconfig.
 * canvas_none.c stands for it in a build without them.
 *
 * Letters come from the fonts that are installed: two machines may draw them differently, one
 * machine always the same. Hints and subpixels are off, so that a letter has the same outline at
 * every size. pango ends the process when memory runs out. One thread.
 */
#ifndef BARCODE_POSTER_CANVAS_CAIRO_H
#define BARCODE_POSTER_CANVAS_CAIRO_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "layout.h"

/* True if words can be drawn. False: no font is installed (ERR_FAILED), or the build has no letters
 * (ERR_USAGE). Starts no thread. */
bool canvas_ready(struct err *e);

/*
 * Opens a canvas; the caller closes it with canvas_close. Returns NULL if canvas_ready fails or if
 * out of memory.
 */
struct canvas *canvas_open(struct err *e);

/* Closes a canvas, which may be NULL, and sets `*canvas` to NULL. */
void canvas_close(struct canvas **canvas);

/* The size of a text's box as it is drawn. */
void canvas_measure(struct canvas *canvas, const struct layout_text *text, double *w, double *h);

/* True if the text runs to the left, as Arabic and Hebrew do. */
bool canvas_leftward(struct canvas *canvas, const struct layout_text *text);

/* How many characters of the text no installed font has: they are drawn as boxes with their number.
 */
int canvas_unknown(struct canvas *canvas, const struct layout_text *text);

/*
 * Draws rows y..y + rows of the layout, without its strips, into rgb[rows][width][3]. `width` is
 * the layout's, in pixels.
 */
bool canvas_pixels(struct canvas *canvas, const struct layout *s, int y, int rows, int width,
                   uint8_t *rgb, struct err *e);

/* Takes the bytes of a file, in order. False with *e ends the drawing. */
typedef bool canvas_sink(void *user, const void *bytes, size_t size, struct err *e);

/* What a PDF says of itself; UTF-8. */
struct canvas_about {
    const char *title, *subject, *keywords, *creator;
};

/* The whole PDF, its strips at their own pixels (shape.h), which are embedded without loss and
 * drawn without interpolation. */
bool canvas_pdf(struct canvas *canvas, const struct layout *s, const struct canvas_about *about,
                canvas_sink *sink, void *user, struct err *e);

/*
 * Returns the outlines of a text as the `d` of an SVG path, in units of the layout. The caller
 * frees it. Returns NULL if out of memory.
 */
char *canvas_outlines(struct canvas *canvas, const struct layout_text *text, struct err *e);

#endif
