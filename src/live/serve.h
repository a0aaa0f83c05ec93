/*
 * serve.h - shows a feed in browsers (--serve): a small HTTP server by libmicrohttpd, without a
 * thread of its own. It reads the feed and nothing else.
 *
 *     /             the page, with live.css, live.js and common.css
 *     /title        what the page is called
 *     /columns      the kept columns as records (live_text.h), ?since=N: those after number N
 *     /strip.png    the kept columns as a picture
 *
 * Only GET and HEAD. A request by another name than the served address (serve_host.h) gets 403.
 * At most 256 connections, 32 of one address. A connection on which nothing moves for 10 s is
 * closed. The header of a request has at most 32 KiB.
 */
#ifndef BARCODE_LIVE_SERVE_H
#define BARCODE_LIVE_SERVE_H

#include <stdbool.h>

#include "plan/options.h"
#include "live_feed.h"

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

/* Answers what there is to answer. Returns in how many milliseconds to call it again at the latest;
 * -1: when the descriptor is ready. */
int serve_run(struct server *s);

/* Ends the connections, frees *s and sets it to NULL. Does nothing if it is NULL. */
void serve_close(struct server **s);

#endif
