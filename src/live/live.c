/*
 * live.c - the parent: keeps the columns, writes and serves them, and has a worker process that
 * decodes the streams. It has one thread, so it may fork at any time, and waits in one poll.
 */
#include "live.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/serve/serve.h"
#include "live/stream/stream.h"
#include "barcode/base/clock.h"
#include "base/interrupt.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/path.h"
#include "plan/outputs.h"

enum {
    SILENCE_S = 10, /* in which something of each stream must move; BARCODE_SILENCE replaces it */
    GRACE_S = 4,    /* within which the worker process ends when it is asked to */
    REFRESH_S = 10, /* between two pictures of the day */
    LAST_WRITE_S = 30, /* for the last pictures */
    TICK_MS = 1000
};

struct stream {
    char label[STREAM_NAME], stem[STREAM_NAME];
    struct live_source *source; /* which the worker processes run */
    struct live_receiver *receiver;
    double silent; /* seconds in which nothing moved */
};

struct live {
    const struct plan *plan;
    const struct live_run_options *o;
    enum sandbox_choice sandbox;
    struct live_plan days;
    struct engines *engines;
    const char *folder; /* of the outputs; "": none are written */
    int folders_made;   /* the last ones of its path */
    struct light *light;
    struct live_feed *feed; /* NULL: nothing is shown */
    struct server *server;
    struct live_output *output;
    struct stream *stream; /* [count] */
    size_t count;
    struct worker worker; /* decodes; pid 0: there is none */
    int crashes;          /* in a row */
    bool connected;       /* a worker has sent a message of a stream */
    int64_t started_ns, restart_ns;
    int64_t stopping_ns;  /* when the worker was asked to end; 0: not yet */
    struct worker writer; /* writes the files of the day; pid 0: there is none */
    int64_t written_ns;   /* when the writer was started */
    int64_t files_ns;     /* when the next one is due */
    int64_t tick_ns;      /* of the last tick */
    double silence_s;
    int64_t clock_offset_us; /* of the wall clock to the steady one, at the last check */
    int status;
    bool over;
};

/* ------------------------------------------------------------------ opening */

static bool name_stream(const struct live *l, struct stream *s, const char *name, struct err *e)
{
    stream_name_show(name, s->label);
    live_stem(name, s->stem);
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->stream[i].stem, s->stem) == 0)
            return err_set(e, ERR_USAGE, "--live: '%s' and '%s' would have the same files",
                           l->stream[i].label, s->label);
    return true;
}

/* Returns true if `folder` is `parent`, or with `below` is in it. */
static bool lies_in(const char *folder, const char *parent, bool below)
{
    char *in = realpath(folder, NULL), *of = realpath(parent, NULL);
    size_t length = of ? strlen(of) : 0;
    bool begins = in && of && strncmp(in, of, length) == 0;
    bool lies = begins && (in[length] == 0 || (below && (in[length] == '/' || length == 1)));
    free(in);
    free(of);
    return lies;
}

static bool make_folder(struct live *l, struct err *e)
{
    char path[PATH_MAX];
    if (!*l->folder)
        return true;
    snprintf(path, sizeof path, "%s", l->folder);
    l->folders_made = path_make_folders(path, 0777);
    if (errno != 0 || access(path, W_OK | X_OK) != 0)
        return err_set(e, ERR_FAILED, "cannot write to the folder '%s': %s", path, strerror(errno));
    return true;
}

/* Removes the folders that were made, as far as they are empty. */
static void remove_folders(struct live *l)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", l->folder ? l->folder : "");
    for (size_t length; l->folders_made > 0 && rmdir(path) == 0; l->folders_made--)
        path[path_last(path, &length) - path] = 0;
}

