/*
 * worker_process.h - the worker process that renders films. A crash in a decoder, or a kill when
 * memory runs out, fails one film and not the batch. The parent survives, knows which film was in
 * progress, and starts another worker.
 *
 * On several GPUs there is a worker process per GPU, and all take films from one queue. The parent
 * has no threads and never uses a GPU. If several films of a worker are in progress when it
 * crashes, each is rendered again alone, so that the next crash identifies its film.
 */
#ifndef BARCODE_WORKER_H
#define BARCODE_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "film_queue.h"
#include "barcode/base/err.h"
#include "barcode/base/interrupt.h"
#include "barcode/base/watch.h"

enum { WORKERS_MOST = INTERRUPT_WORKERS_MOST };

struct worker {
    int number; /* index among the worker processes, from 0 */
    /* in the parent; 0 in the worker; -1: no process, the caller renders the films itself */
    pid_t pid;
    int pipe;      /* the write end in the worker, the read end in the parent; else -1 */
    int status;    /* in the parent after worker_watch: the exit status; -1: killed by a signal */
    int announced; /* likewise: the exit status announced by worker_leaves */
    bool greedy;   /* in the parent: worker_limit_memory killed it */
    struct watch *watch; /* of its film workers, OPTION_JOBS_MOST; NULL: films are not watched */
    /* set by the watchdog (watchdog.h), in the parent */
    bool killed;             /* by the watchdog */
    struct film_list blamed; /* the films that did not end when they were asked to */
    char reason[128];        /* why the last of them should have ended */
};

/*
 * Forks a worker process. Returns true in the parent, which watches it. Returns false where the
 * caller must render the films: in the worker, or in the parent if no process can be started (pid
 * -1). Interruptions reach the worker through its parent. Main thread only.
 */
bool worker_start(struct worker *w, int number);

/*
 * Tells the parent, from the worker, that no film is left. The process must then only exit, with
 * `status`.
 *
 * `lingers` is true if exiting takes long, because the driver frees the GPU's decoders. The parent
 * then does not wait: every film is finished and every file written. The worker closes its three
 * standard streams here, so that no reader of a pipe waits for it either. It is killed when its
 * parent exits (interrupt_fork). Its CPU time is then missing from the times of the parent's
 * children (`time`).
 */
void worker_leaves(struct worker *w, int status, bool lingers);

enum worker_end {
    /*
     * the queue has the result of every film that the worker took; worker_limit_memory may have
     * killed it since
     */
    WORKER_DONE,
    /*
     * `films` were in progress, and the caller records their results; `e` has the cause, without a
     * film's name
     */
    WORKER_CRASHED,
    WORKER_BROKE /* no film was in progress; `e` has the cause */
};

/*
 * Waits up to `ms` milliseconds until one of w[count] has announced its end, has died or was killed
 * by the watchdog. Returns its index, for worker_watch, or -1 if there is none. Workers without a
 * process (pid -1) are ignored. Parent only.
 */
int worker_wait(const struct worker *w, int count, int ms);

/*
 * Kills each worker of w[count] that uses more than its part of `memory` bytes. Parent only; call
 * it often.
 */
void worker_limit_memory(struct worker *w, int count, uint64_t memory);

/*
 * Waits until the worker has exited, unless it lingers. Waits for a killed worker for a few seconds
 * only. Sets `*films` to the films that were in progress: 1 or more after WORKER_CRASHED, otherwise
 * none. Removes the worker's unfinished files. `e` must be empty. Main thread of the parent only.
 */
enum worker_end worker_watch(struct worker *w, struct film_queue *queue, struct film_list *films,
                             struct err *e);

#endif
