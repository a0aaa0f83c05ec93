/* images.h - JPEG in memory, PNG without metadata, and a profile of sRGB. Any thread. */
#ifndef BARCODE_IMAGES_H
#define BARCODE_IMAGES_H

#include <stdio.h>

#include "output/modes/strip.h"
#include "barcode/base/err.h"

struct report;

/*
 * A picture as JPEG (ITU-T T.81, in a JFIF file, ITU-T T.871) in memory, by libjpeg with its
 * accurate integer DCT. Chroma is halved in both directions. One version of libjpeg always gives
 * the same bytes; another version may give others.
 */

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

/* ---- PNG ---- */

/* Writes the image without metadata, for embedding in other files. As writer.write. */
bool writer_png_bare(const struct report *r, struct strips strips, FILE *f, struct err *e);

/* Writes rgb[height][width][3] without metadata. On failure `e` gets only the reason, and `f` part
 * of the file. */
bool png_pixels_write(const uint8_t *rgb, int width, int height, FILE *f, struct err *e);

/*
 * An ICC profile of sRGB (ICC.1:2001-04, version 2.4) for formats without a tag of their own. Its
 * curve has an entry for each of the 256 levels, so it is exact for them.
 */
enum { ICC_SRGB_SIZE = 952 };

/* Writes the complete profile. */
void icc_srgb_write(uint8_t profile[ICC_SRGB_SIZE]);

#endif
