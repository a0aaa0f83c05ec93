/*
 * live_feed.h - the painted columns of a live barcode, for those who show them while they are made:
 * the server, and the standard output.
 *
 * One thread puts columns, any number of others read them. The last `capacity` columns are kept.
 * No reader holds a lock, so that no reader ever delays the thread that puts. That may be in a
 * process that is forked later; what such a process does with the memory makes a reader see wrong
 * columns, and nothing worse.
 */
#ifndef BARCODE_LIVE_FEED_H
#define BARCODE_LIVE_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/base/sandbox.h"

enum { LIVE_FEED_WATCHES_MOST = 2 };

struct live_feed;

struct live_column {
    int64_t number;  /* n: the column covers [t0 + n T, t0 + (n + 1) T) */
    int64_t time_us; /* its start, microseconds of UTC since 1970 */
    bool missing;    /* it has no frame; its pixels and colours are zeros */
    bool open;       /* its time is not over: it will be put again */
    uint8_t average[3], dominant[3];
};

/*
 * Opens a feed of `capacity` columns (1 or more) of `height` pixels that each cover `period_us`
 * (T). Returns NULL if out of memory.
 */
struct live_feed *live_feed_open(size_t capacity, int height, int64_t period_us, struct err *e);

int live_feed_height(const struct live_feed *f);
int64_t live_feed_period_us(const struct live_feed *f);
size_t live_feed_capacity(const struct live_feed *f);

/*
 * Adds a column and wakes the readers. rgb[height][3] are its pixels from the top; NULL if missing.
 * Numbers increase; those that are left out become missing columns. The newest column's number
 * replaces that column. A lower number is ignored. One thread.
 */
void live_feed_put(struct live_feed *f, const struct live_column *c, const uint8_t *rgb);

/*
 * Copies up to `most` columns after number `since`, which are still kept, in order, to out[most]
 * and rgb[most][height][3] (may be NULL). Only the newest can be open. Returns their number. Any
 * thread.
 */
size_t live_feed_read(struct live_feed *f, int64_t since, size_t most, struct live_column *out,
                      uint8_t *rgb);

/* Returns the newest column's number, or INT64_MIN if there is none yet. Any thread. */
int64_t live_feed_newest(struct live_feed *f);

/* Returns the number of puts so far, by which a reader sees that something is new. Any thread. */
uint64_t live_feed_puts(struct live_feed *f);

/*
 * Returns a descriptor that can be read (8 bytes) after each put and after the close, for poll and
 * epoll; it does not block. It belongs to the feed, and to one reader. Returns -1 with an error if
 * there are too many. Any thread.
 */
int live_feed_watch(struct live_feed *f, struct err *e);

/* Keeps the feed's descriptors in a sandbox, so that the process in it can put. Returns false if
 * out of memory. */
bool live_feed_keep(const struct live_feed *f, struct sandbox *s, struct err *e);

/* No more columns will come: wakes all readers. Any thread. */
void live_feed_close(struct live_feed *f);
bool live_feed_closed(struct live_feed *f);

/* Frees *f and sets it to NULL. Does nothing if *f is NULL. No reader may be left. */
void live_feed_free(struct live_feed **f);

#endif
