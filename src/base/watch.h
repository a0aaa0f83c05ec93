/*
 * watch.h - the counters that a worker process shares with its parent: whether its films move, and
 * how far they are. They are numbers, and nothing else is shared: no text, pointer or lock.
 *
 * Each film worker has a watch, which all threads that work on its film mark. A mark is a flag that
 * the parent clears, so marking is cheap. interrupted() marks, too: all loops call it at least once
 * a second (interrupt.h). So a film without marks hangs in a library or in the kernel, or waits for
 * its input. A thread marks the watch of the thread that started it (watch_thread). Threads without
 * a watch do nothing here.
 *
 * The worker may write anything there. The parent clamps what it reads.
 */
#ifndef BARCODE_WATCH_H
#define BARCODE_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

enum { WATCHES = 64 }; /* of a worker process; they fill a page */

struct watch;

/* Returns WATCHES watches in memory that processes forked later share. */
struct watch *watch_open(struct err *e);

/* Returns watch `i` of those; NULL if `w` is NULL. */
struct watch *watch_at(struct watch *w, int i);

/* Keeps the watches out of processes that are forked from now on. */
void watch_keep(struct watch *w);

void watch_free(struct watch *w);

/* ---- in the worker process ---- */

/*
 * Begins a film, to which the parent gave the number `serial`, 1 or more. `w` is from then on the
 * watch of the calling thread and of those that it starts. NULL: the film is not watched.
 */
void watch_begin(struct watch *w, uint64_t serial);

/* Returns the number of the calling thread's watch in its page, 0..WATCHES - 1; -1: it has none. */
int watch_number(void);

void watch_end(void);

/* Starts a thread as pthread_create does, with the watch of the calling thread. */
int watch_thread(pthread_t *thread, void *(*thread_main)(void *), void *argument);

/* Marks the thread's film as moving: bytes were read, or a loop went on. Any thread. */
void watch_moved(void);

/* How far a film is. */
struct watch_progress {
    double share;                    /* the finished share, 0..1; -1: unknown */
    uint64_t frames;                 /* so far */
    uint64_t columns, columns_total; /* 0: unknown */
};

void watch_set_progress(const struct watch_progress *p);

/*
 * From watch_untimed(true) to watch_untimed(false) the time of the film does not count for its
 * time limit: it waits for other films, or its outputs are being written. Any thread.
 */
void watch_untimed(bool untimed);

/* Returns true once the parent has asked for the end of the film. Any thread. */
bool watch_stopped(void);

/*
 * If watch_stopped(), replaces `e` by ERR_FAILED, and returns true. The parent knows the reason.
 * watch_stopped() is false from then on, so that the film can be reported. Only the calling thread
 * works on the film now.
 */
bool watch_error(struct err *e);

/* ---- in the parent ---- */

struct watch_state {
    bool moved; /* since the last call */
    bool untimed;
    struct watch_progress progress; /* counts are 2^40 at most */
};

/* Returns the state and clears the mark. */
struct watch_state watch_check(struct watch *w);

/* Asks for the end of the film with this number, if it has not ended. */
void watch_stop(struct watch *w, uint64_t serial);

#endif
