/*
 * jpeg.h - a picture as JPEG (ITU-T T.81, in a JFIF file, ITU-T T.871), by libavcodec's own
 * encoder.
 *
 * JFIF's colours are those of ITU-R BT.601 in full range. In integers, each rounded half up, with
 * G' and B' like R':
 *
 *     Y'  = (19595 R' + 38470 G' + 7471 B') / 65536
 *     Cb  = 128 + (-11059 R' - 21709 G' + 32768 B') / 65536
 *     Cr  = 128 + (32768 R' - 27439 G' - 5329 B') / 65536
 *
 * Cb and Cr are of the mean of 2 x 2 pixels, at most 255. The means are of the sums, not of rounded
 * bytes. At an odd edge the last pixel counts twice. The encoder runs on one thread, with its
 * integer DCT, so that one build of libavcodec always gives the same bytes. Another version may
 * give others.
 */
#ifndef BARCODE_JPEG_H
#define BARCODE_JPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "barcode/base/err.h"

/*
 * The encoder's quantiser, which multiplies the steps of its matrix. 3 looks like the original, 8
 * is visibly coarser.
 */
enum { JPEG_FINEST = 2, JPEG_COARSEST = 31, JPEG_SIDE_MOST = 16384 };

/* A JPEG in memory. Free it with jpeg_free. */
struct jpeg {
    uint8_t *data;
    size_t size;
    int width, height;
};

/*
 * Encodes rgb[height][width][3] (R'G'B' of sRGB; sides 1..JPEG_SIDE_MOST) to *to, with `quantiser`
 * from JPEG_FINEST to JPEG_COARSEST. `comment` (ASCII, less than 32 KB; NULL: none) goes into a COM
 * segment after JFIF's own. Any thread, several at once. Returns false with ERR_FAILED if out of
 * memory, or if libavcodec lacks the encoder; *to is empty then.
 */
bool jpeg_encode(const uint8_t *rgb, int width, int height, int quantiser, const char *comment,
                 struct jpeg *to, struct err *e);

/*
 * Writes the JPEG to `f`, with `comment` in a COM segment as above (NULL: none). Returns false with
 * errno on failure.
 */
bool jpeg_write(const struct jpeg *j, const char *comment, FILE *f);

/*
 * Copies the text of the first COM segment among the first bytes of a JPEG to text[room], cut to
 * fit and ended with 0. Returns false if the bytes are not a JPEG, or have no such segment. Pure;
 * any thread.
 */
bool jpeg_comment(const uint8_t *head, size_t size, char *text, size_t room);

/* Frees the JPEG and empties *to, which may be empty. */
void jpeg_free(struct jpeg *to);

#endif
