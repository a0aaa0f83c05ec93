#include "barcode/clock.h"
#include "barcode/film_queue.h"
#include "barcode/gallery.h"
#include "barcode/interrupt.h"
#include "barcode/log.h"
#include "barcode/outputs.h"
#include "barcode/render.h"
#include "barcode/worker.h"
#include "render_tell.h"

/* After an interruption the next film fails without being opened. */
static bool render_unless_interrupted(const struct render *r, size_t film, struct err *e)
{
    if (!interrupted())
        return render_film(r, film, e);
    interrupt_error(e);
    return err_prefix(e, "'%s'", r->inputs->path[film]);
}

/* The work: in the worker, or in the first process where there is none. */
static void work(const struct render *r, struct film_queue *queue, struct worker *w)
{
    struct err e = ERR_INIT;
    struct film_tally tally = film_queue_tally(queue);
    struct progress_run run = {.begin_ns = clock_ns(), .films_begin = tally.done + tally.failed, .bytes_begin = tally.bytes_ended};
    struct render own = *r;
    own.run = tally.due > 1 ? &run : NULL;
    for (size_t film; film_queue_next(queue, &film); err_clear(&e)) {
        worker_takes(w, film);
        tally = film_queue_tally(queue);
        render_run_turn(&own, &tally, film);
        bool fine = render_unless_interrupted(&own, film, &e);
        if (!fine)
            err_tell(&e);
        film_queue_done(queue, film, fine ? NULL : &e);
        worker_did(w, film, fine ? NULL : &e);
    }
    worker_leaves(w);
}

/* What the workers of a run came to. */
struct crew {
    int status;              /* the latest one's                                               */
    int found;               /* the exit status of one that a sanitizer ended; 0: none         */
    int broke;               /* how many ended at no film                                      */
};

/*
 * One worker from its start to its end. True if another one is to go on: after a film that ended it, and once after one that ended
 * at none. The last one's exit status is the program's, for it knows what became of the films before it.
 */
static bool watch(const struct render *r, struct film_queue *queue, struct worker *w, struct crew *c)
{
    struct err e = ERR_INIT;
    size_t film = 0;
    enum worker_end end = worker_watch(w, queue, &film, &e);
    if (end == WORKER_CRASHED) {
        struct err unwritten = ERR_INIT;
        err_prefix(&e, "'%s'", r->inputs->path[film]);
        film_queue_done(queue, film, &e);
        if (!render_tell_lost(r, film, &e, &unwritten))
            err_tell(&unwritten);
    }
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
        work(r, queue, &worker);
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
        render_tell_end(r, &tally, (double)(clock_ns() - begin) / 1e9);
        int unwritten = write_gallery(r);
        status = status != 0 ? status : unwritten;
    }
    ledger_close(&own.ledger);
    film_queue_free(&queue);
    return status;
}