static bool open_stream(struct live *l, const char *name, struct err *e)
{
    const struct film_options *film = &l->plan->film;
    struct stream *s = &l->stream[l->count];
    const int each = l->engines->threads / (int)l->plan->inputs.count;
    if (!name_stream(l, s, name, e))
        return false;
    if (lies_in(l->folder, name,
                l->plan->inputs.recursive)) /* the day's picture would be one of its pictures */
        return err_set(e, ERR_USAGE,
                       "--live: the day's files cannot be in the folder of the pictures, '%s'; "
                       "give another -o",
                       s->label);
    l->count++;
    const struct live_options options = {.name = name,
                                         .label = s->label,
                                         .timeout_us = l->o->timeout_us,
                                         .keyframes = film->selection.keyframes,
                                         .recursive = l->plan->inputs.recursive,
                                         .stream = film->stream,
                                         .threads = each > 1 ? each : 1};
    s->source = live_source_open(&options, e);
    if (!s->source)
        return false;
    const struct live_columns_setup columns = {.plan = &l->days,
                                               .folder = l->folder,
                                               .stem = s->stem,
                                               .label = s->label,
                                               .feed = l->count == 1 ? l->feed : NULL,
                                               .now_us = clock_wall_us(),
                                               .dated = s->source->kind->dated};
    s->receiver = live_receiver_open(&columns, &live_machine_clock, e);
    return s->receiver != NULL;
}

/* Columns of a day, or as many as have room in 64 MiB. */
static size_t capacity_of(int64_t column_us, int height)
{
    const int64_t room = 64 << 20;
    int64_t columns = LIVE_DAY_US / column_us, most = room / (3 * (int64_t)height);
    if (columns > most)
        columns = most;
    return columns > 1 ? (size_t)columns : 1;
}

/* Opens what shows the columns while they are made. */
static bool open_show(struct live *l, struct err *e)
{
    const struct plan *plan = l->plan;
    const struct live_run_options *o = l->o;
    const int height = plan->picture.height;
    char label[STREAM_NAME];
    if (!live_is_shown(o))
        return true;
    stream_name_show(plan->inputs.argument[0], label);
    l->feed = live_feed_open(capacity_of(o->column_us, height), height, o->column_us, e);
    if (l->feed && o->serve.given)
        l->server =
            serve_open(&o->serve, l->feed, plan->poster.title ? plan->poster.title : label, e);
    return e->code == ERR_NONE;
}

static bool open_light(struct live *l, const struct light_table **means, struct err *e)
{
    l->light = light_open(&l->plan->film.light, 0, e);
    if (l->light && l->plan->film.light.linear)
        *means = light_table(l->light, TRANSFER_SDR, e);
    return e->code == ERR_NONE;
}

struct live_plan live_plan_of(const struct plan *plan, const struct live_run_options *o,
                              const struct light_table *means)
{
    const struct picture_options *picture = &plan->picture;
    const struct strips strips = {picture->strip, picture->strips};
    const unsigned needs = strips_need(strips) | csv_columns_need(&plan->formats.csv_columns) |
                           (live_is_shown(o) ? STRIP_DOMINANT : 0U);
    return (struct live_plan){
        .report = {.analysis = {.selection = {.kind = SELECT_INTERVAL,
                                              .interval_us = o->column_us,
                                              .end_us = INT64_MAX,
                                              .keyframes = plan->film.selection.keyframes},
                                .kmeans = plan->kmeans,
                                .needs = needs,
                                .light = plan->film.light,
                                .means = means},
                   .picture = *picture,
                   .poster = {.title = plan->poster.title, .style = plan->poster.style},
                   .csv_columns = &plan->formats.csv_columns,
                   .id.overwrite = true,
                   .run = {.engine = "cpu", .decode = "cpu", .cache = "off", .threads = 1}},
        .strips = strips,
        .day = o->day};
}

static bool open_all(struct live *l, struct err *e)
{
    const struct inputs_options *inputs = &l->plan->inputs;
    const char *silence = getenv("BARCODE_SILENCE"), *path = l->plan->outputs.path;
    const struct light_table *means = NULL;
    l->silence_s = silence ? strtod(silence, NULL) : SILENCE_S;
    l->folder = !path || outputs_is_stdout(path) ? "" : path;
    l->stream = err_calloc(inputs->count, sizeof *l->stream, e);
    if (!l->stream || !live_worker_prepare(l->engines, l->sandbox, e) || !make_folder(l, e) ||
        !open_light(l, &means, e) || !open_show(l, e))
        return false;
    l->days = live_plan_of(l->plan, l->o, means);
    for (size_t i = 0; i < inputs->count; i++)
        if (!open_stream(l, inputs->argument[i], e))
            return false;
    if (l->o->format != LIVE_FORMAT_NONE) /* it begins after the columns of the log */
        l->output = live_output_open(STDOUT_FILENO, l->o->format, l->feed, e);
    return e->code == ERR_NONE;
}

