/*
 * engine_many.c - several engines of one kind as one: all the GPUs of a machine on one film.
 *
 *   port of part 0 --> part 0 --+
 *   port of part 1 --> part 1 --+--> columns, each in its place
 *
 * Nothing is shared by the parts but the columns and the tap, which take any thread in any order (rule 2 of engine.h), so the
 * bytes are those of one part alone. A port belongs to one part for its life, for a decoder's pictures lie on one device.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/engine.h"

/* One of the parts, and what it is doing on a thread of its own while all begin or finish side by side. */
struct part {
    struct engine *engine;
    const struct engine_job *job;
    struct engine_times times;
    struct err error;
    bool fine;
    pthread_t thread;
};

struct many {
    struct engine base;
    struct engine_ops ops;         /* with the kind's name */
    struct part part[ENGINE_PARTS_MOST];
    int parts;
    char detail[300];
    pthread_mutex_t lock;          /* guards what follows                       */
    struct err error;              /* of the film: the first one wins           */
    const struct engine *culprit;  /* the part that failed; NULL: none          */
    unsigned turn;                 /* of the ports; goes on from film to film   */
};

struct many_port {
    struct engine_port base;
    struct many *many;
    struct engine_port *port;      /* the part's */
};

/* ------------------------------------------------------------------ failures */

/* Notes that a part failed. Returns false, with the film's first failure in *e, which names the device if it was the device's. */
static bool fail(struct many *m, const struct engine *part, struct err *e)
{
    struct engine_device device = engine_device(part, 0);
    pthread_mutex_lock(&m->lock);
    if (m->error.code == ERR_NONE) {
        m->error = *e;
        m->culprit = part;
        if (e->code == ERR_ENGINE && device.context)
            err_prefix(&m->error, "%s:%d", part->ops->name, device.ordinal);
    }
    *e = m->error;
    pthread_mutex_unlock(&m->lock);
    return false;
}

/* True, with the sentence in *e, once a part has failed: the others would go on for nothing. */
static bool has_failed(struct many *m, struct err *e)
{
    pthread_mutex_lock(&m->lock);
    bool failed = m->error.code != ERR_NONE;
    if (failed)
        *e = m->error;
    pthread_mutex_unlock(&m->lock);
    return failed;
}

/* ------------------------------------------------------------------ ports */

static struct engine_port *many_port_open_at(struct engine *g, int part, struct err *e)
{
    struct many *m = (struct many *)g;
    struct many_port *p = calloc(1, sizeof *p);
    if (!p) {
        err_memory(e, sizeof *p);
        return NULL;
    }
    *p = (struct many_port){.base = {.engine = g}, .many = m, .port = engine_port_open(m->part[part].engine, e)};
    if (p->port)
        return &p->base;
    free(p);
    return NULL;
}

static struct engine_port *many_port_open(struct engine *g, struct err *e)
{
    struct many *m = (struct many *)g;
    pthread_mutex_lock(&m->lock);
    unsigned turn = m->turn++;
    pthread_mutex_unlock(&m->lock);
    return many_port_open_at(g, (int)(turn % (unsigned)m->parts), e);
}

static bool many_put(struct engine_port *port, const struct frame_view *view, const struct frame_tag *tag, struct err *e)
{
    struct many_port *p = (struct many_port *)port;
    return !has_failed(p->many, e) && (engine_put(p->port, view, tag, e) || fail(p->many, p->port->engine, e));
}

static bool many_put_staged(struct engine_port *port, const uint8_t *rgb, const struct frame_tag *tag, struct err *e)
{
    struct many_port *p = (struct many_port *)port;
    return !has_failed(p->many, e) && (engine_put_staged(p->port, rgb, tag, e) || fail(p->many, p->port->engine, e));
}

static void many_port_close(struct engine_port **port)
{
    struct many_port *p = (struct many_port *)*port;
    engine_port_close(&p->port);
    free(p);
    *port = NULL;
}

/* ------------------------------------------------------------------ films */

static void *begin_main(void *argument)
{
    struct part *p = argument;
    p->fine = engine_begin(p->engine, p->job, &p->error);
    return NULL;
}

static void *finish_main(void *argument)
{
    struct part *p = argument;
    p->fine = engine_finish(p->engine, &p->times, &p->error);
    return NULL;
}

/* A GPU takes and gives memory slowly, and at the end each clusters what it still has. One for which there is no thread does it here. */
static void side_by_side(struct many *m, void *(*work)(void *))
{
    bool apart[ENGINE_PARTS_MOST] = {false};
    for (int i = 1; i < m->parts; i++)
        apart[i] = pthread_create(&m->part[i].thread, NULL, work, &m->part[i]) == 0;
    for (int i = 0; i < m->parts; i++)
        if (!apart[i])
            work(&m->part[i]);
    for (int i = 1; i < m->parts; i++)
        if (apart[i])
            pthread_join(m->part[i].thread, NULL);
}

