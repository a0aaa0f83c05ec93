/*
 * frame_times.h - when each displayed frame of a film is on the screen, as found while decoding.
 *
 * A selection is a pure function of these times. So a walk over them gives the frames that another
 * selection of the same film would pick, their columns, and where reading would stop. This lets
 * cached frames be used for other selections. If decoding cannot determine the times (a truncated
 * film, times that run backwards, no memory), they fit no other selection.
 *
 * Written by one thread, in display order; read by any thread afterwards.
 */
#ifndef BARCODE_FRAME_TIMES_H
#define BARCODE_FRAME_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "base/wire.h"
#include "barcode/engine/frame.h"
#include "selection.h"

/* As next_us: selection_last_until decides how long the frame is displayed. */
#define FRAME_TIMES_OPEN INT64_MAX

struct frame_times;

/* Returns an empty list, or NULL if out of memory. */
struct frame_times *frame_times_open(struct err *e);

/* Each function below allows NULL: it then does nothing, and fits no selection. */

/* Empties the list. `frame_us` is the film's nominal frame time. */
void frame_times_begin(struct frame_times *t, int64_t frame_us);

/* Adds the next displayed frame, which is on the screen from time_us until next_us. */
void frame_times_add(struct frame_times *t, int64_t time_us, int64_t next_us);

/* Records that the reader asks here whether the selection is complete, and stops if it is. */
void frame_times_check(struct frame_times *t);

/* Records that the reader has stopped: frames added later lack the next one, and are ignored. */
void frame_times_stop(struct frame_times *t);

/* Records that the film was read to its end without an error. */
void frame_times_end(struct frame_times *t);

/* Receives each frame that the walk picks, in display order. Returning false ends the walk. */
typedef bool frame_times_pick(void *user, const struct frame_tag *tag);

/* What decoding would have counted. */
struct frame_times_walked {
    uint64_t displayed;
    int64_t first_us, last_us; /* times of the first and the last frame; -1: no frame */
    int64_t end_us;            /* when the film's last frame leaves the screen; -1: not reached */
};

/*
 * Picks frames by another rule, as decoding would. Returns true if the walk came to where reading
 * would stop, or to the film's end, and `pick` never returned false. Otherwise the result is
 * unknown: drop what was picked.
 */
bool frame_times_walk(const struct frame_times *t, const struct selection *rule,
                      frame_times_pick *pick, void *user, struct frame_times_walked *w);

/* Writes the list, in one or two bytes a frame. */
void frame_times_encode(const struct frame_times *t, struct wire_out *o);

/* Reads a list from any bytes. Returns NULL if they are invalid, or if out of memory. */
struct frame_times *frame_times_decode(struct wire_in *in);

/* Frees the list; sets *t to NULL. Does nothing if *t is NULL. */
void frame_times_free(struct frame_times **t);

#endif
