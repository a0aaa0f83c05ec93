/*
 * jpeg.h - a picture as JPEG (ITU-T T.81, in a JFIF file, ITU-T T.871), by libavcodec's own
 * encoder.
 *
 * JFIF's colours are those of ITU-R BT.601 in full range. In integers, each rounded half up; G' and
 * B' likewise:
 *
 *     Y'  = (19595 R' + 38470 G' + 7471 B') / 65536
 *     Cb  = 128 + (-11059 R' - 21709 G' + 32768 B') / 65536, of the mean of 2 x 2 pixels, at most
 * 255 Cr  = 128 + (32768 R' - 27439 G' - 5329 B') / 65536, likewise
 *
 * The means are of the sums, not of rounded bytes. At an odd edge the last pixel counts twice. The
 * encoder runs on one thread, with its integer DCT, so that one build of libavcodec gives the same
 * bytes every time; another version may give others.
 */
#ifndef BARCODE_JPEG_H
#define BARCODE_JPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The encoder's quantiser: multiplies the steps of its matrix. 3 is hard to tell from the original,
 * 8 shows. */
enum { JPEG_FINEST = 2, JPEG_COARSEST = 31, JPEG_SIDE_MOST = 16384 };

/* A JPEG in memory; its holder's, jpeg_free. */
struct jpeg {
    uint8_t *data;
    size_t size;
    int width, height;
};

/*
 * rgb[height][width][3] (R'G'B' as sRGB has them; sides 1..JPEG_SIDE_MOST) to *to, with `quantiser`
 * from JPEG_FINEST to JPEG_COARSEST. `comment` (ASCII, less than 32 KB; NULL: none) goes into a COM
 * segment behind JFIF's own. Any thread, several at once. False: ERR_FAILED (memory, or a
 * libavcodec without the encoder), and *to is empty.
 */
bool jpeg_encode(const uint8_t *rgb, int width, int height, int quantiser, const char *comment,
                 struct jpeg *to, struct err *e);

/*
 * The text of the first COM segment among the first bytes of a JPEG, into text[room], cut to what
 * fits and ended with 0. False: these are no JPEG's, or it has none there. Pure; any thread.
 */
bool jpeg_comment(const uint8_t *head, size_t size, char *text, size_t room);

/* Frees; empties *to. An empty one is fine. */
void jpeg_free(struct jpeg *to);

#ifdef __cplusplus
}
#endif
#endif
