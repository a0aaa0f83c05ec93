/*
 * timetable.h - when every displayed frame of a film was on the screen, as staging found it out.
 *
 * A selection is a pure function of these times, so a walk over the timetable says exactly which frames another
 * selection of the same film would pick, which columns they fill, and where reading would stop: what lets cached
 * frames serve a run they were not made for. What staging cannot know for sure (a film cut short, times that run
 * backwards, no memory) makes a timetable that serves no other selection.
 *
 * Written by one thread, in display order; read by any once that is done.
 */
#ifndef BARCODE_TIMETABLE_H
#define BARCODE_TIMETABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/base/wire.h"
#include "barcode/engine/frame.h"
#include "barcode/media/selection.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As next_us: only the selection's own rule says how long the frame stays (selection_last_until in selection.h). */
#define TIMETABLE_OPEN INT64_MAX

struct timetable;

/* An empty one; NULL: no memory. */
struct timetable *timetable_open(struct err *e);

/* Every call below takes NULL as a timetable: it then does nothing, and serves no selection. */

/* Forgets everything. `frame_us` is the film's nominal frame time. */
void timetable_begin(struct timetable *t, int64_t frame_us);

/* The next displayed frame: on the screen from time_us until next_us. */
void timetable_add(struct timetable *t, int64_t time_us, int64_t next_us);

/* Here the reader asks whether the selection can want more, and stops if not. */
void timetable_check(struct timetable *t);

/* The reader did stop: frames added from now on were numbered without knowing what follows, and are not kept. */
void timetable_stop(struct timetable *t);

/* The film's end was reached, and read without fault. */
void timetable_end(struct timetable *t);

/* Called for each frame that the walk picks, in display order. False ends the walk. */
typedef bool timetable_pick(void *user, const struct frame_tag *tag);

/* What staging would have counted. */
struct timetable_walked {
    uint64_t displayed;
    int64_t last_us;          /* -1: no frame */
};

/*
 * Picks by another rule, as staging would. True when the walk came to where reading would stop or to the film's
 * end, and `pick` never said false; else the timetable cannot tell, and what was picked is to be forgotten.
 */
bool timetable_walk(const struct timetable *t, const struct selection *rule, timetable_pick *pick, void *user,
                    struct timetable_walked *w);

/* A byte or two a frame. */
void timetable_encode(const struct timetable *t, struct wire_out *o);

/* The opposite, from bytes that may be anything. NULL when they are no timetable, or without memory. */
struct timetable *timetable_decode(struct wire_in *in);

/* Frees all; sets *t to NULL. NULL is fine. */
void timetable_free(struct timetable **t);

#ifdef __cplusplus
}
#endif
#endif
