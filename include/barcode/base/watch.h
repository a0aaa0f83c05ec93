/*
 * watch.h - whether the films in progress move. Each film worker has a watch in memory that its
 * process shares with its parent. All threads that work on a film mark its watch, and the parent
 * checks the marks, so it notices a film that hangs.
 *
 * A mark is a flag that the parent clears, so marking is cheap. interrupted() marks, too: all loops
 * call it at least once a second (interrupt.h). So a film without marks hangs in a library or in
 * the kernel, or waits for its input. A thread marks the watch of the thread that started it
 * (watch_thread). Threads without a watch do nothing here.
 */
#ifndef BARCODE_WATCH_H
#define BARCODE_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

struct watch;

/* Returns `count` watches in shared memory, or NULL if out of memory. */
struct watch *watch_open(size_t count, struct err *e);

/* Returns watch `i` of those; NULL if `w` is NULL. */
struct watch *watch_at(struct watch *w, size_t i);

/* Unmaps the watches in this process. Does nothing if NULL. */
void watch_free(struct watch *w, size_t count);

/* ---- in the worker process ---- */

/*
 * Begins film number `film`. `w` is from then on the watch of the calling thread and of those that
 * it starts. NULL: the film is not watched.
 */
void watch_begin(struct watch *w, size_t film);

/* Ends the film of the calling thread. */
void watch_end(void);

/* Starts a thread as pthread_create does, with the watch of the calling thread. */
int watch_thread(pthread_t *thread, void *(*thread_main)(void *), void *argument);

/* Marks the watch: a byte, packet or frame has moved. Cheap. Any thread. */
void watch_moved(void);

/*
 * From watch_untimed(true) to watch_untimed(false) the time of the film does not count for its
 * time limit: it waits for other films, or its outputs are being written. Any thread.
 */
void watch_untimed(bool untimed);

/* Returns true once the parent has asked for the end of the film. Any thread. */
bool watch_stopped(void);

/*
 * If watch_stopped(), replaces `e` by ERR_FAILED with the parent's reason, without the film's name,
 * and returns true. watch_stopped() is false from then on, so that the film can be reported. Only
 * the calling thread works on the film now.
 */
bool watch_error(struct err *e);

/* ---- in the parent ---- */

struct watch_state {
    bool in_progress;
    uint64_t turn; /* differs from film to film */
    size_t film;
    bool moved; /* since the last call */
    bool untimed;
    bool stopped; /* watch_stop was called for this film */
};

/* Returns the state and clears the mark. */
struct watch_state watch_check(struct watch *w);

/*
 * Asks for the end of the film if it is still that of `turn`. `reason` has no film's name; 127
 * bytes of it are kept.
 */
void watch_stop(struct watch *w, uint64_t turn, const char *reason);

/* Returns the reason of the last watch_stop. */
const char *watch_reason(const struct watch *w);

/* Marks the watch as without a film: its process is gone. */
void watch_clear(struct watch *w);

#endif
