/*
 * serve.h - shows a feed in browsers (--serve): a small HTTP server by libmicrohttpd, with one
 * thread of its own. It reads the feed and nothing else.
 *
 *     /             the page, with live.css, live.js and common.css
 *     /strip.png    the columns that are kept
 *     /columns      the same as records (live_text.h), ?since=N: those after number N
 *     /events       Server-Sent Events. First "feed": title, T, height, newest number; then a
 *                   message for each column (live_text_json), whose id is its number. The open
 *                   column has no id and comes again. Last-Event-ID or ?since=N: those after N.
 *
 * Only GET and HEAD. A request by another name than the served address (serve_host.h) gets 403.
 * At most 64 connections, 32 of one address; a request must be complete within 10 s, its header in
 * 32 KiB; whoever reads nothing for 10 s is disconnected.
 */
#ifndef BARCODE_LIVE_SERVE_H
#define BARCODE_LIVE_SERVE_H

#include <stdbool.h>

#include "barcode/cli/options.h"
#include "barcode/live/live_feed.h"

struct server;

/* Returns true if this build has a server. */
bool serve_is_built(void);

/*
 * Listens on the address, and logs it. `title` is what the page is called; it must contain no
 * password of a URL. Returns NULL with ERR_FAILED, or with ERR_USAGE if this build has no server.
 */
struct server *serve_open(const struct serve_address *a, struct live_feed *f, const char *title,
                          struct err *e);

/* Returns the port, which the kernel chose if port 0 was asked for. */
int serve_port(const struct server *s);

/* Ends the connections and the thread, frees *s and sets it to NULL. Does nothing if it is NULL. */
void serve_close(struct server **s);

#endif
