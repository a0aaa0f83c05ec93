/*
 * live_feed.h - the painted columns of a live barcode, for those who show them while they are made:
 * the server, and the standard output.
 *
 * One thread puts columns, any number of others read them. The last `capacity` columns are kept.
 */
#ifndef BARCODE_LIVE_FEED_H
#define BARCODE_LIVE_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

struct live_feed;

struct live_column {
    int64_t number;  /* n: the column covers [t0 + n T, t0 + (n + 1) T) */
    int64_t time_us; /* its start, microseconds of UTC since 1970 */
    bool missing;    /* it has no frame */
    uint8_t average[3], dominant[3];
};

/*
 * Opens a feed of columns of `height` pixels. Returns NULL if out of memory.
 */
struct live_feed *live_feed_open(size_t capacity, int height, struct err *e);

/*
 * Adds a column and wakes the readers. rgb[height][3] are its pixels from the top; NULL if missing.
 * Numbers increase; those that are left out are missing. Never waits for a reader.
 */
void live_feed_put(struct live_feed *f, const struct live_column *c, const uint8_t *rgb);

/*
 * Copies up to `most` columns after number `since`, which are still kept, in order, to out[most]
 * and rgb[most][height][3] (may be NULL). Returns their number. Any thread.
 */
size_t live_feed_read(struct live_feed *f, int64_t since, size_t most, struct live_column *out,
                      uint8_t *rgb);

/*
 * Waits until a column after `since` exists, the feed is closed, or `timeout_ms` passed. Returns
 * true if one exists. Any thread.
 */
bool live_feed_wait(struct live_feed *f, int64_t since, int timeout_ms);

/* No more columns will come: wakes all readers. Any thread. */
void live_feed_close(struct live_feed *f);

/* Frees *f and sets it to NULL. Does nothing if *f is NULL. No reader may be left. */
void live_feed_free(struct live_feed **f);

#endif
