/*
 * engine_cpu.c - the reference engine.
 *
 *   port: put = wait for a free batch, downscale into it --> [todo]
 *                                     --> worker: tap, means, k-means, mode --> [free]
 *
 * A batch is one analysis frame: frames are independent, and one is enough work for a core. Ports
 * downscale in the decoding thread, while the decoded frame is still in its cache. There is one
 * worker per core. While films decode, the workers share the cores with the decoders.
 */
#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "barcode/base/clock.h"
#include "base/interrupt.h"
#include "barcode/base/queue.h"
#include "base/watch.h"
#include "barcode/engine/dominant.h"
#include "barcode/engine/engine.h"
#include "barcode/engine/shrink.h"

struct batch {
    struct frame_tag tag;
    uint8_t *rgb; /* [height][width][3] */
};

struct worker {
    struct cpu *cpu;
    struct kmeans *kmeans;
    struct dominant *dominant;
    uint32_t *row_sum; /* [height][3] */
    pthread_t thread;
    bool started;
};

struct cpu {
    struct engine base;
    struct engine_job job;
    enum isa isa;
    int threads;
    char detail[64];
    struct batch *batch;
    uint8_t *memory;
    int batches;
    struct queue *todo, *free;
    struct worker *worker;
    pthread_mutex_t lock; /* guards the fields below */
    struct err error;
    struct engine_times times;
};

struct cpu_port {
    struct engine_port base;
    struct cpu *cpu;
    struct shrink *shrink;
    double shrink_seconds;
};

static bool fail(struct cpu *c, const struct err *e)
{
    pthread_mutex_lock(&c->lock);
    if (c->error.code == ERR_NONE)
        c->error = *e;
    pthread_mutex_unlock(&c->lock);
    if (c->todo) {
        queue_abort(c->todo);
        queue_abort(c->free);
    }
    return false;
}

/* ------------------------------------------------------------------ columns */

static void sum_rows(const uint8_t *rgb, int width, int height, uint32_t *sum)
{
    for (int y = 0; y < height; y++, sum += 3) {
        uint32_t r = 0, g = 0, b = 0;
        for (int x = 0; x < width; x++, rgb += 3) {
            r += rgb[0];
            g += rgb[1];
            b += rgb[2];
        }
        sum[0] = r;
        sum[1] = g;
        sum[2] = b;
    }
}

static bool fill_column(struct worker *w, const struct batch *b, struct err *e)
{
    const struct engine_job *job = &w->cpu->job;
    struct column *column = columns_at(job->columns, b->tag.column, e);
    if (!column)
        return false;
    if (job->means) {
        for (int y = 0; y < job->height; y++)
            column_row_light(job->means, b->rgb + (size_t)y * (size_t)job->width * 3, job->width,
                             w->row_sum + 3 * (size_t)y);
    } else {
        sum_rows(b->rgb, job->width, job->height, w->row_sum);
    }
    column_fill(column, &b->tag, w->row_sum, job->width, job->height, job->rows, job->means);
    size_t pixels = (size_t)job->width * (size_t)job->height;
    if (job->cluster)
        column->clusters =
            (uint8_t)kmeans_run(w->kmeans, b->rgb, pixels, b->tag.frame, column->cluster, NULL);
    if (job->modes > 0) {
        struct cluster mode[DOMINANT_MOST];
        column_fill_modes(column, mode,
                          dominant_modes(w->dominant, b->rgb, pixels, job->modes, mode));
    }
    columns_note_done(job->columns, &b->tag);
    return true;
}

/*
 * Sets the error after an interruption, because columns filled later are meaningless. Frames still
 * go through the tap: the cache keeps frames of complete chunks.
 */
static void note_interruption(struct cpu *c)
{
    if (!interrupted())
        return;
    pthread_mutex_lock(&c->lock);
    interrupt_error(&c->error);
    pthread_mutex_unlock(&c->lock);
}

