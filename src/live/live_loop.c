#include "live_loop.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <unistd.h>

#include "live_channel.h"
#include "live_day.h"
#include "live_names.h"
#include "live_paint.h"
#include "barcode/base/clock.h"
#include "barcode/base/log.h"
#include "barcode/cli/outputs.h"

enum { TICK_MS = 50 };

static const int64_t refresh_ns = INT64_C(10) * 1000000000;

struct stream {
    char label[LIVE_NAME], stem[LIVE_NAME];
    struct live_channel *channel;
};

struct loop {
    const struct options *o;
    pthread_t writer;
    pthread_mutex_t lock; /* guards `over` */
    pthread_cond_t ended;
    bool over;
    struct live_setup setup;
    struct live_engines *engines;
    int threads;
    struct stream *stream;
    size_t count; /* of opened ones */
};

static bool bench_wanted(const struct options *o)
{
    for (size_t i = 0; i < o->extras; i++)
        if (strcmp(o->extra[i].writer->name, "bench") == 0)
            return true;
    return false;
}

/* ------------------------------------------------------------------ opening */

static bool name_stream(struct loop *l, struct stream *s, const char *name, struct err *e)
{
    live_label(name, s->label);
    live_stem(name, s->stem);
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->stream[i].stem, s->stem) == 0)
            return err_set(e, ERR_USAGE, "--live: '%s' and '%s' would have the same files",
                           l->stream[i].label, s->label);
    return true;
}

/* Rejects a folder of pictures in which the day's picture would be one of them. */
static bool check_folder(const struct loop *l, const struct stream *s, const char *name,
                         struct err *e)
{
    struct stat in, out;
    bool same = stat(name, &in) == 0 && S_ISDIR(in.st_mode) && stat(l->setup.folder, &out) == 0 &&
                in.st_dev == out.st_dev && in.st_ino == out.st_ino;
    return !same || err_set(e, ERR_USAGE,
                            "--live: the day's files cannot be in the folder of the pictures, "
                            "'%s'; give another -o",
                            s->label);
}

static bool open_stream(struct loop *l, const char *name, struct err *e)
{
    const struct options *o = l->o;
    struct stream *s = &l->stream[l->count];
    int each = l->threads / (int)o->inputs;
    if (!name_stream(l, s, name, e) || !check_folder(l, s, name, e))
        return false;
    const struct live_options options = {
        .name = name,
        .label = s->label,
        .timeout_us = o->timeout_us,
        .keyframes = o->selection.keyframes,
        .stream = o->stream,
        .threads = each > 1 ? each : 1,
        .since_us = live_day_since(l->setup.folder, s->stem, clock_wall_us())};
    struct live_source *source = live_source_open(&options, e);
    if (!source)
        return false;
    s->channel = live_channel_open(&l->setup, &source, s->label, s->stem, e);
    l->setup.feed = NULL;
    l->count += s->channel != NULL;
    return s->channel != NULL;
}

static bool open_all(struct loop *l, struct engines *engines, struct err *e)
{
    const struct options *o = l->o;
    l->stream = err_calloc(o->inputs, sizeof *l->stream, e);
    l->engines = l->stream ? live_engines_open(o, live_needs(o), engines, (int)o->inputs, e) : NULL;
    l->setup =
        (struct live_setup){.options = o,
                            .clock = &live_machine_clock,
                            .engines = l->engines,
                            .feed = l->setup.feed,
                            .folder = !o->output || outputs_is_stdout(o->output) ? "" : o->output};
    bool ok = l->engines != NULL;
    for (size_t i = 0; i < o->inputs && ok; i++)
        ok = open_stream(l, o->input[i], e);
    for (size_t i = 0; i < l->count && ok; i++)
        ok = live_channel_start(l->stream[i].channel, e);
    return ok;
}

/* ------------------------------------------------------------------ going on */

static bool all_ended(const struct loop *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (!live_channel_ended(l->stream[i].channel))
            return false;
    return true;
}

/*
 * Writes the files of the day every 10 s, but for no more than a twentieth of the time, and after
 * everybody else.
 */
