/* live_loop.h - the process that reads the streams: threads, columns, files. */
#ifndef BARCODE_LIVE_LIVE_LOOP_H
#define BARCODE_LIVE_LIVE_LOOP_H

#include "barcode/cli/options.h"
#include "barcode/live/live_feed.h"

/*
 * Reads all streams until they end, or until the descriptor `stop` can be read or is closed at its
 * other end. Then writes the files of the day. Columns of the first stream are put into `feed`,
 * which may be NULL. Reports failures; returns the exit status.
 */
int live_loop(const struct options *o, struct engines *engines, struct live_feed *feed, int stop);

#endif
