#include "batch_progress.h"
#include "confine.h"
#include "film_queue.h"
#include "film_workers.h"
#include "watchdog.h"
#include "worker_process.h"
#include "barcode/base/clock.h"
#include "barcode/base/file.h"
#include "barcode/base/interrupt.h"
#include "barcode/base/limits.h"
#include "barcode/base/log.h"
#include "barcode/batch/films.h"
#include "barcode/cli/outputs.h"
#include "barcode/media/playlists.h"
#include "barcode/output/gallery.h"
#include "barcode/render/render_report.h"

/* The worker processes and their results. */
struct workers {
    struct worker worker[WORKERS_MOST];
    struct watchdog *watchdog; /* NULL: nothing is watched */
    int broke[WORKERS_MOST];   /* how often each died between films */
    int count;
    int found; /* the exit status of a worker that a sanitizer ended; 0: none */
    /* the exit status of a worker that died twice between films or rendered none; 0: none */
    int failed;
    bool refused; /* a process could not be started */
};

/* Fails the only film that was in progress when its worker crashed. */
static void note_culprit(const struct render *r, struct film_queue *queue, size_t film,
                         struct err *e)
{
    struct err unwritten = ERR_INIT;
    err_prefix(e, "'%s'", r->inputs->path[film]);
    film_queue_done(queue, film, e);
    if (!render_report_missing(r, film, e, &unwritten))
        err_report(&unwritten);
}

/*
 * Fails a film that comes from an inherited descriptor. The crashed worker has read a part of it,
 * and the rest would pass for the film.
 */
static void give_up(const struct render *r, struct film_queue *queue, size_t film,
                    const struct err *crash)
{
    struct err e = ERR_INIT, unwritten = ERR_INIT;
    err_set(&e, ERR_FAILED, "'%s' was in progress when %s; its input cannot be read again",
            r->inputs->path[film], crash->text);
    film_queue_done(queue, film, &e);
    err_report(&e);
    if (!render_report_missing(r, film, &e, &unwritten))
        err_report(&unwritten);
}

/*
 * Puts the films back that were in progress when their worker crashed. Each is rendered again
 * alone.
 */
static void put_back(const struct render *r, struct film_queue *queue,
                     const struct film_list *films, const struct err *e)
{
    for (size_t i = 0; i < films->count; i++) {
        if (file_descriptor(r->inputs->path[films->film[i]]) >= 0) {
            give_up(r, queue, films->film[i], e);
            continue;
        }
        log_msg(e->code == ERR_MEMORY ? LOG_VERBOSE : LOG_WARNING,
                "'%s' was in progress when %s; rendering it again, alone",
                r->inputs->path[films->film[i]], e->text);
        film_queue_again(queue, films->film[i]);
    }
}

/* Fails the films of a worker that was killed because it did not end after an interruption. */
static void note_interruption(const struct render *r, struct film_queue *queue,
                              const struct film_list *films)
{
    for (size_t i = 0; i < films->count; i++) {
        struct err e = ERR_INIT;
        interrupt_error(&e);
        note_culprit(r, queue, films->film[i], &e);
        err_report(&e);
    }
}

/*
 * Puts the films back that were in progress beside the only one that did not end when it was asked
 * to, and fails that one.
 */
static void note_hanging(const struct render *r, struct film_queue *queue, const struct worker *w,
                         struct film_list *films, struct err *e)
{
    size_t hanging = w->blamed.film[0], others = 0, all = films->count;
    for (size_t i = 0; i < all; i++)
        if (films->film[i] != hanging)
            films->film[others++] = films->film[i];
    films->count = others;
    put_back(r, queue, films, e);
    if (others == all) /* it ended before the kill */
        return;
    err_clear(e);
    err_set(e, ERR_FAILED, "%s; its worker process did not end and was killed", w->reason);
    note_culprit(r, queue, hanging, e);
    err_report(e);
}

/* Starts worker process `i`. Returns false in the worker. */
static bool start(struct workers *c, int i)
{
    watchdog_forget(c->watchdog, i);
    bool parent = worker_start(&c->worker[i], i);
    c->worker[i].watch = watchdog_watches(c->watchdog, i);
    c->refused |= c->worker[i].pid < 0;
    return parent || c->worker[i].pid < 0;
}

/*
 * Handles the end of a worker process. Returns true if another must replace it: after a crash in a
 * film, and once after a death between films.
 */
static bool watch(const struct render *r, struct film_queue *queue, struct worker *w,
                  struct workers *c)
{
    struct err e = ERR_INIT;
    struct film_list films;
    enum worker_end end = worker_watch(w, queue, &films, &e);
    bool odd = end == WORKER_DONE ? w->status != w->announced : w->status > 0;
    c->found = odd ? w->status : c->found;
    if (end == WORKER_DONE) {
        if (film_queue_status(queue) == 0)
            c->failed = w->announced; /* it could not be confined */
        return false;
    }
    if (w->killed && interrupted()) {
        note_interruption(r, queue, &films);
        c->failed = ERR_INTERRUPTED;
        return false;
    }
    int status = 0;
    if (films.count > 0 && w->blamed.count == 1) {
        note_hanging(r, queue, w, &films, &e);
    } else if (films.count > 1) {
        put_back(r, queue, &films, &e);
    } else {
        if (films.count == 1)
            note_culprit(r, queue, films.film[0], &e);
        status = err_report(&e);
    }
    if (end == WORKER_CRASHED || ++c->broke[w->number] == 1)
        return true;
    c->failed = status;
    return false;
}

