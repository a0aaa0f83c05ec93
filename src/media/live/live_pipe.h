/*
 * live_pipe.h - reads stdin or a FIFO for libavformat, and ends when it is asked to.
 */
#ifndef BARCODE_LIVE_LIVE_PIPE_H
#define BARCODE_LIVE_LIVE_PIPE_H

#include <libavformat/avio.h>

#include "barcode/base/err.h"

/*
 * Opens "-" or the FIFO `name`. `stop` returns not 0 when reading must end, as for AVIOInterruptCB.
 * Returns NULL on failure.
 */
AVIOContext *live_pipe_open(const char *name, AVIOInterruptCB stop, struct err *e);

/* Closes it and sets *io to NULL. Does nothing if *io is NULL. */
void live_pipe_close(AVIOContext **io);

#endif
