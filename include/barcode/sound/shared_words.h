/*
 * shared_words.h - which films of a library share their sound, all pairs at once.
 *
 * An anchor (landmarks.h) and the next two of its partners make a word, which is far rarer than a
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
#ifndef BARCODE_SHARED_WORDS_H
#define BARCODE_SHARED_WORDS_H

#include "barcode/base/err.h"
#include "barcode/sound/peaks.h"

SHARED_BEGIN

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

/*
 * The same on the first GPU, if the program was built with CUDA (cuda/shared_gpu.h); word[n] stays
 * in its order. Fails with ERR_ENGINE without a GPU, or if its memory does not suffice.
 */
bool shared_votes_gpu(const uint64_t *word, size_t n, const struct shared_films *films, size_t most,
                      uint64_t **vote, size_t *votes, struct err *e);

/* Returns the film at a position of the axis. */
static inline uint32_t shared_film_at(const uint32_t *base, uint32_t films, uint32_t position)
{
    uint32_t low = 0, high = films;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (base[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Two films that share sound. */
struct shared_pair {
    uint32_t a, b;  /* a < b */
    int32_t offset; /* b's frame less a's, of the most votes */
    uint32_t votes; /* at that offset, or one frame before or after it */
};

/* Lists pairs with `least` votes within three offsets, by a, then b. The caller frees *pair. */
bool shared_pairs(const uint64_t *vote, size_t votes, uint32_t least, struct shared_pair **pair,
                  size_t *pairs, struct err *e);

SHARED_END
#endif
