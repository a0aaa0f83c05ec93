#include "batch.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "film_process.h"
#include "film_watch.h"
#include "film_workers.h"
#include "barcode/base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/path.h"
#include "base/progress.h"
#include "base/sandbox.h"
#include "media/container/playlists.h"
#include "output/html/gallery.h"
#include "output/poster/poster.h"
#include "plan/outputs.h"

/* The worker processes of a run, and their results. */
struct supervisor {
    struct batch batch;
    struct film_process *process; /* [count] */
    int count;
    struct film_watch watch;
    struct progress *progress; /* the line; NULL: out of memory */
    const char *title;         /* the last one that it showed; NULL: none */
    int64_t begin_ns;
    bool killed; /* a process ended otherwise than in order after an interruption */
    int idle_deaths[WORKERS_MOST]; /* how often each died between films, and had taken none */
    int sanitizer_status;          /* the exit status of a worker that a sanitizer ended; 0: none */
    /* the exit status of a worker that died twice between films or rendered none; 0: none */
    int failed_status;
};

/* ---- Films whose worker ended ---- */

/* Fails a film that was in progress when its worker process ended, by `e`, which names it. */
static void fail_film(struct supervisor *c, size_t film, const struct err *e)
{
    struct err unwritten = ERR_INIT;
    table_remove(c->batch.table, film);
    film_queue_done(c->batch.queue, film, e);
    log_error(e);
    if (!film_report_add(&c->batch, film, false, &job_no_result, e, &unwritten))
        log_error(&unwritten);
}

/*
 * Puts a film back that was in progress when its worker process ended by `cause`: it is rendered
 * again alone. One that comes from an inherited descriptor fails: the worker has read a part of it,
 * and the rest would pass for the film.
 */
static void put_back(struct supervisor *c, size_t film, const struct err *cause)
{
    const char *path = c->batch.context->inputs->path[film];
    struct err e = ERR_INIT;
    if (file_descriptor(path) >= 0) {
        err_set(&e, ERR_FAILED, "'%s' was in progress when %s; its input cannot be read again",
                path, cause->text);
        fail_film(c, film, &e);
        return;
    }
    log_msg(cause->code == ERR_MEMORY ? LOG_VERBOSE : LOG_WARNING,
            "'%s' was in progress when %s; rendering it again, alone", path, cause->text);
    table_remove(c->batch.table, film);
    film_queue_again(c->batch.queue, film);
}

