/*
 * live_columns.h - the columns of one stream: the open one, the day so far, its log, and the feed.
 * Main thread of the parent.
 *
 * A column that was closed is never written again: a frame of it is refused. So a clock that is set
 * back makes a gap, until it is where it was. A column whose time is over and that got no frame is
 * missing.
 */
#ifndef BARCODE_LIVE_LIVE_COLUMNS_H
#define BARCODE_LIVE_LIVE_COLUMNS_H

#include "plan/options.h"
#include "media/film.h"
#include "live_feed.h"
#include "live_record.h"

struct live_columns;

/*
 * Opens the columns of a stream that is called `stem` in file names of `folder`. `label` is its
 * title. `means`: as in engine_job. The strings are borrowed. Reads the log of the day of `now_us`
 * if there is one. `feed` gets the columns; it may be NULL. Returns NULL on failure (live_log.h).
 */
struct live_columns_setup {
    const struct options *options;
    const char *folder, *stem, *label;
    const struct light_table *means;
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

/* Returns true if a frame of column `number` is still wanted. */
bool live_columns_want(const struct live_columns *c, int64_t number);

/*
 * Makes `column` the latest state of column `number`, and closes those before. `sum` has the sums
 * of its frame. Fails if the log of a new day cannot be opened.
 */
bool live_columns_add(struct live_columns *c, int64_t number, const struct column *column,
                      const struct live_average *sum, struct err *e);

/*
 * Closes the open column once its time has been over for `grace_us`, and opens the next one.
 * Returns when it has something to do again, by the clock of `now_us`; INT64_MAX: not before the
 * next frame.
 */
int64_t live_columns_tick(struct live_columns *c, int64_t now_us, int64_t grace_us);

/*
 * The worker process has died. A dated source gives the pictures of the open column again, so the
 * column is emptied.
 */
void live_columns_lose(struct live_columns *c);

/*
 * Returns the end of the last column with a frame of a dated source, in microseconds of UTC:
 * earlier pictures need not be read again. 0: none. Columns after tomorrow do not count: once, a
 * clock was wrong.
 */
int64_t live_columns_since(const struct live_columns *c);

/*
 * The files of the day: whether columns were closed since they were written, how to remember that
 * another process writes them, and how to write them, which logs failures.
 */
bool live_columns_changed(const struct live_columns *c);
void live_columns_written(struct live_columns *c);
void live_columns_write(struct live_columns *c);

/* Closes the open column as it is, and writes the files of the day. */
void live_columns_end(struct live_columns *c);

/* Returns the number of columns closed with a frame since live_columns_open. */
uint64_t live_columns_closed(const struct live_columns *c);

/* Frees *c and sets it to NULL. Does nothing if *c is NULL. */
void live_columns_free(struct live_columns **c);

#endif
