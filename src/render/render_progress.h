/*
 * render_progress.h - the progress of one film: what its line shows.
 */
#ifndef BARCODE_RENDER_PROGRESS_H
#define BARCODE_RENDER_PROGRESS_H

#include "barcode/pass.h"
#include "barcode/progress.h"
#include "render_job.h"

#ifdef __cplusplus
extern "C" {
#endif

struct render_progress {
    struct progress *progress;       /* NULL: the line is the whole run's    */
    struct render_job *job;
    uint64_t columns_total;          /* an estimate; 0: unknown              */
};

/* Opens the line of an attempt at the film, whose selection is decided. */
struct render_progress render_progress_open(struct render_job *j);

/* A pass_tick; `user` is the render_progress. */
void render_progress_tick(void *user, const struct pass_state *now);

void render_progress_close(struct render_progress *p);

/*
 * Returns what the line shows. The share follows the columns where their number is known. Chunks end
 * in any order, so the last frame that is decoded does not say how much is done.
 */
struct progress_state render_progress_state(const struct film *f, uint64_t columns_total,
                                            const struct pass_state *now);

#ifdef __cplusplus
}
#endif
#endif
