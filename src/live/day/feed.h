/*
 * feed.h - the painted columns of a live barcode, for the server and the standard output: a
 * ring of the latest ones. Main thread.
 */
#ifndef BARCODE_LIVE_DAY_FEED_H
#define BARCODE_LIVE_DAY_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

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

#endif
