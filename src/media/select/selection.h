/*
 * selection.h - the rule that picks frames, as a pure function of display order.
 *
 * A selection is walked frame by frame in display order, with the time at which the next frame
 * appears. So "the frame on the screen at time t" is exact on films of variable rate. Times are
 * the player's, in microseconds (film.h). Walking in pieces (GOP by GOP, the cursor carried
 * over) is the same as walking in one go.
 *
 * EVERY counts the frames with start <= time < end; timestamps matter for nothing else.
 *
 * INTERVAL and COLUMNS have targets, and column j belongs to target j:
 *     INTERVAL  t = start + j*S, as long as t < end
 *     COLUMNS   t = start + floor((2j+1) * D / (2C)), D = end - start, j < C
 * A frame fills every target that is still open and lies before its next_us. So
 *   - it fills the targets while it is on the screen: several if it stays long;
 *   - the frame on the screen at `start` is picked though it came up before;
 *   - a target before the film's first frame goes to that frame, but selection_first moves a
 *     `start` that is before it;
 *   - a target that was passed by while timestamps were broken goes to the first frame
 *     that reaches beyond it: a glitch shifts a column, it never loses one.
 *
 * With `keyframes` the same walk goes over the key frames alone, each of which is taken to be on
 * the screen until the next one comes: a target has the key frame at or before it. EVERY then is an
 * INTERVAL of interval_us, so that it has targets too.
 *
 * Previews are a second selection in the same walk: the frames on the screen at 0, P, 2P, ... of
 * the whole film, whatever start and end are. Every frame with start <= time < scan_end is a scan
 * frame, which is analysed for the film's shots (shots.h). A frame may be all of these.
 */
#ifndef BARCODE_SELECTION_H
#define BARCODE_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/engine/frame.h"
#include "media/film.h"

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
    int64_t start_us;    /* >= 0; frames that have left the screen by then are never picked */
    int64_t end_us;      /* exclusive; INT64_MAX: the film's end */
    bool keyframes;      /* key frames alone; for EVERY interval_us is filled too */
    /* COLUMNS: end_us is declared: the film is read to its end, which shows if that is right */
    bool to_film_end;
    int64_t preview_us;  /* P, the time between previews; 0: none */
    int64_t scan_end_us; /* 0: no scan frames, as with `keyframes` */
};

/* The state of a walk. Start with selection_begin; copy freely. */
struct selection_cursor {
    struct selection rule;
    uint64_t seen;    /* EVERY: displayed frames inside start..end so far */
    uint64_t column;  /* columns filled so far */
    uint64_t preview; /* previews so far */
};

/* Returns a cursor at the start. For SELECT_COLUMNS, end_us is set to the film's end before. */
struct selection_cursor selection_begin(const struct selection *rule);

/* Moves a start before the film's first frame, at `time_us`, to it. Before selection_take. */
void selection_first(struct selection_cursor *c, int64_t time_us);

/*
 * Moves on to the next frame in display order, which is on the screen from `time_us` until
 * `next_us`. Returns how many columns it fills, 0 for most frames. The first of them is *column
 * (`column` may be NULL).
 *
 * A next_us <= time_us (broken timestamps) fills nothing by time. INT64_MAX as next_us means the
 * film's last frame, of unknown duration. Then COLUMNS fills all open columns; INTERVAL those at or
 * before time_us, at most one in a valid film. A caller that knows the duration passes the end
 * instead. Constant time for any numbers; at most UINT32_MAX columns a frame.
 */
uint32_t selection_take(struct selection_cursor *c, int64_t time_us, int64_t next_us,
                        uint64_t *column);

/*
 * Does the same, and picks previews and scan frames too: sets column, repeat, preview, previews and
 * scan of *tag. Returns true if the frame is selected (frame_is_selected). A film's last frame of
 * unknown duration (INT64_MAX) is a preview for targets at or before time_us.
 */
bool selection_pick(struct selection_cursor *c, int64_t time_us, int64_t next_us,
                    struct frame_tag *tag);

/* Returns the time of the next preview; INT64_MAX if there are none. */
int64_t selection_next_preview(const struct selection_cursor *c);

/*
 * Returns the target time of a column, also at or after end_us; -1 for EVERY without `keyframes`,
 * and beyond the last of COLUMNS. Any thread.
 */
int64_t selection_target(const struct selection *rule, uint64_t column);

/* Returns the first open target before end_us, or INT64_MAX. Not for EVERY without `keyframes`. */
int64_t selection_next(const struct selection_cursor *c);

/*
 * Returns true if reading can stop: no frame at `time_us` or later can be picked, and the end of
 * the film is not asked for. EVERY: time_us >= end. INTERVAL, COLUMNS: each target has its frame.
 * So not yet at time_us >= end if targets were skipped: the next frame fills them. Previews need
 * the complete film, and scan frames all up to the end.
 */
bool selection_done(const struct selection_cursor *c, int64_t time_us);

/* Returns true if frames are selected that no column shows, so that cached columns do not do. */
bool selection_needs_film(const struct selection *rule);

/* Returns how many columns a film of this length gives; 0: unknown or none. COLUMNS: C. */
uint64_t selection_estimate(const struct selection *rule, const struct film_length *length);

/*
 * COLUMNS: returns how far the film's last frame may be from end_us: a column, but at most 2 s or
 * 1 %, whichever is more. Sound often outlasts the picture.
 */
int64_t selection_slack_us(const struct selection *rule);

/*
 * Returns until when the film's last frame, displayed at `last_us`, stays on the screen: one
 * nominal frame. For COLUMNS it is INT64_MAX if that is near the end (selection_slack_us), so that
 * the last column is filled. A film that stops earlier does not have its last columns.
 */
int64_t selection_last_until(const struct selection *rule, int64_t last_us, int64_t frame_us);

#endif
