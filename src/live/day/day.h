/*
 * day.h - the columns of one stream: which numbers they have, the open one, the day so far, its
 * files, and the feed. Main thread of the parent, but for the numbers.
 *
 * A column that was closed is never written again: a frame of it is refused. So a clock that is set
 * back makes a gap, until it is where it was. A column whose time is over and that got no frame is
 * missing.
 */
#ifndef BARCODE_LIVE_DAY_DAY_H
#define BARCODE_LIVE_DAY_DAY_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/engine/column.h"
#include "barcode/engine/light.h"
#include "barcode/engine/slit.h"
#include "live/live_options.h"
#include "media/ffmpeg/stream_name.h"
#include "media/film.h"
#include "output/report.h"

/*
 * ---- Numbers ----
 *
 * Column n covers [n T, (n + 1) T) of UTC since 1970. T divides a day, so each day of UTC has whole
 * columns. Any thread.
 */
#define LIVE_DAY_US INT64_C(86400000000)

/* Returns the number of the column that covers a time. */
static inline int64_t live_number(int64_t time_us, int64_t step_us)
{
    return time_us / step_us - (time_us % step_us < 0);
}

static inline int64_t live_start_us(int64_t number, int64_t step_us) { return number * step_us; }

/*
 * Returns true for a time of the years 1 to 9999. A picture may have any date, and the arithmetic
 * of days does not overflow for these.
 */
static inline bool live_time_is_valid(int64_t time_us)
{
    const int64_t first_s = INT64_C(-62135596800), end_s = INT64_C(253402300800);
    return time_us >= first_s * 1000000 && time_us < end_s * 1000000;
}

/* The clocks, for tests to replace. */
struct live_clock {
    int64_t (*wall_us)(void); /* of UTC since 1970 */
    int64_t (*steady_ns)(void);
};
extern const struct live_clock live_machine_clock;

/* Returns the column of a frame (live_source.h). */
static inline int64_t live_clock_number(const struct live_clock *clock, int64_t arrived_ns,
                                        int64_t time_us, int64_t step_us)
{
    if (time_us == 0)
        time_us = clock->wall_us() - (clock->steady_ns() - arrived_ns) / 1000;
    return live_number(time_us, step_us);
}

/* ---- Days and their files, DIR/STEM-YYYY-MM-DD.png and .csv: day.c ---- */

/* A day: columns [first, end), by the times at which they begin. */
struct live_day {
    int64_t first, end;
    char name[16]; /* "2026-11-26" */
};

/* Returns the day, by this rule, in which column `number` of `step_us` begins. */
struct live_day live_day_of(const struct live_day_rule *rule, int64_t number, int64_t step_us);

/*
 * Writes a name for files, of letters, digits, '.', '_' and '-': the shown name without its scheme
 * ("host-a"), "stdin" for "-", and the last component of a device or folder.
 */
void live_stem(const char *name, char stem[STREAM_NAME]);

/*
 * Returns the path of the stream's newest log (record.c), or NULL if there is none. Logs of a later
 * day than tomorrow of `now_us` do not count: once, a clock was wrong. The caller frees it.
 */
char *live_day_newest(const char *folder, const char *stem, int64_t now_us);

/*
 * Returns the end of the last column in live_day_newest, in microseconds of UTC. Returns 0 if there
 * is none.
 */
int64_t live_day_since(const char *folder, const char *stem, int64_t now_us);

/*
 * Writes the files of the day so far, each whole by rename. `r` is complete except for `columns`
 * and `count`, which are the arguments: column i is number day->first + i. Those with status
 * MISSING have no frame. Several modes have a picture each, unless report.picture.stacked. `end`:
 * the day is over. Fails with ERR_FAILED, such as a full disk; the caller goes on.
 */
bool live_day_write(struct strips strips, const struct live_day *day, const char *folder,
                    const char *stem, const struct report *r, const struct columns *columns,
                    uint64_t count, bool end, struct err *e);

/* ---- The latest painted columns, for the server and the standard output: feed.c ---- */

struct live_column {
    int64_t number;  /* n: the column covers [n T, (n + 1) T) of UTC since 1970 */
    int64_t time_us; /* its start, microseconds of UTC since 1970 */
    bool missing;    /* it has no frame; its pixels and colours are zeros */
    bool open;       /* its time is not over: it will be put again */
    uint8_t average[3], dominant[3];
};

struct live_feed;

