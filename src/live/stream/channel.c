/*
 * channel.c - a stream in the worker process: a thread runs its source, analyses its frames with an
 * engine, and sends their columns.
 */
#include "stream.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/base/clock.h"
#include "base/log.h"
#include "output/modes/strip.h"

/*
 * An engine with one job that never ends: analysis frames of one size. A GPU takes the frames of
 * all streams that are ready in one launch.
 */
struct sized_engine {
    struct engine *engine;
    struct columns *columns; /* one for each stream: that of its latest frame */
    struct slit_line *slit;  /* NULL: no mode needs it */
    int width, height;
    bool begun;
};

struct live_engines {
    const struct report *report; /* live_plan.report */
    struct engines *list;
    struct light *light;
    pthread_mutex_t lock; /* guards the fields below, and the channels' `ready` */
    pthread_cond_t done;
    struct sized_engine *sized;    /* [streams], of which `count` are used */
    struct live_channel **channel; /* [streams]; NULL: it analyses no frames */
    int count, streams;
};

struct live_channel {
    struct live_channel_setup s;
    struct sized_engine *engine; /* NULL: no frame has come yet */
    struct engine_port *port;
    struct column *column;   /* of the latest frame */
    struct live_average sum; /* of that frame */
    bool ready;              /* both have been computed */
    struct live_shape shape;
    uint8_t *data; /* [bytes]: a frame as it is sent */
    size_t bytes;
    int64_t number; /* of the last frame that was sent; INT64_MIN: none */
    uint64_t frames, breaks, late;
    int singles;       /* how many runs in a row had one frame: a snapshot a request */
    struct err reason; /* of the last break */
    pthread_t thread;
    atomic_bool stop;
    pthread_mutex_t lock;   /* guards `finished` */
    pthread_cond_t changed; /* `finished` or `stop` was set */
    bool finished;          /* the thread is at its end */
};

/* ------------------------------------------------------------------ engines */

struct live_engines *live_engines_open(const struct report *r, struct engines *list,
                                       struct light *light, int streams, struct err *e)
{
    struct live_engines *g = err_calloc(1, sizeof *g, e);
    struct sized_engine *sized = err_calloc((size_t)streams, sizeof *sized, e);
    struct live_channel **channel = err_calloc((size_t)streams, sizeof *channel, e);
    if (!g || !sized || !channel) {
        free(g);
        free(sized);
        free(channel);
        return NULL;
    }
    *g = (struct live_engines){.report = r,
                               .list = list,
                               .light = light,
                               .sized = sized,
                               .channel = channel,
                               .streams = streams};
    pthread_mutex_init(&g->lock, NULL);
    clock_steady_cond(&g->done);
    return g;
}

static void close_engine(struct sized_engine *s)
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
    for (int i = 0; i < (*g)->count; i++)
        close_engine(&(*g)->sized[i]);
    free((*g)->sized);
    free((*g)->channel);
    pthread_cond_destroy(&(*g)->done);
    pthread_mutex_destroy(&(*g)->lock);
    free(*g);
    *g = NULL;
}

/* Implements engine_tap. */
static bool sum_frame(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    (void)e;
    struct live_engines *g = user;
    pthread_mutex_lock(&g->lock);
    struct live_channel *c = g->channel[tag->column];
    pthread_mutex_unlock(&g->lock);
    if (c) /* only this frame of the stream is being analysed */
        live_average_frame(&c->sum, rgb, c->engine->width, c->engine->height,
                           g->report->analysis.means);
    return true;
}

/* Implements engine_done. */
static void mark_ready(void *user, const struct frame_tag *tag)
{
    struct live_engines *g = user;
    pthread_mutex_lock(&g->lock);
    struct live_channel *c = g->channel[tag->column];
    if (c)
        c->ready = true;
    pthread_cond_broadcast(&g->done);
    pthread_mutex_unlock(&g->lock);
}

/* The list chooses the kind of the engine; that for each size is a further one. */
static struct engine *open_engine(struct live_engines *g, struct err *e)
{
    const struct engine_work work = {.frames = 0}; /* without an end: a GPU is worth it */
    struct engine *first = engines_for(g->list, &work, e);
    if (!first)
        return NULL;
    const struct engine_config config = {.threads = g->list->threads,
                                         .device = engine_device(first).ordinal};
    return engine_open(first->ops->name, &config, e);
}

