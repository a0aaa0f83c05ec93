/*
 * landmarks.h - pairs of peaks (peaks.h), by which sounds are found and aligned.
 *
 * Each peak is an anchor. It is paired with the next `fan` peaks after it, by time, then frequency,
 * with 1 <= dt <= LANDMARK_DT_MOST and |df| <= LANDMARK_DF_MOST. A landmark is such a pair:
 *
 *   key   anchor's bin (9 bits) | df + 128 (8 bits) | dt (6 bits)
 *   time  the anchor's frame
 *
 * The combinatorial hash of Wang, "An industrial-strength audio search algorithm", ISMIR 2003.
 */
#ifndef BARCODE_LANDMARKS_H
#define BARCODE_LANDMARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/sound/peaks.h"

enum {
    LANDMARK_FAN = 3,
    LANDMARK_DT_MOST = 63,
    LANDMARK_DF_MOST = 127,
    LANDMARK_KEY_BITS = 23,
    LANDMARK_FILM_BITS = 20,
    LANDMARK_TIME_BITS = 20 /* 9.3 hours */
};

struct landmark {
    uint32_t key, frame;
};

/*
 * Writes the landmarks of peaks[n], which are in peaks_list's order, to `out`, which has room for
 * n * fan. With `wide`, only wide peaks count, as anchors and as partners. Returns their number;
 * they are by anchor, then partner. Any thread.
 */
size_t landmarks_make(const struct peak *peaks, size_t n, bool wide, int fan, struct landmark *out);

/* Writes those of the first peak of peak[n] alone, at most `fan`. Returns their number. */
size_t landmarks_of_anchor(const struct peak *peak, size_t n, bool wide, int fan,
                           struct landmark *out);

/* Returns the key of an anchor's bin, 0..511, and the partner's distance. */
static inline uint32_t landmark_key(uint32_t bin, int df, uint32_t dt)
{
    return bin << 14 | (uint32_t)(df + 128) << 6 | dt;
}

/* Returns key | film | time in 63 bits, to be sorted. `film` and the frame are below 2^20. */
static inline uint64_t landmark_word(struct landmark l, uint32_t film)
{
    return (uint64_t)l.key << (LANDMARK_FILM_BITS + LANDMARK_TIME_BITS) |
           (uint64_t)film << LANDMARK_TIME_BITS | l.frame;
}

#endif
