#include "barcode/engine/engine.h"

#include <string.h>

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
    return !ops ? 0 : ops->count ? ops->count() : 1;
}

struct engine *engine_open(const char *name, const struct engine_config *config, struct err *e)
{
    const struct engine_ops *ops = find(name);
    if (ops)
        return ops->open(config, e);
    err_set(e, ERR_ENGINE, "there is no engine '%s' in this build", name);
    return NULL;
}

bool engine_begin(struct engine *g, const struct engine_job *job, struct err *e)
{
    g->crop = job->crop;
    return g->ops->begin(g, job, e);
}

struct engine_port *engine_port_open(struct engine *g, struct err *e)
{
    return g->ops->port_open(g, e);
}

bool engine_put(struct engine_port *p, const struct frame_view *view, const struct frame_tag *tag,
                struct err *e)
{
    const struct crop *crop = p->engine->crop;
    if (!crop || crop->count == 0)
        return p->engine->ops->put(p, view, tag, e);
    struct frame_view cut = *view, rows = *view;
    if (!crop->forced && !view->on_device)
        rows = crop_rows(view);
    else if (!crop->forced && !p->engine->ops->rows(p, view, &rows, e))
        return false;
    crop_view(crop, &rows, &cut);
    return p->engine->ops->put(p, &cut, tag, e);
}

bool engine_put_analysed(struct engine_port *p, const uint8_t *rgb, const struct frame_tag *tag,
                         struct err *e)
{
    return p->engine->ops->put_analysed(p, rgb, tag, e);
}

void engine_port_close(struct engine_port **p)
{
    if (*p)
        (*p)->engine->ops->port_close(p);
}

bool engine_finish(struct engine *g, struct engine_times *times, struct err *e)
{
    return g->ops->finish(g, times, e);
}

const char *engine_detail(const struct engine *g) { return g->ops->detail(g); }

struct engine_device engine_device(const struct engine *g)
{
    return g->ops->device ? g->ops->device(g) : (struct engine_device){.context = NULL};
}

void engine_close(struct engine **g)
{
    if (*g)
        (*g)->ops->close(g);
}
