/*
 * live_output.h - writes each column of a feed to a descriptor when it is complete: `-o -` with
 * --live-format. A thread of its own waits for a slow reader; columns that are no longer kept then
 * are dropped and counted.
 *
 *     rgb    3 h bytes a column: its pixels from the top; zeros if missing
 *     jsonl  a line a column: live_text_json without pixels
 */
#ifndef BARCODE_LIVE_LIVE_OUTPUT_H
#define BARCODE_LIVE_LIVE_OUTPUT_H

#include "barcode/cli/options.h"
#include "barcode/live/live_feed.h"

struct live_output;

/*
 * Begins after the newest column. `fd` stays the caller's, and SIGPIPE must be ignored. Returns
 * NULL with ERR_USAGE for pixels to a terminal, otherwise with ERR_FAILED or out of memory.
 */
struct live_output *live_output_open(int fd, enum live_format format, struct live_feed *f,
                                     struct err *e);

/* Returns true if nobody reads any more, or a write has failed. Any thread. */
bool live_output_is_over(const struct live_output *o);

/* Returns the number of columns that were dropped so far. Any thread. */
uint64_t live_output_dropped(const struct live_output *o);

/*
 * Writes what is left of a feed that is closed, for at most a second, frees *o and sets it to NULL.
 * Returns false with ERR_FAILED if a write failed, but not if the reader closed its end. Does
 * nothing and returns true if *o is NULL.
 */
bool live_output_close(struct live_output **o, struct err *e);

#endif
