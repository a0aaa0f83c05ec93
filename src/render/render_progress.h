/*
 * render_progress.h - the progress of one film: what its line shows.
 */
#ifndef BARCODE_RENDER_PROGRESS_H
#define BARCODE_RENDER_PROGRESS_H

#include "barcode/cli/progress.h"
#include "barcode/media/pass.h"
#include "render_job.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a run had used, and what had come of it, at some moment. */
struct render_usage {
    double seconds, cpu_seconds; /* of some clock; of the whole process */
    double decode_seconds;       /* decode_progress */
    uint64_t columns;            /* done; 0: there was no such moment */
};

struct render_progress {
    struct progress *progress; /* NULL: the line is the whole run's */
    struct render_job *job;
    uint64_t columns_total;    /* an estimate; 0: unknown */
    struct render_usage first; /* when the first column was done */
};

/* Opens the line of an attempt at the film, whose selection is decided. */
struct render_progress render_progress_open(struct render_job *j);

/* A pass_tick; `user` is the render_progress. */
void render_progress_tick(void *user, const struct pass_state *now);

void render_progress_close(struct render_progress *p);

/*
 * Returns what the line shows. The share follows the columns where their number is known. Chunks
 * end in any order, so the last frame that is decoded does not say how much is done.
 */
struct progress_state render_progress_state(const struct film *f, uint64_t columns_total,
                                            const struct pass_state *now);

/*
 * Returns the seconds that the film would take with --keyframes, 0 if unknown. Each of `keys` key
 * frames is decoded (key_seconds of a core) and made a column. A column takes what it took between
 * the two moments, on as many cores as were busy then.
 */
double render_key_seconds(double keys, double key_seconds, const struct render_usage *first,
                          const struct render_usage *now);

#ifdef __cplusplus
}
#endif
#endif
