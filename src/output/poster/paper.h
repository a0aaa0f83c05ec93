/* paper.h - the page that a poster is drawn on, and how it looks. */
#ifndef BARCODE_PAPER_H
#define BARCODE_PAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output/modes/strip.h"

enum paper_turn { PAPER_USUAL, PAPER_LANDSCAPE, PAPER_PORTRAIT };

/* The value of --page. All zeros means PAPER_NAME. */
struct paper {
    bool given;           /* false: use PAPER_NAME */
    bool pixels;          /* true: width and height are in pixels; false: in micrometres */
    int width, height;    /* of a named size: portrait, before `turn` applies */
    enum paper_turn turn; /* of a named size; PAPER_USUAL: from the shape of the strip */
    bool named;
};

/* What posters, stacks and rings look like. All zeros is the default. */
struct paper_style {
    const char *subtitle;  /* NULL: what the picture shows; "": none */
    const char *font;      /* a family, or several with commas; NULL: the default ones */
    bool bare;             /* no subtitle unless given, no axis, no values of the palette */
    bool live_text;        /* SVG: text as text, not as outlines */
    bool has_background;   /* `background` is given */
    uint8_t background[3]; /* R'G'B' */
};

/* The default page. */
#define PAPER_NAME "A3"

enum {
    PAPER_LEAST_UM = 40000,
    PAPER_MOST_UM = 5000000, /* per side; the limit of PDF is 5.08 m */
    PAPER_LEAST_PX = 160,
    PAPER_MOST_PX = 65535,
    PAPER_DPI_LEAST = 20,
    PAPER_DPI_MOST = 2400,
    PAPER_DPI_USUAL = 300,
    PAPER_ASPECT_MOST = 20, /* longer side / shorter side */
    PAPER_TEXT = 48
};

/*
 * Parses a page size: "A2", "letter-portrait", "420x297mm", "16.5x11.7in", "800x600" (pixels). The
 * names are A0 to A6, B0 to B6 (ISO 216), Letter, Legal and Tabloid (ANSI), in any case. A name may
 * end in -landscape or -portrait. Returns false if the text is none of these or exceeds the limits
 * above. Any thread.
 */
bool paper_parse(const char *text, struct paper *page);

/* Returns the name of page size `i`, or NULL after the last one. Any thread. */
const char *paper_name(size_t i);

/* Returns the sides of the page, in the page's unit: landscape for SHAPE_STRIP, otherwise portrait.
 * Any thread. */
void paper_sides(const struct paper *page, enum strip_shape shape, int *width, int *height);

/* Returns the sides of the page in pixels. A page in pixels is unchanged; any other is converted at
 * `dpi` and rounded half up. Any thread. */
void paper_pixels(const struct paper *page, enum strip_shape shape, int dpi, int *width,
                  int *height);

/* Writes the page as a word without spaces, such as "420000x297000um" or "800x600px". Equal pages
 * give equal words, however they were requested. Any thread. */
void paper_text(const struct paper *page, enum strip_shape shape, char text[PAPER_TEXT]);

#endif
