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

#include "barcode/base/err.h"
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

/*
 * ---- Which films of a library share their sound, all pairs at once ----
 *
 * An anchor and the next two of its partners make a word, which is far rarer than a
 * landmark: its 37 bits are mixed to 32. All films lie one after the other on one axis of frames,
 * and
 *
 *   word   mixed bits (32 bits) | the anchor's position on the axis (32 bits)
 *
 * Sorted, equal bits are a run. Each pair of words in a run that are of different films is a vote
 *
 *   vote   film a (20 bits) | film b (20 bits) | frame in b - frame in a + 2^23 (24 bits), a < b
 *
 * unless the run has more than SHARED_RUN_MOST words, as that of a hum or of a jingle.
 */

enum {
    SHARED_RUN_MOST = 64,
    SHARED_FILMS_MOST = 1 << 20,
    SHARED_FILM_BITS = 20,
    SHARED_OFFSET_BITS = 24,
    SHARED_OFFSET_ZERO = 1 << 23,
    SHARED_FRAMES_MOST = 1 << 20 /* of a film: what is later has no words */
};

/*
 * Writes the words of a film that begins at `position` of the axis to `out`, which has room for n.
 * peaks[n] are as peaks_list returns them; only wide ones count. Returns their number.
 */
size_t shared_words_make(const struct peak *peaks, size_t n, uint32_t position, uint64_t *out);

/* The films' places on the axis. */
struct shared_films {
    const uint32_t *base; /* [films + 1]: the first frame of each; the last is the axis' end */
    uint32_t films;
};

/*
 * Sorts word[n], and returns the votes in ascending order: *vote[*votes], which the caller frees.
 * Fails with ERR_FAILED if there are more than `most`.
 */
bool shared_votes(uint64_t *word, size_t n, const struct shared_films *films, size_t most,
                  uint64_t **vote, size_t *votes, struct err *e);

/* Two films that share sound. */
struct shared_pair {
    uint32_t a, b;  /* a < b */
    int32_t offset; /* b's frame less a's, of the most votes */
    uint32_t votes; /* at that offset, or one frame before or after it */
};

/* Lists pairs with `least` votes within three offsets, by a, then b. The caller frees *pair. */
bool shared_pairs(const uint64_t *vote, size_t votes, uint32_t least, struct shared_pair **pair,
                  size_t *pairs, struct err *e);

#endif