/* Opens the engine of `s`, which has a size. close_engine is the caller's also on failure. */
static bool begin_engine(struct live_engines *g, struct sized_engine *s, struct err *e)
{
    const struct report *r = g->report;
    const bool cluster = r->analysis.needs & STRIP_CLUSTERS, rows = r->analysis.needs & STRIP_ROWS;
    s->columns = columns_open(cluster ? r->analysis.kmeans.k : 0, rows ? s->height : 0, e);
    if (!s->columns)
        return false;
    if (r->analysis.needs & STRIP_SLIT) {
        s->slit = slit_line_open(&r->picture.slit, s->width, s->height, e);
        if (!s->slit)
            return false;
        columns_keep_slit(s->columns, s->slit->length);
    }
    s->engine = open_engine(g, e);
    if (!s->engine)
        return false;
    const struct engine_job job = {.width = s->width,
                                   .height = s->height,
                                   .cluster = cluster,
                                   .rows = rows,
                                   .slit = s->slit,
                                   .modes = r->analysis.needs & STRIP_DOMINANT ? 1 : 0,
                                   .kmeans = r->analysis.kmeans,
                                   .ports = g->streams,
                                   .columns = s->columns,
                                   .light = g->light,
                                   .means = r->analysis.means,
                                   .tap = sum_frame,
                                   .tap_user = g,
                                   .done = mark_ready,
                                   .done_user = g,
                                   .prompt = true};
    s->begun = engine_begin(s->engine, &job, e);
    return s->begun;
}

/* Returns the engine for a size, which is opened if no stream has that size yet. */
static struct sized_engine *find_engine(struct live_engines *g, int width, int height,
                                        struct err *e)
{
    for (int i = 0; i < g->count; i++)
        if (g->sized[i].width == width && g->sized[i].height == height)
            return &g->sized[i];
    if (g->count == g->streams) {
        err_set(e, ERR_FAILED, "the size of its frames changes");
        return NULL;
    }
    struct sized_engine *s = &g->sized[g->count];
    *s = (struct sized_engine){.width = width, .height = height};
    if (!begin_engine(g, s, e)) {
        close_engine(s);
        return NULL;
    }
    g->count++;
    return s;
}

static void close_port(struct live_channel *c)
{
    struct live_engines *g = c->s.engines;
    engine_port_close(&c->port);
    pthread_mutex_lock(&g->lock);
    g->channel[c->s.stream] = NULL;
    c->engine = NULL;
    pthread_mutex_unlock(&g->lock);
}

/* Prepares the analysis of frames to this size. */
static bool open_port(struct live_channel *c, int width, int height, struct err *e)
{
    struct live_engines *g = c->s.engines;
    pthread_mutex_lock(&g->lock);
    c->engine = find_engine(g, width, height, e);
    c->column = c->engine ? columns_at(c->engine->columns, (uint64_t)c->s.stream, e) : NULL;
    if (c->column)
        g->channel[c->s.stream] = c;
    pthread_mutex_unlock(&g->lock);
    if (c->column)
        c->port = engine_port_open(c->engine->engine, e);
    if (!c->port) {
        close_port(c);
        return false;
    }
    return true;
}

static bool wait_until_ready(struct live_channel *c, struct err *e)
{
    const int64_t most_ns = 10000000000;
    struct live_engines *g = c->s.engines;
    struct timespec until = clock_steady_deadline(most_ns);
    int code = 0;
    pthread_mutex_lock(&g->lock);
    while (!c->ready && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&g->done, &g->lock, &until);
    const bool ready = c->ready;
    pthread_mutex_unlock(&g->lock);
    if (!ready)
        return err_set(e, ERR_ENGINE, "the engine did not answer for 10 s");
    return true;
}

/*
 * Analyses a frame and waits for its column, whose status is MISSING if no pixel is visible.
 * `number` seeds k-means, as a film's frame number does.
 */
static bool analyse_frame(struct live_channel *c, const struct frame_view *view, int64_t number,
                          bool damaged, struct err *e)
{
    const struct frame_tag tag = {.column = (uint64_t)c->s.stream,
                                  .repeat = 1,
                                  .frame = (uint64_t)number,
                                  .damaged = damaged};
    c->column->status = COLUMN_MISSING;
    c->column->transparent = false;
    c->sum = (struct live_average){.count = 0};
    c->ready = false;
    return engine_put(c->port, view, &tag, e) && wait_until_ready(c, e);
}

