/* png.h - writes PNG without metadata, for other formats. Any thread. */
#ifndef BARCODE_PNG_H
#define BARCODE_PNG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "barcode/base/err.h"
#include "output/writer.h"

/* Writes the image without metadata, for embedding in other files. As writer.write. */
bool writer_png_bare(const struct report *r, struct strips strips, FILE *f, struct err *e);

/* Writes rgb[height][width][3] without metadata. On failure `e` gets only the reason, and `f` part
 * of the file. */
bool png_pixels_write(const uint8_t *rgb, int width, int height, FILE *f, struct err *e);

#endif
