/*
 * worker.h - the process that works on films. Decoders are foreign code that reads foreign bytes: when one crashes, or memory runs
 * out and the kernel kills, a film is lost, and not the batch. The parent lives on, knows which film it was, and starts another.
 *
 * The parent has no threads and never touches a GPU. Several films may be under way; after a crash they are done again one at a time, so
 * that it has one culprit.
 */
#ifndef BARCODE_WORKER_H
#define BARCODE_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "barcode/err.h"
#include "barcode/film_queue.h"
#include "barcode/options.h"

#ifdef __cplusplus
extern "C" {
#endif

struct worker {
    pid_t pid;               /* in the parent; 0 in the worker, -1 where there is none: the caller does the work itself */
    int pipe;                /* its writing end in the worker, its reading end in the parent; else -1 */
    int status;              /* in the parent after worker_watch: its exit status; -1: a signal killed it */
};

/*
 * Forks a worker; true in the parent, which watches it. False: the caller works on the films, in the worker, or in the first
 * process itself if no other can be had (a limit on processes). Interruptions come to the worker by its parent. Main thread only.
 */
bool worker_start(struct worker *w);

/* For who works, on any thread: a film was taken from the queue (at most WORKER_FILMS_MOST at once), and what became of it (`failure` as film_queue_done has it). */
void worker_takes(struct worker *w, size_t film);
void worker_did(struct worker *w, size_t film, const struct err *failure);

/*
 * For who works: no film is left. Nothing else may follow but the process's orderly end, with the exit status `status`.
 *
 * `lingers`: that end takes a while, because a driver takes back what a GPU holds (14 NVDEC decoders: 0.5 s, whether they are destroyed or the
 * process just exits). The parent does not wait for it then: every film is done, and every file is written. The worker lets go of the
 * three standard streams here, so that nobody who reads a pipe waits for it either. It dies with its parent (interrupt_fork). The time that it took of
 * the cores is then in nobody's wait4: `time` does not show it.
 */
void worker_leaves(struct worker *w, int status, bool lingers);

enum worker_end {
    WORKER_DONE,     /* every film of the queue is accounted for there                                                  */
    WORKER_CRASHED,  /* `films` were under way and are not noted yet; `e`, without a film's name, says what happened     */
    WORKER_BROKE     /* it ended between two films, or behind the last one. `e` says how                                 */
};

/* The films that were under way when a worker ended, in the order of their taking: 1 or more after WORKER_CRASHED, else none. */
enum { WORKER_FILMS_MOST = OPTION_JOBS_MOST };
struct worker_films {
    size_t film[WORKER_FILMS_MOST];
    size_t count;
};

/*
 * For the parent: notes in `queue` what the worker says until that is gone, or lingers, and takes the films there that it took. The files
 * that a crash left half written are removed. `e` comes in empty. Main thread only.
 */
enum worker_end worker_watch(struct worker *w, struct film_queue *queue, struct worker_films *films, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
