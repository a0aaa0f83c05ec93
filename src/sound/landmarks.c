#include "landmarks.h"

#include <stdlib.h>

#include "base/sort_words.h"

/* Writes those of the first peak of peak[n] alone, at most `fan`. Returns their number. */
static size_t pair_anchor(const struct peak *peak, size_t n, bool wide, int fan,
                          struct landmark *out)
{
    size_t pairs = 0;
    for (size_t i = 1; i < n && pairs < (size_t)fan; i++) {
        uint32_t dt = peak[i].frame - peak->frame;
        int df = peak[i].bin - peak->bin;
        if (dt > LANDMARK_DT_MOST)
            break;
        if (dt == 0 || abs(df) > LANDMARK_DF_MOST || (wide && !peak[i].wide))
            continue;
        out[pairs++] = (struct landmark){landmark_key(peak->bin, df, dt), peak->frame};
    }
    return pairs;
}

size_t landmarks_make(const struct peak *peaks, size_t n, bool wide, int fan, struct landmark *out)
{
    size_t made = 0;
    for (size_t i = 0; i < n; i++)
        if (!wide || peaks[i].wide)
            made += pair_anchor(peaks + i, n - i, wide, fan, out + made);
    return made;
}

/* ---- Words ---- */

enum { PAIR_BITS = 14 }; /* of a landmark's key: df and dt */

/* Mixes 37 bits to 32, so that equal ones stay equal (Fibonacci hashing). */
static uint32_t mix_bits(uint64_t bits)
{
    return (uint32_t)((bits * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

size_t shared_words_make(const struct peak *peaks, size_t n, uint32_t position, uint64_t *out)
{
    size_t made = 0;
    struct landmark l[2];
    for (size_t i = 0; i < n && peaks[i].frame < SHARED_FRAMES_MOST; i++) {
        if (!peaks[i].wide || pair_anchor(peaks + i, n - i, true, 2, l) < 2)
            continue;
        uint64_t bits = (uint64_t)l[0].key << PAIR_BITS | (l[1].key & ((1 << PAIR_BITS) - 1));
        out[made++] = (uint64_t)mix_bits(bits) << 32 | (position + peaks[i].frame);
    }
    return made;
}

/* ---- Votes ---- */

/* Returns the film at a position of the axis. */
static uint32_t film_at(const uint32_t *base, uint32_t films, uint32_t position)
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

struct votes {
    const struct shared_films *films;
    uint64_t *vote;
    size_t count, room, most;
};

static bool add_vote(struct votes *v, uint32_t p, uint32_t q, struct err *e)
{
    const uint32_t *base = v->films->base;
    uint32_t a = film_at(base, v->films->films, p);
    uint32_t b = film_at(base, v->films->films, q);
    if (a == b)
        return true;
    if (v->count == v->most)
        return err_set(e, ERR_FAILED, "the films share more than can be counted");
    if (!err_reserve(&v->vote, v->count + 1, &v->room, sizeof *v->vote, e))
        return false;
    uint64_t offset = (q - base[b]) - (p - base[a]) + SHARED_OFFSET_ZERO;
    v->vote[v->count++] = (uint64_t)a << (SHARED_FILM_BITS + SHARED_OFFSET_BITS) |
                          (uint64_t)b << SHARED_OFFSET_BITS |
                          (offset & ((1 << SHARED_OFFSET_BITS) - 1));
    return true;
}

bool shared_votes(uint64_t *word, size_t n, const struct shared_films *films, size_t most,
                  uint64_t **vote, size_t *votes, struct err *e)
{
    struct votes v = {.films = films, .most = most};
    uint64_t *room = err_calloc(n + 1, sizeof *room, e);
    bool ok = room != NULL;
    if (ok)
        sort_words(word, room, n, 64);
    free(room);
    for (size_t from = 0, to; ok && from < n; from = to) {
        for (to = from + 1; to < n && word[to] >> 32 == word[from] >> 32;)
            to++;
        for (size_t i = from; ok && to - from <= SHARED_RUN_MOST && i < to; i++)
            for (size_t j = i + 1; ok && j < to; j++)
                ok = add_vote(&v, (uint32_t)word[i], (uint32_t)word[j], e);
    }
    room = ok ? err_calloc(v.count + 1, sizeof *room, e) : NULL;
    if (!room) {
        free(v.vote);
        return false;
    }
    sort_words(v.vote, room, v.count, 64);
    free(room);
    *vote = v.vote;
    *votes = v.count;
    return true;
}

/* ---- Pairs ---- */

/* Sums up vote[from .. to), which are those of a pair of films. */
static struct shared_pair sum_up(const uint64_t *vote, size_t from, size_t to)
{
    const uint64_t film_mask = SHARED_FILMS_MOST - 1, offset_mask = (1 << SHARED_OFFSET_BITS) - 1;
    struct shared_pair p = {
        .a = (uint32_t)(vote[from] >> (SHARED_FILM_BITS + SHARED_OFFSET_BITS) & film_mask),
        .b = (uint32_t)(vote[from] >> SHARED_OFFSET_BITS & film_mask)};
    for (size_t i = from, end = from; i < to; i++) {
        while (end < to && vote[end] - vote[i] <= 2)
            end++;
        uint32_t n = (uint32_t)(end - i);
        if (n > p.votes) {
            p.votes = n;
            p.offset = (int32_t)(vote[i + n / 2] & offset_mask) - SHARED_OFFSET_ZERO;
        }
    }
    return p;
}

bool shared_pairs(const uint64_t *vote, size_t votes, uint32_t least, struct shared_pair **pair,
                  size_t *pairs, struct err *e)
{
    struct shared_pair *list = NULL;
    size_t count = 0, room = 0;
    for (size_t from = 0, to; from < votes; from = to) {
        uint64_t films = vote[from] >> SHARED_OFFSET_BITS;
        for (to = from + 1; to < votes && vote[to] >> SHARED_OFFSET_BITS == films;)
            to++;
        struct shared_pair p = sum_up(vote, from, to);
        if (p.votes < least)
            continue;
        if (!err_reserve(&list, count + 1, &room, sizeof *list, e)) {
            free(list);
            return false;
        }
        list[count++] = p;
    }
    *pair = list;
    *pairs = count;
    return true;
}
