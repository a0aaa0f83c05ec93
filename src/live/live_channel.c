#include "live_channel.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "live_columns.h"
#include "live_time.h"
#include "barcode/base/clock.h"
#include "barcode/base/log.h"
#include "barcode/base/text.h"

struct live_channel {
    struct live_setup setup;
    struct live_source *source;
    const char *label;
    struct live_columns *columns;
    struct live_analyser *analyser; /* of the source's thread */
    struct live_bench bench;
    pthread_t thread;
    bool started, current;
    atomic_bool stop, ended;
    pthread_mutex_t lock; /* guards the fields below */
    pthread_cond_t moved;
    struct live_counts counts;
    bool gone; /* the thread is at its end */
    struct err error;
    struct live_drift drift;
};

const struct live_clock live_machine_clock = {.wall_us = clock_wall_us, .steady_ns = clock_ns};

struct live_channel *live_channel_open(const struct live_setup *setup, struct live_source **source,
                                       const char *label, const char *stem, struct err *e)
{
    struct live_channel *c = err_calloc(1, sizeof *c, e);
    if (!c)
        return NULL;
    const struct live_columns_setup columns = {.options = setup->options,
                                               .folder = setup->folder,
                                               .feed = setup->feed,
                                               .stem = stem,
                                               .label = label,
                                               .means = live_engines_means(setup->engines),
                                               .now_us = setup->clock->wall_us(),
                                               .dated = (*source)->kind->dated};
    c->setup = *setup;
    c->label = label;
    c->source = *source;
    *source = NULL;
    pthread_mutex_init(&c->lock, NULL);
    clock_steady_cond(&c->moved);
    live_bench_open(&c->bench);
    c->columns = live_columns_open(&columns, e);
    if (!c->columns)
        live_channel_close(&c);
    return c;
}

/* ------------------------------------------------------------------ frames */

enum counted { FRAMES, LATE, REFUSED, BREAKS };

static void count(struct live_channel *c, enum counted what)
{
    pthread_mutex_lock(&c->lock);
    c->counts.frames += what == FRAMES;
    c->counts.late += what == LATE;
    c->counts.refused += what == REFUSED;
    c->counts.breaks += what == BREAKS;
    pthread_mutex_unlock(&c->lock);
}

/* Opens what the first frame decides: the size of analysis frames and the engine. */
static bool begin(struct live_channel *c, const struct film *film, struct err *e)
{
    int width, height;
    if (!crop_check(&c->setup.options->crop, film->width, film->height, e))
        return false;
    if (!live_columns_size(c->columns, &width, &height))
        size_resolve(&c->setup.options->size, film->width, film->height, &width, &height);
    c->analyser = live_analyser_open(c->setup.engines, width, height, e);
    if (!c->analyser)
        return false;
    log_msg(LOG_VERBOSE, "'%s': %s, %dx%d %s, analysed at %dx%d on %s", c->label, film->codec,
            film->width, film->height, film->pixel_format, width, height,
            live_analyser_detail(c->analyser));
    return live_columns_start(c->columns, film, width, height, e);
}

/* Returns the column that a frame belongs to. */
static int64_t number_of(const struct live_channel *c, const struct live_frame *f)
{
    const struct live_clock *clock = c->setup.clock;
    int64_t age_us = (clock->steady_ns() - f->arrived_ns) / 1000;
    return live_number(f->time_us != 0 ? f->time_us : clock->wall_us() - age_us,
                       c->setup.options->live_us);
}

/* Analyses a frame and makes it the state of its column. */
static bool show(struct live_channel *c, const struct live_frame *f, int64_t number, struct err *e)
{
    struct live_average sum;
    struct frame_view view = *f->view;
    const struct crop_rule *crop = &c->setup.options->crop;
    if (crop->kind == CROP_RECT) {
        struct crop_rect rect = crop_to_decoded(crop->rect, f->film->orientation,
                                                f->film->coded_width, f->film->coded_height);
        crop_to_rect(&view, &rect);
    }
    const struct column *column = live_analyse(c->analyser, &view, number, f->damaged, &sum, e);
    if (!column || !live_columns_add(c->columns, number, column, &sum, e)) {
        live_columns_skip(c->columns);
        return false;
    }
    live_bench_add(&c->bench, (c->setup.clock->steady_ns() - f->arrived_ns) / 1000);
    count(c, FRAMES);
    return true;
}

/* Tells of a picture that a folder got too late. */
static void tell_refused(const struct live_channel *c, const struct live_frame *f)
{
    char time[TEXT_UTC];
    if (f->time_us == 0)
        return;
    text_utc(f->time_us, false, time);
    log_msg(LOG_VERBOSE, "'%s': a picture of %s comes after its column, and is passed over",
            c->label, time);
}

