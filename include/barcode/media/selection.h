/*
 * selection.h - the rule that picks frames, as a pure function of display order.
 *
 * It is walked frame by frame in display order with the time at which the next
 * frame appears, so that "the frame on the screen at time t" is exact on films of
 * variable rate. Times are microseconds from the film's first frame. Walking in
 * pieces (GOP by GOP, the cursor carried over) is the same as walking in one go.
 *
 * EVERY counts the frames with start <= time < end; timestamps matter for nothing else.
 *
 * INTERVAL and COLUMNS have targets, and column j belongs to target j:
 *     INTERVAL  t = start + j*S, as long as t < end
 *     COLUMNS   t = start + floor((2j+1) * D / (2C)), D = end - start, j < C
 * A frame fills every target that is still open and lies before its next_us. So
 *   - it fills the targets while it is on the screen: several if it stays long;
 *   - the frame on the screen at `start` is picked though it came up before;
 *   - a target before the film's first frame goes to that frame;
 *   - a target that was passed by while timestamps were broken goes to the first frame
 *     that reaches beyond it: a glitch shifts a column, it never loses one.
 *
 * With `keyframes` the same walk goes over the key frames alone, each of which is taken to be on
 * the screen until the next one comes: a target has the key frame at or before it. EVERY then is an
 * INTERVAL of interval_us, so that it has targets too.
 */
#ifndef BARCODE_SELECTION_H
#define BARCODE_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum selection_kind {
    SELECT_EVERY,    /* every Nth displayed frame, from the first one inside start..end */
    SELECT_INTERVAL, /* the frame shown at start, start + S, start + 2S, ... */
    SELECT_COLUMNS   /* C columns: the frames shown in the middle of C equal spans */
};

struct selection {
    enum selection_kind kind;
    uint64_t every;      /* N >= 1 */
    int64_t interval_us; /* S >= 1 */
    uint64_t columns;    /* C >= 1 */
    int64_t start_us;    /* >= 0; frames gone from the screen by then are never picked */
    int64_t end_us;      /* exclusive; INT64_MAX when the film's end */
    bool keyframes;      /* key frames alone; for EVERY interval_us is filled too */
};

/* Where a walk stands. Start with selection_begin; copy freely. */
struct selection_cursor {
    struct selection rule;
    uint64_t seen;   /* EVERY: displayed frames inside start..end so far */
    uint64_t column; /* columns given out so far */
};

/* SELECT_COLUMNS needs a real end: the caller puts the film's duration in end_us first. */
struct selection_cursor selection_begin(const struct selection *rule);

/*
 * The next frame in display order is on the screen from `time_us` until `next_us`.
 * Returns how many columns it fills, 0 for most; the first of them is *column
 * (`column` may be NULL).
 *
 * A next_us <= time_us (broken timestamps) fills nothing by time.
 * INT64_MAX as next_us means the film's last frame, of unknown length: by COLUMNS
 * it fills all that are open; by INTERVAL those at or before time_us, which is one
 * at most on a sound film. A caller who knows the duration passes that instead.
 * Constant time, whatever the numbers; at most UINT32_MAX columns a frame.
 */
uint32_t selection_take(struct selection_cursor *c, int64_t time_us, int64_t next_us,
                        uint64_t *column);

/*
 * The time that column `column` is for: its target. -1 by EVERY without `keyframes`, which has
 * none, and beyond the last of COLUMNS; it may lie at or beyond end_us. Constant time, no side
 * effect; any thread.
 */
int64_t selection_target(const struct selection *rule, uint64_t column);

/* The first target that is still open, INT64_MAX when there is none before end_us. Not by EVERY
 * without `keyframes`. */
int64_t selection_next(const struct selection_cursor *c);

/*
 * True when no frame at `time_us` or later can be picked any more: reading can stop.
 * EVERY: time_us >= end. INTERVAL, COLUMNS: every target has its frame (so not yet at
 * time_us >= end when targets were passed by: the next frame fills them).
 */
bool selection_done(const struct selection_cursor *c, int64_t time_us);

/*
 * Columns that a film of `frames` frames and `duration_us` would give, each < 0 when unknown;
 * 0 when it cannot be told, and when nothing lies inside start..end. COLUMNS: C.
 */
uint64_t selection_estimate(const struct selection *rule, int64_t frames, int64_t duration_us);

/*
 * How far the last frame may lie before an announced end at `end_us` in a film that is whole: 2 s
 * or 1 %, whichever is more. Sound often outlasts the picture.
 */
int64_t selection_end_slack(int64_t end_us);

/*
 * Until when the film's last frame, shown at `last_us`, stays on the screen: one nominal frame.
 * With --columns it is INT64_MAX when the announced end is near (selection_end_slack), so that the
 * last columns are filled; a film that stops earlier was cut off, and its columns are missing.
 */
int64_t selection_last_until(const struct selection *rule, int64_t last_us, int64_t frame_us);

#ifdef __cplusplus
}
#endif
#endif
