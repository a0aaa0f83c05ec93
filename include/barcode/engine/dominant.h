/*
 * dominant.h - a frame's dominant colour: the mode of its pixels' density in OKLab (colour.h).
 * Unlike the largest cluster, the mode depends on no random start and on no other colour's share.
 * So it changes smoothly from frame to frame.
 *
 * This definition, which every engine reproduces exactly, is all in integers:
 *
 *   place     of a pixel: p = (L + 13, a + 13 + 26 * 9, b + 13 + 26 * 12), positive for all sRGB
 *   cell      of a pixel: (i, j, k) = p / 26, rounded down, of 40 x 21 x 21. Its number is
 *             (21 i + j) 21 + k and its centre 26 (i, j, k) + 13. Greys lie at a cell's centre
 *             in a and b.
 *   density   of a cell: the sum over all cells at most 2 away along each axis of their pixels
 *             times (3 - |di|)(3 - |dj|)(3 - |dk|). This is a box filter of 3 cells, applied
 *             twice along each axis. Cells outside the 40 x 21 x 21 hold no pixels.
 *   peaks     the cells of density > 0 for which none of the 26 neighbours is denser, or equally
 *             dense with a lower number. Sorted by density descending, then number ascending.
 *             The first one is the densest of all cells.
 *   m         the centre of the first peak
 *   3 rounds  m = sum(w p) / sum(w) over all pixels, each channel rounded half up, where
 *             w = max(0, 102^2 - |p - m|^2)
 *   colour    sum(w rgb) / sum(w) with the weights of the last m, each channel rounded half up
 *
 * The frame's other modes, for steady.h, are computed in the same way from the other peaks. A
 * mode's count is its peak's density / 27, rounded down. It is at most the number of pixels, and
 * equal to it if all lie in one cell.
 *
 * 26 is 0.025 and 102 is 0.1 of OKLab's unit. A round is one step of the mean shift algorithm
 * (Fukunaga, Hostetler, "The estimation of the gradient of a density function", IEEE Transactions
 * on Information Theory 21(1), 1975). With these weights the density that it climbs has the kernel
 * (102^2 - d^2)^2.
 *
 * Proof that sum(w) is never 0:
 *
 * - In the first round, pixels that contribute to a peak's density lie within 102 of its centre,
 *   except pixels of the 8 cells at (+-2, +-2, +-2). Suppose that there were no others. Then the
 *   peak's density would be the sum of these 8 cells. The neighbour towards the fullest of them
 *   would have at least 8 times that cell's count. So it would be denser, or all 8 are equally full
 *   and the neighbour at (-1, -1, -1) is equally dense with a lower number. Either way the cell
 *   would be no peak.
 * - In later rounds, m is an integer point and the next m is the integer point nearest to the mean.
 *   So the next m is not farther from the mean than m, and the weighted sum of |p - m|^2 does not
 *   grow. Some pixel's |p - m|^2 therefore stays below 102^2.
 */
#ifndef BARCODE_DOMINANT_H
#define BARCODE_DOMINANT_H

#include "barcode/base/err.h"
#include "barcode/engine/colour.h"
#include "barcode/kmeans/kmeans.h"

SHARED_BEGIN

enum {
    DOMINANT_CELL = 26,
    DOMINANT_L = 40,
    DOMINANT_A = 21,
    DOMINANT_B = 21,
    DOMINANT_A_FIRST = -9,
    DOMINANT_B_FIRST = -12,
    DOMINANT_CELLS = DOMINANT_L * DOMINANT_A * DOMINANT_B,
    DOMINANT_FAR = 102 * 102,
    DOMINANT_ROUNDS = 3,
    DOMINANT_MOST = 8, /* most modes computed for a frame */
    DOMINANT_PEAK = 27 /* a pixel's weight in the density of its own cell */
};

/* The place of a pixel, as above: L 13..1037, a 8..530, b 6..528. */
struct dominant_place {
    uint16_t l, a, b;
};

SHARED_INLINE struct dominant_place dominant_place_of(const uint16_t *linear, const uint16_t *root,
                                                      const uint8_t rgb[3])
{
    struct oklab q = oklab_of(linear, root, rgb);
    struct dominant_place p = {
        (uint16_t)(q.l + DOMINANT_CELL / 2),
        (uint16_t)(q.a + DOMINANT_CELL / 2 - DOMINANT_CELL * DOMINANT_A_FIRST),
        (uint16_t)(q.b + DOMINANT_CELL / 2 - DOMINANT_CELL * DOMINANT_B_FIRST)};
    return p;
}

/* Returns the number of the cell that contains p. */
SHARED_INLINE uint32_t dominant_cell_of(struct dominant_place p)
{
    return (p.l / (uint32_t)DOMINANT_CELL * DOMINANT_A + p.a / (uint32_t)DOMINANT_CELL) *
               DOMINANT_B +
           p.b / (uint32_t)DOMINANT_CELL;
}

/* Returns the centre of cell number `cell`. */
SHARED_INLINE struct dominant_place dominant_centre(uint32_t cell)
{
    struct dominant_place p = {
        (uint16_t)(cell / (DOMINANT_A * DOMINANT_B) * DOMINANT_CELL + DOMINANT_CELL / 2),
        (uint16_t)(cell / DOMINANT_B % DOMINANT_A * DOMINANT_CELL + DOMINANT_CELL / 2),
        (uint16_t)(cell % DOMINANT_B * DOMINANT_CELL + DOMINANT_CELL / 2)};
    return p;
}

/* Returns the weight (0..10404) of a pixel at p for the mode m. */
SHARED_INLINE uint32_t dominant_weight(struct dominant_place p, struct dominant_place m)
{
    int l = p.l - m.l, a = p.a - m.a, b = p.b - m.b, far = l * l + a * a + b * b;
    return far < DOMINANT_FAR ? (uint32_t)(DOMINANT_FAR - far) : 0;
}

struct dominant;

/*
 * Creates a workspace for one thread, for frames of at most `pixels` (1..2^28) pixels. Allocates
 * all the memory that dominant_modes needs: 6 bytes a pixel and 420 KB.
 */
struct dominant *dominant_open(size_t pixels, struct err *e);
void dominant_free(struct dominant **d);

/*
 * Writes at most `most` (1..DOMINANT_MOST) of the modes of rgb[pixels][3] to mode[], strongest
 * first; returns their number, 1 or more. 1 <= pixels <= the workspace's. Cannot fail. The order of
 * the pixels does not matter.
 */
int dominant_modes(struct dominant *d, const uint8_t *rgb, size_t pixels, int most,
                   struct cluster *mode);

SHARED_END
#endif
