/* timeline.h - when frames are displayed, and where packets are missing. One thread. */
#ifndef BARCODE_SELECT_TIMELINE_H
#define BARCODE_SELECT_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

#define TIME_NONE INT64_MIN

/* Times beyond 36,000 years come from broken files, and sums of a few others do not overflow. */
#define TIME_MOST (INT64_C(1) << 60)

/* How a film's stored times are to be read. */
struct film_clock {
    int64_t frame_us;  /* nominal time of one frame, > 0 */
    int64_t origin_us; /* stored time that is 0 for a player; TIME_NONE: the first frame's */
    bool wraps;        /* the container's clock wraps or restarts, as in MPEG-TS and MPEG-PS */
    /* For the time_queue: by how many pictures a decoder's output is late, and its `moves`. */
    int delay;
    bool places_from_0;
};

/* Converts stored times to the player's (film.h), which never run back. In display order. */
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

/*
 * Display times for a container that stores none, only the place of each picture in decoding order,
 * as AVI does. A decoder with a delay of D pictures returns the k-th frame with picture k + D, and
 * that is when it is displayed. A place without a picture is a frame that a recorder dropped.
 */
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

/* Returns by how much `moves` moves times. Frames missing between the two are not what moves. */
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

enum { GAPS_KEPT = 64 }; /* the latest; more gaps in a GOP cannot be filled */

/*
 * Gaps of a film, where packets are missing. The reader knows of them in decoding order. The number
 * of missing frames shows in display order, by the time between the two frames around the gap. A
 * long time without a gap means nothing: films of variable frame rate have it. Copy freely.
 */
struct gaps {
    uint64_t after[GAPS_KEPT]; /* serial of the first picture after each */
    uint64_t noted;
    int64_t latest_us; /* the latest time of gaps_reached */
};

/* Records a gap right before picture `serial`, in decoding order. */
void gaps_note(struct gaps *g, uint64_t serial);

/*
 * Returns true if pictures of a gap may belong between pictures `a` and `b` (serials), which are
 * displayed one right after the other. `reordered`: the codec's decoding order is not its display
 * order.
 */
bool gaps_between(const struct gaps *g, uint64_t a, uint64_t b, bool reordered);

/* Returns true if a gap is between pictures `a` and `b` of the file, a < b, or right before `a`. */
bool gaps_inside(const struct gaps *g, uint64_t a, uint64_t b);

/*
 * Records that a picture is displayed at `time_us`, and returns the latest such time so
 * far. Missing frames are counted from there: demuxers sometimes guess times after a gap, and those
 * may lie before frames that are counted already.
 */
int64_t gaps_reached(struct gaps *g, int64_t time_us);

/* Returns how many frames are missing between two times; 0 if under 1.5, or over an hour apart. */
uint64_t gap_frames(int64_t from_us, int64_t to_us, int64_t frame_us);

/* Returns the time of missing frame `i` of `count`, from 1; i = count + 1 gives to_us. */
int64_t gap_frame_time(int64_t from_us, int64_t to_us, uint64_t i, uint64_t count);

#endif
