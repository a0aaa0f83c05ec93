/*
 * batch_progress.h - the progress line, which the parent of the worker processes shows.
 */
#ifndef BARCODE_BATCH_BATCH_PROGRESS_H
#define BARCODE_BATCH_BATCH_PROGRESS_H

#include "film_queue.h"
#include "barcode/render/render.h"

struct batch_progress;

/*
 * Opens the line. `r` and `queue` are borrowed until batch_progress_close. Returns NULL if out of
 * memory; the films are then rendered without a line.
 */
struct batch_progress *batch_progress_open(const struct render *r, struct film_queue *queue);

/* Shows the progress if the interval has passed; cheap to call often. Does nothing if NULL. */
void batch_progress_tick(struct batch_progress *run);

/*
 * Shows the final state, erases the line and frees `*run`; sets it to NULL. Does nothing if `*run`
 * is NULL.
 */
void batch_progress_close(struct batch_progress **run);

#endif
