/*
 * render_run.h - a run of several films as it goes: which are under way, and one progress line for them all. Any thread.
 */
#ifndef BARCODE_RENDER_RUN_H
#define BARCODE_RENDER_RUN_H

#include "barcode/film_queue.h"
#include "barcode/progress.h"
#include "barcode/render.h"

struct render_run;

/* So many films at a time are set aside. The cores have to feed NVDEC, too, and to look at films for bars. */
enum { RENDER_ASIDE_MOST = 3 };

/* For as many films at once. `r` and `queue` are lent until render_run_close. NULL: memory, and the run is as good without a line. */
struct render_run *render_run_open(const struct render *r, struct film_queue *queue, int lanes);

/* Every so many-th lane is of one group, from now on, each with a GPU of its own. 1 before. No film is set aside yet. */
void render_run_divides(struct render_run *run, int groups);

/* The film is under way in that lane, 0..lanes. These take NULL, too. */
void render_run_takes(struct render_run *run, int lane, size_t film);

/*
 * True if the lane's film, which `run` has, is set aside: in its group's part of films that no lane has taken yet, and in what is not done of those
 * under way in its group, NVDEC has `need` (> 0) times the bytes left that the cores have with this one, in it and in what is not done of those
 * that are aside already, of which there are RENDER_ASIDE_MOST at most. It is aside until it ends. NULL: false.
 */
bool render_run_sets_aside(struct render_run *run, int lane, double need);

/* How far the lane's film is: `state` as for a film alone. */
void render_run_tick(struct render_run *run, int lane, const struct progress_state *state);

/* The lane's film ended, of which that many frames were covered. */
void render_run_ends(struct render_run *run, int lane, uint64_t frames);

/* Lifts the line and frees; sets *run to NULL. */
void render_run_close(struct render_run **run);

#endif
