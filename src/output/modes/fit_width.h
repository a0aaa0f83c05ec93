/*
 * fit_width.h - a line of columns' pixels to one of another width: enum strip_fit. Pure; any
 * thread.
 */
#ifndef BARCODE_MODES_FIT_WIDTH_H
#define BARCODE_MODES_FIT_WIDTH_H

#include <stdint.h>

#include "barcode/engine/light.h"
#include "barcode/engine/shrink.h"

/* The columns first..last under pixel x of `width`, of `count` columns. */
struct strip_under {
    uint64_t first, last;
};
struct strip_under strip_under(uint64_t x, uint64_t count, uint64_t width);

/* How much of column i lies in pixel x, in units of 1 / width of a column: 0..width. Over a pixel's
 * columns it adds up to count. */
uint64_t strip_overlap(uint64_t x, uint64_t i, uint64_t count, uint64_t width);

/*
 * The mean of a channel's light over a span: values lie 3 bytes apart, those between head and tail
 * weigh `whole` each, all weights add up to `total`. At most 2^40 of weight, so that the sum stays
 * below 2^64.
 */
uint8_t strip_mean_light(const uint8_t *channel, const struct shrink_span *s, uint64_t whole,
                         uint64_t total, const struct light_table *sdr);

/* line[count][3] to rgb[width][3], 1 or more each: FIT_MEAN. With SDR's table the means are of
 * light, else it is NULL. */
void strip_fit_mean(const uint8_t *line, uint64_t count, uint8_t *rgb, uint64_t width,
                    const struct light_table *means);

/* The same by FIT_MEDOID. */
void strip_fit_medoid(const uint8_t *line, uint64_t count, uint8_t *rgb, uint64_t width);

#endif
