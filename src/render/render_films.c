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
        err_prefix(&e, "'%s'", r->inputs->path[film]);
        film_queue_done(queue, film, &e);
    }
    c->status = end == WORKER_DONE ? w->status : err_tell(&e);
    c->found = end != WORKER_DONE && w->status > 0 ? w->status : c->found;
    c->broke += end == WORKER_BROKE;
    return end == WORKER_CRASHED || (end == WORKER_BROKE && c->broke == 1);
}

int render_films(const struct render *r)
{
    struct err e = ERR_INIT;
    struct film_queue *queue = film_queue_open(r->inputs, &e);
    if (!queue)
        return err_tell(&e);
    tell_problems(r->inputs);
    struct worker worker;
    struct crew crew = {.status = 0};
    bool parent = worker_start(&worker);
    while (parent && watch(r, queue, &worker, &crew))
        parent = worker_start(&worker);
    if (!parent) {
        work(r, queue, &worker);
        crew.status = film_queue_status(queue);
    }
    film_queue_free(&queue);
    return crew.found > 0 ? crew.found : crew.status;
}