static void *write_days(void *argument)
{
    enum { NICE = 10, SHARE = 20 };
    struct loop *l = argument;
    int64_t pause_ns = refresh_ns;
    (void)setpriority(PRIO_PROCESS, 0, NICE); /* of this thread, in Linux */
    pthread_mutex_lock(&l->lock);
    while (!l->over) {
        struct timespec until = clock_steady_deadline(pause_ns);
        if (pthread_cond_timedwait(&l->ended, &l->lock, &until) != ETIMEDOUT)
            continue;
        pthread_mutex_unlock(&l->lock);
        int64_t began = clock_ns();
        for (size_t i = 0; i < l->count; i++)
            live_channel_write(l->stream[i].channel, false);
        int64_t least = (clock_ns() - began) * SHARE;
        pause_ns = least > refresh_ns ? least : refresh_ns;
        pthread_mutex_lock(&l->lock);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* Ends the writer, once it has written what it is at. */
static void end_writer(struct loop *l)
{
    pthread_mutex_lock(&l->lock);
    l->over = true;
    pthread_cond_broadcast(&l->ended);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->writer, NULL);
}

static bool go_on(struct loop *l, int stop, struct err *e)
{
    struct pollfd asked = {.fd = stop, .events = POLLIN};
    pthread_mutex_init(&l->lock, NULL);
    clock_steady_cond(&l->ended);
    if (pthread_create(&l->writer, NULL, write_days, l) != 0)
        return err_set(e, ERR_MEMORY, "cannot start a thread");
    while (poll(&asked, 1, TICK_MS) <= 0 && !all_ended(l))
        for (size_t i = 0; i < l->count; i++)
            live_channel_tick(l->stream[i].channel);
    end_writer(l);
    return true;
}

static void print_bench(const struct stream *s)
{
    struct live_bench *b = live_channel_bench(s->channel);
    struct live_counts c = live_channel_counts(s->channel);
    fprintf(stdout,
            "{\"stream\":\"%s\",\"frames\":%" PRIu64 ",\"columns\":%" PRIu64 ",\"late\":%" PRIu64
            ",\"dropped\":%" PRIu64 ",\"refused\":%" PRIu64 ",\"breaks\":%" PRIu64
            ",\"p50_ms\":%.1f,\"p95_ms\":%.1f,\"p99_ms\":%.1f,\"max_ms\":%.1f}\n",
            s->stem, c.frames, c.columns, c.late, c.dropped, c.refused, c.breaks,
            (double)live_bench_percentile(b, 50) / 1e3, (double)live_bench_percentile(b, 95) / 1e3,
            (double)live_bench_percentile(b, 99) / 1e3,
            (double)live_bench_percentile(b, 100) / 1e3);
}

/* Ends a stream. Returns false if its thread hangs in a library. */
static bool end_stream(struct loop *l, struct stream *s, int *status)
{
    bool gone = live_channel_stop(s->channel);
    const struct err *e = live_channel_error(s->channel);
    live_channel_write(s->channel, true);
    if (gone && e->code != ERR_NONE) {
        struct err named = *e;
        err_prefix(&named, "'%s'", s->label);
        *status = err_report(&named);
    }
    if (bench_wanted(l->o))
        print_bench(s);
    return gone;
}

int live_loop(const struct options *o, struct engines *engines, struct live_feed *feed, int stop)
{
    struct err e = ERR_INIT;
    struct loop l = {.o = o, .setup.feed = feed, .threads = engines->threads};
    int status = 0;
    bool gone = true;
    if (!open_all(&l, engines, &e) || !go_on(&l, stop, &e))
        status = err_report(&e);
    for (size_t i = 0; i < l.count; i++)
        gone = end_stream(&l, &l.stream[i], &status) && gone;
    if (!gone) { /* what the thread uses must stay */
        fflush(NULL);
        _exit(status);
    }
    for (size_t i = 0; i < l.count; i++)
        live_channel_close(&l.stream[i].channel);
    live_engines_close(&l.engines);
    free(l.stream);
    return status;
}
