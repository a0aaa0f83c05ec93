/*
 * serve_stream.h - the bytes of /events and /columns, made while they are sent: memory for one
 * column a connection, however slow its reader is. One thread.
 */
#ifndef BARCODE_LIVE_SERVE_STREAM_H
#define BARCODE_LIVE_SERVE_STREAM_H

#include "barcode/live/live_feed.h"

enum { SERVE_HEARTBEAT_S = 15 };

struct serve_stream;

/* Both begin after column `since`, and return NULL if out of memory. `title` must outlive it. */
struct serve_stream *serve_stream_events(struct live_feed *f, const char *title, int64_t since,
                                         struct err *e);
struct serve_stream *serve_stream_columns(struct live_feed *f, int64_t since, struct err *e);

/*
 * Copies up to `most` bytes to `to` and returns their number. Returns 0 if there is nothing to send
 * now, or no more at all: *over is true then. Events have a heartbeat after SERVE_HEARTBEAT_S.
 */
size_t serve_stream_read(struct serve_stream *s, char *to, size_t most, bool *over);

/* Does nothing if *s is NULL. */
void serve_stream_free(struct serve_stream **s);

#endif