static void close_all(struct live *l)
{
    serve_close(&l->server);
    for (size_t i = 0; i < l->count; i++) {
        live_receiver_free(&l->stream[i].receiver);
        if (l->stream[i].source)
            live_source_close(&l->stream[i].source);
    }
    free(l->stream);
    live_feed_free(&l->feed);
    light_close(&l->light);
}

/* ------------------------------------------------------------------ the worker process */

/* Runs in the worker process, and ends it. */
static _Noreturn void run_worker(struct live *l)
{
    struct err e = ERR_INIT;
    struct live_worker w = {.report = &l->days.report,
                            .sandbox = l->sandbox,
                            .engines = l->engines,
                            .light = l->light,
                            .input = l->plan->inputs.argument,
                            .count = l->count,
                            .stream = err_calloc(l->count, sizeof *w.stream, &e)};
    if (!w.stream)
        _exit(log_error(&e));
    for (size_t i = 0; i < l->count; i++) {
        struct stream *s = &l->stream[i];
        const struct live_columns *columns = live_receiver_columns(s->receiver);
        const struct live_shape *shape = live_columns_shape(columns);
        s->source->since_us = live_columns_since(columns);
        w.stream[i] = (struct live_channel_setup){
            .report = &l->days.report,
            .crop = &l->plan->film.crop,
            .size = &l->plan->film.size,
            .clock = &live_machine_clock,
            .stream = (int)i,
            .source = live_receiver_ended(s->receiver) ? NULL : s->source,
            .label = s->label,
            .width = shape ? shape->width : 0,
            .height = shape ? shape->height : 0};
        live_receiver_free(&s->receiver); /* the memory counts for this process */
    }
    live_feed_free(&l->feed);
    live_worker_run(&w, &l->worker);
}

static void start_worker(struct live *l)
{
    struct err e = ERR_INIT;
    pid_t pid = worker_start(&l->worker, 0, &e);
    l->started_ns = clock_ns();
    for (size_t i = 0; i < l->count; i++)
        l->stream[i].silent = 0;
    if (pid == 0)
        run_worker(l);
    if (pid < 0) {
        l->worker.pid = 0;
        l->status = log_error(&e);
        l->over = true;
    }
}

/* Asks the worker process to end, once. */
static void stop_worker(struct live *l)
{
    const struct live_message stop = {.kind = LIVE_STOP};
    if (l->stopping_ns != 0)
        return;
    l->stopping_ns = clock_ns();
    if (l->worker.pid > 0)
        worker_send(&l->worker, &stop, sizeof stop, -1);
    else
        l->over = true;
}

/*
 * The worker process has ended: the program does so, too, if it was asked to or could not begin.
 * Otherwise another is started after a pause.
 */
static void end_worker(struct live *l)
{
    const double long_s = 60;
    struct err e = ERR_INIT;
    bool in_order = worker_end(&l->worker, &e);
    for (size_t i = 0; i < l->count; i++)
        live_receiver_reset(l->stream[i].receiver);
    l->over = l->stopping_ns != 0 || (in_order && l->worker.status != 0 && !l->connected);
    if (l->over) {
        if (in_order)
            l->status = l->worker.status;
        else
            log_msg(LOG_WARNING, "%s", e.text);
        return;
    }
    if (in_order)
        err_set(&e, ERR_FAILED, "the worker process ended, which it was not asked to");
    l->crashes = clock_since(l->started_ns) > long_s ? 1 : l->crashes + 1;
    const int pause = live_retry_seconds(l->crashes);
    l->restart_ns = clock_ns() + pause * INT64_C(1000000000);
    log_msg(LOG_WARNING, "%s; starting another in %d s", e.text, pause);
}

