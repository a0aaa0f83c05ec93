/*
 * film_queue.h - the films of a run as a queue: a thread that is free takes the next one and says
 * what became of it.
 *
 * The queue lies in memory that the process shares with the workers that it forks
 * (worker_process.h). The calls may come from any thread of any of them, and the exit status does
 * not depend on which film ends first. A process may be killed in the middle of a call.
 */
#ifndef BARCODE_FILM_QUEUE_H
#define BARCODE_FILM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/cli/inputs.h"
#include "barcode/cli/options.h"

#ifdef __cplusplus
extern "C" {
#endif

struct film_queue;

/*
 * All films of `in` that are due (inputs_is_due), in its order. `in` is the caller's and stays as
 * it is until film_queue_free. NULL when memory runs out.
 */
struct film_queue *film_queue_open(const struct inputs *in, struct err *e);

/*
 * Takes a film for a worker, which is named by its number: *film is its number in the inputs. False
 * when none is left, or one was interrupted. Those that film_queue_again put back are not among
 * them.
 */
bool film_queue_next(struct film_queue *q, int worker, size_t *film);

/* The same of those that were put back, for which no other film of the worker may be under way. */
bool film_queue_next_alone(struct film_queue *q, int worker, size_t *film);

/* Puts a film back that was taken, to be done alone: it, or one that was under way beside it, ended
 * a worker. */
void film_queue_again(struct film_queue *q, size_t film);

/* Notes how far a film under way is, 0..1, and how many of its frames are covered. NULL is fine. */
void film_queue_tick(struct film_queue *q, size_t film, double share, uint64_t frames);

/* Notes what became of a film that was taken: NULL if all went well. Once a film. */
void film_queue_done(struct film_queue *q, size_t film, const struct err *failure);

/* Films of a worker. */
enum { FILM_LIST_MOST = OPTION_JOBS_MOST };
struct film_list {
    size_t film[FILM_LIST_MOST];
    size_t count;
};

/* Lists the films that a worker took and that have not ended, in the order of the inputs. */
void film_queue_under_way(struct film_queue *q, int worker, struct film_list *films);

/*
 * The exit status for what is done so far: that of an interruption, else of the first film with a
 * problem known beforehand, else of the first that failed, in the order of the inputs; else 0.
 */
int film_queue_status(struct film_queue *q);

/* How far a run is. */
struct film_tally {
    size_t due;                  /* films that the queue has or had */
    size_t done, failed;         /* of them; one that was interrupted is neither */
    size_t problems;             /* entries with a problem known beforehand */
    size_t left_out;             /* INPUT_LEFT_OUT */
    uint64_t bytes, bytes_ended; /* of the files of those that are due; of those done or failed */
    uint64_t frames;             /* that are covered, of all films */
    size_t under_way, longest;   /* how many are; which one has been for longest, if any */
    double films_now, bytes_now; /* what is done of those under way */
};

/* Counts all films. */
struct film_tally film_queue_tally(struct film_queue *q);

/* Frees the queue; sets *q to NULL. NULL is fine. No film may be under way. */
void film_queue_free(struct film_queue **q);

#ifdef __cplusplus
}
#endif
#endif
