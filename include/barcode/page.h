/*
 * page.h - the page that a poster is drawn on.
 */
#ifndef BARCODE_PAGE_H
#define BARCODE_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/strip.h"

#ifdef __cplusplus
extern "C" {
#endif

enum page_turn { PAGE_USUAL, PAGE_LANDSCAPE, PAGE_PORTRAIT };

/* What --page asked for. All zeros: PAGE_NAME. */
struct page {
    bool given;                 /* false: PAGE_NAME                                                     */
    bool pixels;                /* width and height are pixels of the screen, else micrometres          */
    int width, height;          /* of a named size: as portrait, to be turned by `turn`                 */
    enum page_turn turn;        /* of a named size; PAGE_USUAL: as the shape of the strip asks          */
    bool named;
};

/* The page of those who do not say. */
#define PAGE_NAME "A3"

enum {
    PAGE_LEAST_UM = 40000, PAGE_MOST_UM = 5000000,       /* a side; PDF ends at 5.08 m */
    PAGE_LEAST_PX = 160, PAGE_MOST_PX = 65535,
    PAGE_DPI_LEAST = 20, PAGE_DPI_MOST = 2400, PAGE_DPI_USUAL = 300,
    PAGE_ASPECT_MOST = 20,                               /* the longer side over the shorter */
    PAGE_TEXT = 48
};

/*
 * "A2", "letter-portrait", "420x297mm", "16.5x11.7in", "800x600" (pixels). Names: A0 to A6, B0 to B6 (ISO 216), Letter, Legal,
 * Tabloid (ANSI), in any case, with -landscape or -portrait behind it. False: it is none of these, or out of the limits above.
 * Any thread.
 */
bool page_parse(const char *text, struct page *page);

/* The page's sides for a strip of this shape: landscape for a strip, else portrait. In the page's unit. Any thread. */
void page_sides(const struct page *page, enum strip_shape shape, int *width, int *height);

/* The page's sides in pixels: a page of pixels as it is, another at `dpi`, rounded half up. Any thread. */
void page_pixels(const struct page *page, enum strip_shape shape, int dpi, int *width, int *height);

/* The page as a word without blanks, such as "420000x297000um" or "800x600px", the same for every way to ask for it. Any thread. */
void page_text(const struct page *page, enum strip_shape shape, char text[PAGE_TEXT]);

#ifdef __cplusplus
}
#endif
#endif
