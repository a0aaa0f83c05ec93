/*
 * html.h - what a film's page is made of. A page has its own columns: the film's, or PAGE_COLUMNS
 * of them where the film has more, spread evenly. One thread a page.
 */
#ifndef BARCODE_HTML_HTML_H
#define BARCODE_HTML_HTML_H

#include "html_template.h"
#include "output/palette/film_palette.h"
#include "barcode/output/thumbs.h"

enum {
    PAGE_COLUMNS = 10000, /* more would make pages that browsers are slow with */
    /* of a page, about, where strips and columns leave thumbnails PAGE_THUMBS or more of it */
    PAGE_BYTES = 5900000,
    /* bytes of their sheets, at least and at most: with more they look no better */
    PAGE_THUMBS = 800000,
    PAGE_THUMBS_MOST = 2400000,
    PAGE_COLOURS = 160000, /* of all columns' clusters together, but at least 8 a column */
    CARD_WIDTH = 480,
    CARD_MOMENTS = 64,
    CARD_COLOURS = 3
};

/* A page in the making. */
struct html_job {
    const struct report *report;
    struct strips strips;
    struct err *err;  /* the cause, unless errno has it */
    uint64_t columns; /* of the page: 1..PAGE_COLUMNS */
    struct film_palette palette;
    size_t used;                 /* bytes of strips, as base64 */
    struct thumbs_sheets thumbs; /* count 0: there are none */
};

/* Column x (0..columns) of the page: the film's column that lies under the middle of it. */
const struct column *html_column(const struct html_job *job, uint64_t x);

/* A strip as a PNG of `width` x `height` pixels, as base64. */
bool html_put_png(struct html_job *job, const struct strip_kind *kind, int width, int height,
                  FILE *f);

/* ---- html_card.c ---- */

/* What a gallery needs of the film, as the JSON with the id "card" in the page's head. */
bool html_put_card(struct html_job *job, FILE *f);

/* [["#rrggbb", share of 2^20]...], lightest first. NULL: memory. */
json_t *html_palette_value(const struct html_job *job);

/* The film's length in seconds as far as it is known: its own, or up to its last column. */
json_t *html_length(const struct html_job *job);

/* ---- html_data.c ---- */

/*
 * Facts of the film and the run as JSON with the id "film", then the columns' numbers and the
 * sheets of thumbnails, an element of base64 each. Makes job->thumbs, which the caller frees.
 */
bool html_put_data(struct html_job *job, FILE *f);

#endif
