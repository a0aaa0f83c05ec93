/* batch.h - all films of a run, in worker processes. */
#ifndef BARCODE_BATCH_H
#define BARCODE_BATCH_H

#include "base/process_options.h"
#include "batch_options.h"
#include "job/job.h"

/* Takes the outputs of a run in memory, in place of files (outputs_options.in_memory). */
struct batch_sink {
    /*
     * Takes an output of film `film`: of `writer`, or the dump if that is NULL. `bytes` are the
     * callee's to free, also on failure. They come from a worker process, which a film may have
     * taken over: check them. A film that is rendered again hands its outputs over again. Returns
     * false with errno. Main thread.
     */
    bool (*take)(void *user, size_t film, const struct writer *writer, uint8_t *bytes, size_t size);
    void *user;
};

/* A run over films, and what it may use of the machine. */
struct batch_run {
    const struct plan *plan;
    const struct inputs *inputs; /* of the plan */
    const struct output_plan *outputs;
    const struct batch_options *batch;
    const struct engine_options *engine;
    const struct process_options *process;
    const struct batch_sink *sink; /* NULL unless outputs_options.in_memory */
};

/*
 * Renders the films of a run in a worker process (worker.h), or in one per GPU. Several films are
 * in progress at once if that keeps the cores busy (batch_options.jobs). A film that fails does not
 * stop the others; a crash of the worker fails only the film that caused it. --report gets a line
 * for each entry of this process, except for films that an interruption left untouched. Reports
 * each failure. Returns the exit status. May be called repeatedly. interrupt_install was called.
 *
 * Also returns in each worker process, which must then exit with that status: batch_is_worker is
 * true there. No other thread may be running. Main thread only.
 */
int batch_render(const struct batch_run *run);

/* Returns true in a process that batch_render has forked. */
bool batch_is_worker(void);

#endif
