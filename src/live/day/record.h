/*
 * record.h - a column as plain bytes, in a worker's messages (stream.h) and in the log of a day,
 * and the sums that give its average.
 *
 * A fixed part of 24 bytes, [k] clusters, [rows][3] row means, [slit_length][3] pixels of the slit.
 * Numbers are in the machine's byte order. Any thread; a log by one.
 */
#ifndef BARCODE_LIVE_DAY_RECORD_H
#define BARCODE_LIVE_DAY_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/engine/column.h"
#include "barcode/engine/light.h"
#include "barcode/engine/slit.h"
#include "output/report.h"

/* What the records of a stream contain. */
struct live_shape {
    int64_t step_us;
    int width, height; /* of analysis frames */
    int k;             /* clusters; 0: none */
    int rows;          /* row means: 0 or `height` */
    int slit_length;   /* pixels of the slit; 0: none */
    struct slit slit;
    int unused; /* 0: the log begins with these bytes, which have no padding */
};

/* Returns the shape of columns from analysis frames of width x height, by live_plan.report. */
struct live_shape live_shape_of(const struct report *r, int width, int height);

/* Returns true if all members are in the ranges of their headers. */
bool live_shape_is_valid(const struct live_shape *s);

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

void live_average_add(struct live_average *a, const struct live_average *more);

/* Writes the mean, each channel rounded half up. There must be a frame. */
void live_average_colour(const struct live_average *a, const struct light_table *means,
                         uint8_t rgb[3]);

/*
 * ---- The log of a day, DIR/STEM-YYYY-MM-DD.columns ----
 *
 * It is only appended to: a record for each column that has a frame. A process that was killed has
 * lost nothing but the open column.
 *
 * A header with the shape, then records of equal size, each with a checksum over the record, its
 * place and the header. Numbers increase. At opening, records that are not as they were written are
 * skipped, and the file is cut after the last that is. Another shape needs another file.
 */
struct live_log;

/*
 * Opens or makes the log at `path` for this process alone, and calls `each`, which may be NULL, for
 * its columns in order. The column is borrowed during the call. Fails with ERR_FAILED if another
 * process has it open, if it is no log or one of another shape, or if it cannot be read or written;
 * an existing file is then unchanged.
 */
typedef bool live_log_each(void *user, int64_t number, const struct column *c, struct err *e);
struct live_log *live_log_open(const char *path, const struct live_shape *shape,
                               live_log_each *each, void *user, struct err *e);

/* Reads the shape of an existing log. Returns false if there is none. */
bool live_log_shape(const char *path, struct live_shape *shape);

/*
 * Appends a column, which has a frame. Its number must be larger than live_log_last. After a
 * failure, such as a full disk, the file ends with the column before.
 */
bool live_log_append(struct live_log *l, int64_t number, const struct column *c, struct err *e);

/* Returns the number of the last column; INT64_MIN if there is none. */
int64_t live_log_last(const struct live_log *l);
void live_log_close(struct live_log **l);

#endif
