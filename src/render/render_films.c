#include "barcode/clock.h"
#include "barcode/file.h"
#include "barcode/film_queue.h"
#include "barcode/gallery.h"
#include "barcode/interrupt.h"
#include "barcode/log.h"
#include "barcode/outputs.h"
#include "barcode/render.h"
#include "barcode/worker.h"
#include "render_lanes.h"
#include "render_tell.h"

/* What the workers of a run came to. */
struct crew {
    int status;              /* the latest one's                                               */
    int found;               /* the exit status of one that a sanitizer ended; 0: none         */
    int broke;               /* how many ended at no film                                      */
};

/* One film was under way, and ended its worker: it failed. */
static void note_culprit(const struct render *r, struct film_queue *queue, size_t film, struct err *e)
{
    struct err unwritten = ERR_INIT;
    err_prefix(e, "'%s'", r->inputs->path[film]);
    film_queue_done(queue, film, e);
    if (!render_tell_lost(r, film, e, &unwritten))
        err_tell(&unwritten);
}

/* A descriptor that was handed to the program has lost what the worker read of it: the rest would pass for the film. */
static void give_up(const struct render *r, struct film_queue *queue, size_t film, const struct err *crash)
{
    struct err e = ERR_INIT, unwritten = ERR_INIT;
    err_set(&e, ERR_FAILED, "'%s' was under way when %s; it cannot be read again", r->inputs->path[film], crash->text);
    film_queue_done(queue, film, &e);
    err_tell(&e);
    if (!render_tell_lost(r, film, &e, &unwritten))
        err_tell(&unwritten);
}

/* Several were: one of them is the culprit, and each gets a worker's full attention. */
static void put_back(const struct render *r, struct film_queue *queue, const struct worker_films *films, const struct err *e)
{
    for (size_t i = 0; i < films->count; i++) {
        if (file_descriptor(r->inputs->path[films->film[i]]) >= 0) {
            give_up(r, queue, films->film[i], e);
            continue;
        }
        log_msg(LOG_WARNING, "'%s' was under way when %s; it is done again, alone", r->inputs->path[films->film[i]], e->text);
        film_queue_again(queue, films->film[i]);
    }
}

/*
 * One worker from its start to its end. True if another one is to go on: after films that ended it, and once after one that ended
 * at none. The last one's exit status is the program's, for it knows what became of the films before it.
 */
static bool watch(const struct render *r, struct film_queue *queue, struct worker *w, struct crew *c)
{
    struct err e = ERR_INIT;
    struct worker_films films;
    enum worker_end end = worker_watch(w, queue, &films, &e);
    if (films.count == 1)
        note_culprit(r, queue, films.film[0], &e);
    if (films.count > 1)
        put_back(r, queue, &films, &e);
    else
        c->status = end == WORKER_DONE ? w->status : err_tell(&e);
    c->found = end != WORKER_DONE && w->status > 0 ? w->status : c->found;
    c->broke += end == WORKER_BROKE;
    return end == WORKER_CRASHED || (end == WORKER_BROKE && c->broke == 1);
}

/* The films, by as many workers as it takes. *here: in the process that began the run, and not in a worker. */
static int run_crew(const struct render *r, struct film_queue *queue, bool *here)
{
    struct worker worker;
    struct crew crew = {.status = 0};
    bool parent = worker_start(&worker);
    while (parent && watch(r, queue, &worker, &crew))
        parent = worker_start(&worker);
    *here = parent || worker.pid < 0;
    if (!parent) {
        render_lanes(r, queue, &worker);
        crew.status = film_queue_status(queue);
    }
    return crew.found > 0 ? crew.found : crew.status;
}

/* When the films are done, and also where some failed or none was due: the gallery is of the pages that are there. */
static int write_gallery(const struct render *r)
{
    struct err e = ERR_INIT;
    size_t films;
    const char *path = outputs_gallery(r->options);
    if (!path || interrupted())
        return 0;
    if (!gallery_write(path, &films, &e))
        return err_tell(&e);
    log_msg(LOG_INFO, "wrote '%s': a gallery of %zu film%s", path, films, films == 1 ? "" : "s");
    return 0;
}

int render_films(const struct render *r)
{
    struct err e = ERR_INIT;
    struct render own = *r;
    int64_t begin = clock_ns();
    const char *report = r->options->report;
    bool here = true;
    int status = 0;
    struct film_queue *queue = film_queue_open(r->inputs, &e);
    if (queue && report)
        own.ledger = ledger_open(report, &e);
    if (!queue || (report && !own.ledger) || !render_tell_known(&own, &e))
        status = err_tell(&e);
    else
        status = run_crew(&own, queue, &here);
    if (queue && here && e.code == ERR_NONE) {
        struct film_tally tally = film_queue_tally(queue);
        render_tell_end(r, &tally, clock_since(begin));
        int unwritten = write_gallery(r);
        status = status != 0 ? status : unwritten;
    }
    ledger_close(&own.ledger);
    film_queue_free(&queue);
    return status;
}
