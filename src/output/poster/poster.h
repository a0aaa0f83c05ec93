/* poster.h - pictures with words: the page of a poster, and the painter of all images of pixels. */
#ifndef BARCODE_POSTER_H
#define BARCODE_POSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/option.h"
#include "output/modes/strip.h"

struct writer;

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
    const char *subtitle;  /* NULL: what the picture shows; "technical": how, too; "": none */
    const char *font;      /* a family, or several with commas; NULL: the default ones */
    bool bare;             /* no subtitle unless given, no axis, no values of the palette */
    bool live_text;        /* SVG: text as text, not as outlines */
    bool has_background;   /* `background` is given */
    uint8_t background[3]; /* R'G'B' */
};

/* The options of posters and of the text around a picture. */
struct poster_options {
    /* --poster; SVG and PDF outputs are posters without it, see outputs_are_posters */
    bool wanted;
    const struct writer *format; /* --poster=FORMAT; NULL: by -o's ending, or PNG */
    struct paper page;
    int dpi;           /* of a PNG poster; PAPER_DPI_USUAL by default */
    const char *title; /* --title; NULL: not given */
    /* --subtitle, --font, --bare, --svg-text, --background */
    struct paper_style style;
};

extern const struct option_table poster_options;

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

/*
 * A painter paints columns as pixels, one row at a time, so that a very wide image needs little
 * memory. Pure: the same report gives the same bytes.
 *
 * One mode alone fills the image, in the report's shape. Around a ring is the background of
 * report.poster.style, or transparency. Several modes are stacked: the film's title on top, each
 * strip below its own label, and a time axis at the bottom. With report.poster.wanted the image is
 * a page with all of these.
 *
 * The pixels of the strips are exact on every machine. Text is drawn with the installed fonts, so
 * an image with text is reproducible only on one machine.
 */

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

/*
 * Writes row y (0..height - 1) into out[width][channels]. Ascending order is fastest; any order
 * gives the same bytes. Returns false if the row could not be drawn, or with ERR_INTERRUPTED if
 * interrupted() is true.
 */
bool painter_row(struct painter *p, int y, uint8_t *out, struct err *e);

void painter_free(struct painter **p);

#endif
