/*
 * film_palette.h - a film's palette: few colours for all of its frames, in which a small area of a
 * distant colour has a place of its own. All arithmetic is in integers. The palette depends on the
 * analysis frames only, not on clusters.
 *
 * Cells. Each bin of the film's histogram (see below) counts in the cell of OKLab that has
 * its mean colour; cells are 0.025 wide (dominant.h). A cell's colour is the mean of its pixels,
 * which all look nearly alike. A swatch has the colour of a cell, so it occurs in the film.
 *
 * Costs. Let d be the distance of a cell and a swatch in OKLab, and e the same with a and b
 * doubled, as in deltaEOK2 of CSS Color 4 (w3.org/TR/css-color-4): OKLab has differences of hue and
 * chroma smaller than they look. Let c be the cell's chroma. All are integers, OKLAB_ONE times the
 * real values (colour.h), and quotients are rounded down. A pixel of the cell costs the sum of
 *
 *   4096 (d^2 - 82^2) / (102^2 - 82^2), at least 0, at most 6144: 0 up to 0.08, 4096 at 0.1
 *   e^2 (72^2 + c^2) / (16 72^2), at most 2048: a vivid colour's shade matters more
 *
 * The first is whether the swatch shows the pixel, the second how well.
 *
 * Choice. PAM, the k-medoids of Kaufman and Rousseeuw ("Clustering by means of medoids", 1987):
 * BUILD takes the cell that lowers the film's cost most, again and again; SWAP then makes the swap
 * of a swatch and a cell that lowers it most, again and again. (All swaps with a cell are computed
 * at once, as by Schubert and Rousseeuw, "Faster k-medoids clustering", 2019.) Candidates are the
 * 512 largest cells. Both end if a step saves less than 8192 / 4096 a pixel. So a film of few
 * colours has few swatches.
 *
 * Dark swatches. Film is mostly dark, but near-blacks say little about it. At most three eighths of
 * the wanted swatches, and at least one, are darker than L* 20 (CIE 1976, srgb_luminance below
 * 655,350,000 (36 / 116)^3): no step makes more of them. If BUILD so finds too few, others follow.
 *
 * Accents. Pixels farther than 154 (0.15) from all swatches are missing. The largest accent is the
 * densest place among them: the cell with the largest sum of 102^2 - d^2 over the missing pixels
 * with d < 102. Its size is the share of these pixels in the film. While it is 1/128 or more, its
 * cell replaces the swatch that is missed least, and stays; SWAP then moves the others. That swatch
 * leaves the lowest cost, to which each missing pixel adds 16 * 8192. If the largest accent is
 * larger afterwards, or as large with more missing pixels, the last step is undone and it ends: the
 * film has more accents than the palette swatches.
 *
 * A cell's weight is its share in 2^-24, rounded down. Of equal ones the larger cell is taken, then
 * that with the lower number; of equal swatches the one that was chosen earlier.
 */
#ifndef BARCODE_FILM_PALETTE_H
#define BARCODE_FILM_PALETTE_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/engine/frame.h"

struct colour_histogram;

enum {
    FILM_PALETTE_LEAST = 2, /* --colours */
    FILM_PALETTE_MOST = 32,
    FILM_PALETTE_USUAL = 8,
    FILM_PALETTE_PIXELS = 1 << 20 /* the denominator of shares */
};

struct film_colour {
    uint8_t rgb[3]; /* R'G'B', displayed as sRGB */
    uint32_t share; /* of the pixels to which no other swatch is nearer; of FILM_PALETTE_PIXELS */
};

/* A palette, lightest first as with --order lightness (colour.h: by luminance). Equal ones are
 * ordered by share. The shares sum to FILM_PALETTE_PIXELS. */
struct film_palette {
    int count; /* 0 if no output needs the palette, or if the film has no frame */
    struct film_colour colour[FILM_PALETTE_MOST];
};

/*
 * Makes the palette with at most `colours` (1..FILM_PALETTE_MOST) colours. Takes up to two tenths
 * of a second, however long the film is, and 5 MB. Any thread. Returns false if out of memory.
 */
bool film_palette_make(const struct colour_histogram *h, int colours, struct film_palette *to,
                       struct err *e);

/*
 * A histogram: how often each colour occurs in a film's analysis frames. All arithmetic is in
 * integers, so the order of the frames does not matter.
 *
 * The bins are 64 x 64 x 64 of R'G'B', from 4 values of each channel. A bin has the number of its
 * pixels and their sum, so its mean is exact.
 *
 * Of a frame with n pixels, which are numbered in raster order, every s-th counts. s is the largest
 * number up to max(1, n / 8192) that has no common divisor with the frame's width, so that the
 * pixels form a lattice. It begins with pixel number c mod s in column c. So every pixel of a still
 * image counts in turn. A frame that fills several columns counts in each.
 */

enum { HISTOGRAM_BINS = 1 << 18, HISTOGRAM_PIXELS = 8192 };

struct histogram_bin {
    uint64_t count;  /* pixels, times the columns that their frame fills */
    uint64_t sum[3]; /* of their R', G', B' */
};

/*
 * Creates an empty histogram for frames of width x height (1..16384 each). Takes 8 MB. Returns NULL
 * if out of memory.
 */
struct colour_histogram *colour_histogram_open(int width, int height, struct err *e);

/* Counts the frame rgb[height][width][3] with this tag. Any thread, several at once. */
void colour_histogram_put(struct colour_histogram *h, const struct frame_tag *tag,
                          const uint8_t *rgb);

/* Returns the bins, owned by `h`. Call it while no thread calls colour_histogram_put. */
const struct histogram_bin *colour_histogram_bins(const struct colour_histogram *h);

void colour_histogram_free(struct colour_histogram **h);

#endif
