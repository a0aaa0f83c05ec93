/*
 * film_watch.h - ends films that hang or take too long: the parent checks the watches of the films
 * in progress (watch.h).
 *
 * A film of which nothing moves for five minutes, or that has used up --film-timeout, is asked to
 * end. So one hung input costs no other film. If the film does not end, or if a whole worker
 * process stands still, the process is killed.
 *
 * Only time in which the parent runs counts: not the sleep of the machine, and not that of a
 * stopped job.
 */
#ifndef BARCODE_BATCH_FILM_WATCH_H
#define BARCODE_BATCH_FILM_WATCH_H

#include "film_process.h"

struct film_watch {
    double silence_s, film_s; /* the limits; 0: none */
    double period_s;          /* between two ticks */
    int64_t last_ns;          /* of the last tick */
};

/*
 * Returns a watch with the time limit of a film; 0: none. For tests, BARCODE_SILENCE replaces the
 * five minutes, in seconds; 0: no limit (for a debugger).
 */
struct film_watch film_watch_open(int64_t film_us);

/* Returns the milliseconds until the next tick; 0: it is due. */
int film_watch_wait(const struct film_watch *w);

/*
 * Checks p[count]: the films, and the memory of each process against `memory` bytes. Reports the
 * progress of the films to the queue.
 */
void film_watch_tick(struct film_watch *w, struct film_process *p, int count, struct batch *b,
                     uint64_t memory);

#endif