static bool handle_message(struct live *l, const void *message, size_t size)
{
    struct live_message head;
    if (size < sizeof head)
        return false;
    memcpy(&head, message, sizeof head);
    l->connected = true;
    return head.stream >= 0 && (size_t)head.stream < l->count &&
           live_receiver_handle(l->stream[head.stream].receiver, message, size);
}

/* Handles the messages that have come, but not endlessly. */
static void receive_messages(struct live *l)
{
    const double most = 0.1;
    static alignas(max_align_t) char message[LINK_BYTES];
    const int64_t began = clock_ns();
    enum worker_event event = WORKER_LOGGED;
    while (event != WORKER_QUIET && event != WORKER_GONE && clock_since(began) < most &&
           (l->stopping_ns != 0 || !interrupt_pending())) {
        size_t size;
        int fd = -1;
        event = worker_receive(&l->worker, message, &size, &fd);
        if (event != WORKER_MESSAGE)
            continue;
        bool known = fd < 0 && handle_message(l, message, size);
        if (fd >= 0)
            close(fd);
        if (!known)
            worker_kill(&l->worker, WORKER_NONSENSE);
    }
    if (event == WORKER_GONE)
        end_worker(l);
}

/* Kills a worker process of which a stream hangs, or that does not end. */
static void watch_worker(struct live *l, double seconds)
{
    const double grace = l->silence_s > 0 && l->silence_s < GRACE_S ? l->silence_s : GRACE_S;
    worker_tick(&l->worker, limits_memory());
    if (l->stopping_ns != 0 && clock_since(l->stopping_ns) >= grace)
        worker_kill(&l->worker, WORKER_SILENT);
    for (size_t i = 0; i < l->count && i < WATCHES && l->silence_s > 0; i++) {
        struct stream *s = &l->stream[i];
        struct watch_state now = watch_check(watch_at(l->worker.watch, (int)i));
        bool waits = now.moved || now.untimed || live_receiver_ended(s->receiver);
        s->silent = waits ? 0 : s->silent + seconds;
        if (s->silent < l->silence_s || l->worker.killed)
            continue;
        log_msg(LOG_WARNING, "'%s': nothing was decoded for %g s", s->label, l->silence_s);
        worker_kill(&l->worker, WORKER_SILENT);
    }
}

/* ------------------------------------------------------------------ files */

/* Writes the files of the day from a snapshot, which fork(2) makes. Ends the process. */
static _Noreturn void run_writer(struct live *l)
{
    enum { NICE = 10 };
    interrupt_finish(); /* the parent ends after this process */
    live_worker_close_others(l->writer.link);
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    for (size_t i = 0; i < l->count; i++)
        live_columns_write(live_receiver_columns(l->stream[i].receiver));
    worker_leaves(&l->writer, 0, false);
    _exit(0);
}

/*
 * Handles what the writer has sent, and its end. The next one is then due 10 s after it was
 * started, or so much later that writing takes at most a twentieth of the time.
 */
static void receive_from_writer(struct live *l)
{
    enum { SHARE = 20 };
    static alignas(max_align_t) char message[LINK_BYTES];
    struct err e = ERR_INIT;
    enum worker_event event = WORKER_LOGGED;
    size_t size;
    int fd;
    while (event == WORKER_LOGGED)
        event = worker_receive(&l->writer, message, &size, &fd);
    if (event == WORKER_QUIET)
        return;
    if (!worker_end(&l->writer, &e))
        log_msg(LOG_WARNING, "the files of the day were not written: %s", e.text);
    const double pause_s = clock_since(l->written_ns) * SHARE;
    l->files_ns = l->written_ns + (int64_t)((pause_s > REFRESH_S ? pause_s : REFRESH_S) * 1e9);
}

static bool have_files_changed(const struct live *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (live_columns_changed(live_receiver_columns(l->stream[i].receiver)))
            return true;
    return false;
}

/* Starts a writer, or writes the files in this process if it cannot fork. */
static void start_writer(struct live *l)
{
    struct err e = ERR_INIT;
    l->written_ns = clock_ns();
    l->files_ns = l->written_ns + REFRESH_S * INT64_C(1000000000);
    pid_t pid = worker_start(&l->writer, 1, &e);
    if (pid == 0)
        run_writer(l);
    if (pid < 0)
        l->writer.pid = 0;
    for (size_t i = 0; i < l->count; i++) {
        struct live_columns *columns = live_receiver_columns(l->stream[i].receiver);
        if (pid < 0)
            live_columns_write(columns);
        live_columns_mark_written(columns);
    }
}

