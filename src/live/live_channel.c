#include "live_channel.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "live_message.h"
#include "live_paint.h"
#include "live_time.h"
#include "barcode/base/clock.h"
#include "base/log.h"

struct live_channel {
    struct live_channel_setup s;
    struct live_analyser *analyser;
    struct live_shape shape;
    uint8_t *data; /* [bytes]: a frame as it is sent */
    size_t bytes;
    int64_t number; /* of the last frame that was sent; INT64_MIN: none */
    uint64_t frames, breaks, late;
    pthread_t thread;
    atomic_bool stop;
    pthread_mutex_t lock; /* guards `gone` */
    pthread_cond_t moved; /* `gone` or `stop` was set */
    bool gone;            /* the thread is at its end */
};

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

static void send_frame(struct live_channel *c, const struct live_frame_head *head,
                       const struct column *column)
{
    struct live_frame_message m = {.head = head_of(c, LIVE_FRAME)};
    memcpy(c->data, head, sizeof *head);
    live_record_write(&c->shape, 0, column, c->data + sizeof *head);
    for (size_t at = 0, part; at < c->bytes; at += part) {
        part = c->bytes - at < LIVE_PIECE ? c->bytes - at : LIVE_PIECE;
        m.offset = (uint32_t)at;
        memcpy(m.data, c->data + at, part);
        send_message(c, &m, offsetof(struct live_frame_message, data) + part);
    }
}

/* ------------------------------------------------------------------ frames */

/* Opens what the first frame decides: the size of analysis frames and the engine. */
static bool begin(struct live_channel *c, const struct film *film, struct err *e)
{
    int width = c->s.width, height = c->s.height;
    if (!crop_check(&c->s.options->film.crop, film->width, film->height, e))
        return false;
    if (width == 0)
        size_resolve(&c->s.options->film.size, film->width, film->height, &width, &height);
    c->analyser = live_analyser_open(c->s.engines, width, height, e);
    if (!c->analyser)
        return false;
    c->shape = live_shape_of(c->s.options, width, height);
    c->bytes = sizeof(struct live_frame_head) + live_record_bytes(&c->shape);
    c->data = err_calloc(c->bytes, 1, e);
    if (!c->data) {
        live_analyser_close(&c->analyser);
        return false;
    }
    log_msg(LOG_VERBOSE, "'%s': %s, %dx%d %s, analysed at %dx%d on %s", c->s.label, film->codec,
            film->width, film->height, film->pixel_format, width, height,
            live_analyser_detail(c->analyser));
    const struct live_shape_message m = {.head = head_of(c, LIVE_SHAPE),
                                         .width = width,
                                         .height = height,
                                         .transfer = (int32_t)film->transfer,
                                         .peak = film->peak > 0 ? film->peak : 0};
    send_message(c, &m, sizeof m);
    return true;
}

/* Analyses a frame and sends it. A transparent one has no column. */
static bool analyse(struct live_channel *c, const struct live_frame *f, int64_t number,
                    struct err *e)
{
    struct live_frame_head head = {.arrived_ns = f->arrived_ns, .time_us = f->time_us};
    struct frame_view view = *f->view;
    const struct crop_rule *crop = &c->s.options->film.crop;
    if (crop->kind == CROP_RECT) {
        struct crop_rect rect = crop_to_decoded(crop->rect, f->film->orientation,
                                                f->film->coded_width, f->film->coded_height);
        crop_to_rect(&view, &rect);
    }
    const struct column *column =
        live_analyse(c->analyser, &view, number, f->damaged, &head.sum, e);
    if (!column)
        return false;
    c->frames++;
    c->number = number;
    if (column->status != COLUMN_MISSING)
        send_frame(c, &head, column);
    return true;
}

/* Implements live_sink.frame. */
static bool take_frame(void *user, const struct live_frame *f, struct err *e)
{
    struct live_channel *c = user;
    int64_t number =
        live_clock_number(c->s.clock, f->arrived_ns, f->time_us, c->s.options->live.column_us);
    watch_moved();
    if (atomic_load(&c->stop) || !live_time_is_valid(f->time_us))
        return true;
    if (!c->analyser && !begin(c, f->film, e))
        return false;
    if (f->late && number == c->number) {
        c->late++;
        return true;
    }
    return analyse(c, f, number, e);
}

/* Implements live_sink.current. */
static void mark_current(void *user)
{
    struct live_channel *c = user;
    send_head(c, LIVE_CURRENT);
    log_msg(c->breaks > 0 ? LOG_INFO : LOG_VERBOSE, "'%s': connected%s", c->s.label,
            c->breaks > 0 ? " again" : "");
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
        code = pthread_cond_timedwait(&c->moved, &c->lock, &until);
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

/* Warns while the pause grows, not every 30 seconds of a night. */
static void warn(const struct live_channel *c, const struct err *e, int failed)
{
    int pause = live_retry_seconds(failed);
    bool last = live_retry_seconds(failed + 1) == pause,
         repeats = live_retry_seconds(failed - 1) == pause;
    log_msg(repeats ? LOG_VERBOSE : LOG_WARNING, "'%s': %s; opening it again %s %d s", c->s.label,
            e->text, last ? "every" : "in", pause);
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
    const struct live_sink sink = {take_frame, mark_current, c};
    struct err e = ERR_INIT;
    int failed = 0; /* in a row, without a frame */
    uint64_t before = 0;
    watch_begin(c->s.watch, 1);
    while (!live_source_run(c->s.source, &sink, &e) && !is_final(c->s.source, &e)) {
        failed = c->frames > before ? 1 : failed + 1;
        before = c->frames;
        c->breaks++;
        send_head(c, LIVE_BREAK);
        warn(c, &e, failed);
        err_clear(&e);
        pause_before(c, failed);
    }
    live_analyser_close(&c->analyser);
    send_end(c, &e);
    watch_end();
    pthread_mutex_lock(&c->lock);
    c->gone = true;
    pthread_cond_broadcast(&c->moved);
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
    clock_steady_cond(&c->moved);
    if (pthread_create(&c->thread, NULL, run_source, c) == 0)
        return c;
    err_set(e, ERR_MEMORY, "cannot start a thread");
    live_channel_close(&c);
    return NULL;
}

void live_channel_ask(struct live_channel *c)
{
    atomic_store(&c->stop, true);
    live_source_stop(c->s.source);
    pthread_mutex_lock(&c->lock);
    pthread_cond_broadcast(&c->moved);
    pthread_mutex_unlock(&c->lock);
}

bool live_channel_stop(struct live_channel *c)
{
    const int64_t most_ns = 2000000000;
    struct timespec until = clock_steady_deadline(most_ns);
    int code = 0;
    pthread_mutex_lock(&c->lock);
    while (!c->gone && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&c->moved, &c->lock, &until);
    bool gone = c->gone;
    pthread_mutex_unlock(&c->lock);
    if (gone)
        pthread_join(c->thread, NULL);
    return gone;
}

void live_channel_close(struct live_channel **c)
{
    if (!*c)
        return;
    free((*c)->data);
    pthread_cond_destroy(&(*c)->moved);
    pthread_mutex_destroy(&(*c)->lock);
    free(*c);
    *c = NULL;
}
