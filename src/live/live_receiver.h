/*
 * live_receiver.h - the parent's side of a stream: checks the messages of the worker process
 * (live_message.h), and makes columns of them. Main thread.
 */
#ifndef BARCODE_LIVE_LIVE_RECEIVER_H
#define BARCODE_LIVE_LIVE_RECEIVER_H

#include "live_bench.h"
#include "live_columns.h"

/* The time, for tests to replace. Any thread. */
struct live_clock {
    int64_t (*wall_us)(void); /* of UTC since 1970 */
    int64_t (*steady_ns)(void);
};
extern const struct live_clock live_machine_clock;

/* Returns the column of a frame (live_source.h). */
int64_t live_clock_number(const struct live_clock *clock, int64_t arrived_ns, int64_t time_us,
                          int64_t step_us);

struct live_counts {
    uint64_t frames;  /* analysed */
    uint64_t late;    /* passed over, because a newer one was waiting */
    uint64_t dropped; /* as live_source.dropped, once the source has ended */
    uint64_t refused; /* of a column that was closed already, or not of now */
    uint64_t columns; /* closed with a frame */
    uint64_t breaks;  /* times the source broke */
    struct live_bench bench;
};

struct live_receiver;

/* Opens the columns of a stream (live_columns.h). Returns NULL on failure. */
struct live_receiver *live_receiver_open(const struct live_columns_setup *s,
                                         const struct live_clock *clock, struct err *e);

struct live_columns *live_receiver_columns(struct live_receiver *r);

/*
 * Handles a message of the stream. Returns false if the worker's messages are none of
 * live_message.h: it must be killed.
 */
bool live_receiver_take(struct live_receiver *r, const void *message, size_t size);

/* The worker process has ended. What it had not sent completely is dropped. */
void live_receiver_lose(struct live_receiver *r);

/*
 * As live_columns_tick, from when the source is current. Frames that came in time are waited for:
 * twice as long as the last one took to be analysed, 0.25 s to 10 s.
 */
int64_t live_receiver_tick(struct live_receiver *r, int64_t now_us);

/* Returns true if the source has ended in order, or failed for good. */
bool live_receiver_ended(const struct live_receiver *r);

/* Returns the error for which the stream ended; ERR_NONE: none. */
const struct err *live_receiver_error(const struct live_receiver *r);

/* Returns the counts until now. */
const struct live_counts *live_receiver_counts(struct live_receiver *r);

/* Frees *r with its columns, and sets it to NULL. Does nothing if *r is NULL. */
void live_receiver_free(struct live_receiver **r);

#endif
