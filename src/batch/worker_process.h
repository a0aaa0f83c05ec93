/*
 * worker_process.h - the process that works on films. Decoders are foreign code that reads foreign
 * bytes: when one crashes, or memory runs out and the kernel kills, a film is lost, and not the
 * batch. The parent lives on, knows which film it was, and starts another.
 *
 * On several GPUs there is a worker for each, and all take films from one queue. The parent has no
 * threads and never touches a GPU. Several films of a worker may be under way; after a crash they
 * are done again one at a time, so that it has one culprit.
 */
#ifndef BARCODE_WORKER_H
#define BARCODE_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "film_queue.h"
#include "barcode/base/err.h"
#include "barcode/base/interrupt.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { WORKERS_MOST = INTERRUPT_WORKERS_MOST };

struct worker {
    int number; /* which of a run's workers, from 0 */
    /* in the parent; 0 in the worker, -1 where there is none: the caller does the work itself */
    pid_t pid;
    int pipe;      /* its writing end in the worker, its reading end in the parent; else -1 */
    int status;    /* in the parent after worker_watch: its exit status; -1: a signal killed it */
    int announced; /* there, too: the exit status that worker_leaves announced */
};

/*
 * Forks a worker; true in the parent, which watches it. False: the caller works on the films, in
 * the worker, or in the first process itself if no other can be had (a limit on processes).
 * Interruptions come to the worker by its parent. Main thread only.
 */
bool worker_start(struct worker *w, int number);

/*
 * For who works: no film is left. Nothing else may follow but the process's orderly end, with the
 * exit status `status`.
 *
 * `lingers`: that end takes a while, because a driver takes back what a GPU holds (14 NVDEC
 * decoders: 0.5 s, whether they are destroyed or the process just exits). The parent does not wait
 * for it then: every film is done, and every file is written. The worker lets go of the three
 * standard streams here, so that nobody who reads a pipe waits for it either. It dies with its
 * parent (interrupt_fork). The time that it took of the cores is then in nobody's wait4: `time`
 * does not show it.
 */
void worker_leaves(struct worker *w, int status, bool lingers);

enum worker_end {
    WORKER_DONE, /* every film that it took is accounted for in the queue */
    /*
     * `films` were under way and are for the caller to note; `e`, without a film's name, says what
     * happened
     */
    WORKER_CRASHED,
    WORKER_BROKE /* it ended between two films, or behind the last one. `e` says how */
};

/*
 * For the parent: waits up to `ms` milliseconds until one of w[count] has left or is gone. Returns
 * its place, for worker_watch; -1 when there is none yet. Those without a process (pid -1) do not
 * count.
 */
int worker_wait(const struct worker *w, int count, int ms);

/*
 * For the parent: waits until the worker is gone, or lingers. *films are those that were under way
 * when it ended: 1 or more after WORKER_CRASHED, else none. The files that it left half written are
 * removed. `e` comes in empty. Main thread only.
 */
enum worker_end worker_watch(struct worker *w, struct film_queue *queue, struct film_list *films,
                             struct err *e);

#ifdef __cplusplus
}
#endif
#endif
