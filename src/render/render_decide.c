#include <inttypes.h>

#include "base/log.h"
#include "output/poster/paint.h"
#include "render_job.h"

enum {
    COLUMNS_MOST = 2040, /* of the default selection, if the number of frames is known */
    WIDTH_LEAST = 320,   /* of the default picture */
    EVERY_UNKNOWN = 24   /* if the number of frames is unknown */
};

bool render_is_default(const struct render_job *j)
{
    const struct selection *asked = &j->render->options->film.selection;
    return asked->kind == SELECT_EVERY && asked->every == 0;
}

/* Returns how many of length->frames are inside start..end; 0 if unknown. */
static uint64_t frames_inside(const struct selection *s, const struct film_length *length)
{
    struct selection all = {
        .kind = SELECT_EVERY, .every = 1, .start_us = s->start_us, .end_us = s->end_us};
    return selection_estimate(&all, length);
}

uint64_t render_default_every(const struct selection *s, const struct film_length *length)
{
    uint64_t frames = frames_inside(s, length);
    if (frames == 0)
        return EVERY_UNKNOWN;
    uint64_t nearest = (frames + RENDER_COLUMNS / 2) / RENDER_COLUMNS,
             least = (frames + COLUMNS_MOST - 1) / COLUMNS_MOST;
    return nearest > least ? nearest : least;
}

/*
 * Sets the default selection of --keyframes: a column per key frame, but no more than a wide
 * picture needs. If the key frames were not counted, the duration gives the interval, also an
 * estimated one. Without any duration every 24th frame's time is used.
 */
static void decide_key_columns(struct selection *s, const struct film *f, int64_t keys,
                               uint64_t most)
{
    const struct film_length *l = &f->length;
    int64_t film_end = film_length_end(l), end = s->end_us < film_end ? s->end_us : film_end;
    int64_t start = s->start_us > l->start_us ? s->start_us : l->start_us;
    if (keys > 0 && l->duration_us > 0) {
        struct film_length counted = *l;
        counted.frames = keys;
        uint64_t inside = frames_inside(s, &counted);
        s->kind = SELECT_COLUMNS;
        s->columns = inside < 1 ? 1 : inside < RENDER_COLUMNS ? inside : RENDER_COLUMNS;
        s->columns = s->columns < most ? s->columns : most;
    } else if (l->duration_us > 0 && end > start) {
        s->kind = SELECT_INTERVAL;
        s->interval_us = (end - start + RENDER_COLUMNS - 1) / RENDER_COLUMNS;
    } else {
        s->every = EVERY_UNKNOWN;
    }
}

/* Returns the time of `every` frames, which replaces --every with --keyframes. */
static int64_t every_us(uint64_t every, const struct film *f)
{
    const int64_t unknown_us = 40000, longest_us = INT64_MAX / 4;
    double us = f->rate_num > 0 ? 1e6 * (double)every * (double)f->rate_den / (double)f->rate_num
                                : (double)every * unknown_us;
    return us < 1 ? 1 : us > (double)longest_us ? longest_us : (int64_t)(us + 0.5);
}

/*
 * Returns the maximum number of columns. If each column is a pixel, the picture's size limits them.
 */
static uint64_t columns_most(const struct options *o)
{
    uint64_t each = (uint64_t)o->picture.height * (o->picture.stacked ? o->picture.strips : 1);
    uint64_t fit = o->picture.width > 0 || each == 0 ? UINT64_MAX : PAINT_PIXELS_MOST / each;
    return fit < OPTION_COLUMNS_MOST ? fit : OPTION_COLUMNS_MOST;
}

bool render_is_short(const struct film *f)
{
    return f->length.source < LENGTH_PACKETS && film_length_is_short(&f->length);
}

bool render_wants_previews(const struct render_job *j)
{
    for (size_t i = 0; i < j->outputs.count; i++)
        if (j->outputs.output[i].writer->beside)
            return true;
    return false;
}