/* Returns the slot of the only film that was asked to end and did not, or -1. */
static int only_hanging(const struct film_process *p)
{
    int found = -1;
    for (int i = 0; i < WATCHES; i++) {
        if (!p->slot[i].busy || !p->slot[i].reason[0])
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

/* Decides about the films that were in progress when a worker process ended by `cause`. */
static void decide_films(struct supervisor *c, struct film_process *p, const struct err *cause)
{
    const int hanging = p->worker.killed ? only_hanging(p) : -1, count = film_process_busy(p);
    for (int i = 0; i < WATCHES; i++) {
        const struct slot *s = &p->slot[i];
        const size_t film = s->film;
        struct err e = ERR_INIT;
        if (!s->busy)
            continue;
        if (hanging == i)
            err_set(&e, ERR_FAILED, "%s; its worker process did not end and was killed", s->reason);
        else if (interrupt_pending())
            interrupt_error(&e);
        else if (count == 1)
            e = *cause;
        film_process_leave(p, i);
        if (e.code == ERR_NONE) {
            put_back(c, film, cause);
            continue;
        }
        err_prefix(&e, "'%s'", c->batch.context->inputs->path[film]);
        fail_film(c, film, &e);
    }
}

/* Returns how many films are left that no process has in progress. */
static size_t count_waiting(struct film_queue *q)
{
    struct film_tally t = film_queue_tally(q);
    return t.due - t.done - t.failed - t.under_way;
}

/*
 * Handles the end of a worker process. Returns true if another must replace it: after a crash in a
 * film, once after a death between films, and if it has rendered films and left others.
 */
static bool end_process(struct supervisor *c, struct film_process *p)
{
    struct err e = ERR_INIT;
    struct worker *w = &p->worker;
    bool in_order = worker_end(w, &e);
    int count = film_process_busy(p);
    if (w->status > 0 && (!in_order || w->status != w->announced))
        c->sanitizer_status = w->status;
    if (in_order) {
        if (w->announced != 0)
            c->failed_status = w->announced; /* it could not be confined */
        return w->announced == 0 && p->taken > 0 && !interrupt_pending() &&
               count_waiting(c->batch.queue) > 0;
    }
    decide_films(c, p, &e);
    if (interrupt_pending()) {
        c->killed = true;
        c->failed_status = ERR_INTERRUPTED;
        return false;
    }
    if (count > 0)
        return true;
    int status = log_error(&e);
    c->idle_deaths[w->number] = p->taken > 0 ? 1 : c->idle_deaths[w->number] + 1;
    if (c->idle_deaths[w->number] == 1)
        return true;
    c->failed_status = status;
    return false;
}

/* ---- The sandbox of the worker processes (sandbox.h) ---- */

/*
 * A worker opens by name what the libraries, the fonts and the GPU's driver need, the frames in the
 * cache, and the files of films in several files. All other files of a run the parent opens for it.
 */

/* Returns true if a film may be decoded or clustered by a GPU of this machine. */
static bool may_use_gpu(const struct job_context *c)
{
    if (!engines_have_gpu(c->engines) && c->plan->film.decode == DECODE_CPU)
        return false;
    return sandbox_gpu_exists();
}

/* Allows what is in the folder of a file and below. */
static bool allow_folder(struct sandbox *s, const char *path, struct err *e)
{
    char *folder = path_beside(path, ".", e);
    bool ok = folder && sandbox_allow(s, folder, SANDBOX_READ, e);
    free(folder);
    return ok;
}

/*
 * Allows the files of films in several files, which libavformat's concat opens by their names. A
 * sequence of images has too many for a rule each: their folder.
 */
static bool allow_parts(struct sandbox *s, const struct inputs *in, size_t film, struct err *e)
{
    const struct film_parts *parts = in->parts[film];
    bool ok = true;
    if (!parts)
        return !playlists_is_concat(in->path[film]) || allow_folder(s, in->path[film], e);
    for (size_t i = 0; i < parts->count && ok; i++)
        ok = parts->rate_num > 0 ? allow_folder(s, parts->part[i].path, e)
                                 : sandbox_allow(s, parts->part[i].path, SANDBOX_READ, e);
    return ok;
}

static bool visit_letters(void *user, const char *path, struct err *e)
{
    return sandbox_allow(user, path, SANDBOX_READ, e);
}

/* Allows what a worker opens by name: all that the parent does not open for it. */
static bool allow_all(struct sandbox *s, const struct job_context *context, const struct worker *w,
                      struct err *e)
{
    const struct cache_options *o = &context->plan->cache;
    char cache[PATH_MAX];
    bool has_cache = !o->off && cache_options_folder(o, cache, sizeof cache);
    bool ok = sandbox_keep(s, w->link, e) && sandbox_allow_libraries(s, e) &&
              paint_letter_places(visit_letters, s, e) &&
              (!may_use_gpu(context) || sandbox_allow_nvidia(s, e)) &&
              (!has_cache || sandbox_allow(s, cache, SANDBOX_READ | SANDBOX_WRITE, e));
    for (size_t i = 0; i < context->inputs->count && ok; i++)
        ok = !inputs_is_due(context->inputs, i) || allow_parts(s, context->inputs, i, e);
    return ok;
}

/* Keeps the inherited descriptor that `path` names, if any; of a standard stream, in `*streams`. */
static bool keep_descriptor(struct sandbox *s, const char *path, unsigned *streams, struct err *e)
{
    int fd = path ? file_descriptor(path) : -1;
    if (fd > STDERR_FILENO)
        return sandbox_keep(s, fd, e);
    *streams |= fd < 0 ? 0 : 1U << fd;
    return true;
}

/* Keeps inherited descriptors that are films or outputs: what they are is asked by their names. */
static bool keep_descriptors(struct sandbox *s, const struct job_context *context, struct err *e)
{
    const struct output_plan *o = context->outputs;
    unsigned streams = 0;
    bool ok = true;
    for (size_t k = 0; k < o->kinds && ok; k++)
        ok = keep_descriptor(s, o->kind[k].path, &streams, e);
    for (size_t i = 0; i < context->inputs->count && ok; i++)
        ok = !inputs_is_due(context->inputs, i) ||
             keep_descriptor(s, context->inputs->path[i], &streams, e);
    worker_leave_streams(streams);
    return ok;
}

/*
 * Confines this process to its link, these files, and inherited descriptors that are films or
 * outputs, unless --sandbox=off. Returns false with ERR_FAILED if --sandbox=require and the
 * confinement is incomplete, and logs that at -v otherwise. Worker, before other threads start.
 */
static bool enter_confinement(const struct batch *b, const struct worker *w, struct err *e)
{
    const enum sandbox_choice choice = sandbox_choice_of(b->sandbox);
    if (choice == SANDBOX_OFF)
        return true;
    struct sandbox *s = sandbox_new(e);
    if (s && keep_descriptors(s, b->context, e))
        (void)allow_all(s, b->context, w, e);
    bool ok = sandbox_enter_by(choice, s, e);
    sandbox_free(&s);
    return ok;
}

/*
 * Makes the folder of the cache. Logs at -v what the kernel lacks, or fails with ERR_FAILED if
 * --sandbox=require. Parent, before it forks.
 */
static bool prepare_confinement(const struct batch *b, struct err *e)
{
    const struct plan *plan = b->context->plan;
    char path[PATH_MAX];
    struct err none = ERR_INIT;
    const enum sandbox_choice choice = sandbox_choice_of(b->sandbox);
    if (choice == SANDBOX_OFF)
        return true;
    if (!sandbox_prepare(choice, e))
        return false;
    if (may_use_gpu(b->context))
        sandbox_make_devices();
    if (!plan->cache.off && cache_options_folder(&plan->cache, path, sizeof path))
        (void)path_make_folders(path, 0700);
    if (may_use_gpu(b->context) && sandbox_compiled_kernels(path, sizeof path))
        (void)path_make_folders(path, 0700);
    /* paint_letter_places must know the fonts of labels */
    if (plan->picture.strips > 1)
        (void)paint_has_letters(&none); /* labels are optional */
    return true;
}

/* ---- The processes ---- */

/*
 * Waits until a process has sent something, or `ms` milliseconds. While stderr is paused no message
 * is read, because it may be a line of the log: the workers then wait, and lose nothing. Returns
 * true if messages may be read.
 */
static bool wait_for_messages(const struct supervisor *c, int ms)
{
    const bool ready = log_is_ready();
    struct pollfd p[WORKERS_MOST + 2];
    int n = 0;
    for (int i = 0; i < c->count && ready; i++)
        if (c->process[i].worker.pid > 0)
            p[n++] = (struct pollfd){.fd = c->process[i].worker.link, .events = POLLIN};
    p[n++] = (struct pollfd){.fd = interrupt_descriptor(), .events = POLLIN};
    p[n++] = (struct pollfd){.fd = ready ? -1 : STDERR_FILENO, .events = POLLOUT};
    (void)poll(p, (nfds_t)n, ms);
    return ready;
}

/* Shows the film in progress that began first; if there is none, the last one. */
static void show_progress(struct supervisor *c)
{
    struct film_tally t = film_queue_tally(c->batch.queue);
    const struct progress_run run = {.films = t.done + t.failed,
                                     .films_total = t.due,
                                     .bytes = t.bytes_ended,
                                     .bytes_total = t.bytes,
                                     .films_now = t.films_now,
                                     .bytes_now = t.bytes_now,
                                     .seconds = clock_since(c->begin_ns)};
    if (t.under_way + t.done + t.failed > 0) {
        const char *path = c->batch.context->inputs->path[t.longest], *slash = strrchr(path, '/');
        c->title = slash ? slash + 1 : path;
    }
    struct progress_state state = {.share = -1, .frames = t.frames, .run = &run, .title = c->title};
    if (t.due == 1)
        state = (struct progress_state){.share = t.now.share,
                                        .frames = t.now.frames,
                                        .columns = t.now.columns,
                                        .columns_total = t.now.columns_total,
                                        .title = c->title};
    if (c->title)
        progress_tick(c->progress, &state);
}

/* Starts worker process `i`. Returns its pid, 0 in the worker, and -1 with an error. */
static pid_t start(struct supervisor *c, int i, struct err *e)
{
    c->process[i] = (struct film_process){.taken = 0};
    pid_t pid = worker_start(&c->process[i].worker, i, e);
    c->process[i].worker.memory /= (uint64_t)c->count;
    for (int k = 0; k < c->count && pid == 0; k++)
        if (k != i && c->process[k].worker.pid > 0)
            close(c->process[k].worker.link); /* the parent's */
    return pid;
}

/* Starts all of them. Returns false in a worker, with its number in `*me`. */
static bool start_all(struct supervisor *c, int *me, struct err *e)
{
    for (int i = 0; i < c->count && e->code == ERR_NONE; i++) {
        *me = i;
        if (start(c, i, e) == 0)
            return false;
    }
    return true;
}

static int count_processes(const struct supervisor *c)
{
    int count = 0;
    for (int i = 0; i < c->count; i++)
        count += c->process[i].worker.pid > 0;
    return count;
}

/* Ends all processes because the reader of stdout has gone. */
static void abandon_all(struct supervisor *c)
{
    struct err none = ERR_INIT;
    for (int i = 0; i < c->count; i++) {
        struct film_process *p = &c->process[i];
        for (int slot = 0; slot < WATCHES && p->worker.pid > 0; slot++)
            film_process_leave(p, slot);
        if (p->worker.pid > 0) {
            worker_kill(&p->worker, WORKER_SILENT);
            (void)worker_end(&p->worker, &none);
        }
    }
}

/* Serves the processes until all have ended. Returns false in a worker, with its number in `*me`.
 */
static bool serve(struct supervisor *c, int *me, struct err *e)
{
    for (int left; (left = count_processes(c)) > 0;) {
        if (film_queue_is_abandoned(c->batch.queue)) {
            abandon_all(c);
            break;
        }
        if (film_watch_wait(&c->watch) == 0) {
            film_watch_tick(&c->watch, c->process, c->count, &c->batch,
                            limits_memory() / (uint64_t)left);
            if (log_is_ready()) /* else it would wait */
                show_progress(c);
        }
        bool ready = wait_for_messages(c, film_watch_wait(&c->watch));
        for (int i = 0; i < c->count; i++) {
            struct film_process *p = &c->process[i];
            if (p->worker.pid <= 0 || (!ready && !p->worker.killed) ||
                film_process_handle(p, &c->batch))
                continue;
            *me = i;
            if (end_process(c, p) && start(c, i, e) == 0)
                return false;
        }
    }
    return true;
}

/* Confines this process and renders films in it. Returns its exit status. */
static int run_worker(const struct supervisor *c, struct worker *w)
{
    struct err e = ERR_INIT;
    struct film_tally tally = film_queue_tally(c->batch.queue);
    umask(0); /* all that a worker makes itself is the cache's, with modes of its own */
    if (enter_confinement(&c->batch, w, &e))
        return film_workers_run(c->batch.context, &tally, w, c->count, c->batch.options->jobs);
    int status = log_error(&e);
    worker_leaves(w, status, false);
    return status;
}

/*
 * Renders the films in worker processes. Sets `*here` to true in the parent and to false in a
 * worker.
 */
static int run_workers(struct supervisor *c, bool *here)
{
    struct err e = ERR_INIT;
    struct film_tally tally = film_queue_tally(c->batch.queue);
    const struct batch_options *o = c->batch.options;
    int me = 0;
    c->count = worker_process_count(c->batch.context, &tally, o->jobs);
    c->process = err_calloc((size_t)c->count, sizeof *c->process, &e);
    c->watch = film_watch_open(o->film_timeout_us);
    *here = !c->process || tally.due == 0 || start_all(c, &me, &e);
    if (*here && c->process) {
        c->begin_ns = clock_ns();
        c->progress = progress_open(o->progress, "", NULL);
        if (progress_is_on_terminal(o->progress))
            c->watch.period_s = c->watch.period_s < 0.17 ? c->watch.period_s : 0.17;
        *here = serve(c, &me, &e);
    }
    if (!*here)
        return run_worker(c, &c->process[me].worker);
    show_progress(c);
    progress_close(&c->progress);
    free(c->process);
    if (film_queue_is_abandoned(c->batch.queue))
        return ERR_PIPE;
    size_t left = count_waiting(c->batch.queue);
    if (left > 0 && c->sanitizer_status == 0 && c->failed_status == 0 && !interrupt_pending()) {
        err_set(&e, ERR_FAILED, "%zu films were not rendered", left);
        return log_error(&e);
    }
    if (c->sanitizer_status > 0)
        return c->sanitizer_status;
    if (c->failed_status > 0)
        return c->failed_status;
    return film_queue_status(c->batch.queue);
}

/* Writes the gallery from the pages that exist, also if films failed or none was due. */
static int write_gallery(const struct output_plan *o)
{
    struct err e = ERR_INIT;
    size_t films;
    const char *path = o->gallery;
    if (!path || interrupted())
        return 0;
    if (!outputs_make_gallery_folder(o, &e) || !gallery_write(path, &films, &e))
        return log_error(&e);
    log_msg(LOG_INFO, "wrote '%s': a gallery of %zu film%s", path, films, films == 1 ? "" : "s");
    return 0;
}

/* Writes the table of all films. An interrupted run leaves the old one. */
static int write_table(struct table *table)
{
    struct err e = ERR_INIT;
    size_t films = 0;
    if (!table || interrupted())
        return 0;
    if (!table_write(table, &films, &e))
        return log_error(&e);
    if (films > 0 && !outputs_is_stdout(table_path(table)))
        log_msg(LOG_INFO, "wrote '%s': a table of %zu film%s", table_path(table), films,
                films == 1 ? "" : "s");
    return 0;
}

/* Opens what the films of a run have in common. */
static bool open_batch(struct batch *b, struct err *e)
{
    const struct job_context *context = b->context;
    const char *report = context->plan->outputs.report;
    if (context->outputs->table) {
        b->table = table_open(context->outputs->table, context->inputs->count, e);
        if (!b->table)
            return false;
    }
    if (report) {
        b->report = report_log_open(report, e);
        if (!b->report)
            return false;
    }
    return true;
}

/*
 * Logs what an interrupted run of several films has finished. The frames of the others are in the
 * cache, if there is one and their worker was not killed.
 */
static void log_interrupted(const struct supervisor *c, const struct film_tally *t)
{
    const struct plan *plan = c->batch.context->plan;
    char folder[PATH_MAX], failed[40] = "";
    bool kept =
        !plan->cache.off && cache_options_folder(&plan->cache, folder, sizeof folder) && !c->killed;
    const char *next = "repeat the command to go on";
    if (!plan->outputs.update && !kept) /* it would begin again */
        next = "repeat the command with --update to go on";
    if (t->failed + t->problems > 0)
        snprintf(failed, sizeof failed, ", %zu failed", t->failed + t->problems);
    log_msg(LOG_INFO, "finished %zu of %zu films%s; %s%s", t->done + t->left_out,
            t->due + t->problems + t->left_out, failed, kept ? "frames are kept, " : "", next);
}

/* Logs the summary of several films or of a shard. `seconds` is the total time. */
static void log_summary(const struct supervisor *c, const struct film_tally *t, double seconds)
{
    const struct job_context *context = c->batch.context;
    const size_t before = t->failed_before;
    size_t films = t->due + t->problems + t->left_out + before, open = t->due - t->done - t->failed;
    const struct inputs_options *o = &context->plan->inputs;
    char rest[40] = "", shard[40] = "", old[80] = "";
    if (films < 2 && o->shards == 0 && before == 0)
        return;
    if (open > 0 && interrupt_pending()) {
        log_interrupted(c, t);
        return;
    }
    if (o->shards > 0)
        snprintf(shard, sizeof shard, "shard %d/%d: ", o->shard, o->shards);
    if (open > 0)
        snprintf(rest, sizeof rest, ", %zu not done", open);
    if (before > 0)
        snprintf(old, sizeof old, ", %zu failed before and %s unchanged (--retry tries %s)", before,
                 before == 1 ? "is" : "are", before == 1 ? "it" : "them");
    log_msg(LOG_INFO, "%s%zu film%s: %zu done, %zu skipped, %zu failed%s%s, in %.1f s", shard,
            films, films == 1 ? "" : "s", t->done, t->left_out, t->failed + t->problems, old, rest,
            seconds);
}

static pid_t parent;

/* Renders the films with the context's engines; the rest as batch_render. */
static int render_films(struct job_context *context, const struct batch_run *run)
{
    struct err e = ERR_INIT;
    struct supervisor c = {.batch = {.context = context,
                                     .options = run->batch,
                                     .sandbox = run->process->sandbox,
                                     .sink = run->sink}};
    int64_t begin = clock_ns();
    bool here = true;
    int status = 0;
    if (run->plan->inputs.playlists)
        playlists_allow();
    c.batch.queue = film_queue_open(run->inputs, &e);
    if (c.batch.queue && prepare_confinement(&c.batch, &e) && open_batch(&c.batch, &e) &&
        film_report_known(&c.batch, &e)) {
        struct film_tally tally = film_queue_tally(c.batch.queue);
        context->at_terminal = tally.due == 1 && progress_is_on_terminal(run->batch->progress);
        context->in_summary = run->inputs->count > 1 && !isatty(STDERR_FILENO);
        status = run_workers(&c, &here);
        if (!here || status == ERR_PIPE)
            return status;
        tally = film_queue_tally(c.batch.queue);
        log_summary(&c, &tally, clock_since(begin));
        int table = write_table(c.batch.table), gallery = write_gallery(run->outputs);
        if (status == 0)
            status = table != 0 ? table : gallery;
        if (status == 0)
            status = err_exit_status(&run->outputs->unwritten);
    }
    if (!report_log_close(&c.batch.report, &e) || e.code != ERR_NONE)
        status = status != 0 ? status : log_error(&e);
    table_close(&c.batch.table);
    film_queue_free(&c.batch.queue);
    return status;
}

int batch_render(const struct batch_run *run)
{
    struct engines engines;
    const struct process_options *o = run->process;
    const int threads = process_threads(o);
    parent = getpid();
    limits_set(o->memory, o->max_pixels);
    engines_init(&engines, run->engine->choice, &run->engine->devices, threads);
    struct job_context context = {.plan = run->plan,
                                  .inputs = run->inputs,
                                  .outputs = run->outputs,
                                  .engines = &engines,
                                  .threads = threads};
    int status = render_films(&context, run);
    engines_close(&engines);
    return status;
}

bool batch_is_worker(void) { return parent != 0 && getpid() != parent; }
