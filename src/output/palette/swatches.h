/*
 * swatches.h - shared by the formats of --swatches: the text of the film's palette
 * (film_palette.h). Any thread.
 */
#ifndef BARCODE_PALETTE_SWATCHES_H
#define BARCODE_PALETTE_SWATCHES_H

#include "output/report.h"

enum { SWATCHES_TEXT = 16, SWATCHES_NAME = 512 };

/* Writes the film's file name: valid UTF-8, one line. */
void swatches_name(const struct report *r, char name[SWATCHES_NAME]);

/* Writes a colour as "#1a2b3c". */
void swatches_hex(const struct film_colour *c, char text[SWATCHES_TEXT]);

/* Returns the share in parts of `whole`, rounded half up. */
uint32_t swatches_share(const struct film_colour *c, uint32_t whole);

/* Writes the share as "12.3 %". */
void swatches_percent(const struct film_colour *c, char text[SWATCHES_TEXT]);

/* Sets the error of the failed stream, from errno. Returns false. */
bool swatches_failed(struct err *e);

#endif
