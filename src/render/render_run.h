/*
 * render_run.h - a run of several films as it goes: which are under way, and one progress line for them all. Any thread.
 */
#ifndef BARCODE_RENDER_RUN_H
#define BARCODE_RENDER_RUN_H

#include "barcode/film_queue.h"
#include "barcode/progress.h"
#include "barcode/render.h"

struct render_run;

/* For as many films at once. `r` and `queue` are lent until render_run_close. NULL: memory, and the run is as good without a line. */
struct render_run *render_run_open(const struct render *r, struct film_queue *queue, int lanes);

/* The film is under way in that lane, 0..lanes. These take NULL, too. */
void render_run_takes(struct render_run *run, int lane, size_t film);

/* How far the lane's film is: `state` as for a film alone. */
void render_run_tick(struct render_run *run, int lane, const struct progress_state *state);

/* The lane's film ended, of which that many frames were covered. */
void render_run_ends(struct render_run *run, int lane, uint64_t frames);

/* Lifts the line and frees; sets *run to NULL. */
void render_run_close(struct render_run **run);

#endif
