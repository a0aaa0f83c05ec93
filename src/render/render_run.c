#include "render_run.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/clock.h"

/* A film that is under way. */
struct lane_film {
    const char *title;           /* NULL: none is                              */
    uint64_t taken;              /* how many were taken before it              */
    double bytes, share;         /* of its file; of it that is done, 0..1      */
    uint64_t frames;
};

struct render_run {
    const struct render *render;
    struct film_queue *queue;
    pthread_mutex_t lock;        /* guards what follows                        */
    struct progress *progress;
    struct progress_run line;
    const char *title;           /* that was shown last                        */
    uint64_t taken;
    int lanes;
    struct lane_film lane[];
};

struct render_run *render_run_open(const struct render *r, struct film_queue *queue, int lanes)
{
    struct render_run *run = calloc(1, sizeof *run + (size_t)lanes * sizeof run->lane[0]);
    if (!run)
        return NULL;
    struct film_tally t = film_queue_tally(queue);
    run->render = r;
    run->queue = queue;
    run->lanes = lanes;
    run->line = (struct progress_run){.begin_ns = clock_ns(), .films_begin = t.done + t.failed, .bytes_begin = t.bytes_ended};
    run->progress = progress_open(r->options->progress, "", NULL);
    pthread_mutex_init(&run->lock, NULL);
    return run;
}

void render_run_takes(struct render_run *run, int lane, size_t film)
{
    if (!run)
        return;
    const struct inputs *in = run->render->inputs;
    const char *path = in->path[film], *slash = strrchr(path, '/');
    pthread_mutex_lock(&run->lock);
    run->lane[lane] = (struct lane_film){.title = slash ? slash + 1 : path, .taken = run->taken++, .bytes = (double)in->file[film].bytes};
    pthread_mutex_unlock(&run->lock);
}

/* The line names the film that has been under way for longest; when none is, the last one that ended. */
static void show(struct render_run *run)
{
    struct film_tally t = film_queue_tally(run->queue);
    struct progress_run *line = &run->line;
    struct progress_state state = {.share = -1, .frames = line->frames, .run = line, .title = run->title};
    uint64_t first = UINT64_MAX;
    line->films = t.done + t.failed;
    line->films_total = t.due;
    line->bytes = t.bytes_ended;
    line->bytes_total = t.bytes;
    line->films_now = line->bytes_now = 0;
    line->seconds = clock_since(line->begin_ns);
    for (int i = 0; i < run->lanes; i++) {
        const struct lane_film *f = &run->lane[i];
        if (!f->title)
            continue;
        line->films_now += f->share;
        line->bytes_now += f->share * f->bytes;
        state.frames += f->frames;
        if (f->taken < first) {
            first = f->taken;
            state.title = f->title;
        }
    }
    run->title = state.title;
    progress_tick(run->progress, &state);
}

void render_run_tick(struct render_run *run, int lane, const struct progress_state *state)
{
    if (!run)
        return;
    pthread_mutex_lock(&run->lock);
    run->lane[lane].frames = state->frames;
    run->lane[lane].share = state->share > 0 ? state->share : 0;
    show(run);
    pthread_mutex_unlock(&run->lock);
}

void render_run_ends(struct render_run *run, int lane, uint64_t frames)
{
    if (!run)
        return;
    pthread_mutex_lock(&run->lock);
    run->line.frames += frames;
    run->lane[lane].title = NULL;
    pthread_mutex_unlock(&run->lock);
}

void render_run_close(struct render_run **run)
{
    if (!*run)
        return;
    if ((*run)->title)
        show(*run);
    progress_close(&(*run)->progress);
    pthread_mutex_destroy(&(*run)->lock);
    free(*run);
    *run = NULL;
}
