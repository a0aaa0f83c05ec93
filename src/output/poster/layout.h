/*
 * layout.h - a page as a list of what is on it: areas, lines, words, and where the strips lie.
 * Nothing is drawn here.
 *
 * poster_layout.c and stack_layout.c make lists, canvas_cairo.h draws them: as pixels, PDF or SVG.
 * Lengths are in the layout's unit, from the top left corner: a pixel of a page of pixels, else a
 * point (1/72 inch). In a layout that becomes pixels the strips' corners lie on whole pixels. One
 * thread.
 */
#ifndef BARCODE_POSTER_LAYOUT_H
#define BARCODE_POSTER_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output/modes/time_axis.h"
#include "barcode/output/report.h"
#include "barcode/output/strip.h"

struct canvas;

enum layout_align {
    LAYOUT_START, /* by the text's direction: Arabic at the right end of the box */
    LAYOUT_LEFT,
    LAYOUT_CENTRE,
    LAYOUT_RIGHT
};

enum { LAYOUT_TEXT = 400 };

struct layout_text {
    char text[LAYOUT_TEXT]; /* UTF-8, one paragraph */
    double x, y, w;         /* the box's left upper corner and its width, which no letter leaves */
    double size;            /* of the letters: their em */
    int lines;              /* at most; what does not fit ends in dots */
    enum layout_align align;
};

enum layout_kind { LAYOUT_AREA, LAYOUT_LINE, LAYOUT_WORDS };

struct layout_item {
    enum layout_kind kind;
    uint8_t rgb[3];
    double x, y, w, h; /* area: the rectangle; line: from (x, y) to (x + w, y + h) */
    double thick;      /* line */
    struct layout_text words;
};

/* A strip's place. */
struct layout_shape {
    const struct strip_kind *kind;
    double x, y, w, h;
};

struct layout {
    const struct report *report;
    struct canvas *canvas; /* measures words; owned. NULL: there are none */
    double width, height;
    double scale;            /* pixels a unit; 0: the layout does not become pixels */
    double unit_mm;          /* millimetres a unit; 0: the unit is a pixel */
    char title[LAYOUT_TEXT]; /* the poster's; "": a comparison */
    uint8_t paper[3];
    struct layout_item *item;
    size_t items, room;
    bool failed; /* an item found no memory */
    struct layout_shape shape[STRIPS_MOST];
    size_t shapes;
};

/*
 * The poster that the report asks for (report.page, report.title). `pixels`: it becomes pixels,
 * else PDF or SVG. The report and the strips must outlive it. The caller's, layout_free. NULL: no
 * font, memory, no column has a picture, or interrupted.
 */
struct layout *layout_poster(const struct report *r, struct strips strips, bool pixels,
                             struct err *e);

/*
 * Several strips of width x height pixels one below the other, each under its label, and a time
 * axis. A build without posters, and a machine without fonts (which a warning tells), leave the
 * words out: a few rows lie between the strips then.
 */
struct layout *layout_stack(const struct report *r, struct strips strips, int width, int height,
                            struct err *e);

/* Frees; sets *s to NULL. NULL is fine. */
void layout_free(struct layout **s);

/* What the poster is headed with: --title, else the film's own title, else its name without the
 * ending. UTF-8, one line. */
void layout_title(const struct report *r, char out[LAYOUT_TEXT]);

/* ---- For those who make layouts ---- */

struct layout *layout_open(const struct report *r, struct err *e);
void layout_area(struct layout *s, double x, double y, double w, double h, const uint8_t rgb[3]);
void layout_line(struct layout *s, double x, double y, double w, double h, double thick,
                 const uint8_t rgb[3]);

/* A text of no letters is left out. */
void layout_words(struct layout *s, const struct layout_text *words, const uint8_t rgb[3]);

/* v on the next whole pixel, of layouts that become pixels; else on the next whole unit. */
double layout_snap(const struct layout *s, double v);

/* The report's columns' axis with `most` ticks at the most. False: no memory. */
bool layout_axis(const struct layout *s, int most, struct axis *axis, struct err *e);

/*
 * A horizontal axis under a strip from x to x + w: ticks from y down, `tick` long, and their labels
 * below, which stay within x - spare and x + w + spare. Labels are `size` high. The layout's canvas
 * measures them.
 */
bool layout_axis_below(struct layout *s, double x, double w, double y, double tick, double size,
                       double spare, const uint8_t colour[3], struct err *e);

#endif
