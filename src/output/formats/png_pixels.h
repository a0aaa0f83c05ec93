/* png_pixels.h - writes pixels as a PNG without metadata. Any thread. */
#ifndef BARCODE_PNG_PIXELS_H
#define BARCODE_PNG_PIXELS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "barcode/base/err.h"

/* Writes rgb[height][width][3]. On failure `e` gets only the reason, and `f` part of the file. */
bool png_pixels_write(const uint8_t *rgb, int width, int height, FILE *f, struct err *e);

#endif
