/*
 * serve.h - shows the columns of a feed while they are made: in browsers, and on stdout. Main
 * thread, which never waits for a reader.
 *
 * --serve is a small HTTP server by libmicrohttpd without a thread of its own, because the parent
 * forks. It reads the feed and nothing else.
 *
 *     /             the page, with live.css, live.js and common.css
 *     /title        what the page is called
 *     /columns      the kept columns as records (serve.c), ?since=N: those after number N
 *     /strip.png    the kept columns as a picture, at most 10 s old
 *
 * Only GET and HEAD. A request by another name than the served address gets 403.
 * At most 256 connections, 32 of one address. A connection on which nothing moves for 10 s is
 * closed. The header of a request has at most 32 KiB.
 */
#ifndef BARCODE_LIVE_SERVE_SERVE_H
#define BARCODE_LIVE_SERVE_SERVE_H

#include <poll.h>
#include <stdbool.h>

#include "live/day/day.h"
#include "live/live_options.h"

struct server;

/*
 * Listens on the address, and logs it. `title` is what the page is called; it must contain no
 * password of a URL. Returns NULL with ERR_FAILED, or with ERR_USAGE if this build has no server.
 */
struct server *serve_open(const struct serve_address *a, const struct live_feed *f,
                          const char *title, struct err *e);

/* Returns the port, which the kernel chose if port 0 was asked for. */
int serve_port(const struct server *s);

/* Returns the descriptor to poll for POLLIN. */
int serve_descriptor(const struct server *s);

/*
 * Answers the requests that have come. Returns in how many milliseconds to call it again at the
 * latest; -1: when the descriptor is ready.
 */
int serve_run(struct server *s);

void serve_close(struct server **s);

/*
 * Returns true if the header "Host" names the served address `served` (without brackets),
 * localhost or a loopback address, with any port. If `served` is a wildcard (0.0.0.0, ::), any
 * address is right, and this machine's name, with and without ".local". `host` may be NULL.
 *
 * A page of another site whose name suddenly means 127.0.0.1 (DNS rebinding) calls the server by
 * that site's name, and is refused.
 */
bool serve_is_own_host(const char *host, const char *served);

/* Returns true if the header "Origin" is NULL, or of the page that "Host" names. */
bool serve_is_own_origin(const char *origin, const char *host);

/*
 * ---- Standard output: output.c ----
 *
 * `-o -` writes each column to a descriptor when it is complete. Columns that are no longer kept
 * when a slow reader goes on are dropped and counted.
 *
 *     rgb    3 h bytes a column: its pixels from the top; zeros if missing
 *     jsonl  a JSON object a line: number, time, missing, average and dominant as "#rrggbb"
 */
struct live_output;

/*
 * Begins after the newest column. `fd` stays the caller's, and SIGPIPE must be ignored. Returns
 * NULL with ERR_USAGE for pixels to a terminal, or if out of memory.
 */
struct live_output *live_output_open(int fd, enum live_format format, const struct live_feed *f,
                                     struct err *e);

/* Writes what the reader takes now. Returns false if nobody reads any more, or a write failed. */
bool live_output_write(struct live_output *o);

/* Returns what to poll for, before the next live_output_write; also for the reader's end. */
struct pollfd live_output_poll(const struct live_output *o);

/*
 * Writes what is left, for at most a second, and frees *o. Returns false with ERR_FAILED if a write
 * failed, but not if the reader closed its end.
 */
bool live_output_close(struct live_output **o, struct err *e);

#endif
