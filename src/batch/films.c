#include "batch_progress.h"
#include "film_queue.h"
#include "film_workers.h"
#include "worker_process.h"
#include "barcode/base/clock.h"
#include "barcode/base/file.h"
#include "barcode/base/interrupt.h"
#include "barcode/base/limits.h"
#include "barcode/base/log.h"
#include "barcode/batch/films.h"
#include "barcode/cli/outputs.h"
#include "barcode/output/gallery.h"
#include "barcode/render/render_report.h"

/* The worker processes and their results. */
struct workers {
    struct worker worker[WORKERS_MOST];
    int broke[WORKERS_MOST]; /* how often each died between films */
    int count;
    int found;    /* the exit status of a worker that a sanitizer ended; 0: none */
    int failed;   /* the exit status of a worker that died twice between films; 0: none */
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

/* Starts worker process `i`. Returns false in the worker. */
static bool start(struct workers *c, int i)
{
    bool parent = worker_start(&c->worker[i], i);
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
    if (end == WORKER_DONE)
        return false;
    if (films.count == 1)
        note_culprit(r, queue, films.film[0], &e);
    if (films.count > 1)
        put_back(r, queue, &films, &e);
    int status = films.count > 1 ? 0 : err_report(&e);
    if (end == WORKER_CRASHED || ++c->broke[w->number] == 1)
        return true;
    c->failed = status;
    return false;
}

/*
 * Waits for the end of any worker process. Limits their memory and shows the progress meanwhile.
 * Returns the index of the worker, or -1 if none is left.
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
        if (n % WAITS_A_TICK == 0)
            batch_progress_tick(run);
    }
    return ended;
}

/*
 * Renders the films in worker processes. Sets `*here` to true in the parent and to false in a
 * worker.
 */
static int run_workers(const struct render *r, struct film_queue *queue, bool *here)
{
    struct film_tally tally = film_queue_tally(queue);
    struct workers c = {.count = worker_process_count(r, &tally)};
    struct worker nobody = {.pid = -1, .pipe = -1};
    struct batch_progress *run = NULL;
    int i = 0;
    while (i < c.count && (*here = start(&c, i)))
        i++;
    if (*here && tally.due > 1)
        run = batch_progress_open(r, queue);
    while (*here && (i = wait_for_end(&c, run)) >= 0)
        *here = !watch(r, queue, &c.worker[i], &c) || start(&c, i);
    if (!*here)
        return film_workers_run(r, queue, &c.worker[i], c.count);
    batch_progress_close(&run);
    tally = film_queue_tally(queue);
    if (c.refused && tally.done + tally.failed < tally.due)
        film_workers_run(r, queue, &nobody, 1);
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
    const char *report = r->options->report;
    bool here = true;
    int status = 0;
    log_share();
    struct film_queue *queue = film_queue_open(r->inputs, &e);
    if (queue && report)
        own.report_log = report_log_open(report, &e);
    if (!queue || (report && !own.report_log) || !render_report_known(&own, &e))
        status = err_report(&e);
    else
        status = run_workers(&own, queue, &here);
    if (queue && here && e.code == ERR_NONE) {
        struct film_tally tally = film_queue_tally(queue);
        render_report_end(r, &tally, clock_since(begin));
        int unwritten = write_gallery(r);
        status = status != 0 ? status : unwritten;
    }
    report_log_close(&own.report_log);
    film_queue_free(&queue);
    return status;
}
