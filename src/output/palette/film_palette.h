/*
 * film_palette.h - a film's palette: the clusters of its columns, clustered again. All arithmetic
 * is in integers.
 *
 * Every column contributes the colours of its clusters, each with its share of the frame (in 2^-16,
 * rounded down). A column without clusters contributes one colour: its dominant colour if that was
 * computed, otherwise its average. A MISSING column contributes what it is painted as: the colours
 * of the nearest earlier column with a frame, or of the nearest later one at the start. A frame
 * that fills several columns counts in each, so that its weight is its share of the image.
 *
 * These colours, in the order of the columns and by share in each column, become a frame of
 * FILM_PALETTE_PIXELS. Let T be the sum of all weights. The colour from t to u of that sum gets the
 * pixels floor(N t / T) to floor(N u / T), as in FIT_POOL (strip.h). kmeans.h clusters this frame
 * with the film's parameters, except k, and with 0 as the frame number.
 */
#ifndef BARCODE_FILM_PALETTE_H
#define BARCODE_FILM_PALETTE_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/output/report.h"

enum {
    FILM_PALETTE_USUAL = 8,       /* the default number of colours */
    FILM_PALETTE_PIXELS = 1 << 20 /* the denominator of shares */
};

struct film_colour {
    uint8_t rgb[3]; /* R'G'B', displayed as sRGB */
    uint32_t share; /* 1..FILM_PALETTE_PIXELS, which is their sum */
};

/* A palette, lightest first as with --order lightness (srgb.h: by luminance). Equal ones are
 * ordered by share. */
struct film_palette {
    int count; /* 1..CLUSTERS_MAX */
    struct film_colour colour[CLUSTERS_MAX];
};

/*
 * Makes the palette of a finished film, with at most `colours` (1..CLUSTERS_MAX) colours. It has
 * fewer if the film has fewer. Reads columns, count, needs and kmeans of the report. Takes a few
 * tens of MB. Any thread. Returns false with ERR_FAILED (no column has a frame, or out of memory),
 * or with ERR_INTERRUPTED if interrupted() is true.
 */
bool film_palette_make(const struct report *r, int colours, struct film_palette *to, struct err *e);

#endif