static void *worker_main(void *argument)
{
    struct worker *w = argument;
    struct cpu *c = w->cpu;
    struct err e = ERR_INIT;
    void *item;
    int64_t before = clock_thread_ns();
    while (queue_pop(c->todo, &item)) {
        struct batch *b = item;
        bool ok = (!c->job.tap || c->job.tap(c->job.tap_user, &b->tag, b->rgb, &e)) &&
                  (interrupted() || !frame_fills_column(&b->tag) || fill_column(w, b, &e));
        if (!ok) {
            fail(c, &e);
            break;
        }
        struct frame_tag tag = b->tag;
        queue_push(c->free, b);
        if (c->job.done)
            c->job.done(c->job.done_user, &tag);
    }
    note_interruption(c);
    pthread_mutex_lock(&c->lock);
    c->times.cluster += (double)(clock_thread_ns() - before) / 1e9;
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* ------------------------------------------------------------------ lifetime */

static struct engine *cpu_open(const struct engine_config *config, struct err *e)
{
    struct cpu *c = err_calloc(1, sizeof *c, e);
    if (!c)
        return NULL;
    c->base.ops = &engine_cpu;
    c->threads = config->threads;
    pthread_mutex_init(&c->lock, NULL);
    if (!isa_choose(&c->isa, e)) {
        struct engine *g = &c->base;
        engine_close(&g);
        return NULL;
    }
    snprintf(c->detail, sizeof c->detail, "%s", isa_name(c->isa));
    return &c->base;
}

static void release_film(struct cpu *c)
{
    for (int i = 0; c->worker && i < c->threads; i++) {
        kmeans_free(&c->worker[i].kmeans);
        dominant_free(&c->worker[i].dominant);
        free(c->worker[i].row_sum);
    }
    free(c->worker);
    c->worker = NULL;
    queue_free(&c->todo);
    queue_free(&c->free);
    free(c->batch);
    free(c->memory);
    c->batch = NULL;
    c->memory = NULL;
}

/* Allocates the workspaces of a worker. */
static bool equip(struct cpu *c, struct worker *w, struct err *e)
{
    size_t pixels = (size_t)c->job.width * (size_t)c->job.height,
           sums = (size_t)c->job.height * 3 * sizeof *w->row_sum;
    w->cpu = c;
    w->row_sum = malloc(sums);
    if (!w->row_sum)
        return err_memory(e, sums);
    if (c->job.cluster) {
        w->kmeans = kmeans_open(&c->job.kmeans, pixels, c->isa, e);
        if (!w->kmeans)
            return false;
    }
    if (c->job.modes > 0) {
        w->dominant = dominant_open(pixels, e);
        if (!w->dominant)
            return false;
    }
    return true;
}

static bool allocate_film(struct cpu *c, struct err *e)
{
    size_t bytes = (size_t)c->job.width * (size_t)c->job.height * 3;
    c->batches = c->job.ports + 2 * c->threads;
    c->batch = calloc((size_t)c->batches, sizeof *c->batch);
    c->memory = malloc(bytes * (size_t)c->batches);
    c->worker = calloc((size_t)c->threads, sizeof *c->worker);
    if (!c->batch || !c->memory || !c->worker)
        return err_memory(e, bytes * (size_t)c->batches);
    c->todo = queue_open((size_t)c->batches, NULL, e);
    c->free = queue_open((size_t)c->batches, NULL, e);
    if (!c->todo || !c->free)
        return false;
    for (int i = 0; i < c->batches; i++) {
        c->batch[i].rgb = c->memory + (size_t)i * bytes;
        queue_push(c->free, &c->batch[i]);
    }
    for (int i = 0; i < c->threads; i++)
        if (!equip(c, &c->worker[i], e))
            return false;
    return true;
}

static void stop_workers(struct cpu *c)
{
    queue_close(c->todo);
    for (int i = 0; i < c->threads; i++)
        if (c->worker[i].started)
            pthread_join(c->worker[i].thread, NULL);
}

static bool cpu_begin(struct engine *g, const struct engine_job *job, struct err *e)
{
    struct cpu *c = (struct cpu *)g;
    c->job = *job;
    c->times = (struct engine_times){0};
    err_clear(&c->error);
    if (!allocate_film(c, e)) {
        release_film(c);
        return false;
    }
    for (int i = 0; i < c->threads; i++) {
        c->worker[i].started = watch_thread(&c->worker[i].thread, worker_main, &c->worker[i]) == 0;
        if (!c->worker[i].started && i == 0) {
            release_film(c);
            return err_set(e, ERR_MEMORY, "cannot start a thread");
        }
    }
    return true;
}

static bool cpu_finish(struct engine *g, struct engine_times *times, struct err *e)
{
    struct cpu *c = (struct cpu *)g;
    stop_workers(c);
    release_film(c);
    *times = c->times;
    if (c->error.code == ERR_NONE)
        return true;
    *e = c->error;
    return false;
}

static bool cpu_fail(struct engine *g, const struct err *e) { return fail((struct cpu *)g, e); }

static const char *cpu_detail(const struct engine *g) { return ((const struct cpu *)g)->detail; }

static void cpu_close(struct engine **g)
{
    struct cpu *c = (struct cpu *)*g;
    pthread_mutex_destroy(&c->lock);
    free(c);
    *g = NULL;
}

/* ------------------------------------------------------------------ ports */

static struct engine_port *cpu_port_open(struct engine *g, struct err *e)
{
    struct cpu *c = (struct cpu *)g;
    struct cpu_port *p = err_calloc(1, sizeof *p, e);
    if (!p)
        return NULL;
    p->base.engine = g;
    p->cpu = c;
    p->shrink = shrink_open(c->job.width, c->job.height, e);
    if (p->shrink) {
        shrink_use_light(p->shrink, c->job.light);
        return &p->base;
    }
    free(p);
    return NULL;
}

/* Copies the film's first failure. */
static void copy_error(struct cpu *c, struct err *e)
{
    pthread_mutex_lock(&c->lock);
    *e = c->error;
    pthread_mutex_unlock(&c->lock);
}

/* Returns NULL if the film has failed. */
static struct batch *wait_for_batch(struct cpu_port *p, struct err *e)
{
    void *item;
    if (queue_pop(p->cpu->free, &item))
        return item;
    copy_error(p->cpu, e);
    return NULL;
}

static bool submit(struct cpu_port *p, struct batch *b, const struct frame_tag *tag, struct err *e)
{
    b->tag = *tag;
    if (queue_push(p->cpu->todo, b))
        return true;
    copy_error(p->cpu, e);
    return false;
}

static bool cpu_put(struct engine_port *port, const struct frame_view *view,
                    const struct frame_tag *tag, struct err *e)
{
    struct cpu_port *p = (struct cpu_port *)port;
    struct batch *b = wait_for_batch(p, e);
    if (!b)
        return false;
    int64_t before = clock_thread_ns();
    bool ok = shrink_frame(p->shrink, view, b->rgb, e);
    p->shrink_seconds += (double)(clock_thread_ns() - before) / 1e9;
    if (!ok)
        return fail(p->cpu, e);
    return submit(p, b, tag, e);
}

static bool cpu_put_analysed(struct engine_port *port, const uint8_t *rgb,
                             const struct frame_tag *tag, struct err *e)
{
    struct cpu_port *p = (struct cpu_port *)port;
    struct batch *b = wait_for_batch(p, e);
    if (!b)
        return false;
    memcpy(b->rgb, rgb, (size_t)p->cpu->job.width * (size_t)p->cpu->job.height * 3);
    return submit(p, b, tag, e);
}

static void cpu_port_close(struct engine_port **port)
{
    struct cpu_port *p = (struct cpu_port *)*port;
    pthread_mutex_lock(&p->cpu->lock);
    p->cpu->times.shrink += p->shrink_seconds;
    pthread_mutex_unlock(&p->cpu->lock);
    shrink_free(&p->shrink);
    free(p);
    *port = NULL;
}

const struct engine_ops engine_cpu = {
    .name = "cpu",
    .open = cpu_open,
    .begin = cpu_begin,
    .port_open = cpu_port_open,
    .put = cpu_put,
    .put_analysed = cpu_put_analysed,
    .port_close = cpu_port_close,
    .fail = cpu_fail,
    .finish = cpu_finish,
    .detail = cpu_detail,
    .close = cpu_close,
};
