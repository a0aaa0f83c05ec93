/*
 * live_columns.h - the columns of one stream: the open one, the day so far, its log, and the feed.
 * Any thread; live_columns_write: one thread.
 *
 * A column that was closed is never written again: a frame of it is refused. So a clock that is set
 * back makes a gap, until it is where it was. A column whose time is over and that got no frame is
 * missing.
 */
#ifndef BARCODE_LIVE_LIVE_COLUMNS_H
#define BARCODE_LIVE_LIVE_COLUMNS_H

#include "barcode/cli/options.h"
#include "barcode/live/live_feed.h"
#include "barcode/media/film.h"
#include "live_average.h"
#include "live_log.h"

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
 * Returns true, and sets the size of analysis frames, if it is known: from the log, or from
 * live_columns_start.
 */
bool live_columns_size(struct live_columns *c, int *width, int *height);

/*
 * Sets the size of analysis frames and what is known of the stream, which is copied, unless the
 * size is known already.
 */
bool live_columns_start(struct live_columns *c, const struct film *film, int width, int height,
                        struct err *e);

/*
 * Returns true if a frame of column `number` is still wanted; one that is `late` only if the column
 * has none yet. The column then stays open until live_columns_add or live_columns_skip. One frame
 * at a time.
 */
bool live_columns_want(struct live_columns *c, int64_t number, bool late);
void live_columns_skip(struct live_columns *c);

/*
 * Makes `column` the latest state of column `number`, and closes those before. `sum` has the sums
 * of its frame. A column of status MISSING (a transparent frame) changes nothing. Fails if the log
 * of a new day cannot be opened.
 */
bool live_columns_add(struct live_columns *c, int64_t number, const struct column *column,
                      const struct live_average *sum, struct err *e);

/*
 * Closes the open column if it ended before `now_us`; the first call opens that of `now_us`. With
 * `end`, closes it as it is.
 */
void live_columns_tick(struct live_columns *c, int64_t now_us, bool end);

/*
 * Writes the files of the day, if columns were closed since the last call or `end`, and those of
 * days that are over. Logs failures.
 */
void live_columns_write(struct live_columns *c, bool end);

/* Returns the number of columns closed with a frame since live_columns_open. */
uint64_t live_columns_closed(struct live_columns *c);

/* Frees *c and sets it to NULL. Does nothing if *c is NULL. */
void live_columns_free(struct live_columns **c);

#endif
