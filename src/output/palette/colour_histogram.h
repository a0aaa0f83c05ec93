/*
 * colour_histogram.h - how often each colour occurs in a film's analysis frames, for its palette
 * (film_palette.h). All arithmetic is in integers, so the order of the frames does not matter.
 *
 * The bins are 64 x 64 x 64 of R'G'B', from 4 values of each channel. A bin has the number of its
 * pixels and their sum, so its mean is exact.
 *
 * Of a frame with n pixels, which are numbered in raster order, every s-th counts. s is the largest
 * number up to max(1, n / 8192) that has no common divisor with the frame's width, so that the
 * pixels form a lattice. It begins with pixel number c mod s in column c. So every pixel of a still
 * image counts in turn. A frame that fills several columns counts in each.
 */
#ifndef BARCODE_COLOUR_HISTOGRAM_H
#define BARCODE_COLOUR_HISTOGRAM_H

#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/engine/frame.h"

enum { HISTOGRAM_BINS = 1 << 18, HISTOGRAM_PIXELS = 8192 };

struct histogram_bin {
    uint64_t count;  /* pixels, times the columns that their frame fills */
    uint64_t sum[3]; /* of their R', G', B' */
};

struct colour_histogram;

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

/* Frees the histogram and sets *h to NULL. Does nothing if *h is NULL. */
void colour_histogram_free(struct colour_histogram **h);

#endif
