/*
 * swatches.h - what the formats of --swatches share: the film's palette (film_palette.h) of
 * FILM_PALETTE_USUAL colours, and its words. Any thread.
 */
#ifndef BARCODE_PALETTE_SWATCHES_H
#define BARCODE_PALETTE_SWATCHES_H

#include "film_palette.h"

struct swatches {
    struct film_palette palette;
    char name[512]; /* the film's file name: valid UTF-8, one line */
};

bool swatches_make(const struct report *r, struct swatches *to, struct err *e);

enum { SWATCHES_TEXT = 16 };

/* "#1a2b3c" */
void swatches_hex(const struct film_colour *c, char text[SWATCHES_TEXT]);

/* The share in parts of 10^digits, rounded half up: 1000 for all of the film with 3 digits. */
uint32_t swatches_share(const struct film_colour *c, uint32_t whole);

/* "12.3 %" */
void swatches_percent(const struct film_colour *c, char text[SWATCHES_TEXT]);

/* err_set with what the file's stream last failed with. Returns false. */
bool swatches_failed(struct err *e);

#endif
