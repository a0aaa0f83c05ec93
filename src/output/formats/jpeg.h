/*
 * jpeg.h - a picture as JPEG (ITU-T T.81, in a JFIF file, ITU-T T.871) in memory, by libjpeg with
 * its accurate integer DCT. Chroma is halved in both directions. One version of libjpeg always
 * gives the same bytes; another version may give others.
 */
#ifndef BARCODE_JPEG_H
#define BARCODE_JPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "barcode/base/err.h"

/* How every JPEG begins and ends. */
#define JPEG_BEGIN "\xff\xd8\xff"
#define JPEG_END "\xff\xd9"

/* A JPEG in memory. Free it with jpeg_free. */
struct jpeg {
    uint8_t *data;
    size_t size;
    int width, height;
};

/*
 * Encodes rgb[height][width][3] (R'G'B' of sRGB; sides 1..65500) to *to, with libjpeg's `quality`,
 * 1..100. Any thread, several at once. Returns false with ERR_FAILED if out of memory; *to is empty
 * then.
 */
bool jpeg_encode(const uint8_t *rgb, int width, int height, int quality, struct jpeg *to,
                 struct err *e);

/*
 * Writes the JPEG to `f`, with the line `comment` (ASCII, less than 32 KB; NULL: none) in a COM
 * segment after JFIF's own. Returns false with errno on failure.
 */
bool jpeg_write(const struct jpeg *j, const char *comment, FILE *f);

/* Frees the JPEG and empties *to, which may be empty. */
void jpeg_free(struct jpeg *to);

#endif