/* Implements live_sink.frame. */
static bool take_frame(void *user, const struct live_frame *f, struct err *e)
{
    struct live_channel *c = user;
    int64_t number = number_of(c, f);
    if (atomic_load(&c->stop))
        return true;
    if (!c->analyser && !begin(c, f->film, e))
        return false;
    if (!live_columns_want(c->columns, number, f->late)) {
        count(c, f->late ? LATE : REFUSED);
        tell_refused(c, f);
        return true;
    }
    return show(c, f, number, e);
}

/* Implements live_sink.current. */
static void mark_current(void *user)
{
    struct live_channel *c = user;
    pthread_mutex_lock(&c->lock);
    c->current = true;
    bool again = c->counts.breaks > 0;
    pthread_mutex_unlock(&c->lock);
    log_msg(again ? LOG_INFO : LOG_VERBOSE, "'%s': connected%s", c->label, again ? " again" : "");
}

/* ------------------------------------------------------------------ the thread */

/* Waits before the source is opened again. */
static void pause_before(struct live_channel *c, int failed)
{
    struct timespec until = clock_steady_deadline((int64_t)live_retry_seconds(failed) * 1000000000);
    int code = 0;
    pthread_mutex_lock(&c->lock);
    while (!atomic_load(&c->stop) && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&c->moved, &c->lock, &until);
    pthread_mutex_unlock(&c->lock);
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
    log_msg(repeats ? LOG_VERBOSE : LOG_WARNING, "'%s': %s; opening it again %s %d s", c->label,
            e->text, last ? "every" : "in", pause);
}

static void *run_source(void *argument)
{
    struct live_channel *c = argument;
    const struct live_sink sink = {take_frame, mark_current, c};
    struct err e = ERR_INIT;
    int failed = 0; /* in a row, without a frame */
    uint64_t before = 0;
    while (!live_source_run(c->source, &sink, &e) && !is_final(c->source, &e)) {
        uint64_t frames = live_channel_counts(c).frames;
        failed = frames > before ? 1 : failed + 1;
        before = frames;
        count(c, BREAKS);
        warn(c, &e, failed);
        err_clear(&e);
        pause_before(c, failed);
    }
    live_analyser_close(&c->analyser);
    pthread_mutex_lock(&c->lock);
    c->error = e;
    c->counts.dropped = c->source->dropped;
    c->gone = true;
    pthread_cond_broadcast(&c->moved);
    pthread_mutex_unlock(&c->lock);
    atomic_store(&c->ended, true);
    return NULL;
}

bool live_channel_start(struct live_channel *c, struct err *e)
{
    c->started = pthread_create(&c->thread, NULL, run_source, c) == 0;
    return c->started || err_set(e, ERR_MEMORY, "cannot start a thread");
}

bool live_channel_ended(struct live_channel *c) { return atomic_load(&c->ended); }

void live_channel_tick(struct live_channel *c)
{
    const struct live_clock *clock = c->setup.clock;
    int64_t wall = clock->wall_us(),
            jump = live_clock_jump(&c->drift, wall, clock->steady_ns() / 1000);
    if (jump != 0)
        log_msg(LOG_WARNING, "the clock was set by %+.1f s%s", (double)jump / 1e6,
                jump < 0 ? ": columns that were written stay as they are" : "");
    pthread_mutex_lock(&c->lock);
    bool current = c->current;
    pthread_mutex_unlock(&c->lock);
    if (current)
        live_columns_tick(c->columns, wall, false);
}

void live_channel_write(struct live_channel *c, bool end) { live_columns_write(c->columns, end); }

struct live_bench *live_channel_bench(struct live_channel *c) { return &c->bench; }

struct live_counts live_channel_counts(struct live_channel *c)
{
    pthread_mutex_lock(&c->lock);
    struct live_counts counts = c->counts;
    pthread_mutex_unlock(&c->lock);
    counts.columns = live_columns_closed(c->columns);
    return counts;
}

bool live_channel_stop(struct live_channel *c)
{
    const int64_t most_ns = 2000000000;
    struct timespec until = clock_steady_deadline(most_ns);
    int code = 0;
    atomic_store(&c->stop, true);
    live_source_stop(c->source);
    pthread_mutex_lock(&c->lock);
    pthread_cond_broadcast(&c->moved);
    while (c->started && !c->gone && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&c->moved, &c->lock, &until);
    bool gone = c->gone || !c->started;
    pthread_mutex_unlock(&c->lock);
    if (gone && c->started)
        pthread_join(c->thread, NULL);
    c->started = c->started && !gone;
    live_columns_tick(c->columns, c->setup.clock->wall_us(), true);
    return gone;
}

const struct err *live_channel_error(const struct live_channel *c) { return &c->error; }

void live_channel_close(struct live_channel **c)
{
    if (!*c)
        return;
    live_source_close(&(*c)->source);
    live_columns_free(&(*c)->columns);
    pthread_cond_destroy(&(*c)->moved);
    pthread_mutex_destroy(&(*c)->lock);
    free(*c);
    *c = NULL;
}