/* Waits for the writer. Returns false if it was killed after `most_s`, because its disk hangs. */
static bool wait_for_writer(struct live *l, double most_s)
{
    enum { MOMENT_MS = 100 };
    const int64_t began = clock_ns();
    while (l->writer.pid > 0) {
        struct pollfd p = {.fd = l->writer.link, .events = POLLIN};
        (void)poll(&p, 1, MOMENT_MS);
        receive_from_writer(l);
        if (l->writer.pid > 0 && clock_since(began) > most_s)
            worker_kill(&l->writer, WORKER_SILENT);
    }
    return !l->writer.killed;
}

/* ------------------------------------------------------------------ running */

static bool all_ended(const struct live *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (!live_receiver_ended(l->stream[i].receiver))
            return false;
    return true;
}

/* Reports a wall clock that was set since the last call. */
static void check_clock(struct live *l)
{
    const int64_t least_us = 500000, offset_us = clock_wall_us() - clock_ns() / 1000,
                  jump = offset_us - l->clock_offset_us;
    l->clock_offset_us = offset_us;
    if (jump >= least_us || jump <= -least_us)
        log_msg(LOG_WARNING, "the clock was set by %+.1f s%s", (double)jump / 1e6,
                jump < 0 ? ": columns that were written stay as they are" : "");
}

/* What is done once a second. */
static void tick(struct live *l)
{
    const double most = 2 * TICK_MS / 1e3; /* the parent's own pauses do not count */
    double seconds = clock_since(l->tick_ns);
    if (seconds * 1e3 < TICK_MS)
        return;
    l->tick_ns = clock_ns();
    if (l->writer.pid == 0 && l->tick_ns >= l->files_ns && have_files_changed(l))
        start_writer(l);
    if (l->worker.pid > 0)
        watch_worker(l, seconds < most ? seconds : most);
}

/* Closes columns whose time is over. Returns how many milliseconds there are to the next one. */
static int tick_columns(struct live *l)
{
    const int64_t now_us = clock_wall_us(), least_ms = 10, most_us = TICK_MS * INT64_C(1000);
    int64_t due_us = INT64_MAX;
    for (size_t i = 0; i < l->count; i++) {
        int64_t next = live_receiver_tick(l->stream[i].receiver, now_us);
        due_us = next < due_us ? next : due_us;
    }
    if (due_us - now_us > most_us)
        return TICK_MS;
    int64_t ms = (due_us - now_us) / 1000 + 1;
    return (int)(ms > least_ms ? ms : least_ms);
}

/* Waits until something happens, `ms` at most. */
static void wait_for_event(struct live *l, int ms)
{
    struct pollfd p[5] = {{.fd = l->worker.pid > 0 ? l->worker.link : -1, .events = POLLIN},
                          {.fd = interrupt_descriptor(), .events = POLLIN},
                          {.fd = l->server ? serve_descriptor(l->server) : -1, .events = POLLIN},
                          {.fd = l->writer.pid > 0 ? l->writer.link : -1, .events = POLLIN},
                          {.fd = -1}};
    if (l->output && l->stopping_ns == 0)
        p[4] = live_output_poll(l->output);
    int left = (int)((l->tick_ns - clock_ns()) / 1000000) + TICK_MS + 1;
    ms = left < ms ? left : ms;
    /* a signal after interrupt_descriptor makes it readable */
    if (!interrupt_pending() || l->stopping_ns != 0)
        (void)poll(p, 5, ms > 0 ? ms : 0);
}

