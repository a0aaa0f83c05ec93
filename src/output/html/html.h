/*
 * html.h - what the page of a film is made of. A page has its own columns: all columns of the film,
 * or PAGE_COLUMNS evenly spaced ones if the film has more. One thread per page.
 */
#ifndef BARCODE_HTML_HTML_H
#define BARCODE_HTML_HTML_H

#include "html_template.h"
#include "output/formats/thumbs.h"
#include "output/modes/column_sound.h"

enum {
    PAGE_COLUMNS = 10000, /* more columns make a page slow in browsers */
    /* approximate size of a page, if strips and columns leave PAGE_THUMBS or more for thumbnails */
    PAGE_BYTES = 5900000,
    /* bytes of the thumbnail sheets, at least and at most; more improves nothing visible */
    PAGE_THUMBS = 800000,
    PAGE_THUMBS_MOST = 2400000,
    PAGE_COLOURS = 160000, /* clusters of all columns together, but at least 8 per column */
    CARD_WIDTH = 480,      /* of a strip on a card */
    /* of one whose rows differ: some 8 KB */
    CARD_ROWS_WIDTH = 320,
    CARD_ROWS = 16,
    CARD_MOMENTS = 64,
    CARD_COLOURS = 3
};

/* A page that is being written. */
struct html_job {
    const struct report *report;
    struct strips strips;
    struct err *err;             /* the reason for a failure, unless errno has it */
    uint64_t columns;            /* of the page: 1..PAGE_COLUMNS */
    size_t used;                 /* bytes of the strips as base64 */
    struct thumbs_sheets thumbs; /* count 0: none */
    struct column_sound sound;   /* if the page shows it */
};

/* Returns which column of the film is under the middle of column x (0..columns - 1) of the page. */
uint64_t html_column_index(const struct html_job *job, uint64_t x);

/* Returns that column. */
const struct column *html_column(const struct html_job *job, uint64_t x);

/* Writes a strip as a PNG of `width` x `height` pixels in base64. */
bool html_put_png(struct html_job *job, const struct strip_kind *kind, int width, int height,
                  FILE *f);

/* ---- html_card.c ---- */

/* Writes what a gallery needs of the film, as JSON with the id "card", into the page's head. */
bool html_put_card(struct html_job *job, FILE *f);

/* Returns [["#rrggbb", share of 2^20]...], lightest first, or NULL if out of memory. */
json_t *html_palette_value(const struct html_job *job);

/* Returns the length of the film in seconds, or the time of its last column if that is later. */
json_t *html_length(const struct html_job *job);

/* ---- html_data.c ---- */

/*
 * Writes the facts of the film and the run as JSON with the id "film". Then writes the arrays of
 * columns and the thumbnail sheets, each in its own element in base64. Sets job->thumbs, which the
 * caller frees.
 */
bool html_put_data(struct html_job *job, FILE *f);

#endif
