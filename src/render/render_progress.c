#include "render_progress.h"

#include <string.h>

#include "barcode/film_queue.h"

struct render_progress render_progress_open(struct render_job *j)
{
    const struct film *f = &j->source->film;
    const char *slash = strrchr(f->path, '/');
    struct render_progress p = {
        .job = j,
        .columns_total = selection_estimate(&j->report.selection, f->frames, f->duration_us),
    };
    /* Without memory for a line the film is rendered without one. */
    if (!j->render->queue)
        p.progress = progress_open(j->render->options->progress, slash ? slash + 1 : f->path, NULL);
    return p;
}

struct progress_state render_progress_state(const struct film *f, uint64_t columns_total,
                                            const struct pass_state *now)
{
    struct progress_state state = {
        .frames = now->film.frames, .columns = now->columns, .columns_total = columns_total,
        .share = -1,
    };
    if (columns_total > 0)
        state.share = (double)now->columns / (double)columns_total;
    else if (now->film.total_bytes > 0)
        state.share = (double)now->film.bytes / (double)now->film.total_bytes;
    /* A pass that is done has covered the film, even if the film's end was not needed. */
    if (state.share > 1 || (now->done && state.share >= 0))
        state.share = 1;
    if (!now->done && columns_total > 0 && f->frames > 0)
        state.frames = (uint64_t)(state.share * (double)f->frames);
    return state;
}

void render_progress_tick(void *user, const struct pass_state *now)
{
    struct render_progress *p = user;
    struct progress_state state = render_progress_state(&p->job->source->film, p->columns_total, now);
    if (p->progress)
        progress_tick(p->progress, &state);
    else
        film_queue_tick(p->job->render->queue, p->job->input, state.share, state.frames);
}

void render_progress_close(struct render_progress *p)
{
    progress_close(&p->progress);
}
