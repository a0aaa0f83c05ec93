/*
 * film_workers.h - runs a worker process on a queue of films: several threads, the film workers,
 * each of which renders one film after another.
 *
 * The output of a film does not depend on the films beside it: each film worker has its own
 * engines, and films share only the cores (admission.h).
 */
#ifndef BARCODE_BATCH_FILM_WORKERS_H
#define BARCODE_BATCH_FILM_WORKERS_H

#include "film_queue.h"
#include "base/worker.h"
#include "job/job.h"

/*
 * Returns the number of worker processes: one per GPU that the films can use, 1 to WORKERS_MOST.
 * This is an upper bound, because only a worker process may query the driver. `jobs`: --jobs.
 */
int worker_process_count(const struct job_context *context, const struct film_tally *t, int jobs);

/*
 * Returns how many films are in progress at once on `threads` cores without --jobs, and with
 * `memory` bytes. The number is greater than that of decoding films, so that one film opens and
 * another is written meanwhile. 1..BATCH_JOBS_MOST.
 */
int film_worker_count(int threads, uint64_t memory);

/*
 * Returns how many films may run crop detection at once (source.h): at least 1, at most
 * `film_workers`, and not more than fit into `memory` bytes.
 */
int max_concurrent_probes(int threads, int film_workers, uint64_t memory);

/*
 * Renders films until none is left. Those that must run alone come first, and last if memory ran
 * out beside other films. Then announces the end of the process. `t` is the state of the queue, and
 * `workers` the number of worker processes, all of them started or about to start. `jobs`: --jobs.
 * Returns the exit status. Call it on the first thread of the process.
 */
int film_workers_run(const struct job_context *context, const struct film_tally *t,
                     struct worker *w, int workers, int jobs);

#endif