/* ------------------------------------------------------------------ messages */

static struct live_message head_of(const struct live_channel *c, enum live_kind kind)
{
    return (struct live_message){.kind = kind, .stream = c->s.stream};
}

/* Without a parent a message is lost, and the kernel ends this process anyway. */
static void send_message(const struct live_channel *c, const void *message, size_t size)
{
    (void)link_send(c->s.link, message, size, -1);
}

static void send_head(const struct live_channel *c, enum live_kind kind)
{
    const struct live_message m = head_of(c, kind);
    send_message(c, &m, sizeof m);
}

static void send_frame(struct live_channel *c, const struct live_frame_head *head)
{
    struct live_frame_message m = {.head = head_of(c, LIVE_FRAME)};
    memcpy(c->data, head, sizeof *head);
    live_record_write(&c->shape, 0, c->column, c->data + sizeof *head);
    for (size_t at = 0, part; at < c->bytes; at += part) {
        part = c->bytes - at < LIVE_PIECE ? c->bytes - at : LIVE_PIECE;
        m.offset = (uint32_t)at;
        memcpy(m.data, c->data + at, part);
        send_message(c, &m, offsetof(struct live_frame_message, data) + part);
    }
}

/* ------------------------------------------------------------------ frames */

/* Opens what the first frame decides: the size of analysis frames and the engine. */
static bool begin_analysis(struct live_channel *c, const struct film *film, struct err *e)
{
    int width = c->s.width, height = c->s.height;
    if (!crop_check(c->s.crop, film->width, film->height, e))
        return false;
    if (width == 0)
        size_resolve(c->s.size, film->width, film->height, &width, &height);
    c->shape = live_shape_of(c->s.report, width, height);
    c->bytes = sizeof(struct live_frame_head) + live_record_bytes(&c->shape);
    free(c->data); /* of a run whose engine could not be opened */
    c->data = err_calloc(c->bytes, 1, e);
    if (!c->data || !open_port(c, width, height, e))
        return false;
    log_msg(LOG_VERBOSE, "'%s': %s, %dx%d %s, analysed at %dx%d on %s", c->s.label, film->codec,
            film->width, film->height, film->pixel_format, width, height,
            engine_detail(c->engine->engine));
    const struct live_shape_message m = {.head = head_of(c, LIVE_SHAPE),
                                         .width = width,
                                         .height = height,
                                         .transfer = (int32_t)film->transfer,
                                         .peak = film->peak > 0 ? film->peak : 0};
    send_message(c, &m, sizeof m);
    return true;
}

/* Analyses a frame and sends it. A transparent one has no column. */
static bool send_column(struct live_channel *c, const struct live_frame *f, int64_t number,
                        struct err *e)
{
    struct live_frame_head head = {.arrived_ns = f->arrived_ns, .time_us = f->time_us};
    struct frame_view view = *f->view;
    const struct crop_rule *crop = c->s.crop;
    if (crop->kind == CROP_RECT) {
        struct crop_rect rect = crop_to_decoded(crop->rect, f->film->orientation,
                                                f->film->coded_width, f->film->coded_height);
        crop_to_rect(&view, &rect);
    }
    if (!analyse_frame(c, &view, number, f->damaged, e))
        return false;
    c->frames++;
    c->number = number;
    head.sum = c->sum;
    if (c->column->status != COLUMN_MISSING)
        send_frame(c, &head);
    return true;
}

/* Implements live_sink.frame. */
static bool handle_frame(void *user, const struct live_frame *f, struct err *e)
{
    struct live_channel *c = user;
    int64_t number = live_clock_number(c->s.clock, f->arrived_ns, f->time_us,
                                       c->s.report->analysis.selection.interval_us);
    watch_moved();
    if (atomic_load(&c->stop) || !live_time_is_valid(f->time_us))
        return true;
    if (!c->engine && !begin_analysis(c, f->film, e))
        return false;
    if (f->late && number == c->number) {
        c->late++;
        return true;
    }
    return send_column(c, f, number, e);
}

/* Implements live_sink.current. */
static void mark_current(void *user)
{
    struct live_channel *c = user;
    send_head(c, LIVE_CURRENT);
    log_msg(c->breaks > 0 && c->singles == 0 ? LOG_INFO : LOG_VERBOSE, "'%s': connected%s",
            c->s.label, c->breaks > 0 ? " again" : "");
}

