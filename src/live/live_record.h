/*
 * live_record.h - a column as plain bytes, in the log (live_log.h) and in a worker's messages
 * (live_message.h), and the sums that give its average.
 *
 * A fixed part of 24 bytes, [k] clusters, [rows][3] row means, [slit_length][3] pixels of the slit.
 * Numbers are in the machine's byte order. Any thread.
 */
#ifndef BARCODE_LIVE_LIVE_RECORD_H
#define BARCODE_LIVE_LIVE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/engine/column.h"
#include "barcode/engine/light.h"
#include "barcode/engine/slit.h"

/* What the records of a stream contain. */
struct live_shape {
    int64_t step_us;
    int width, height; /* of analysis frames */
    int k;             /* clusters; 0: none */
    int rows;          /* row means: 0 or `height` */
    int slit_length;   /* pixels of the slit; 0: none */
    struct slit slit;
};

/* Returns true if all members are in the ranges of their headers. */
bool live_shape_is_valid(const struct live_shape *s);

/* Returns the bytes of a record. */
size_t live_record_bytes(const struct live_shape *s);

/* Writes a column that has a frame. */
void live_record_write(const struct live_shape *s, int64_t number, const struct column *c,
                       uint8_t *to);

/*
 * Reads a record, and checks every field. The clusters are copied to cluster[k], rows and slit are
 * borrowed from `from`. Returns false if the record is not one of a column that has a frame.
 */
bool live_record_read(const struct live_shape *s, uint8_t *from, struct cluster *cluster,
                      int64_t *number, struct column *c);

/* ---- The mean colour of all frames of a column ---- */

/* Exact sums: of one frame the mean is what column_fill computes. Begins as {0}. */
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
