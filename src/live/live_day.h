/*
 * live_day.h - the files of a day of a live stream: DIR/STEM-YYYY-MM-DD.png and .csv, and which
 * columns a day has. The columns are the caller's. One thread.
 */
#ifndef BARCODE_LIVE_LIVE_DAY_H
#define BARCODE_LIVE_LIVE_DAY_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "plan/options.h"
#include "barcode/engine/column.h"
#include "media/ffmpeg/stream_name.h"
#include "output/report.h"

/* A day: columns [first, end), by the times at which they begin. */
struct live_day {
    int64_t first, end;
    char name[16]; /* "2026-11-26" */
};

/* Returns the day, by the options' rule, in which column `number` of `step_us` begins. */
struct live_day live_day_of(const struct options *o, int64_t number, int64_t step_us);

/*
 * Writes a name for files, of letters, digits, '.', '_' and '-': the shown name without its scheme
 * ("host-a"), "stdin" for "-", and the last component of a device or folder.
 */
void live_stem(const char *name, char stem[STREAM_NAME]);

/*
 * Returns the end of the last column in the newest log of the stream (live_log.h), in microseconds
 * of UTC; 0 if there is none. Logs of a later day than tomorrow of `now_us` do not count: once, a
 * clock was wrong.
 */
int64_t live_day_since(const char *folder, const char *stem, int64_t now_us);

/*
 * Writes the files of the day so far, each whole by rename. `r` is complete except for `columns`
 * and `count`, which are the arguments: column i is number day->first + i. Those with status
 * MISSING have no frame. `end`: the day is over. Fails with ERR_FAILED, such as a full disk; the
 * caller goes on.
 */
bool live_day_write(const struct options *o, const struct live_day *day, const char *folder,
                    const char *stem, const struct report *r, const struct columns *columns,
                    uint64_t count, bool end, struct err *e);

#endif
