/* live.h - barcodes of what is going on: --live. */
#ifndef BARCODE_LIVE_H
#define BARCODE_LIVE_H

#include "plan/options.h"

/*
 * Reads the streams of options.input until they end, or until a signal; each becomes columns of
 * options.live.column_us of wall-clock time. A worker process that has given up its rights decodes
 * them, and is started again if it crashes. Reports failures. Returns the exit status: 0 after
 * SIGTERM or if all streams ended in order (a pipe), 130 after SIGINT.
 *
 * No other thread may be running. Main thread only.
 */
int live_run(struct options *o);

#endif
