#include "batch_progress.h"

#include <stdlib.h>
#include <string.h>

#include "barcode/base/clock.h"
#include "barcode/cli/progress.h"

struct render_run {
    const struct inputs *inputs;
    struct film_queue *queue;
    struct progress *progress;
    int64_t begin_ns;
    const char *title; /* the last title shown; NULL: none */
};

struct render_run *render_run_open(const struct render *r, struct film_queue *queue)
{
    struct render_run *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    *run = (struct render_run){.inputs = r->inputs, .queue = queue, .begin_ns = clock_ns()};
    run->progress = progress_open(r->options->progress, "", NULL);
    return run;
}

/* Shows the film in progress that began first; if there is none, the previous one. */
void render_run_tick(struct render_run *run)
{
    if (!run)
        return;
    struct film_tally t = film_queue_tally(run->queue);
    struct progress_run line = {.films = t.done + t.failed,
                                .films_total = t.due,
                                .bytes = t.bytes_ended,
                                .bytes_total = t.bytes,
                                .films_now = t.films_now,
                                .bytes_now = t.bytes_now,
                                .seconds = clock_since(run->begin_ns)};
    if (t.under_way > 0) {
        const char *path = run->inputs->path[t.longest], *slash = strrchr(path, '/');
        run->title = slash ? slash + 1 : path;
    }
    if (run->title)
        progress_tick(run->progress,
                      &(struct progress_state){
                          .share = -1, .frames = t.frames, .run = &line, .title = run->title});
}

void render_run_close(struct render_run **run)
{
    if (!*run)
        return;
    render_run_tick(*run);
    progress_close(&(*run)->progress);
    free(*run);
    *run = NULL;
}
