/*
 * timeline.h - converts stored presentation times to the player's (film_length.h), which never run
 * twice. Called in display order; one thread; copy freely.
 */
#ifndef BARCODE_SELECT_TIMELINE_H
#define BARCODE_SELECT_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#define TIME_NONE INT64_MIN

/* Times beyond 36,000 years come from broken files, and sums of a few others do not overflow. */
#define TIME_MOST (INT64_C(1) << 60)

/* How a film's stored times are to be read. */
struct film_clock {
    int64_t frame_us;  /* nominal time of one frame, > 0 */
    int64_t origin_us; /* stored time that is 0 for a player; TIME_NONE: the first frame's */
    bool wraps;        /* the container's clock wraps or restarts, as in MPEG-TS and MPEG-PS */
    /* For time_queue.h: by how many pictures a decoder's output is late, and its `moves`. */
    int delay;
    bool places_from_0;
};

struct timeline {
    int64_t frame_us, origin_us; /* the clock's; origin_us is TIME_NONE until it is known */
    bool wraps;
    int64_t shift_us; /* added to bridge jumps so far */
    int64_t last_us;  /* time of the last frame; -1: none yet */
};

struct timeline timeline_begin(const struct film_clock *clock);

/*
 * Returns the time (>= 0) of the next frame, which is stored at `pts_us`. Without a stored time
 * (TIME_NONE) it is one nominal frame after the last frame. So it is after a jump back by more than
 * a second, after one beyond TIME_MOST, and with a clock that wraps after one ahead by more than an
 * hour (a concatenated recording, a broken clock). The first frame is at 0 if its time is more than
 * an hour from the origin. A second call for the same frame gives the same result; timeline_step
 * makes it the last frame.
 */
int64_t timeline_at(struct timeline *t, int64_t pts_us);

/*
 * Returns how long the film's last frame is displayed. `duration_us` is its packet's duration (0:
 * none). The result is `frame_us`, the nominal frame time, unless the packet's is at least twice
 * that, as in a slide show.
 */
int64_t timeline_last_stays(int64_t frame_us, int64_t duration_us);
void timeline_step(struct timeline *t, int64_t time_us);

#endif
