/*
 * time_queue.h - display times for a container that stores none, only the place of each picture in
 * decoding order, as AVI does. A decoder with a delay of D pictures returns the k-th frame with
 * picture k + D, and that is when it is displayed. A place without a picture is a frame that a
 * recorder dropped. One thread.
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
    int delay;               /* D; 0 if the places are those of the decoder's output */
    bool moves;       /* times are moved so that the first frame has that of the first place */
    int64_t early_us; /* between the first place and that of the first output */
    bool begun;       /* early_us is known */
};

/* Adds the time of a displayed picture, in decoding order. Returns false if out of memory. */
bool time_queue_push(struct time_queue *q, int64_t us, struct err *e);

/*
 * Returns by how much `moves` moves times: the first place is at `first_us` and the first output at
 * `late_us`. If frames are missing between the two, they are not what moves.
 */
int64_t time_queue_early(int64_t first_us, int64_t late_us, int delay, int64_t frame_us);

/* Returns true if a picture waits for its time. */
bool time_queue_waits(const struct time_queue *q);

/*
 * Returns the time of the next picture in display order, TIME_NONE if none waits; with `take`
 * removes it. If the picture that decides is not there yet, the time is `frame_us` after that of
 * each one before it.
 */
int64_t time_queue_next(struct time_queue *q, int64_t frame_us, bool take);

/* Frees the queue, which is empty from then on. */
void time_queue_free(struct time_queue *q);

#endif