bool render_wants_columns(const struct render_job *j)
{
    bool wanted = j->outputs.dump.path != NULL;
    for (size_t i = 0; i < j->outputs.count && !wanted; i++)
        wanted = !j->outputs.output[i].writer->beside;
    return wanted;
}

/* Sets what the outputs beside the film need; without other outputs they decide everything. */
static void decide_previews(struct render_job *j)
{
    struct selection *s = &j->report.selection;
    if (!render_wants_previews(j))
        return;
    s->preview_us = j->report.preview_us = j->render->options->formats.previews.interval_us;
    if (render_wants_columns(j))
        return;
    s->kind = SELECT_INTERVAL;
    s->interval_us = s->preview_us;
    s->start_us = 0;
    s->end_us = INT64_MAX;
}

bool render_decide_selection(struct render_job *j, struct err *e)
{
    const struct film *f = &j->source->film;
    struct selection *s = &j->report.selection;
    *s = j->render->options->film.selection;
    decide_previews(j);
    int64_t end = film_length_end(&f->length);
    if (f->length.source >= LENGTH_INDEX && s->start_us >= end)
        return err_set(e, ERR_FAILED, "'%s' has no frame after --start: it ends at %.3f s", f->path,
                       (double)end / 1e6);
    if (s->kind == SELECT_INTERVAL &&
        selection_estimate(s, &f->length) > columns_most(j->render->options))
        return err_set(e, ERR_USAGE,
                       "'%s': --interval is too short: it gives %" PRIu64
                       " columns, but at most %" PRIu64 " are possible",
                       f->path, selection_estimate(s, &f->length),
                       columns_most(j->render->options));
    bool usual = render_is_default(j) && s->kind == SELECT_EVERY; /* not for previews alone */
    if (usual && s->keyframes)
        decide_key_columns(s, f, j->keys, columns_most(j->render->options));
    else if (usual)
        s->every = render_default_every(s, &f->length);
    if (usual && !s->keyframes && f->length.frames <= 0)
        log_msg(LOG_INFO,
                "'%s' does not declare its length: using every %" PRIu64
                "th frame (-n N changes that)",
                f->path, s->every);
    if (s->kind == SELECT_EVERY && s->keyframes)
        s->interval_us = every_us(s->every, f);
    if (s->kind == SELECT_COLUMNS && s->end_us >= end) {
        s->end_us = end;
        s->to_film_end = f->length.source < LENGTH_INDEX || render_is_short(f);
    }
    return true;
}

void render_decide_width(struct render_job *j)
{
    struct report *r = &j->report;
    int *along = r->shape == SHAPE_VERTICAL ? &r->picture_height : &r->picture_width;
    bool stacked = j->render->options->picture.stacked;
    uint64_t most = stacked ? RENDER_COLUMNS : COLUMNS_MOST;
    if (!render_is_default(j) || *along > 0)
        return;
    if (r->count > most)
        *along = RENDER_COLUMNS;
    else if (r->count < WIDTH_LEAST && !stacked) /* a stack has a minimum of its own */
        *along = (int)((WIDTH_LEAST + r->count - 1) / r->count * r->count);
}

static struct engine_work work_of(const struct render_job *j)
{
    const struct film *f = &j->source->film;
    return (struct engine_work){
        .frames = frames_inside(&j->report.selection, &f->length),
        .width = f->width,
        .height = f->height,
        .columns = j->report.needs & STRIP_CLUSTERS
                       ? selection_estimate(&j->report.selection, &f->length)
                       : 0,
        .analysis_width = j->report.width,
        .analysis_height = j->report.height,
    };
}

bool render_decide_engine(struct render_job *j, struct err *e)
{
    struct engine_work work = work_of(j);
    j->engine = engines_for(j->render->engines, &work, e);
    if (!j->engine)
        return false;
    j->report.engine = j->engine->ops->name;
    j->report.isa = engine_detail(j->engine);
    return true;
}
