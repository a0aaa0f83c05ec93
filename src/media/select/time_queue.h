/*
 * time_queue.h - display times for a container that stores none, only the place of each picture in
 * decoding order, as AVI does: the k-th displayed picture has the time of the k-th place
 * (demux_place_us). One thread.
 */
#ifndef BARCODE_SELECT_TIME_QUEUE_H
#define BARCODE_SELECT_TIME_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

struct time_queue {
    int64_t *us;
    size_t first, end, room; /* us[first, end) wait */
};

/* Adds the time of a displayed picture, in decoding order. Returns false if out of memory. */
bool time_queue_push(struct time_queue *q, int64_t us, struct err *e);

/* Returns the time of the i-th picture from here on in display order; TIME_NONE if none waits. */
int64_t time_queue_at(const struct time_queue *q, size_t i);

/* Removes the first time and returns it; TIME_NONE if none waits. */
int64_t time_queue_pop(struct time_queue *q);

/* Frees the queue, which is empty from then on. */
void time_queue_free(struct time_queue *q);

#endif
