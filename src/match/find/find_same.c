#include "find.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/log.h"
#include "barcode/sound/shared_words.h"
#include "barcode/sound/spectrogram.h"

/* A pair with fewer votes at an offset is not looked at: other films have up to 5. */
enum { VOTES_LEAST = 12 };

#ifdef BARCODE_CUDA
/* The CPU takes about a second for these, a GPU half a second to start. */
enum { GPU_WORDS_LEAST = 5000000 };
#endif

struct collect {
    uint64_t *word;
    size_t words, room;
    uint32_t *base; /* [films + 1] of shared_films */
    size_t *film;   /* [films]: which of the library */
    size_t films;
};

static bool add_words(void *user, size_t i, const struct film_sound *sound, struct err *e)
{
    struct collect *c = user;
    uint32_t at = c->base[c->films];
    uint64_t frames = spectrogram_frames(sound->samples);
    if (sound->peaks == 0)
        return true;
    if (frames > SHARED_FRAMES_MOST)
        frames = SHARED_FRAMES_MOST;
    if (at + frames > UINT32_MAX || c->films + 1 >= SHARED_FILMS_MOST)
        return err_set(e, ERR_FAILED, "the library is too large to be compared as a whole");
    if (!err_reserve(&c->word, c->words + sound->peaks, &c->room, sizeof *c->word, e))
        return false;
    c->words += shared_words_make(sound->point, sound->peaks, at, c->word + c->words);
    c->film[c->films++] = i;
    c->base[c->films] = at + (uint32_t)frames;
    return true;
}

/* Finds the votes on a GPU if there is one and it is worth its start, else on the CPU. */
static bool find_votes(struct collect *c, size_t most, uint64_t **vote, size_t *votes,
                       struct err *e)
{
    struct shared_films films = {c->base, (uint32_t)c->films};
#ifdef BARCODE_CUDA
    struct err reason = ERR_INIT;
    if (c->words >= GPU_WORDS_LEAST &&
        shared_votes_gpu(c->word, c->words, &films, most, vote, votes, &reason))
        return true;
    if (reason.code != ERR_NONE)
        log_msg(LOG_VERBOSE, "%s; comparing films on the CPU", reason.text);
#endif
    return shared_votes(c->word, c->words, &films, most, vote, votes, e);
}

static bool find_candidates(struct collect *c, struct shared_pair **pair, size_t *pairs,
                            struct err *e)
{
    uint64_t *vote = NULL;
    size_t votes = 0, most = (size_t)(limits_memory() / 4 / sizeof *vote);
    bool ok = find_votes(c, most, &vote, &votes, e) &&
              shared_pairs(vote, votes, VOTES_LEAST, pair, pairs, e);
    log_msg(LOG_VERBOSE, "%zu films have %zu words and %zu votes; %zu pairs are compared", c->films,
            c->words, votes, *pairs);
    free(vote);
    return ok;
}

/* Aligns two films. Leaves *p without common sound if one is no longer in the cache. */
static bool compare(const struct find_library *l, struct find_same_pair *p, struct err *e)
{
    struct film_sound a, b;
    struct align_map map = {0};
    bool ok = true, loaded = command_films_sound(&l->films, p->a, &a);
    loaded = command_films_sound(&l->films, p->b, &b) && loaded;
    if (loaded) {
        struct align_sound x = {a.point, a.peaks, a.samples}, y = {b.point, b.peaks, b.samples};
        ok = align_map_make(&x, &y, &map, e);
    }
    if (ok && loaded && map.score >= ALIGN_SCORE_LEAST) {
        p->common_us = map.common_us;
        p->a_us = map.a_us;
        p->b_us = map.b_us;
        p->speed_num = map.speed_num;
        p->speed_den = map.speed_den;
    }
    if (loaded)
        align_map_free(&map);
    film_sound_free(&a);
    film_sound_free(&b);
    return ok;
}

static bool add_pair(const struct find_library *l, const struct collect *c, struct find_same *s,
                     const struct shared_pair *p, struct err *e)
{
    struct find_same_pair *to = &s->pair[s->pairs];
    size_t a = c->film[p->a], b = c->film[p->b];
    *to = (struct find_same_pair){.a = a < b ? a : b, .b = a < b ? b : a};
    if (!compare(l, to, e))
        return false;
    s->pairs += to->common_us > 0;
    return true;
}

static size_t root_of(size_t *parent, size_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static int compare_pairs(const void *x, const void *y)
{
    const struct find_same_pair *p = x, *q = y;
    if (p->group != q->group)
        return p->group < q->group ? -1 : 1;
    return p->a != q->a ? (p->a < q->a ? -1 : 1) : (p->b > q->b) - (p->b < q->b);
}

/* Numbers the groups of films that are connected by pairs, by their first films. */
static bool set_groups(struct find_same *s, size_t films, struct err *e)
{
    size_t *parent = err_calloc(films + 1, sizeof *parent, e);
    uint32_t groups = 0, *group = err_calloc(films + 1, sizeof *group, e);
    for (size_t i = 0; parent && i < films; i++)
        parent[i] = i;
    if (s->pairs > 0)
        qsort(s->pair, s->pairs, sizeof *s->pair, compare_pairs);
    for (size_t i = 0; parent && group && i < s->pairs; i++) {
        size_t a = root_of(parent, s->pair[i].a), b = root_of(parent, s->pair[i].b);
        parent[a > b ? a : b] = a < b ? a : b;
    }
    for (size_t i = 0; parent && group && i < s->pairs; i++) {
        size_t root = root_of(parent, s->pair[i].a);
        group[root] = group[root] ? group[root] : ++groups;
        s->pair[i].group = group[root];
    }
    bool ok = parent && group;
    free(parent);
    free(group);
    if (ok && s->pairs > 0)
        qsort(s->pair, s->pairs, sizeof *s->pair, compare_pairs);
    return ok;
}

bool find_same_films(struct find_library *l, struct find_same *s, int *status, struct err *e)
{
    size_t films = l->films.in.count, pairs = 0;
    struct collect c = {.base = err_calloc(films + 1, sizeof *c.base, e),
                        .film = err_calloc(films + 1, sizeof *c.film, e)};
    struct shared_pair *pair = NULL;
    bool ok = c.base && c.film && find_library_each(l, NULL, add_words, &c, status, e) &&
              find_candidates(&c, &pair, &pairs, e) &&
              (s->pair = err_calloc(pairs + 1, sizeof *s->pair, e));
    for (size_t i = 0; ok && i < pairs; i++)
        ok = add_pair(l, &c, s, &pair[i], e);
    ok = ok && set_groups(s, films, e);
    free(pair);
    free(c.word);
    free(c.base);
    free(c.film);
    return ok;
}

void find_same_free(struct find_same *s)
{
    free(s->pair);
    *s = (struct find_same){0};
}