/* Logs where the pictures of a stream will be, and what they wait for. */
static void announce(const struct live *l, const struct stream *s)
{
    const struct strips strips = l->days.strips;
    const int64_t step_us = l->o->column_us;
    const struct live_day day =
        live_day_of(&l->days.day, live_number(clock_wall_us(), step_us), step_us);
    bool together = strips.count == 1 || l->plan->picture.stacked;
    char name[512];
    struct err e = ERR_INIT;
    /* A dated source decides of which day its pictures are. */
    snprintf(name, sizeof name, "%s-%s%s%s.png", s->stem,
             s->source->kind->dated ? "DATE" : day.name, together ? "" : "-",
             together ? "" : strips.kind[0]->name);
    char *path = *l->folder ? path_join(l->folder, name, "", &e) : NULL;
    log_msg(LOG_INFO, "%s%s%swaiting for the first picture of '%s'", path ? "writing '" : "",
            path ? path : "", path ? "'; " : "", s->label);
    free(path);
}

static void run_until_end(struct live *l)
{
    l->clock_offset_us = clock_wall_us() - clock_ns() / 1000;
    l->tick_ns = l->files_ns = clock_ns();
    log_set_patience(false);
    for (size_t i = 0; i < l->count; i++)
        announce(l, &l->stream[i]);
    start_worker(l);
    while (!l->over) {
        if (l->worker.pid > 0) /* first: frames that wait belong to columns that end now */
            receive_messages(l);
        if (l->writer.pid > 0)
            receive_from_writer(l);
        check_clock(l);
        int ms = tick_columns(l), server_ms = l->server ? serve_run(l->server) : -1;
        if (server_ms >= 0 && server_ms < ms)
            ms = server_ms;
        bool has_reader = !l->output || live_output_write(l->output);
        if (interrupt_pending() || !has_reader || all_ended(l))
            stop_worker(l);
        tick(l);
        if (l->worker.pid == 0 && !l->over && clock_ns() >= l->restart_ns)
            start_worker(l);
        if (!l->over)
            wait_for_event(l, ms);
    }
}

static void print_bench(const struct stream *s)
{
    const struct live_counts *c = live_receiver_counts(s->receiver);
    fprintf(stdout,
            "{\"stream\":\"%s\",\"frames\":%" PRIu64 ",\"columns\":%" PRIu64 ",\"late\":%" PRIu64
            ",\"dropped\":%" PRIu64 ",\"refused\":%" PRIu64 ",\"breaks\":%" PRIu64 "}\n",
            s->stem, c->frames, c->columns, c->late, c->dropped, c->refused, c->breaks);
}

/* Closes the columns and writes the files, for the last time. */
static void finish(struct live *l)
{
    const double patience_s = interrupt_signal() != 0 ? GRACE_S : LAST_WRITE_S;
    struct err e = ERR_INIT;
    interrupt_finish();
    for (size_t i = 0; i < l->count; i++)
        live_columns_close(live_receiver_columns(l->stream[i].receiver));
    if (wait_for_writer(l, patience_s) && have_files_changed(l)) {
        start_writer(l);
        (void)wait_for_writer(l, LAST_WRITE_S);
    }
    for (size_t i = 0; i < l->count; i++) {
        struct stream *s = &l->stream[i];
        struct err why = *live_receiver_error(s->receiver);
        if (why.code != ERR_NONE) {
            err_prefix(&why, "'%s'", s->label);
            l->status = log_error(&why);
        }
        if (l->plan->outputs.extras > 0) /* --bench: it is the only one that goes with --live */
            print_bench(s);
    }
    if (!live_output_close(&l->output, &e) && l->status == 0)
        l->status = log_error(&e);
}

int live_run(const struct plan *plan, const struct live_run_options *o,
             const struct engine_options *engine, const struct process_options *process)
{
    struct err e = ERR_INIT;
    struct engines engines;
    struct live l = {.plan = plan, .o = o, .sandbox = process->sandbox, .engines = &engines};
    limits_set(process->memory, process->max_pixels);
    engines_init(&engines, engine->choice, &engine->devices, process_threads(process));
    if (open_all(&l, &e)) {
        run_until_end(&l);
        finish(&l);
    } else {
        l.status = log_error(&e);
    }
    if (l.status == 0 && interrupt_signal() == SIGINT)
        l.status = ERR_INTERRUPTED;
    close_all(&l);
    remove_folders(&l);
    engines_close(&engines);
    return l.status;
}
