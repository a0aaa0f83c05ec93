/*
 * live_channel.h - one stream: runs its source, analyses its frames, and gives them to its columns.
 *
 *   source's thread: frame -> number of its column -> engine -> live_columns_add
 *   main thread:     live_channel_tick, live_channel_write
 */
#ifndef BARCODE_LIVE_LIVE_CHANNEL_H
#define BARCODE_LIVE_LIVE_CHANNEL_H

#include "barcode/cli/options.h"
#include "barcode/live/live_feed.h"
#include "barcode/media/live_source.h"
#include "live_bench.h"
#include "live_engine.h"

/* The time, for tests to replace. Any thread. */
struct live_clock {
    int64_t (*wall_us)(void); /* of UTC since 1970 */
    int64_t (*steady_ns)(void);
};
extern const struct live_clock live_machine_clock;

/* What all streams have in common; borrowed. */
struct live_setup {
    const struct options *options;
    const struct live_clock *clock;
    struct live_engines *engines;
    const char *folder;     /* of the outputs; "": none are written */
    struct live_feed *feed; /* gets the columns; NULL: none does */
};

struct live_counts {
    uint64_t frames;  /* analysed */
    uint64_t late;    /* passed over, because a newer one was waiting */
    uint64_t dropped; /* as live_source.dropped, once the source has ended */
    uint64_t refused; /* of a column that was closed already */
    uint64_t columns; /* closed with a frame */
    uint64_t breaks;  /* times the source broke */
};

struct live_channel;

/*
 * Opens a stream, whose source it takes over: *source becomes NULL. `stem` is for file names,
 * `label` for messages; both are borrowed. Reads the log of today, if there is one. Returns NULL on
 * failure.
 */
struct live_channel *live_channel_open(const struct live_setup *setup, struct live_source **source,
                                       const char *label, const char *stem, struct err *e);

/* Starts the thread that runs the source, and runs it again when it breaks. */
bool live_channel_start(struct live_channel *c, struct err *e);

/* Returns true once the source has ended in order, or the stream has failed for good. */
bool live_channel_ended(struct live_channel *c);

/* Closes the open column if its time is over. Several times a second. */
void live_channel_tick(struct live_channel *c);

/* As live_columns_write. */
void live_channel_write(struct live_channel *c, bool end);

struct live_bench *live_channel_bench(struct live_channel *c);
struct live_counts live_channel_counts(struct live_channel *c);

/*
 * Ends the thread and closes the open column as it is. Returns false, and leaves the thread alone,
 * if it did not end within two seconds; the channel must then stay open.
 */
bool live_channel_stop(struct live_channel *c);

/* Returns the error for which the stream ended; ERR_NONE: none. After it has ended. */
const struct err *live_channel_error(const struct live_channel *c);

/* Frees *c and sets it to NULL. Does nothing if *c is NULL. */
void live_channel_close(struct live_channel **c);

#endif
