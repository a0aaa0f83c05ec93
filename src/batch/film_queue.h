/*
 * film_queue.h - the queue of films, of the parent: which are next, in progress and done. The exit
 * status does not depend on the order in which films finish. Main thread only; a worker process has
 * a copy from when it was forked, which it only reads.
 */
#ifndef BARCODE_FILM_QUEUE_H
#define BARCODE_FILM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/watch.h"
#include "plan/inputs.h"

struct film_queue;

/*
 * Opens a queue of the films of `in` that are due (inputs_is_due), in their order. `in` must not
 * change until film_queue_free. Returns NULL if out of memory.
 */
struct film_queue *film_queue_open(const struct inputs *in, struct err *e);

/*
 * Takes the next film, or with `alone` the next one that film_queue_again put back, and sets
 * `*film` to its index in the inputs. Returns false if there is none, or after an interruption.
 */
bool film_queue_next(struct film_queue *q, bool alone, size_t *film);

/*
 * Puts a film back, to be rendered alone: its worker process crashed, or memory ran out, while this
 * film and others were in progress.
 */
void film_queue_again(struct film_queue *q, size_t film);

/* Records the progress of a film. */
void film_queue_tick(struct film_queue *q, size_t film, const struct watch_progress *p);

/* Records the result of a film: NULL if it succeeded. Call it once per film. */
void film_queue_done(struct film_queue *q, size_t film, const struct err *failure);

/*
 * Returns the exit status for the results so far: ERR_PIPE, else that of an interruption, else of
 * the first film with a problem known beforehand, else of the first failed film. "First" is in the
 * order of the inputs. Returns 0 if nothing failed.
 */
int film_queue_status(struct film_queue *q);

/* Returns true if a film ended with ERR_PIPE: the run ends at once. */
bool film_queue_is_abandoned(const struct film_queue *q);

/* The state of the queue. */
struct film_tally {
    size_t due;                  /* all films of the queue */
    size_t done, failed;         /* of them; an interrupted film is neither */
    size_t problems;             /* entries with a problem known beforehand */
    size_t left_out;             /* INPUT_LEFT_OUT */
    size_t failed_before;        /* INPUT_FAILED */
    uint64_t bytes, bytes_ended; /* of the files that are due; of those finished or failed */
    uint64_t frames;             /* so far, of all films */
    size_t under_way;            /* how many are in progress */
    size_t longest;              /* of them, the one that began first; if none, the last one */
    double films_now, bytes_now; /* the finished part of the films in progress */
    struct watch_progress now;   /* of film `longest` */
};

/* Returns the state of the queue. */
struct film_tally film_queue_tally(struct film_queue *q);

/*
 * Frees the queue and sets `*q` to NULL. Does nothing if `*q` is NULL. No film may be in progress.
 */
void film_queue_free(struct film_queue **q);

#endif
