/*
 * layout.h - a page as a list of its items: areas, lines, text, and the places of the strips. Draws
 * nothing.
 *
 * layout.c makes layouts. canvas_cairo.h draws them as pixels, PDF or SVG.
 * Lengths are in the unit of the layout, from the top left corner: a pixel if the page is in
 * pixels, otherwise a point (1/72 inch). In a layout for pixels the corners of the strips are on
 * whole pixels. One thread.
 */
#ifndef BARCODE_POSTER_LAYOUT_H
#define BARCODE_POSTER_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output/modes/time_axis.h"
#include "output/report.h"
#include "output/modes/strip.h"

struct canvas;

enum layout_align {
    LAYOUT_START, /* by the direction of the text: Arabic is at the right end of the box */
    LAYOUT_LEFT,
    LAYOUT_CENTRE,
    LAYOUT_RIGHT
};

enum { LAYOUT_TEXT = 400 };

struct layout_text {
    char text[LAYOUT_TEXT]; /* UTF-8, one paragraph */
    double x, y, w;         /* top left corner and width of the box, which bounds the text */
    double size;            /* font size: the em */
    int lines;              /* maximum; longer text ends in an ellipsis */
    enum layout_align align;
};

enum layout_kind { LAYOUT_AREA, LAYOUT_LINE, LAYOUT_WORDS };

struct layout_item {
    enum layout_kind kind;
    uint8_t rgb[3];
    double x, y, w, h; /* area: the rectangle; line: from (x, y) to (x + w, y + h) */
    double thick;      /* of a line */
    struct layout_text words;
};

/* The place of a strip. */
struct layout_shape {
    const struct strip_kind *kind;
    double x, y, w, h;
};

/* The colours of a page. */
struct page_colours {
    uint8_t paper[3];
    uint8_t title[3], small[3]; /* text: the title, and all other */
    uint8_t line[3];            /* around areas of about the colour of the paper */
};

struct layout {
    const struct report *report;
    struct canvas *canvas; /* measures text; owned by the layout. NULL: no text */
    double width, height;
    double scale;            /* pixels per unit; 0: not for pixels */
    double unit_mm;          /* millimetres per unit; 0: the unit is a pixel */
    char title[LAYOUT_TEXT]; /* of a poster or a stack; "" before it is set */
    struct page_colours colours;
    struct layout_item *item;
    size_t items, room;
    bool failed; /* out of memory when an item was added */
    struct layout_shape shape[STRIPS_MOST];
    size_t shapes;
};

/*
 * Lays out the poster of the report (report.poster). `pixels` is true for PNG, false for PDF and
 * SVG. The report and `strips` must outlive the layout. The caller frees it with layout_free.
 * Returns NULL if no font is installed, if out of memory, if no column has a frame, or if
 * interrupted.
 */
struct layout *layout_poster(const struct report *r, struct strips strips, bool pixels,
                             struct err *e);

/*
 * Lays out several strips of width x height pixels one below the other, each below its label, with
 * a time axis. Without cairo, or without fonts (a warning reports this), there is no text, and a
 * few rows separate the strips. The report must outlive the layout. The caller frees it with
 * layout_free. Returns NULL if out of memory.
 */
struct layout *layout_stack(const struct report *r, struct strips strips, int width, int height,
                            struct err *e);

void layout_free(struct layout **s);

/* Returns the title of a poster: --title, else the film's own title, else its file name without the
 * ending. UTF-8, one line. */
void layout_title(const struct report *r, char out[LAYOUT_TEXT]);

/* Returns colours that are readable on `paper`, tinted with it. */
struct page_colours layout_colours(const uint8_t paper[3]);

/* Returns the contrast of two colours as WCAG 2.2 defines it, in hundredths: 100 to 2100. */
int layout_contrast(const uint8_t a[3], const uint8_t b[3]);

/* Makes the time axis of the report's columns with at most `most` ticks. Returns false if out of
 * memory. */
bool layout_axis(const struct layout *s, int most, struct axis *axis, struct err *e);

#endif
