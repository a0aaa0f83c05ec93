/*
 * live_average.h - the mean colour of all frames of a column, with exact sums: of one frame it is
 * what column_fill computes. One thread.
 */
#ifndef BARCODE_LIVE_LIVE_AVERAGE_H
#define BARCODE_LIVE_LIVE_AVERAGE_H

#include <stdint.h>

#include "barcode/engine/light.h"

/* Begins as {0}. */
struct live_average {
    uint64_t sum[3]; /* of code values; with --light linear, of the means of rows in linear light */
    uint64_t count;
};

/* Adds an analysis frame rgb[height][width][3]. `means` as in engine_job. */
void live_average_frame(struct live_average *a, const uint8_t *rgb, int width, int height,
                        const struct light_table *means);

/* Adds the frames of `more`. */
void live_average_add(struct live_average *a, const struct live_average *more);

/* Writes the mean, each channel rounded half up. There must be a frame. */
void live_average_colour(const struct live_average *a, const struct light_table *means,
                         uint8_t rgb[3]);

#endif
