/*
 * gaps.h - gaps of a film, where packets are missing, and how many frames must have been there.
 *
 * The reader knows in decoding order that packets are missing. The number of frames shows in
 * display order, by the time between the two frames around the gap. A long time without a gap means
 * nothing: films of variable frame rate have it. Pure; one thread; copy freely.
 */
#ifndef BARCODE_GOP_GAPS_H
#define BARCODE_GOP_GAPS_H

#include <stdbool.h>
#include <stdint.h>

enum { GAPS_KEPT = 64 }; /* the latest; more gaps in a GOP cannot be filled */

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

/*
 * Returns how many frames of `frame_us` are missing between frames at times from_us < to_us; 0
 * if less than one and a half frames fit, or if the clock jumped by more than an hour.
 */
uint64_t gap_frames(int64_t from_us, int64_t to_us, int64_t frame_us);

/* Returns the time of missing frame `i` of `count`, from 1; i = count + 1 gives to_us. */
int64_t gap_frame_time(int64_t from_us, int64_t to_us, uint64_t i, uint64_t count);

#endif
