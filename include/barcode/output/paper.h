/*
 * paper.h - the page that a poster is drawn on.
 */
#ifndef BARCODE_PAPER_H
#define BARCODE_PAPER_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/output/strip.h"

#ifdef __cplusplus
extern "C" {
#endif

enum paper_turn { PAPER_USUAL, PAPER_LANDSCAPE, PAPER_PORTRAIT };

/* What --page asked for. All zeros: PAPER_NAME. */
struct paper {
    bool given;           /* false: PAPER_NAME */
    bool pixels;          /* width and height are pixels of the screen, else micrometres */
    int width, height;    /* of a named size: as portrait, to be turned by `turn` */
    enum paper_turn turn; /* of a named size; PAPER_USUAL: as the shape of the strip asks */
    bool named;
};

/* The page of those who do not say. */
#define PAPER_NAME "A3"

enum {
    PAPER_LEAST_UM = 40000,
    PAPER_MOST_UM = 5000000, /* a side; PDF ends at 5.08 m */
    PAPER_LEAST_PX = 160,
    PAPER_MOST_PX = 65535,
    PAPER_DPI_LEAST = 20,
    PAPER_DPI_MOST = 2400,
    PAPER_DPI_USUAL = 300,
    PAPER_ASPECT_MOST = 20, /* the longer side over the shorter */
    PAPER_TEXT = 48
};

/*
 * "A2", "letter-portrait", "420x297mm", "16.5x11.7in", "800x600" (pixels). Names: A0 to A6, B0 to
 * B6 (ISO 216), Letter, Legal, Tabloid (ANSI), in any case, with -landscape or -portrait behind it.
 * False: it is none of these, or out of the limits above. Any thread.
 */
bool paper_parse(const char *text, struct paper *page);

/* The page's sides for a strip of this shape: landscape for a strip, else portrait. In the page's
 * unit. Any thread. */
void paper_sides(const struct paper *page, enum strip_shape shape, int *width, int *height);

/* The page's sides in pixels: a page of pixels as it is, another at `dpi`, rounded half up. Any
 * thread. */
void paper_pixels(const struct paper *page, enum strip_shape shape, int dpi, int *width,
                  int *height);

/* The page as a word without blanks, such as "420000x297000um" or "800x600px", the same for every
 * way to ask for it. Any thread. */
void paper_text(const struct paper *page, enum strip_shape shape, char text[PAPER_TEXT]);

#ifdef __cplusplus
}
#endif
#endif
