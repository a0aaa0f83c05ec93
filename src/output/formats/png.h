/* png.h - the text chunks of a PNG, which the writer writes and reads. Any thread. */
#ifndef BARCODE_PNG_H
#define BARCODE_PNG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "barcode/base/err.h"
#include "output/writer.h"

/* The film id, so that the image of another film with the same name is not replaced. */
#define PNG_FILM_KEY "barcode:film"
#define PNG_FINGERPRINT_KEY "barcode:fingerprint"
#define PNG_COLUMNS_KEY "barcode:columns"
#define PNG_SIZE_KEY "barcode:size"
#define PNG_PARTIAL_KEY "barcode:partial"

/* Implement writer.recognizes and writer.read_metadata. */
bool writer_png_recognizes(const uint8_t *head, size_t size, char film[FILM_ID_TEXT]);
bool writer_png_metadata(FILE *f, struct writer_metadata *metadata);

/* Writes the image without metadata, for embedding in other files. As writer.write. */
bool writer_png_bare(const struct report *r, struct strips strips, FILE *f, struct err *e);

/* Writes rgb[height][width][3] without metadata. On failure `e` gets only the reason, and `f` part
 * of the file. */
bool png_pixels_write(const uint8_t *rgb, int width, int height, FILE *f, struct err *e);

#endif