/* ------------------------------------------------------------------ the thread */

/* Waits before the source is opened again. */
static void pause_before(struct live_channel *c, int failed)
{
    struct timespec until = clock_steady_deadline((int64_t)live_retry_seconds(failed) * 1000000000);
    int code = 0;
    watch_untimed(true);
    pthread_mutex_lock(&c->lock);
    while (!atomic_load(&c->stop) && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&c->changed, &c->lock, &until);
    pthread_mutex_unlock(&c->lock);
    watch_untimed(false);
    watch_moved();
}

/*
 * What no other attempt can mend: the command line, the engine, a pipe's end. A lack of memory is
 * mostly a damaged stream's, which asks for too much.
 */
static bool is_final(const struct live_source *s, const struct err *e)
{
    return s->over || (e->code != ERR_FAILED && e->code != ERR_INPUT && e->code != ERR_MEMORY);
}

/*
 * Warns of a break: not for the same reason if no frame came between, not every 30 seconds of a
 * night, and of the first of snapshots.
 */
static void warn_of_break(struct live_channel *c, const struct err *e, int failed)
{
    int pause = live_retry_seconds(failed);
    bool last = live_retry_seconds(failed + 1) == pause,
         repeats = live_retry_seconds(failed - 1) == pause ||
                   (failed > 1 && strcmp(c->reason.text, e->text) == 0);
    log_msg(repeats || c->singles > 1 ? LOG_VERBOSE : LOG_WARNING,
            "'%s': %s; opening it again %s %d s", c->s.label, e->text, last ? "every" : "in",
            pause);
    c->reason = *e;
}

static void send_end(const struct live_channel *c, const struct err *e)
{
    struct live_end_message m = {.head = head_of(c, LIVE_END),
                                 .code = (int32_t)e->code,
                                 .late = c->late,
                                 .dropped = c->s.source->dropped};
    memcpy(m.text, e->text, sizeof m.text);
    send_message(c, &m, sizeof m);
}

static void *run_source(void *argument)
{
    struct live_channel *c = argument;
    const struct live_sink sink = {handle_frame, mark_current, c};
    struct err e = ERR_INIT;
    int failed = 0; /* in a row, without a frame */
    uint64_t before = 0;
    watch_begin(c->s.watch, 1);
    while (!live_source_run(c->s.source, &sink, &e) && !is_final(c->s.source, &e)) {
        failed = c->frames > before ? 1 : failed + 1;
        c->singles = c->frames == before + 1 ? c->singles + 1 : 0;
        before = c->frames;
        c->breaks++;
        send_head(c, LIVE_BREAK);
        warn_of_break(c, &e, failed);
        err_clear(&e);
        pause_before(c, failed);
    }
    close_port(c);
    send_end(c, &e);
    watch_end();
    pthread_mutex_lock(&c->lock);
    c->finished = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

struct live_channel *live_channel_start(const struct live_channel_setup *setup, struct err *e)
{
    struct live_channel *c = err_calloc(1, sizeof *c, e);
    if (!c)
        return NULL;
    c->s = *setup;
    c->number = INT64_MIN;
    pthread_mutex_init(&c->lock, NULL);
    clock_steady_cond(&c->changed);
    if (pthread_create(&c->thread, NULL, run_source, c) == 0)
        return c;
    err_set(e, ERR_MEMORY, "cannot start a thread");
    live_channel_close(&c);
    return NULL;
}

void live_channel_request_stop(struct live_channel *c)
{
    atomic_store(&c->stop, true);
    live_source_stop(c->s.source);
    pthread_mutex_lock(&c->lock);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

bool live_channel_join(struct live_channel *c)
{
    const int64_t most_ns = 2000000000;
    struct timespec until = clock_steady_deadline(most_ns);
    int code = 0;
    pthread_mutex_lock(&c->lock);
    while (!c->finished && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&c->changed, &c->lock, &until);
    const bool finished = c->finished;
    pthread_mutex_unlock(&c->lock);
    if (finished)
        pthread_join(c->thread, NULL);
    return finished;
}

void live_channel_close(struct live_channel **c)
{
    if (!*c)
        return;
    free((*c)->data);
    pthread_cond_destroy(&(*c)->changed);
    pthread_mutex_destroy(&(*c)->lock);
    free(*c);
    *c = NULL;
}