/*
 * Waits for the end of any worker process. Limits their memory and shows the progress
 * meanwhile. Returns the index of the worker, or -1 if none is left.
 */
static int wait_for_end(struct workers *c, struct batch_progress *run)
{
    enum { WAIT_MS = 20, WAITS_A_TICK = 5 };
    const uint64_t memory = limits_memory();
    int ended = -1, left = 0;
    for (int i = 0; i < c->count; i++)
        left += c->worker[i].pid > 0;
    for (int n = 1; left > 0 && (ended = worker_wait(c->worker, c->count, WAIT_MS)) < 0; n++) {
        worker_limit_memory(c->worker, c->count, memory);
        if (n % WAITS_A_TICK != 0)
            continue;
        watchdog_tick(c->watchdog, c->worker, c->count);
        batch_progress_tick(run);
    }
    return ended;
}

/* Confines this process and renders films in it. Returns its exit status. */
static int run_confined(const struct render *r, struct film_queue *queue, struct worker *w,
                        int workers)
{
    struct err e = ERR_INIT;
    if (confinement_enter(r, &e))
        return film_workers_run(r, queue, w, workers);
    int status = err_report(&e);
    worker_leaves(w, status, false);
    return status;
}

/*
 * Renders the films in worker processes. Sets `*here` to true in the parent and to false in a
 * worker.
 */
static int run_workers(const struct render *r, struct film_queue *queue, bool *here)
{
    struct film_tally tally = film_queue_tally(queue);
    struct workers c = {.count = worker_process_count(r, &tally)};
    c.watchdog = watchdog_open(c.count, r->options->film_timeout_us);
    struct worker nobody = {.pid = -1, .pipe = -1};
    struct batch_progress *run = NULL;
    int i = 0;
    while (i < c.count && (*here = start(&c, i)))
        i++;
    if (*here && tally.due > 1)
        run = batch_progress_open(r, queue);
    while (*here && (i = wait_for_end(&c, run)) >= 0)
        *here = !watch(r, queue, &c.worker[i], &c) || start(&c, i);
    if (!*here) {
        int status = run_confined(r, queue, &c.worker[i], c.count);
        watchdog_close(&c.watchdog);
        return status;
    }
    batch_progress_close(&run);
    watchdog_close(&c.watchdog);
    tally = film_queue_tally(queue);
    if (c.refused && tally.done + tally.failed < tally.due)
        c.failed = run_confined(r, queue, &nobody, 1);
    return c.found > 0 ? c.found : c.failed > 0 ? c.failed : film_queue_status(queue);
}

/* Writes the gallery from the pages that exist, also if films failed or none was due. */
static int write_gallery(const struct render *r)
{
    struct err e = ERR_INIT;
    size_t films;
    const char *path = outputs_gallery(r->options);
    if (!path || interrupted())
        return 0;
    if (!outputs_make_gallery_folder(r->options, &e) || !gallery_write(path, &films, &e))
        return err_report(&e);
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
        return err_report(&e);
    if (films > 0 && !outputs_is_stdout(table_path(table)))
        log_msg(LOG_INFO, "wrote '%s': a table of %zu film%s", table_path(table), films,
                films == 1 ? "" : "s");
    return 0;
}

/* Opens what all worker processes share. */
static bool open_shared(struct render *r, struct err *e)
{
    const char *report = r->options->report, *table = outputs_table(r->options, r->inputs);
    if (table && !(r->table = table_open(table, r->inputs->count, e)))
        return false;
    return !report || (r->report_log = report_log_open(report, e));
}

/* Logs the summary of several films or of a shard. `seconds` is the total time. */
static void render_report_end(const struct render *r, const struct film_tally *t, double seconds)
{
    size_t films = t->due + t->problems + t->left_out, open = t->due - t->done - t->failed;
    const struct options *o = r->options;
    char rest[40] = "", shard[40] = "";
    if (films < 2 && o->shards == 0)
        return;
    if (o->shards > 0)
        snprintf(shard, sizeof shard, "shard %d/%d: ", o->shard, o->shards);
    if (open > 0)
        snprintf(rest, sizeof rest, ", %zu not done", open);
    log_msg(LOG_INFO, "%s%zu film%s: %zu done, %zu skipped, %zu failed%s, in %.1f s", shard, films,
            films == 1 ? "" : "s", t->done, t->left_out, t->failed + t->problems, rest, seconds);
}

int render_films(const struct render *r)
{
    struct err e = ERR_INIT;
    struct render own = *r;
    int64_t begin = clock_ns();
    bool here = true;
    int status = 0;
    log_share();
    if (r->options->playlists)
        playlists_allow();
    struct film_queue *queue = film_queue_open(r->inputs, &e);
    struct confinement *confinement = queue ? confinement_open(r, &e) : NULL;
    if (!confinement || !open_shared(&own, &e) || !render_report_known(&own, &e))
        status = err_report(&e);
    else
        status = run_workers(&own, queue, &here);
    if (queue && here && e.code == ERR_NONE) {
        struct film_tally tally = film_queue_tally(queue);
        render_report_end(r, &tally, clock_since(begin));
        int table = write_table(own.table), gallery = write_gallery(r);
        status = status != 0 ? status : table != 0 ? table : gallery;
    }
    confinement_close(&confinement, here);
    report_log_close(&own.report_log);
    table_close(&own.table);
    film_queue_free(&queue);
    return status;
}
