/* serve_strip.h - the kept columns of a feed as a PNG in memory. Any thread. */
#ifndef BARCODE_LIVE_SERVE_STRIP_H
#define BARCODE_LIVE_SERVE_STRIP_H

#include "barcode/live/live_feed.h"

/*
 * Returns the PNG, a pixel a column, which the caller frees, and its *size. Missing columns are
 * hatched. Returns NULL, without an error if there is no column yet.
 */
void *serve_strip_png(struct live_feed *f, size_t *size, struct err *e);

#endif
