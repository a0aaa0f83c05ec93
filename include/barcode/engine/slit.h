/*
 * slit.h - the line of an analysis frame that the mode `slit` takes, so that the frames of a night
 * give a keogram.
 *
 * The frame, w x h, is rotated clockwise by the angle about its centre, and the canvas grows so
 * that nothing is cut off. The slit is the pixel column at X of this canvas, from the top, without
 * what lies outside of the frame. With c = round(2^20 cos), s = round(2^20 sin) (slit_rotation):
 *
 *     W = (w |c| + h |s| + 2^19) >> 20     H = (w |s| + h |c| + 2^19) >> 20     the canvas
 *     i = min(W - 1, floor(X W))           the column; X is 0 to 1
 *     u = 2 i + 1 - W, v = 2 j + 1 - H     the centre of pixel (i, j), j = 0 .. H - 1, in half
 *                                          pixels from the centre of the canvas
 *     x = (w 2^20 + u c + v s) >> 21
 *     y = (h 2^20 - u s + v c) >> 21       the pixel of the frame that contains this point
 *
 * Points outside of 0..w - 1 and 0..h - 1 are left out; the others follow one another. So 0 degrees
 * gives a column, 90 degrees a row with its left end at the top, and no pixel is interpolated.
 */
#ifndef BARCODE_SLIT_H
#define BARCODE_SLIT_H

#include "barcode/base/err.h"

SHARED_BEGIN

enum { SLIT_X_ONE = 10000, SLIT_X_USUAL = 5000, SLIT_TURN = 36000 };

struct slit {
    int x;     /* 0..SLIT_X_ONE, hundredths of a per cent */
    int angle; /* clockwise, hundredths of a degree, 0..SLIT_TURN - 1 */
};

/* The pixels of a slit in frames of one size. */
struct slit_line {
    int length;       /* 1..32768 */
    uint32_t *offset; /* [length] of the pixels' first bytes in rgb[height][width][3] */
};

/* Computes round(2^20 cos) and round(2^20 sin) of an angle of 0..SLIT_TURN - 1. Pure; any thread.
 */
void slit_rotation(int angle, int32_t *cosine, int32_t *sine);

/*
 * Creates the line of `slit` in frames of width x height (1..16384 each). Fails with ERR_USAGE if
 * the slit misses the frame, which only a turned one near 0 or 100 % does. Any thread.
 */
struct slit_line *slit_line_open(const struct slit *slit, int width, int height, struct err *e);
void slit_line_free(struct slit_line **line);

/* Copies the line's pixels from a frame to to[length][3]. Pure; any thread. */
void slit_line_read(const struct slit_line *line, const uint8_t *rgb, uint8_t *to);

SHARED_END
#endif
