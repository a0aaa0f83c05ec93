/*
 * batch_progress.h - the progress line of a run of several films. The parent of the workers shows
 * it.
 */
#ifndef BARCODE_BATCH_BATCH_PROGRESS_H
#define BARCODE_BATCH_BATCH_PROGRESS_H

#include "film_queue.h"
#include "barcode/render/render.h"

struct render_run;

/* `r` and `queue` are lent until render_run_close. Returns NULL when memory runs out, and the run
 * is as good without a line. */
struct render_run *render_run_open(const struct render *r, struct film_queue *queue);

/* Shows how far the run is, if it is time to; cheap to call often. NULL is fine. */
void render_run_tick(struct render_run *run);

/* Lifts the line and frees; sets *run to NULL. NULL is fine. */
void render_run_close(struct render_run **run);

#endif
