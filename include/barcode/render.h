/*
 * render.h - one film from its name to its pictures: open, decide, stage, cluster, paint, write.
 */
#ifndef BARCODE_RENDER_H
#define BARCODE_RENDER_H

#include "barcode/decoders.h"
#include "barcode/engines.h"
#include "barcode/film_queue.h"
#include "barcode/inputs.h"
#include "barcode/ledger.h"
#include "barcode/options.h"

#ifdef __cplusplus
extern "C" {
#endif

struct render {
    const struct options *options;
    const struct inputs *inputs;
    struct engines *engines;     /* lent for the call, used for one film after another: a lane's own */
    int threads;                 /* decided, 1 or more; of this worker                       */
    int workers;                 /* that divide the machine; 0: one                          */
    struct ledger *ledger;       /* --report: each film that is rendered adds its line; NULL: none. render_films opens it */
    struct film_queue *queue;    /* of several films: is told how far each is; NULL: one film */
    struct gate *gate;           /* of several films under way: which one decodes; NULL: one at a time       */
    struct decoders *decoders;   /* the GPU's that are kept; NULL: none                                      */
    bool again;                  /* an earlier worker of this run had the film, and may have written outputs of it */
    struct gate *looks;          /* the same for the look for bars, which decodes on several threads too: one of several films' */
};

/*
 * Renders film `i` of the inputs. Writes nothing unless everything that was asked of the film succeeded up
 * to writing. Warnings are logged. Stops with ERR_INTERRUPTED when interrupted() turns true before that. Any thread, with its own engines.
 */
bool render_film(const struct render *r, size_t i, struct err *e);

/*
 * Renders all films of the inputs in a worker process (worker.h), or one for each GPU, several at once where that keeps the cores busy (options.jobs); one
 * that fails does not stop the others, and one that crashes the worker costs nothing but itself. Says each one's failure, and in the end how many films were done; --report gets a
 * line for each entry of the inputs that is this run's, but for those that an interruption left untouched. Returns the exit status. It returns in the worker
 * too, which has nothing left to do but to end. No other thread may run. Main thread only.
 */
int render_films(const struct render *r);

#ifdef __cplusplus
}
#endif
#endif
