#include "render_progress.h"

#include "barcode/base/clock.h"

struct render_progress render_progress_open(struct render_job *j)
{
    const struct film *f = &j->source->film;
    return (struct render_progress){
        .job = j,
        .begin_ns = clock_ns(),
        .columns_total = selection_estimate(&j->report.selection, &f->length),
    };
}

struct watch_progress render_progress_state(const struct film *f, uint64_t columns_total,
                                            const struct pass_state *now)
{
    struct watch_progress state = {
        .frames = now->film.frames,
        .columns = now->columns,
        .columns_total = columns_total,
        .share = -1,
    };
    if (columns_total > 0)
        state.share = (double)now->columns / (double)columns_total;
    else if (now->film.total_bytes > 0)
        state.share = (double)now->film.bytes / (double)now->film.total_bytes;
    /* A finished pass has covered the film, even if the film's end was not needed. */
    if (state.share > 1 || (now->done && state.share >= 0))
        state.share = 1;
    if (!now->done && columns_total > 0 && f->length.frames > 0)
        state.frames = (uint64_t)(state.share * (double)f->length.frames);
    return state;
}

double render_key_seconds(double keys, double key_seconds, const struct render_usage *first,
                          const struct render_usage *now)
{
    double seconds = now->seconds - first->seconds;
    double cpu_seconds = now->cpu_seconds - first->cpu_seconds;
    double columns = (double)now->columns - (double)first->columns;
    if (keys <= 0 || seconds <= 0 || cpu_seconds <= 0 || columns <= 0)
        return 0;
    double others = cpu_seconds - (now->decode_seconds - first->decode_seconds);
    double column_seconds = others > 0 ? others / columns : 0;
    return keys * (key_seconds + column_seconds) * seconds / cpu_seconds;
}

/*
 * Estimates how many key frames --keyframes would decode, from the part of the film that was read.
 */
static double keys_wanted(const struct render_progress *p, const struct pass_state *now)
{
    const struct film *f = &p->job->source->film;
    struct selection all = p->job->report.selection;
    all.kind = SELECT_EVERY;
    all.every = 1;
    double keys = now->film.key_share * (double)selection_estimate(&all, &f->length);
    double most = render_is_default(p->job) ? RENDER_COLUMNS : (double)p->columns_total;
    return keys < most ? keys : most;
}

/* Logs once, while the user waits at a terminal, that --keyframes would be much faster. */
static void hint_at_keyframes(struct render_progress *p, double share, const struct pass_state *now)
{
    enum { SETTLED = 5, LONG = 120 }; /* seconds */
    struct render_job *j = p->job;
    double left = share > 0 ? clock_since(p->begin_ns) * (1 - share) / share : 0;
    bool on_gpu = engine_device(j->engine).context != NULL;
    if (j->hinted || !j->render->at_terminal || j->render->options->film.verify || on_gpu ||
        now->columns == 0)
        return;
    struct render_usage used = {
        .seconds = (double)clock_ns() / 1e9,
        .cpu_seconds = clock_cpu_seconds(),
        .decode_seconds = now->film.decode_seconds,
        .columns = now->columns,
    };
    /* The time before the first column, such as crop detection, is not part of a column's time. */
    if (p->first.columns == 0)
        p->first = used;
    if (used.seconds - p->first.seconds < SETTLED || left <= LONG)
        return;
    double keys = keys_wanted(p, now);
    double needed = render_key_seconds(keys, now->film.key_seconds, &p->first, &used);
    if (needed <= 0 || needed > left / 2)
        return;
    log_msg(LOG_INFO, "--keyframes would take about %.0f s", needed < 1 ? 1 : needed);
    j->hinted = true;
}

void render_progress_tick(void *user, const struct pass_state *now)
{
    struct render_progress *p = user;
    const struct film *f = &p->job->source->film;
    struct watch_progress state = render_progress_state(f, p->columns_total, now);
    watch_set_progress(&state);
    hint_at_keyframes(p, state.share, now);
}
