/*
 * canvas_cairo.h - draws layouts. Only canvas_cairo.c uses cairo, pango and fontconfig; a build
 * without them has canvas_none.c.
 *
 * Text uses the installed fonts: it may differ between machines, but not between runs on one
 * machine. Hinting and subpixel rendering are off, so that a glyph has the same outline at every
 * size. pango ends the process if out of memory. One thread.
 */
#ifndef BARCODE_POSTER_CANVAS_CAIRO_H
#define BARCODE_POSTER_CANVAS_CAIRO_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "poster.h"
#include "layout.h"

enum { CANVAS_FAMILY = 200 };

/*
 * Returns true if a font of this family is installed, or if the name is a generic one ("serif"). If
 * `family` is a list with commas, its first counts. Otherwise sets `used` to the font that is drawn
 * instead. After paint_has_letters.
 */
bool canvas_has_font(const char *family, char used[CANVAS_FAMILY]);

/*
 * Opens a canvas; the caller closes it with canvas_close. `font` is the preferred family, or NULL.
 * Returns NULL if paint_has_letters fails or if out of memory.
 */
struct canvas *canvas_open(const char *font, struct err *e);

void canvas_close(struct canvas **canvas);

/* Returns the size of the text's box as drawn. */
void canvas_measure(struct canvas *canvas, const struct layout_text *text, double *w, double *h);

/* Returns the number of characters that no installed font has. They are drawn as boxes with their
 * code. `*leftward`: the text runs from right to left, as Arabic and Hebrew do. */
int canvas_unknown(struct canvas *canvas, const struct layout_text *text, bool *leftward);

/* Draws rows y to y + rows - 1 of the layout, without its strips, into rgb[rows][width][3]. `width`
 * is that of the layout in pixels. */
bool canvas_pixels(struct canvas *canvas, const struct layout *s, int y, int rows, int width,
                   uint8_t *rgb, struct err *e);

/* Receives the bytes of a file in order. Returns false with *e set to stop the drawing. */
typedef bool canvas_sink(void *user, const void *bytes, size_t size, struct err *e);

/* The metadata of a PDF, in UTF-8. */
struct canvas_about {
    const char *title, *subject, *keywords, *creator;
};

/* Writes the complete PDF. The strips are embedded at their own size in pixels (shape.h), lossless,
 * and drawn without interpolation. */
bool canvas_pdf(struct canvas *canvas, const struct layout *s, const struct canvas_about *about,
                canvas_sink *sink, void *user, struct err *e);

/* Returns the font families of the canvas, in order of preference and with commas between them. */
const char *canvas_families(const struct canvas *canvas);

/* A line of a text as drawn. */
struct canvas_line {
    char text[LAYOUT_TEXT];
    bool leftward; /* runs from right to left */
    double x, y;   /* of its beginning, on the base line, in units of the layout */
};

/* Writes the first `most` (>= 1) lines of a text, and returns their number. */
int canvas_lines(struct canvas *canvas, const struct layout_text *text, struct canvas_line *line,
                 int most);

/*
 * Returns the outlines of a text as the `d` of an SVG path, in units of the layout. The caller
 * frees it. Returns NULL if out of memory.
 */
char *canvas_outlines(struct canvas *canvas, const struct layout_text *text, struct err *e);

#endif
