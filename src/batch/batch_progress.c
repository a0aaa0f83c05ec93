#include "batch_progress.h"

#include <stdlib.h>
#include <string.h>

#include "barcode/base/clock.h"
#include "barcode/cli/progress.h"

struct batch_progress {
    const struct inputs *inputs;
    struct film_queue *queue;
    struct progress *progress;
    int64_t begin_ns;
    const char *title; /* the last title shown; NULL: none */
};

struct batch_progress *batch_progress_open(const struct render *r, struct film_queue *queue)
{
    struct batch_progress *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (struct batch_progress){.inputs = r->inputs, .queue = queue, .begin_ns = clock_ns()};
    p->progress = progress_open(r->options->progress, "", NULL);
    return p;
}

/* Shows the film in progress that began first; if there is none, the previous one. */
void batch_progress_tick(struct batch_progress *p)
{
    if (!p)
        return;
    struct film_tally t = film_queue_tally(p->queue);
    struct progress_run line = {.films = t.done + t.failed,
                                .films_total = t.due,
                                .bytes = t.bytes_ended,
                                .bytes_total = t.bytes,
                                .films_now = t.films_now,
                                .bytes_now = t.bytes_now,
                                .seconds = clock_since(p->begin_ns)};
    struct progress_state state = {.share = -1, .frames = t.frames, .run = &line};
    if (t.under_way > 0) {
        const char *path = p->inputs->path[t.longest], *slash = strrchr(path, '/');
        p->title = slash ? slash + 1 : path;
    }
    if (t.due == 1)
        state = (struct progress_state){.share = t.now.share,
                                        .frames = t.now.frames,
                                        .columns = t.now.columns,
                                        .columns_total = t.now.columns_total};
    state.title = p->title;
    if (p->title)
        progress_tick(p->progress, &state);
}

void batch_progress_close(struct batch_progress **p)
{
    if (!*p)
        return;
    batch_progress_tick(*p);
    progress_close(&(*p)->progress);
    free(*p);
    *p = NULL;
}
