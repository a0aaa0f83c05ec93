#include "find_votes.h"

#include <stdlib.h>

#include "barcode/base/sort_words.h"

/* How many votes are needed: wrong places of made films have fewer. */
enum { VOTES_LEAST = 8, LANDMARKS_A_VOTE = 200 };

/* A vote: film | offset + OFFSET_ZERO. */
enum { OFFSET_BITS = 24, OFFSET_ZERO = 1 << 23, VOTE_BITS = OFFSET_BITS + LANDMARK_FILM_BITS };

struct count {
    uint64_t *word; /* the clip's landmarks: key | frame */
    uint32_t *key;  /* without repetition */
    size_t *first;  /* of each key, the first of its words; [keys + 1] */
    size_t words, keys;
    uint64_t *vote;
    size_t votes, room;
};

static bool list_landmarks(struct count *c, const struct peak *peak, size_t peaks, struct err *e)
{
    struct landmark *l = err_calloc(peaks * FIND_FAN + 1, sizeof *l, e);
    size_t n = l ? landmarks_make(peak, peaks, true, FIND_FAN, l) : 0;
    c->words = n < FIND_LANDMARKS_MOST ? n : FIND_LANDMARKS_MOST;
    c->word = err_calloc(2 * c->words + 1, sizeof *c->word, e);
    c->key = err_calloc(c->words + 1, sizeof *c->key, e);
    c->first = err_calloc(c->words + 1, sizeof *c->first, e);
    bool ok = l && c->word && c->key && c->first;
    for (size_t i = 0; ok && i < c->words; i++)
        c->word[i] = (uint64_t)l[i].key << 32 | l[i].frame;
    free(l);
    if (!ok)
        return false;
    sort_words(c->word, c->word + c->words, c->words, 32 + LANDMARK_KEY_BITS);
    for (size_t i = 0; i < c->words; i++)
        if (i == 0 || c->word[i] >> 32 != c->key[c->keys - 1]) {
            c->first[c->keys] = i;
            c->key[c->keys++] = (uint32_t)(c->word[i] >> 32);
        }
    c->first[c->keys] = c->words;
    return true;
}

static bool add_votes(void *user, size_t i, uint32_t film, uint32_t frame, struct err *e)
{
    struct count *c = user;
    size_t from = c->first[i], to = c->first[i + 1];
    if (!err_reserve(&c->vote, c->votes + to - from, &c->room, sizeof *c->vote, e))
        return false;
    for (size_t w = from; w < to; w++) {
        uint32_t offset = frame + OFFSET_ZERO - ((uint32_t)c->word[w] & (FIND_FRAMES_MOST - 1));
        c->vote[c->votes++] = (uint64_t)film << OFFSET_BITS | offset;
    }
    return true;
}

/* Sets *p to the place in the middle of vote[from .. to). */
static void set_place(struct find_place *p, const uint64_t *vote, size_t from, size_t to)
{
    int64_t sum = 0, n = (int64_t)(to - from);
    for (size_t i = from; i < to; i++)
        sum += (int64_t)(vote[i] & ((1 << OFFSET_BITS) - 1)) - OFFSET_ZERO;
    int64_t mean = (16 * sum + (sum < 0 ? -n : n) / 2) / n;
    *p = (struct find_place){(uint32_t)(vote[from] >> OFFSET_BITS), (int32_t)(mean / 16),
                             (int32_t)mean, (uint32_t)n};
}

/* Looks for the most votes of a film within three neighbouring offsets. */
static void choose_places(const struct count *c, struct find_result *r)
{
    for (size_t from = 0, to = 0; from < c->votes; from++) {
        while (to < c->votes && c->vote[to] - c->vote[from] <= 2)
            to++;
        size_t n = to - from;
        bool same = r->best.votes > 0 && c->vote[from] >> OFFSET_BITS == r->best.film;
        if (n > r->best.votes) {
            if (!same)
                r->other = r->best;
            set_place(&r->best, c->vote, from, to);
        } else if (!same && n > r->other.votes) {
            set_place(&r->other, c->vote, from, to);
        }
    }
}

static bool count_votes(struct find_index *x, const struct peak *peak, size_t peaks,
                        struct find_result *result, struct err *e)
{
    struct count c = {0};
    *result = (struct find_result){0};
    bool ok =
        list_landmarks(&c, peak, peaks, e) && find_index_look(x, c.key, c.keys, add_votes, &c, e);
    uint64_t *room = ok ? err_calloc(c.votes + 1, sizeof *room, e) : NULL;
    if (room) {
        sort_words(c.vote, room, c.votes, VOTE_BITS);
        choose_places(&c, result);
        result->landmarks = c.words;
        result->needed = VOTES_LEAST + (uint32_t)(c.words / LANDMARKS_A_VOTE);
    }
    free(room);
    free(c.word);
    free(c.key);
    free(c.first);
    free(c.vote);
    return room != NULL;
}

bool find_clip(struct find_index *x, const struct peak *peak, size_t peaks,
               struct find_result *result, struct err *e)
{
    bool ok = count_votes(x, peak, peaks, result, e);
    result->speed_num = result->speed_den = 1;
    return ok;
}
