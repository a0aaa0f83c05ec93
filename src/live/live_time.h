/*
 * live_time.h - when: the number of a column, and when a broken source is opened again. Pure; any
 * thread.
 *
 * Column n covers [n T, (n + 1) T) of UTC since 1970. T divides a day, so each day of UTC has whole
 * columns.
 */
#ifndef BARCODE_LIVE_LIVE_TIME_H
#define BARCODE_LIVE_LIVE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#define LIVE_DAY_US INT64_C(86400000000)

/*
 * Returns true for a time of the years 1 to 9999. A picture may have any date, and the arithmetic
 * of days does not overflow for these.
 */
bool live_time_is_valid(int64_t time_us);

/* Returns the number of the column that covers a time. */
int64_t live_number(int64_t time_us, int64_t step_us);

/* Returns the start of column `number`. */
static inline int64_t live_start_us(int64_t number, int64_t step_us) { return number * step_us; }

/* Returns the seconds to wait before attempt `failed` (from 1) after as many failures in a row: 1,
 * 2, 4, 8, 16, then 30. 0 failures: 0. */
int live_retry_seconds(int failed);

/*
 * What a wall clock that is set does to the time: remembers how far it is from a steady clock.
 * Begins as {0}.
 */
struct live_drift {
    bool known;
    int64_t offset_us; /* wall less steady */
};

/*
 * Returns by how much the wall clock was set since the last call, 0 if by less than half a second.
 */
int64_t live_clock_jump(struct live_drift *d, int64_t wall_us, int64_t steady_us);

#endif
