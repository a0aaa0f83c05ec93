/*
 * dominant.h - the colour of which a frame has most: the mode of its pixels' density in OKLab
 * (oklab.h). Unlike a largest cluster it depends on no start and on no other colours' shares, so it
 * goes on smoothly from frame to frame.
 *
 * The definition, which every engine reproduces exactly; all of it in integers:
 *
 *     place      of a pixel: p = (L + 13, a + 13 + 26 * 9, b + 13 + 26 * 12), which is positive for
 * all of sRGB cell       of a pixel: (i, j, k) = p / 26, rounded down, of 40 x 21 x 21; its number
 * is (21 i + j) 21 + k, its centre 26 (i, j, k) + 13: greys lie in the middle of theirs density of
 * a cell: sum over the cells at most 2 away along each axis of their pixels times (3 - |di|)(3 -
 * |dj|)(3 - |dk|), which is a box of 3 cells passed twice along each axis. What lies outside of the
 * 40 x 21 x 21 holds no pixel. peaks      the cells that are not empty around (density > 0) none of
 * whose 26 neighbours is denser, or as dense and of a lower number; by density descending, then
 * number ascending. The first is the densest of all cells. m          the centre of the first peak
 *     3 rounds   m = sum(w p) / sum(w), each channel rounded half up, w = max(0, 102^2 - |p -
 * m|^2), over all pixels colour     sum(w rgb) / sum(w) with the last m's weights, each channel
 * rounded half up
 *
 * The frame's further modes, for steady.h, are what the rounds make of the other peaks. A mode's
 * count is its peak's density / 27, rounded down: no more than the frame's pixels, and as many
 * where all lie in one cell.
 *
 * 26 is 0.025 and 102 is 0.1 of OKLab's unit. A round is one of the mean shift (Fukunaga,
 * Hostetler, "The estimation of the gradient of a density function", IEEE Transactions on
 * Information Theory 21(1), 1975; with these weights it climbs a density whose kernel is (102^2 -
 * d^2)^2).
 *
 * Sum(w) is never 0. At first: what adds to a peak's density lies within 102 of its centre, but for
 * pixels of the 8 cells at (+-2, +-2, +-2). Were there no others, the peak's density would be the
 * sum of these 8, and that of its neighbour on the way to the fullest of them 8 times that one or
 * more: denser, or all 8 are as full and the neighbour at (-1, -1, -1) is as dense and of a lower
 * number. Later: m is whole and the next m is the whole place nearest to the mean, hence not
 * farther from it than m is, so that the weighted sum of |p - m|^2 does not grow; some pixel's
 * stays below 102^2.
 */
#ifndef BARCODE_DOMINANT_H
#define BARCODE_DOMINANT_H

#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/engine/oklab.h"
#include "barcode/kmeans/kmeans.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    DOMINANT_MOST = 8, /* modes of a frame that are looked at */
    DOMINANT_PEAK = 27 /* what a pixel adds to its own cell's density */
};

/* A pixel's place above: L 13..1037, a 8..530, b 6..528. */
struct dominant_place {
    uint16_t l, a, b;
};

OKLAB_INLINE struct dominant_place dominant_place_of(const uint16_t *linear, const uint16_t *root,
                                                     const uint8_t rgb[3])
{
    struct oklab q = oklab_of(linear, root, rgb);
    struct dominant_place p = {
        (uint16_t)(q.l + DOMINANT_CELL / 2),
        (uint16_t)(q.a + DOMINANT_CELL / 2 - DOMINANT_CELL * DOMINANT_A_FIRST),
        (uint16_t)(q.b + DOMINANT_CELL / 2 - DOMINANT_CELL * DOMINANT_B_FIRST)};
    return p;
}

/* The number of its cell. */
OKLAB_INLINE uint32_t dominant_cell_of(struct dominant_place p)
{
    return (p.l / (uint32_t)DOMINANT_CELL * DOMINANT_A + p.a / (uint32_t)DOMINANT_CELL) *
               DOMINANT_B +
           p.b / (uint32_t)DOMINANT_CELL;
}

/* The centre of cell number `cell`. */
OKLAB_INLINE struct dominant_place dominant_centre(uint32_t cell)
{
    struct dominant_place p = {
        (uint16_t)(cell / (DOMINANT_A * DOMINANT_B) * DOMINANT_CELL + DOMINANT_CELL / 2),
        (uint16_t)(cell / DOMINANT_B % DOMINANT_A * DOMINANT_CELL + DOMINANT_CELL / 2),
        (uint16_t)(cell % DOMINANT_B * DOMINANT_CELL + DOMINANT_CELL / 2)};
    return p;
}

/* The weight of a pixel at p where the mode is m: 0..10404. */
OKLAB_INLINE uint32_t dominant_weight(struct dominant_place p, struct dominant_place m)
{
    int l = p.l - m.l, a = p.a - m.a, b = p.b - m.b, far = l * l + a * a + b * b;
    return far < DOMINANT_FAR ? (uint32_t)(DOMINANT_FAR - far) : 0;
}

struct dominant;

/*
 * A workspace for one thread, for frames of at most `pixels` (1..2^28) pixels; takes all the memory
 * that dominant_run needs, 6 bytes a pixel and 420 KB. NULL when memory runs out.
 */
struct dominant *dominant_open(size_t pixels, struct err *e);

/* The colour of rgb[pixels][3] (1 <= pixels <= the workspace's). Cannot fail; the order of the
 * pixels does not matter. */
void dominant_run(struct dominant *d, const uint8_t *rgb, size_t pixels, uint8_t colour[3]);

/*
 * The frame's first modes, `most` (1..DOMINANT_MOST) of them or as many as there are, into mode[];
 * returns how many, 1 or more. The first is dominant_run's colour. Else as dominant_run.
 */
int dominant_modes(struct dominant *d, const uint8_t *rgb, size_t pixels, int most,
                   struct cluster *mode);

/* Frees the workspace; sets *d to NULL. NULL is fine. */
void dominant_free(struct dominant **d);

#ifdef __cplusplus
}
#endif
#endif
