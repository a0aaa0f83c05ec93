#include "barcode/engine/engine.h"

#include <string.h>

#include "barcode/engine/shrink.h"
#include "shrink_sum.h"

static const struct engine_ops *const engines[] = {
    &engine_cpu,
#ifdef BARCODE_CUDA
    &engine_cuda,
#endif
};

static const struct engine_ops *find(const char *name)
{
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    return NULL;
}

bool engine_built(const char *name) { return find(name) != NULL; }

int engine_count(const char *name)
{
    const struct engine_ops *ops = find(name);
    if (!ops)
        return 0;
    return ops->count ? ops->count() : 1;
}

struct engine *engine_open(const char *name, const struct engine_config *config, struct err *e)
{
    const struct engine_ops *ops = find(name);
    if (ops)
        return ops->open(config, e);
    err_set(e, ERR_ENGINE, "there is no engine '%s' in this build", name);
    return NULL;
}

/* Keeps the slit of a frame, then calls the film's tap. So every engine has the slit. */
static bool tap_slit(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    const struct engine_job *job = &((const struct engine *)user)->job;
    if (frame_fills_column(tag)) {
        struct column *column = columns_at(job->columns, tag->column, e);
        if (!column)
            return false;
        slit_line_read(job->slit, rgb, column->slit);
    }
    return !job->tap || job->tap(job->tap_user, tag, rgb, e);
}

/* Opens the engine of scan frames if there is none yet, and begins a film. */
static bool begin_scan(struct engine *g, struct err *e)
{
    const struct engine_job *job = &g->job;
    const struct engine_config config = {.threads = 1, .device = engine_device(g).ordinal};
    const struct engine_job scan = {.width = job->scan_width,
                                    .height = job->scan_height,
                                    .ports = job->ports,
                                    .light = job->light,
                                    .crop = &g->scan_crop,
                                    .tap = job->scan,
                                    .tap_user = job->scan_user};
    g->scan_crop = job->crop ? *job->crop : (struct crop){.count = 0};
    g->scan_crop.forced = true;
    if (!g->scan)
        g->scan = g->ops->open(&config, e);
    return g->scan && engine_begin(g->scan, &scan, e);
}

bool engine_begin(struct engine *g, const struct engine_job *job, struct err *e)
{
    struct engine_job passed = *job;
    g->job = *job;
    if (job->slit) {
        passed.tap = tap_slit;
        passed.tap_user = g;
    }
    if (job->scan && !begin_scan(g, e))
        return false;
    if (g->ops->begin(g, &passed, e))
        return true;
    struct engine_times times;
    struct err ignored = ERR_INIT;
    if (job->scan)
        engine_finish(g->scan, &times, &ignored);
    return false;
}

struct engine_port *engine_port_open(struct engine *g, struct err *e)
{
    struct engine_port *p = g->ops->port_open(g, e);
    if (!p || !g->job.scan)
        return p;
    p->scan = engine_port_open(g->scan, e);
    if (!p->scan)
        engine_port_close(&p);
    return p;
}

/* Crops a view in place. */
static bool crop_frame(struct engine_port *p, struct frame_view *view, struct err *e)
{
    const struct crop *crop = p->engine->job.crop;
    if (!crop || crop->count == 0)
        return true;
    struct frame_view rows = *view;
    if (!crop->forced && !view->on_device)
        rows = crop_rows(view);
    else if (!crop->forced && !p->engine->ops->rows(p, view, &rows, e))
        return false;
    crop_view(crop, &rows, view);
    return true;
}

/* Marks the columns of a frame without a visible sample. */
static bool skip_frame(struct engine *g, const struct frame_tag *tag, struct err *e)
{
    if (!frame_fills_column(tag))
        return true;
    struct column *column = columns_at(g->job.columns, tag->column, e);
    if (!column)
        return false;
    column_fill_transparent(column, tag);
    columns_note_done(g->job.columns, tag);
    if (g->job.done)
        g->job.done(g->job.done_user, tag);
    return true;
}

/* Puts a frame that has a transparent sample. */
static bool put_alpha(struct engine_port *p, const struct frame_view *view,
                      const struct frame_tag *tag, struct err *e)
{
    struct engine *g = p->engine;
    const uint8_t *rgb;
    if (!p->alpha)
        p->alpha = shrink_alpha_open(g->job.width, g->job.height, g->job.light, e);
    if (!p->alpha || !shrink_alpha_frame(p->alpha, view, &rgb, e) ||
        (!rgb && !skip_frame(g, tag, e)))
        return g->ops->fail(g, e);
    return !rgb || g->ops->put_analysed(p, rgb, tag, e);
}

static bool put_view(struct engine_port *p, const struct frame_view *view,
                     const struct frame_tag *tag, struct err *e)
{
    bool opaque =
        !view->alpha.data || !shrink_check_view(view, NULL) || shrink_alpha_is_opaque(view);
    return opaque ? p->engine->ops->put(p, view, tag, e) : put_alpha(p, view, tag, e);
}

/* Puts a scan frame into the engine of these. */
static bool put_scan(struct engine_port *p, const struct frame_view *view,
                     const struct frame_tag *tag, struct err *e)
{
    struct frame_view cut = *view;
    struct frame_tag scan = *tag;
    if (!tag->scan || !p->scan)
        return true;
    scan.repeat = scan.previews = 0;
    if (crop_frame(p->scan, &cut, e) && put_view(p->scan, &cut, &scan, e))
        return true;
    return p->engine->ops->fail(p->engine, e);
}

bool engine_put(struct engine_port *p, const struct frame_view *view, const struct frame_tag *tag,
                struct err *e)
{
    const struct crop *crop = p->engine->job.crop;
    struct frame_view cut = *view;
    struct frame_tag column = *tag;
    if (!put_scan(p, view, tag, e))
        return false;
    if (tag->previews > 0 && crop && crop->count > 0) {
        struct frame_tag preview = *tag;
        preview.repeat = column.previews = 0;
        if (!put_view(p, view, &preview, e))
            return false;
    }
    if (column.repeat == 0 && column.previews == 0)
        return true;
    return crop_frame(p, &cut, e) && put_view(p, &cut, &column, e);
}

bool engine_put_analysed(struct engine_port *p, const uint8_t *rgb, const struct frame_tag *tag,
                         struct err *e)
{
    return p->engine->ops->put_analysed(p, rgb, tag, e);
}

void engine_port_close(struct engine_port **p)
{
    if (!*p)
        return;
    engine_port_close(&(*p)->scan);
    shrink_alpha_free(&(*p)->alpha);
    (*p)->engine->ops->port_close(p);
}

bool engine_finish(struct engine *g, struct engine_times *times, struct err *e)
{
    struct engine_times scan = {0, 0};
    struct err why = ERR_INIT;
    bool scanned = !g->job.scan || engine_finish(g->scan, &scan, &why);
    bool ok = g->ops->finish(g, times, e);
    times->shrink += scan.shrink;
    times->cluster += scan.cluster;
    if (ok && !scanned)
        *e = why;
    return ok && scanned;
}

const char *engine_detail(const struct engine *g) { return g->ops->detail(g); }

struct engine_device engine_device(const struct engine *g)
{
    return g->ops->device ? g->ops->device(g) : (struct engine_device){.context = NULL};
}

struct sound_device *engine_sound(const struct engine *g, struct err *e)
{
    return g->ops->sound ? g->ops->sound(g, e) : NULL;
}

void engine_close(struct engine **g)
{
    if (!*g)
        return;
    engine_close(&(*g)->scan);
    (*g)->ops->close(g);
}
