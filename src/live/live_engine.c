#include "live_engine.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "live_paint.h"
#include "barcode/base/clock.h"
#include "output/modes/strip.h"

/* An engine with one job that never ends: analysis frames of one size. */
struct shared {
    struct engine *engine;
    struct columns *columns; /* one for each port, which the next frame of the port replaces */
    struct slit_line *slit;  /* NULL: no mode needs it */
    int width, height;
    bool begun;
};

struct live_engines {
    const struct options *o;
    unsigned needs;
    struct engines *list;
    struct light *light;
    const struct light_table *means;
    pthread_mutex_t lock; /* guards the fields below, and the analysers' results */
    pthread_cond_t done;
    struct shared *shared;       /* [ports], of which `count` are used */
    struct live_analyser **user; /* [ports], by slot; NULL: it is free */
    int count, ports;
};

struct live_analyser {
    struct live_engines *all;
    struct shared *shared;
    struct engine_port *port;
    int slot;
    bool ready;
    struct live_average sum;
};

struct live_engines *live_engines_open(const struct options *o, struct engines *list,
                                       struct light *light, const struct light_table *means,
                                       int ports, struct err *e)
{
    struct live_engines *g = err_calloc(1, sizeof *g, e);
    if (!g)
        return NULL;
    *g = (struct live_engines){.o = o,
                               .needs = live_needs(o),
                               .list = list,
                               .light = light,
                               .means = means,
                               .ports = ports};
    pthread_mutex_init(&g->lock, NULL);
    clock_steady_cond(&g->done);
    g->shared = err_calloc((size_t)ports, sizeof *g->shared, e);
    g->user = g->shared ? err_calloc((size_t)ports, sizeof(struct live_analyser *), e) : NULL;
    if (!g->user)
        live_engines_close(&g);
    return g;
}

static void close_shared(struct shared *s)
{
    struct engine_times times;
    struct err none = ERR_INIT;
    if (s->begun)
        (void)engine_finish(s->engine, &times, &none);
    columns_free(&s->columns);
    slit_line_free(&s->slit);
    engine_close(&s->engine);
}

void live_engines_close(struct live_engines **g)
{
    if (!*g)
        return;
    for (int i = 0; (*g)->shared && i < (*g)->count; i++)
        close_shared(&(*g)->shared[i]);
    free((*g)->shared);
    free((*g)->user);
    pthread_cond_destroy(&(*g)->done);
    pthread_mutex_destroy(&(*g)->lock);
    free(*g);
    *g = NULL;
}

/* ------------------------------------------------------------------ results */

/* Implements engine_tap. */
static bool sum_frame(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    (void)e;
    struct live_engines *g = user;
    pthread_mutex_lock(&g->lock);
    struct live_analyser *a = g->user[tag->column];
    pthread_mutex_unlock(&g->lock);
    if (a) /* only this frame of the stream is being analysed */
        live_average_frame(&a->sum, rgb, a->shared->width, a->shared->height, g->means);
    return true;
}

/* Implements engine_done. */
static void mark_done(void *user, const struct frame_tag *tag)
{
    struct live_engines *g = user;
    pthread_mutex_lock(&g->lock);
    struct live_analyser *a = g->user[tag->column];
    if (a)
        a->ready = true;
    pthread_cond_broadcast(&g->done);
    pthread_mutex_unlock(&g->lock);
}

/* ------------------------------------------------------------------ engines */

/* The list gives the first engine; those for other sizes are further ones of its kind. */
static struct engine *open_engine(struct live_engines *g, struct err *e)
{
    const struct engine_work work = {.frames = 0}; /* without an end: a GPU is worth it */
    struct engine *first = engines_for(g->list, &work, e);
    struct engine_config config = {.threads = g->list->threads};
    return first ? engine_open(first->ops->name, &config, e) : NULL;
}

