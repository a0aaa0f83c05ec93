/*
 * film_queue.h - the queue of films. A free film worker takes the next film and records its result.
 *
 * The queue is in memory that a process shares with its forked worker processes (worker_process.h).
 * Any thread of any of these processes may call the functions. The exit status does not depend on
 * the order in which films finish. A process may be killed in the middle of a call.
 */
#ifndef BARCODE_FILM_QUEUE_H
#define BARCODE_FILM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/cli/inputs.h"
#include "barcode/cli/options.h"

struct film_queue;

/*
 * Opens a queue of the films of `in` that are due (inputs_is_due), in their order. `in` must not
 * change until film_queue_free. Returns NULL if out of memory.
 */
struct film_queue *film_queue_open(const struct inputs *in, struct err *e);

/*
 * Takes the next film for the worker process with that number, and sets `*film` to its index in the
 * inputs. Skips films that film_queue_again put back. Returns false if no film is left, or after an
 * interruption.
 */
bool film_queue_next(struct film_queue *q, int worker, size_t *film);

/*
 * As film_queue_next, for the films that were put back. No other film of the worker may be in
 * progress.
 */
bool film_queue_next_alone(struct film_queue *q, int worker, size_t *film);

/*
 * Puts a film back, to be rendered alone: its worker process crashed, or memory ran out, while this
 * film and others were in progress.
 */
void film_queue_again(struct film_queue *q, size_t film);

/*
 * Records the progress of a film: its finished share (0..1) and its frame count so far. Does
 * nothing if `q` is NULL.
 */
void film_queue_tick(struct film_queue *q, size_t film, double share, uint64_t frames);

/* Records the result of a film: NULL if it succeeded. Call it once per film. */
void film_queue_done(struct film_queue *q, size_t film, const struct err *failure);

/* The films of a worker process. */
enum { FILM_LIST_MOST = OPTION_JOBS_MOST };
struct film_list {
    size_t film[FILM_LIST_MOST];
    size_t count;
};

/* Lists the films that a worker process has in progress, in the order of the inputs. */
void film_queue_under_way(struct film_queue *q, int worker, struct film_list *films);

/*
 * Returns the exit status for the results so far: that of an interruption, else of the first film
 * with a problem known beforehand, else of the first failed film. "First" is in the order of the
 * inputs. Returns 0 if nothing failed.
 */
int film_queue_status(struct film_queue *q);

/* The state of the queue. */
struct film_tally {
    size_t due;                  /* all films of the queue */
    size_t done, failed;         /* of them; an interrupted film is neither */
    size_t problems;             /* entries with a problem known beforehand */
    size_t left_out;             /* INPUT_LEFT_OUT */
    uint64_t bytes, bytes_ended; /* of the files that are due; of those finished or failed */
    uint64_t frames;             /* so far, of all films */
    size_t under_way, longest;   /* how many are in progress; the one that began first, if any */
    double films_now, bytes_now; /* the finished part of the films in progress */
};

/* Returns the state of the queue. */
struct film_tally film_queue_tally(struct film_queue *q);

/*
 * Frees the queue and sets `*q` to NULL. Does nothing if `*q` is NULL. No film may be in progress.
 */
void film_queue_free(struct film_queue **q);

#endif
