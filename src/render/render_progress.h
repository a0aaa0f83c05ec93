/* render_progress.h - the progress of one film, which the parent process shows. */
#ifndef BARCODE_RENDER_PROGRESS_H
#define BARCODE_RENDER_PROGRESS_H

#include "base/watch.h"
#include "media/source.h"
#include "render_job.h"

/* The resources used and the columns finished at some moment. */
struct render_usage {
    double seconds, cpu_seconds; /* on any clock; of the whole process */
    double decode_seconds;       /* of struct decode_progress */
    uint64_t columns;            /* finished; 0: no moment was recorded */
};

struct render_progress {
    struct render_job *job;
    int64_t begin_ns;
    uint64_t columns_total;    /* an estimate; 0: unknown */
    struct render_usage first; /* when the first column was done */
};

/* Begins the progress of a decode pass. The selection must be complete. */
struct render_progress render_progress_open(struct render_job *j);

/* Reports the progress (watch.h). Implements pass_tick; `user` is the render_progress. */
void render_progress_tick(void *user, const struct pass_state *now);

/*
 * Returns the progress. The share is that of the columns if their number is known.
 * The position of the last decoded frame cannot be used, because chunks end in any order.
 */
struct watch_progress render_progress_state(const struct film *f, uint64_t columns_total,
                                            const struct pass_state *now);

/*
 * Returns the seconds that the film would take with --keyframes, or 0 if unknown. Each of `keys`
 * key frames takes key_seconds of one core to decode, plus the time of a column. The time of a
 * column and the number of busy cores are those measured between `first` and `now`.
 */
double render_key_seconds(double keys, double key_seconds, const struct render_usage *first,
                          const struct render_usage *now);

#endif
