/*
 * queue.h - a bounded, blocking queue between threads.
 *
 * The queue holds pointers, first in, first out. Its bound keeps memory from growing with the film.
 * A push that returns true takes ownership of the item; a pop passes it to the caller. Items left
 * when the queue is freed are passed to `drop`.
 */
#ifndef BARCODE_QUEUE_H
#define BARCODE_QUEUE_H

#include "barcode/base/err.h"

SHARED_BEGIN

struct queue;

/* Opens a queue of at most `capacity` (1 or more) items. `drop` may be NULL. */
struct queue *queue_open(size_t capacity, void (*drop)(void *item), struct err *e);

/* Waits for room and appends the item. Returns false if the queue is closed. */
bool queue_push(struct queue *q, void *item);

/* Waits for an item. Returns false, *item NULL, once the queue is closed and empty, or aborted. */
bool queue_pop(struct queue *q, void **item);

/* Returns true if no pop will ever return an item: the queue is closed and empty. Any thread. */
bool queue_is_over(struct queue *q);

/* As queue_pop, but does not wait: returns false also if the queue is empty. */
bool queue_try_pop(struct queue *q, void **item);

/* Refuses further pushes. Queued items can still be popped. May be called twice. */
void queue_close(struct queue *q);

/* Closes the queue, drops its items and wakes every waiter. May be called twice. */
void queue_abort(struct queue *q);

/* No thread may still use the queue. */
void queue_free(struct queue **q);

SHARED_END
#endif
