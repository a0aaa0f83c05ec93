/*
 * render.h - one film from its name to its pictures: open, decide, stage, cluster, paint, write.
 */
#ifndef BARCODE_RENDER_H
#define BARCODE_RENDER_H

#include "barcode/engines.h"
#include "barcode/inputs.h"
#include "barcode/ledger.h"
#include "barcode/options.h"

#ifdef __cplusplus
extern "C" {
#endif

struct render {
    const struct options *options;
    const struct inputs *inputs;
    struct engines *engines;     /* lent for the call, used for one film after another       */
    int threads;                 /* decided, 1 or more                                       */
    struct ledger *ledger;       /* --report: each film that is rendered adds its line; NULL: none. render_films opens it */
    struct progress_run *run;    /* of several films: render_film counts its frames, who calls it the rest; NULL: one film */
};

/*
 * Renders film `i` of the inputs. Writes nothing unless everything that was asked of the film succeeded up
 * to writing. Warnings are logged. Stops with ERR_INTERRUPTED when interrupted() turns true before that. Main thread only.
 */
bool render_film(const struct render *r, size_t i, struct err *e);

/*
 * Renders all films of the inputs, one after another, in a worker process (worker.h); one that fails does not stop the others, and
 * one that crashes the worker costs nothing but itself. Says each one's failure, and in the end how many films were done; --report gets a
 * line for each entry of the inputs that is this run's, but for those that an interruption left untouched. Returns the exit status. It returns in the worker
 * too, which has nothing left to do but to end. No other thread may run. Main thread only.
 */
int render_films(const struct render *r);

#ifdef __cplusplus
}
#endif
#endif
