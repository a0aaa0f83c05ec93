/*
 * png.h - what a picture says of itself: what the writer puts into its text chunks, and reads
 * there. Any thread.
 */
#ifndef BARCODE_FORMATS_PNG_H
#define BARCODE_FORMATS_PNG_H

#include "barcode/output/writer.h"

/* Names the film, so that the picture of another film of the same name does not replace this one.
 */
#define PNG_FILM_KEY "barcode:film"
#define PNG_FINGERPRINT_KEY "barcode:recipe"
#define PNG_COLUMNS_KEY "barcode:columns"
#define PNG_SIZE_KEY "barcode:size"
#define PNG_PARTIAL_KEY "barcode:partial"

/* The writer's `recognizes` and `metadata`. */
bool writer_png_recognizes(const uint8_t *head, size_t size, char film[FILM_ID_TEXT]);
bool writer_png_metadata(FILE *f, struct writer_metadata *metadata);

/* The picture alone, without a word on what made it: for files that have it in them. As
 * writer.write. */
bool writer_png_bare(const struct report *r, struct strips strips, FILE *f, struct err *e);

#endif
