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
#include "live/live_options.h"
#include "media/ffmpeg/stream_name.h"
#include "media/film.h"
#include "output/report.h"
#include "feed.h"
#include "record.h"

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
 * Returns the end of the last column in the newest log of the stream (record.h), in microseconds of
 * UTC; 0 if there is none. Logs of a later day than tomorrow of `now_us` do not count: once, a
 * clock was wrong.
 */
int64_t live_day_since(const char *folder, const char *stem, int64_t now_us);

/*
 * Writes the files of the day so far, each whole by rename. `r` is complete except for `columns`
 * and `count`, which are the arguments: column i is number day->first + i. Those with status
 * MISSING have no frame. `end`: the day is over. Fails with ERR_FAILED, such as a full disk; the
 * caller goes on.
 */
bool live_day_write(struct strips strips, const struct live_day *day, const char *folder,
                    const char *stem, const struct report *r, const struct columns *columns,
                    uint64_t count, bool end, struct err *e);

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
 * gets the columns; it may be NULL. Returns NULL on failure (record.h).
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
