/* films.h - renders all films in worker processes. */
#ifndef BARCODE_FILMS_H
#define BARCODE_FILMS_H

#include "batch_run.h"
#include "render/render.h"

/*
 * Renders all films of the inputs in a worker process (worker.h), or in one per GPU.
 * Several films are in progress at once if that keeps the cores busy (options.jobs). A film that
 * fails does not stop the others; a crash of the worker fails only the film that caused it.
 *
 * Reports each failure, and at the end how many films were rendered. --report gets a line for each
 * entry of this process, except for films that an interruption left untouched. Returns the exit
 * status.
 *
 * Also returns in each worker process, which must then exit with that status. No other thread may
 * be running. Main thread only.
 */
int render_films(const struct render *r, const struct batch_sink *sink);

#endif
