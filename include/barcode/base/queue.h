/*
 * queue.h - the one bounded, blocking queue between threads.
 *
 * Holds pointers, first in first out. Its bound is what keeps memory from growing
 * with the film. Ownership of an item passes with a push that returned true and
 * with a pop; an item still inside when the queue is freed is given to `drop`.
 */
#ifndef BARCODE_QUEUE_H
#define BARCODE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "barcode/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct queue;

/* A queue of at most `capacity` (1 or more) items. `drop` may be NULL. */
struct queue *queue_open(size_t capacity, void (*drop)(void *item), struct err *e);

/* Waits for room. False when the queue was closed: the item stays the caller's. */
bool queue_push(struct queue *q, void *item);

/* Waits for an item. False, with *item NULL, when the queue was closed and is empty, or was
 * aborted. */
bool queue_pop(struct queue *q, void **item);

/* True when a pop would get nothing, now and for good: it was closed and is empty. Any thread. */
bool queue_is_over(struct queue *q);

/*
 * Takes the first item without waiting. Returns false, with *item NULL, also if the queue is empty.
 */
bool queue_try_pop(struct queue *q, void **item);

/* No more pushes; what is inside can still be popped. May be called twice. */
void queue_close(struct queue *q);

/* No more pushes or pops; what is inside is dropped. Wakes every waiter. May be called twice. */
void queue_abort(struct queue *q);

/* Frees the queue and sets *q to NULL. No thread may still use it. NULL is fine. */
void queue_free(struct queue **q);

#ifdef __cplusplus
}
#endif
#endif
