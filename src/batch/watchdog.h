/*
 * watchdog.h - ends films that hang or take too long. The parent checks the watches of the films in
 * progress (watch.h), about ten times a second.
 *
 * A film of which nothing moves for five minutes, or that has used up --film-timeout, is asked to
 * end. So one hung input costs no other film. If the film does not end, or if a whole worker
 * process stands still, the process is killed.
 *
 * Only time in which the parent runs counts: not the sleep of the machine, and not that of a
 * stopped job.
 */
#ifndef BARCODE_BATCH_WATCHDOG_H
#define BARCODE_BATCH_WATCHDOG_H

#include "worker_process.h"

struct watchdog;

/*
 * Opens a watchdog for `workers` worker processes, before they are forked. `film_us` is the time
 * limit of a film; 0: none. Returns NULL if out of memory: nothing is watched then.
 *
 * For tests, BARCODE_SILENCE replaces the five minutes, in seconds; 0: no limit (for a debugger).
 */
struct watchdog *watchdog_open(int workers, int64_t film_us);

/* Returns the watches of a worker process, OPTION_JOBS_MOST of them; NULL if `d` is NULL. */
struct watch *watchdog_watches(struct watchdog *d, int worker);

/*
 * Checks w[count]. Kills a worker that hangs, and sets `killed`, `blamed` and `reason` of it. Does
 * nothing if `d` is NULL.
 */
void watchdog_tick(struct watchdog *d, struct worker *w, int count);

/* Prepares for the process that replaces an ended worker. Does nothing if `d` is NULL. */
void watchdog_forget(struct watchdog *d, int worker);

/* Frees `*d` and sets it to NULL. Does nothing if `*d` is NULL. */
void watchdog_close(struct watchdog **d);

#endif