static bool begin(struct live_engines *g, struct shared *s, struct err *e)
{
    const struct options *o = g->o;
    bool cluster = g->needs & STRIP_CLUSTERS, rows = g->needs & STRIP_ROWS;
    s->columns = columns_open(cluster ? o->kmeans.k : 0, rows ? s->height : 0, e);
    if (g->needs & STRIP_SLIT)
        s->slit = slit_line_open(&o->picture.slit, s->width, s->height, e);
    if (s->columns && s->slit)
        columns_keep_slit(s->columns, s->slit->length);
    bool ok = s->columns && (s->slit || !(g->needs & STRIP_SLIT));
    s->engine = ok ? open_engine(g, e) : NULL;
    const struct engine_job job = {.width = s->width,
                                   .height = s->height,
                                   .cluster = cluster,
                                   .rows = rows,
                                   .slit = s->slit,
                                   .modes = g->needs & STRIP_DOMINANT ? 1 : 0,
                                   .kmeans = o->kmeans,
                                   .ports = g->ports,
                                   .columns = s->columns,
                                   .light = g->light,
                                   .means = g->means,
                                   .tap = sum_frame,
                                   .tap_user = g,
                                   .done = mark_done,
                                   .done_user = g,
                                   .prompt = true};
    s->begun = s->engine && engine_begin(s->engine, &job, e);
    if (!s->begun)
        close_shared(s);
    return s->begun;
}

/* Returns the engine for a size. `g` is locked. */
static struct shared *find_shared(struct live_engines *g, int width, int height, struct err *e)
{
    for (int i = 0; i < g->count; i++)
        if (g->shared[i].width == width && g->shared[i].height == height)
            return &g->shared[i];
    if (g->count == g->ports) {
        err_set(e, ERR_FAILED, "the size of its frames changes");
        return NULL;
    }
    struct shared *s = &g->shared[g->count];
    *s = (struct shared){.width = width, .height = height};
    if (!begin(g, s, e))
        return NULL;
    g->count++;
    return s;
}

struct live_analyser *live_analyser_open(struct live_engines *g, int width, int height,
                                         struct err *e)
{
    struct live_analyser *a = err_calloc(1, sizeof *a, e);
    if (!a)
        return NULL;
    a->all = g;
    pthread_mutex_lock(&g->lock);
    a->shared = find_shared(g, width, height, e);
    while (a->shared && g->user[a->slot])
        a->slot++;
    if (a->shared)
        g->user[a->slot] = a;
    pthread_mutex_unlock(&g->lock);
    a->port = a->shared ? engine_port_open(a->shared->engine, e) : NULL;
    if (!a->port)
        live_analyser_close(&a);
    return a;
}

const char *live_analyser_detail(const struct live_analyser *a)
{
    return engine_detail(a->shared->engine);
}

static bool wait_until_ready(struct live_analyser *a, struct err *e)
{
    const int64_t most_ns = 10000000000;
    struct timespec until = clock_steady_deadline(most_ns);
    int code = 0;
    pthread_mutex_lock(&a->all->lock);
    while (!a->ready && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&a->all->done, &a->all->lock, &until);
    bool ready = a->ready;
    pthread_mutex_unlock(&a->all->lock);
    return ready || err_set(e, ERR_ENGINE, "the engine did not answer for 10 s");
}

const struct column *live_analyse(struct live_analyser *a, const struct frame_view *view,
                                  int64_t number, bool damaged, struct live_average *sum,
                                  struct err *e)
{
    struct frame_tag tag = {
        .column = (uint64_t)a->slot, .repeat = 1, .frame = (uint64_t)number, .damaged = damaged};
    struct column *column = columns_at(a->shared->columns, tag.column, e);
    if (!column)
        return NULL;
    column->status = COLUMN_MISSING;
    column->transparent = false;
    a->ready = false;
    a->sum = (struct live_average){.count = 0};
    if (!engine_put(a->port, view, &tag, e) || !wait_until_ready(a, e))
        return NULL;
    *sum = a->sum;
    return column;
}

void live_analyser_close(struct live_analyser **a)
{
    if (!*a)
        return;
    struct live_engines *g = (*a)->all;
    engine_port_close(&(*a)->port);
    pthread_mutex_lock(&g->lock);
    if ((*a)->shared)
        g->user[(*a)->slot] = NULL;
    pthread_mutex_unlock(&g->lock);
    free(*a);
    *a = NULL;
}