/* Opens a feed of the last `capacity` (1 or more) columns of `height` pixels; T is `period_us`. */
struct live_feed *live_feed_open(size_t capacity, int height, int64_t period_us, struct err *e);

size_t live_feed_capacity(const struct live_feed *f);
int live_feed_height(const struct live_feed *f);
int64_t live_feed_period_us(const struct live_feed *f);

/*
 * Adds a column. rgb[height][3] are its pixels from the top; ignored if it is missing. Numbers that
 * are left out become missing columns. The newest column's number replaces that column. A lower
 * number is ignored.
 */
void live_feed_put(struct live_feed *f, const struct live_column *c, const uint8_t *rgb);

/* Return the numbers of the oldest and the newest kept column, or INT64_MIN if there is none. */
int64_t live_feed_oldest(const struct live_feed *f);
int64_t live_feed_newest(const struct live_feed *f);

/*
 * Returns column `number`, valid until the next put, and sets `*rgb` to its pixels. Returns NULL if
 * it is not kept. Only the newest can be open.
 */
const struct live_column *live_feed_get(const struct live_feed *f, int64_t number,
                                        const uint8_t **rgb);

void live_feed_free(struct live_feed **f);

/*
 * ---- A column as plain bytes: record.c ----
 *
 * In a worker's messages (stream.h) and in the log of a day. A fixed part of 24 bytes, [k]
 * clusters, [rows][3] row means, [slit_length][3] pixels of the slit. Numbers are in the machine's
 * byte order. Any thread; a log by one.
 */

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

/* ---- The columns: columns.c ---- */

struct live_columns;

/* What the run makes of its streams. Computed once (live.c). */
struct live_plan {
    struct report report; /* of a day, but for what a stream and its columns decide */
    struct strips strips; /* of the picture of a day */
    struct live_day_rule day;
};

/*
 * Opens the columns of a stream that is called `stem` in file names of `folder`. `label` is its
 * title. All pointers are borrowed. Reads the log of the day of `now_us` if there is one. `feed`
 * gets its columns, or else those of the newest log; it may be NULL. Returns NULL on failure
 * (record.c).
 */
struct live_columns_setup {
    const struct live_plan *plan;
    const char *folder, *stem, *label;
    struct live_feed *feed;
    int64_t now_us;
    bool dated; /* live_source_kind.dated */
};
struct live_columns *live_columns_open(const struct live_columns_setup *s, struct err *e);

/*
 * Returns what a column has, if the size of analysis frames is known: from the log, or from
 * live_columns_start. Otherwise returns NULL.
 */
const struct live_shape *live_columns_shape(const struct live_columns *c);

/* Sets the size of analysis frames, if it is not known, and the light of the stream. */
bool live_columns_start(struct live_columns *c, enum transfer transfer, int peak, int width,
                        int height, struct err *e);

/* Returns true if column `number` is not closed yet. */
bool live_columns_accept(const struct live_columns *c, int64_t number);

/*
 * Makes `column` the latest state of column `number`, and closes those before. `sum` has the sums
 * of its frame. Fails if the log of a new day cannot be opened.
 */
bool live_columns_add(struct live_columns *c, int64_t number, const struct column *column,
                      const struct live_average *sum, struct err *e);

/*
 * Closes the open column once its time has been over for `grace_us`, and opens the next one.
 * Returns when to call it again, by the clock of `now_us`. INT64_MAX: after the next frame.
 */
int64_t live_columns_tick(struct live_columns *c, int64_t now_us, int64_t grace_us);

/*
 * The worker process has died. A dated source delivers the pictures of the open column again, so
 * the column is emptied.
 */
void live_columns_reset(struct live_columns *c);

/*
 * Returns the end of the last column with a frame of a dated source, in microseconds of UTC:
 * earlier pictures need not be read again. Returns 0 if there is none. Columns after tomorrow do
 * not count: once, a clock was wrong.
 */
int64_t live_columns_since(const struct live_columns *c);

/*
 * Returns true if the files of the day have to be written: columns were closed since, or the day is
 * over.
 */
bool live_columns_changed(const struct live_columns *c);

/* Writes the files, and logs failures. The log then survives a crash of the machine. */
void live_columns_write(struct live_columns *c);

/* Another process, which was forked just now, writes the files. */
void live_columns_mark_written(struct live_columns *c);

/* Closes the open column as it is. */
void live_columns_close(struct live_columns *c);

/* Returns how many were closed with a frame. */
uint64_t live_columns_closed(const struct live_columns *c);
void live_columns_free(struct live_columns **c);

#endif
