#include "barcode/film_queue.h"
#include "barcode/interrupt.h"
#include "barcode/render.h"
#include "barcode/worker.h"

/* Reports the problems that are known before the first film is opened: now, not hours later. */
static void tell_problems(const struct inputs *in)
{
    for (size_t i = 0; i < in->count; i++)
        if (in->problem[i].code != ERR_NONE)
            err_tell(&in->problem[i]);
}

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
    for (size_t film; film_queue_next(queue, &film); err_clear(&e)) {
        worker_takes(w, film);
        bool fine = render_unless_interrupted(r, film, &e);
        if (!fine)
            err_tell(&e);
        film_queue_done(queue, film, fine ? NULL : &e);
        worker_did(w, film, fine ? NULL : &e);
    }
    worker_leaves(w);
}

/*
 * One worker from its start to its end. True if it was a film that ended it, so that another one goes on with the next. Its exit
 * status is the program's, for it knows what became of the films before it; and a sanitizer that found something ends it with its own.
 */
static bool watch(const struct render *r, struct film_queue *queue, struct worker *w, int *status)
{
    struct err e = ERR_INIT;
    size_t film = 0;
    enum worker_end end = worker_watch(w, queue, &film, &e);
    if (end == WORKER_CRASHED) {
        err_prefix(&e, "'%s'", r->inputs->path[film]);
        film_queue_done(queue, film, &e);
    }
    int failed = end == WORKER_DONE ? 0 : err_tell(&e);
    *status = w->status > 0 ? w->status : failed;
    return end == WORKER_CRASHED;
}

int render_films(const struct render *r)
{
    struct err e = ERR_INIT;
    struct film_queue *queue = film_queue_open(r->inputs, &e);
    if (!queue)
        return err_tell(&e);
    tell_problems(r->inputs);
    struct worker worker;
    int status = 0;
    bool parent = worker_start(&worker);
    while (parent && watch(r, queue, &worker, &status))
        parent = worker_start(&worker);
    if (!parent) {
        work(r, queue, &worker);
        status = film_queue_status(queue);
    }
    film_queue_free(&queue);
    return status;
}
