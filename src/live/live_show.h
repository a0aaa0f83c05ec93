/*
 * live_show.h - what shows the columns while they are made: the server (--serve) and stdout
 * (-o - with --live-format). In the parent, which decodes nothing; the worker puts into the feed.
 * Main thread.
 */
#ifndef BARCODE_LIVE_LIVE_SHOW_H
#define BARCODE_LIVE_LIVE_SHOW_H

#include "live_output.h"
#include "serve.h"

struct live_show {
    struct live_feed *feed; /* NULL: nothing is shown */
    struct server *server;
    struct live_output *output;
};

/* Opens what the options ask for. Before the worker is forked. Returns false on failure. */
bool live_show_open(struct live_show *s, const struct options *o, struct err *e);

/* Returns true if stdout is read no longer, so that the program ends. */
bool live_show_is_over(const struct live_show *s);

/* Ends all, when no worker puts any more. Returns false if columns could not be written. */
bool live_show_close(struct live_show *s, struct err *e);

#endif
