/*
 * frame_times.h - when every displayed frame of a film was on the screen, as staging found it out.
 *
 * A selection is a pure function of these times, so a walk over the frame times says exactly which
 * frames another selection of the same film would pick, which columns they fill, and where reading
 * would stop: what lets cached frames serve a run they were not made for. What staging cannot know
 * for sure (a film cut short, times that run backwards, no memory) makes a frame times that serves
 * no other selection.
 *
 * Written by one thread, in display order; read by any once that is done.
 */
#ifndef BARCODE_FRAME_TIMES_H
#define BARCODE_FRAME_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/base/wire.h"
#include "barcode/engine/frame.h"
#include "barcode/media/selection.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As next_us: only the selection's own rule says how long the frame stays (selection_last_until in
 * selection.h). */
#define FRAME_TIMES_OPEN INT64_MAX

struct frame_times;

/* An empty one; NULL: no memory. */
struct frame_times *frame_times_open(struct err *e);

/* Every call below takes NULL as a frame times: it then does nothing, and serves no selection. */

/* Forgets everything. `frame_us` is the film's nominal frame time. */
void frame_times_begin(struct frame_times *t, int64_t frame_us);

/* The next displayed frame: on the screen from time_us until next_us. */
void frame_times_add(struct frame_times *t, int64_t time_us, int64_t next_us);

/* Here the reader asks whether the selection can want more, and stops if not. */
void frame_times_check(struct frame_times *t);

/* The reader did stop: frames added from now on were numbered without knowing what follows, and are
 * not kept. */
void frame_times_stop(struct frame_times *t);

/* The film's end was reached, and read without fault. */
void frame_times_end(struct frame_times *t);

/* Called for each frame that the walk picks, in display order. False ends the walk. */
typedef bool frame_times_pick(void *user, const struct frame_tag *tag);

/* What staging would have counted. */
struct frame_times_walked {
    uint64_t displayed;
    int64_t last_us; /* -1: no frame */
};

/*
 * Picks by another rule, as staging would. True when the walk came to where reading would stop or
 * to the film's end, and `pick` never said false; else the frame times cannot tell, and what was
 * picked is to be forgotten.
 */
bool frame_times_walk(const struct frame_times *t, const struct selection *rule,
                      frame_times_pick *pick, void *user, struct frame_times_walked *w);

/* A byte or two a frame. */
void frame_times_encode(const struct frame_times *t, struct wire_out *o);

/* The opposite, from bytes that may be anything. NULL when they are no frame times, or without
 * memory. */
struct frame_times *frame_times_decode(struct wire_in *in);

/* Frees all; sets *t to NULL. NULL is fine. */
void frame_times_free(struct frame_times **t);

#ifdef __cplusplus
}
#endif
#endif
