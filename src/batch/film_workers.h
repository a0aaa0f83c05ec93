/*
 * film_workers.h - a worker's work on a queue of films: several lanes, each of which takes one film
 * after another.
 *
 * A film's bytes do not depend on what lies beside it: each film worker has engines of its own, and
 * what decodes together shares nothing but the cores (admission.h).
 */
#ifndef BARCODE_BATCH_FILM_WORKERS_H
#define BARCODE_BATCH_FILM_WORKERS_H

#include "film_queue.h"
#include "worker_process.h"
#include "barcode/render/render.h"

/*
 * Returns how many workers divide the machine: as many as there may be GPUs for the films, which
 * only a worker can ask the driver, 1 to WORKERS_MOST.
 */
int worker_process_count(const struct render *r, const struct film_tally *t);

/*
 * How many films are under way at once on `threads` cores where the user did not say: some more
 * than decode, so that one opens and another is written meanwhile. 1..OPTION_JOBS_MOST.
 */
int film_worker_count(int threads);

/*
 * Returns how many films may be probed for bars at once (probe.h): at least 1, at most
 * `film_workers`, and as many as fit into `memory` bytes.
 */
int max_concurrent_probes(int threads, int film_workers, uint64_t memory);

/*
 * Works on the queue to its end, first on films that must be alone, and tells the worker's parent
 * then. `workers` divide the machine, and have all begun or will. Returns the exit status. The
 * process's first thread.
 */
int film_workers_run(const struct render *r, struct film_queue *queue, struct worker *w,
                     int workers);

#endif