static bool many_begin(struct engine *g, const struct engine_job *job, struct err *e)
{
    struct many *m = (struct many *)g;
    g->trim = NULL;                /* the parts cut */
    err_clear(&m->error);
    m->culprit = NULL;
    for (int i = 0; i < m->parts; i++) {
        m->part[i].job = job;
        err_clear(&m->part[i].error);
    }
    side_by_side(m, begin_main);
    bool fine = true;
    for (int i = 0; i < m->parts; i++)
        if (!m->part[i].fine) {
            *e = m->part[i].error;
            fine = fail(m, m->part[i].engine, e);
        }
    for (int i = 0; i < m->parts && !fine; i++) {
        struct err ignored = ERR_INIT;
        if (m->part[i].fine)
            engine_finish(m->part[i].engine, &m->part[i].times, &ignored);
    }
    return fine;
}

static bool many_finish(struct engine *g, struct engine_times *times, struct err *e)
{
    struct many *m = (struct many *)g;
    side_by_side(m, finish_main);
    *times = (struct engine_times){0};
    for (int i = 0; i < m->parts; i++) {
        times->shrink += m->part[i].times.shrink;
        times->cluster += m->part[i].times.cluster;
        struct err mine = m->part[i].error;
        if (!m->part[i].fine)
            fail(m, m->part[i].engine, &mine);
    }
    return !has_failed(m, e);
}

/* ------------------------------------------------------------------ life */

static const char *many_detail(const struct engine *g)
{
    return ((const struct many *)g)->detail;
}

static const struct engine *many_part(const struct engine *g, int i)
{
    const struct many *m = (const struct many *)g;
    return i < m->parts ? m->part[i].engine : NULL;
}

static void many_free(struct many *m)
{
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static void many_close(struct engine **g)
{
    struct many *m = (struct many *)*g;
    for (int i = 0; i < m->parts; i++)
        engine_close(&m->part[i].engine);
    many_free(m);
    *g = NULL;
}

static const struct engine_ops engine_many = {
    .begin = many_begin, .port_open = many_port_open, .put = many_put, .put_staged = many_put_staged, .port_close = many_port_close,
    .finish = many_finish, .detail = many_detail, .close = many_close, .part = many_part, .port_open_at = many_port_open_at,
};

/* "2 x NVIDIA H200, NVIDIA L4": each name once, cut where it gets long. */
static void describe(struct many *m)
{
    size_t at = 0;
    m->detail[0] = '\0';
    for (int i = 0; i < m->parts; i++) {
        const char *name = engine_detail(m->part[i].engine);
        int same = 0, before = 0;
        for (int k = 0; k < m->parts; k++) {
            bool is = strcmp(engine_detail(m->part[k].engine), name) == 0;
            same += is;
            before += is && k < i;
        }
        char times[16] = "";
        if (same > 1)
            snprintf(times, sizeof times, "%d x ", same);
        if (before == 0 && at < sizeof m->detail)
            at += (size_t)snprintf(m->detail + at, sizeof m->detail - at, "%s%s%s", at > 0 ? ", " : "", times, name);
    }
}

static struct many *many_of(struct engine *g)
{
    return g->ops->begin == many_begin ? (struct many *)g : NULL;
}

/* The first part's own, with nothing else in it. */
static struct many *many_new(struct engine *first, struct err *e)
{
    struct many *m = calloc(1, sizeof *m);
    if (!m) {
        err_memory(e, sizeof *m);
        return NULL;
    }
    pthread_mutex_init(&m->lock, NULL);
    m->ops = engine_many;
    m->ops.name = first->ops->name;
    m->base.ops = &m->ops;
    m->part[m->parts++].engine = first;
    return m;
}

bool engine_many_add(struct engine **g, struct engine *part, struct err *e)
{
    if (!*g) {
        *g = part;
        return true;
    }
    struct many *m = many_of(*g);
    if (m && m->parts == ENGINE_PARTS_MOST)
        return err_set(e, ERR_FAILED, "an engine has at most %d parts", ENGINE_PARTS_MOST);
    if (!m && !(m = many_new(*g, e)))
        return false;
    m->part[m->parts++].engine = part;
    describe(m);
    *g = &m->base;
    return true;
}

bool engine_many_drop(struct engine **g)
{
    struct many *m = many_of(*g);
    if (!m || !m->culprit)
        return false;
    int at = 0;
    while (m->part[at].engine != m->culprit)
        at++;
    engine_close(&m->part[at].engine);
    memmove(&m->part[at], &m->part[at + 1], (size_t)(--m->parts - at) * sizeof *m->part);
    m->culprit = NULL;
    describe(m);
    if (m->parts > 1)
        return true;
    *g = m->part[0].engine;
    many_free(m);
    return true;
}
