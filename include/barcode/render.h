/*
 * render.h - one film from its name to its pictures: open, decide, stage, cluster, paint, write.
 */
#ifndef BARCODE_RENDER_H
#define BARCODE_RENDER_H

#include "barcode/engines.h"
#include "barcode/inputs.h"
#include "barcode/options.h"

#ifdef __cplusplus
extern "C" {
#endif

struct render {
    const struct options *options;
    const struct inputs *inputs;
    struct engines *engines;     /* lent for the call, used for one film after another       */
    int threads;                 /* decided, 1 or more                                       */
};

/*
 * Renders film `i` of the inputs. Writes nothing unless everything that was asked of the film succeeded up
 * to writing. Warnings are logged. Stops with ERR_INTERRUPTED when interrupted() turns true before that. Main thread only.
 */
bool render_film(const struct render *r, size_t i, struct err *e);

/*
 * Renders all films of the inputs, one after another, in a worker process (worker.h); one that fails does not stop the others, and
 * one that crashes the worker costs nothing but itself. Says each one's failure. Returns the exit status. It returns in the worker
 * too, which has nothing left to do but to end. No other thread may run. Main thread only.
 */
int render_films(const struct render *r);

#ifdef __cplusplus
}
#endif
#endif
