/*
 * live_output.h - writes each column of a feed to a descriptor when it is complete: `-o -` with
 * --live-format. It never waits for its reader: columns that are no longer kept when the reader
 * goes on are dropped and counted. Main thread.
 *
 *     rgb    3 h bytes a column: its pixels from the top; zeros if missing
 *     jsonl  a line a column: live_text_json
 */
#ifndef BARCODE_LIVE_LIVE_OUTPUT_H
#define BARCODE_LIVE_LIVE_OUTPUT_H

#include <poll.h>

#include "plan/options.h"
#include "live_feed.h"

struct live_output;

/*
 * Begins after the newest column. `fd` stays the caller's, and SIGPIPE must be ignored. Returns
 * NULL with ERR_USAGE for pixels to a terminal, or if out of memory.
 */
struct live_output *live_output_open(int fd, enum live_format format, const struct live_feed *f,
                                     struct err *e);

/*
 * Writes what the reader takes now. Returns false if nobody reads any more, or a write has failed.
 */
bool live_output_write(struct live_output *o);

/* Returns what to poll for, before the next live_output_write; also for the reader's end. */
struct pollfd live_output_poll(const struct live_output *o);

/*
 * Writes what is left, for at most a second, frees *o and sets it to NULL. Returns false with
 * ERR_FAILED if a write failed, but not if the reader closed its end. Does nothing and returns true
 * if *o is NULL.
 */
bool live_output_close(struct live_output **o, struct err *e);

#endif
