/*
 * films.h - all films of a run, in worker processes.
 */
#ifndef BARCODE_FILMS_H
#define BARCODE_FILMS_H

#include "barcode/render/render.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Renders all films of the inputs in a worker process (worker_process.h), or one for each GPU,
 * several at once where that keeps the cores busy (options.jobs); one that fails does not stop the
 * others, and one that crashes the worker costs nothing but itself. Says each one's failure, and in
 * the end how many films were done; --report gets a line for each entry of the inputs that is this
 * run's, but for those that an interruption left untouched. Returns the exit status. It returns in
 * the worker too, which has nothing left to do but to end. No other thread may run. Main thread
 * only.
 */
int render_films(const struct render *r);

#ifdef __cplusplus
}
#endif
#endif
