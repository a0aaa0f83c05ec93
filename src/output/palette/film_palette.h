/*
 * film_palette.h - a film's own colours: its columns' clusters, clustered once more. All in
 * integers.
 *
 * Every column of the picture gives the colours of its clusters, each with its share of the frame
 * (in 2^-16, rounded down). A column without clusters gives one colour: the dominant one where the
 * film was asked for it, or else the average. A MISSING column gives what it is painted as: those
 * of the nearest column before it that has a picture, or of the nearest after it at the start. A
 * frame that fills several columns counts in each, so that a colour weighs what it has of the
 * picture.
 *
 * These colours, in the columns' order and of a column by share, become a frame of
 * FILM_PALETTE_PIXELS: of the sum T of all weights the colour that reaches from t to u of it gets
 * the pixels floor(N t / T) to floor(N u / T), as FIT_POOL has it (strip.h). kmeans.h clusters that
 * frame with the film's parameters, but for k, and 0 for the frame's number.
 */
#ifndef BARCODE_FILM_PALETTE_H
#define BARCODE_FILM_PALETTE_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/output/report.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FILM_PALETTE_USUAL = 8,       /* colours, where nobody said how many */
    FILM_PALETTE_PIXELS = 1 << 20 /* what the shares of a palette are parts of */
};

struct film_colour {
    uint8_t rgb[3]; /* R'G'B' to be shown as sRGB */
    uint32_t share; /* 1..FILM_PALETTE_PIXELS; together all of them */
};

/* The lightest first, as --order lightness has it (srgb.h: by luminance); of equal ones the one of
 * the greater share. */
struct film_palette {
    int count; /* 1..CLUSTERS_MAX */
    struct film_colour colour[CLUSTERS_MAX];
};

/*
 * The palette of a finished film, of `colours` (1..CLUSTERS_MAX) colours at most: fewer where the
 * film has no more. Reads of the report its columns, count, needs and kmeans. Takes a few tens of
 * MB and, for 10,000 columns of 8 clusters, about 0.1 s. Any thread. False: ERR_FAILED (no column
 * has a picture; memory), or ERR_INTERRUPTED when interrupted() turned true.
 */
bool film_palette_make(const struct report *r, int colours, struct film_palette *to, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
