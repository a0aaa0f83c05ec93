#include "find.h"

#include <stdlib.h>

#include "barcode/sound/spectrogram.h"
#include "base/sort_words.h"

/*
 * How many votes are needed: a number, one for so many landmarks, and one more for each eightfold
 * size of the library above nine hours. Sounds of no film have up to 8, and with `reach` up to 13
 * above one for 100 landmarks, or 16 where a synthetic voice says the same words.
 */
enum { VOTES_LEAST = 16, LANDMARKS_A_VOTE = 500, NEAR_LEAST = 17, NEAR_A_VOTE = 100 };

/* A vote: film | offset + OFFSET_ZERO. */
enum { OFFSET_BITS = 24, OFFSET_ZERO = 1 << 23, VOTE_BITS = OFFSET_BITS + LANDMARK_FILM_BITS };

struct count {
    uint64_t *word; /* the clip's landmarks: key | frame */
    uint32_t *key;  /* without repetition */
    size_t *first;  /* of each key, the first of its words; [keys + 1] */
    size_t landmarks, words, keys;
    uint64_t *vote;
    size_t votes, room;
};

static void add_word(struct count *c, int bin, int df, int dt, uint32_t frame)
{
    if (bin >= 0 && bin < SPECTROGRAM_BINS && abs(df) <= LANDMARK_DF_MOST && dt >= 1 &&
        dt <= LANDMARK_DT_MOST)
        c->word[c->words++] = (uint64_t)landmark_key((uint32_t)bin, df, (uint32_t)dt) << 32 | frame;
}

/* Adds a landmark, and with `reach` those of which each number differs by up to that. */
static void add_landmark(struct count *c, struct landmark l, int reach)
{
    int bin = (int)(l.key >> 14), df = (int)(l.key >> 6 & 255) - 128, dt = (int)(l.key & 63);
    for (int i = -reach; i <= reach; i++)
        for (int j = -reach; j <= reach; j++)
            for (int k = -reach; k <= reach; k++)
                add_word(c, bin + i, df + j, dt + k, l.frame);
}

static bool list_landmarks(struct count *c, const struct align_peaks *clip, struct err *e)
{
    size_t side = 2 * (size_t)clip->reach + 1;
    int fan = clip->reach ? LANDMARK_FAN : FIND_FAN;
    struct landmark *l = err_calloc(clip->count * FIND_FAN + 1, sizeof *l, e);
    size_t n = l ? landmarks_make(clip->point, clip->count, true, fan, l) : 0;
    c->landmarks = n < FIND_LANDMARKS_MOST ? n : FIND_LANDMARKS_MOST;
    size_t most = c->landmarks * side * side * side;
    c->word = err_calloc(2 * most + 1, sizeof *c->word, e);
    c->key = err_calloc(most + 1, sizeof *c->key, e);
    c->first = err_calloc(most + 1, sizeof *c->first, e);
    bool ok = l && c->word && c->key && c->first;
    for (size_t i = 0; ok && i < c->landmarks; i++)
        add_landmark(c, l[i], clip->reach);
    free(l);
    if (!ok)
        return false;
    sort_words(c->word, c->word + most, c->words, 32 + LANDMARK_KEY_BITS);
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
    *p = (struct find_place){.film = (uint32_t)(vote[from] >> OFFSET_BITS),
                             .offset = (int32_t)(mean / 16),
                             .sixteenth = (int32_t)mean,
                             .votes = (uint32_t)n};
}

/* Inserts a film's best place, after those with as many votes. */
static void insert_place(struct find_place *place, struct find_place p)
{
    size_t i = FIND_PLACES;
    for (; i > 0 && place[i - 1].votes < p.votes; i--)
        if (i < FIND_PLACES)
            place[i] = place[i - 1];
    if (i < FIND_PLACES)
        place[i] = p;
}

/* Looks for the most votes of each film within three neighbouring offsets. */
static void choose_places(const struct count *c, struct find_place *place)
{
    struct find_place best = {0};
    for (size_t from = 0, to = 0; from < c->votes; from++) {
        if (best.votes > 0 && c->vote[from] >> OFFSET_BITS != best.film) {
            insert_place(place, best);
            best.votes = 0;
        }
        while (to < c->votes && c->vote[to] - c->vote[from] <= 2)
            to++;
        if (to - from > best.votes)
            set_place(&best, c->vote, from, to);
    }
    insert_place(place, best);
}

static uint32_t votes_needed(const struct find_index *x, bool near, size_t landmarks)
{
    uint64_t frames = 0;
    uint32_t larger = 0;
    for (size_t i = 0; i < x->files; i++)
        frames += x->file[i]->base[x->file[i]->films];
    for (frames >>= 20; frames >= 8; frames >>= 3)
        larger++;
    return larger + (uint32_t)(near ? NEAR_LEAST + landmarks / NEAR_A_VOTE
                                    : VOTES_LEAST + landmarks / LANDMARKS_A_VOTE);
}

static bool is_found(const struct find_result *r, const struct find_place *p)
{
    return p->votes >= r->needed && 2 * p->votes >= r->place[0].votes;
}

static bool count_votes(struct find_index *x, const struct align_peaks *clip,
                        struct find_result *result, struct err *e)
{
    struct count c = {0};
    *result = (struct find_result){0};
    bool ok = list_landmarks(&c, clip, e) && find_index_look(x, c.key, c.keys, add_votes, &c, e);
    uint64_t *room = ok ? err_calloc(c.votes + 1, sizeof *room, e) : NULL;
    if (room) {
        sort_words(c.vote, room, c.votes, VOTE_BITS);
        choose_places(&c, result->place);
        result->landmarks = c.landmarks;
        result->needed = votes_needed(x, clip->reach > 0, c.landmarks);
        while (result->found < FIND_PLACES && is_found(result, &result->place[result->found]))
            result->found++;
    }
    free(room);
    free(c.word);
    free(c.key);
    free(c.first);
    free(c.vote);
    return room != NULL;
}

/* Looks the clip up at a speed. A larger one is at least `reach` from the film's bins and frames.
 */
static bool try_speed(struct find_index *x, const struct align_sound *clip,
                      struct align_speed speed, int reach, struct find_result *result,
                      struct err *e)
{
    struct align_peaks peaks;
    bool ok = align_peaks_make(clip, true, speed, &peaks, e);
    peaks.reach = reach > peaks.reach ? reach : peaks.reach;
    ok = ok && count_votes(x, &peaks, result, e);
    align_peaks_free(&peaks);
    for (size_t i = 0; i < FIND_PLACES; i++)
        result->place[i].speed = speed;
    return ok;
}

bool find_clip(struct find_index *x, const struct align_sound *clip, struct find_result *result,
               struct err *e)
{
    size_t n;
    const struct align_speed *speed = align_even_speeds(&n);
    if (!try_speed(x, clip, speed[0], 0, result, e))
        return false;
    /* A film that repeats the clip's sound, frame on frame, can have more votes here than the
     * clip's own, half a frame off. */
    if (result->found > 0 && result->place[0].votes >= 2 * result->place[1].votes)
        return true;
    for (size_t i = 0; i < n; i++) {
        struct find_result r = {0};
        if (!try_speed(x, clip, speed[i], 1, &r, e))
            return false;
        bool found = i == 0 && r.found > 0;
        /* the most votes for those that are needed; the first of equal ones */
        if (found || (uint64_t)r.place[0].votes * result->needed >
                         (uint64_t)result->place[0].votes * r.needed)
            *result = r;
        if (i == 0 && result->found > 0)
            break;
    }
    return true;
}

/* ---- The place in a film ---- */

enum {
    PEAKS_MOST = 20000, /* of a clip, five minutes: later ones are left out */
    SPEED_MARGIN = 16,  /* of a clip's length, that another speed may add */
    REACH = 1,          /* bins that a peak may be away, half a frame off its place in the film */
    /* Films that have too few votes, and are tried by all peaks. */
    TRIED_MOST = 4,
    TRIED_VOTES = 8,
    TRIED_PEAKS = 40
};

/* The clip's peaks by bin. */
struct clip {
    uint32_t first[SPECTROGRAM_BINS + 2];
    uint32_t *frame; /* of bin b's peaks: frame[first[b] .. first[b + 1]) */
    uint32_t frames; /* of the clip */
};

static bool sort_peaks(struct clip *c, const struct align_peaks *p, struct err *e)
{
    uint32_t *next = c->first + 1;
    *c = (struct clip){.frame = err_calloc(p->count + 1, sizeof *c->frame, e), .frames = p->frames};
    if (!c->frame)
        return false;
    /* A counting sort: next[bin], the beginning of the bin's frames, becomes their end. */
    for (size_t i = 0; i < p->count; i++)
        next[p->point[i].bin + 1]++;
    for (int bin = 1; bin < SPECTROGRAM_BINS; bin++)
        next[bin] += next[bin - 1];
    for (size_t i = 0; i < p->count; i++)
        c->frame[next[p->point[i].bin]++] = p->point[i].frame;
    return true;
}

/* Counts at [offset + c->frames] the peaks of the clip that the film has at that offset. */
static void count_peaks(const struct clip *c, const struct film_sound *film, uint32_t *count)
{
    for (size_t i = 0; i < film->peaks; i++) {
        const struct peak *p = &film->point[i];
        int from = p->bin - REACH, to = p->bin + REACH + 1;
        from = from < 0 ? 0 : from;
        to = to > SPECTROGRAM_BINS ? SPECTROGRAM_BINS : to;
        for (uint32_t k = c->first[from]; k < c->first[to]; k++)
            count[p->frame + c->frames - c->frame[k]]++;
    }
}

/* Moves the place to the offset with the most peaks, also a frame before or after it. */
static bool refine_offset(struct find_place *place, const struct clip *c,
                          const struct film_sound *film, struct err *e)
{
    size_t offsets = spectrogram_frames(film->samples) + c->frames;
    uint32_t *count = err_calloc(offsets + 1, sizeof *count, e);
    if (!count)
        return false;
    count_peaks(c, film, count);
    for (size_t i = 1; i < offsets; i++) {
        uint32_t n = count[i - 1] + count[i] + count[i + 1];
        if (n <= place->peaks)
            continue;
        int32_t after = (int32_t)count[i + 1] - (int32_t)count[i - 1];
        place->peaks = n;
        place->offset = (int32_t)i - (int32_t)c->frames;
        place->sixteenth = 16 * place->offset + 16 * after / (int32_t)n;
    }
    free(count);
    return true;
}

static int compare_places(const void *x, const void *y)
{
    const struct find_place *a = x, *b = y;
    if (a->peaks != b->peaks)
        return a->peaks < b->peaks ? 1 : -1;
    if (a->votes != b->votes)
        return a->votes < b->votes ? 1 : -1;
    return a->film < b->film ? -1 : 1;
}

/* ---- The speed of a clip ---- */

/* Returns `other` if it has a sixteenth more peaks. */
static struct find_place more_peaks(const struct find_place *place, const struct find_place *other)
{
    return other->peaks > place->peaks + place->peaks / 16 ? *other : *place;
}

/* A clip, and the part of a film that it may be from. */
struct fit {
    const struct align_sound *clip;
    struct film_sound part;
    uint32_t from; /* the part's first frame in the film */
};

/* Copies the peaks about a place, as far as the clip may reach at another speed. */
static bool cut_part(const struct film_sound *film, const struct find_place *place, struct fit *f,
                     struct err *e)
{
    int64_t frames = (int64_t)spectrogram_frames(f->clip->samples);
    int64_t margin = frames / SPEED_MARGIN + 2, from = place->offset - margin;
    f->from = (uint32_t)(from > 0 ? from : 0);
    int64_t to = place->offset + frames + margin;
    f->part = (struct film_sound){.point = err_calloc(film->peaks + 1, sizeof *film->point, e)};
    for (size_t i = 0; f->part.point && i < film->peaks; i++)
        if (film->point[i].frame >= f->from && film->point[i].frame < to) {
            struct peak *p = &f->part.point[f->part.peaks++];
            *p = film->point[i];
            p->frame -= f->from;
            f->part.samples = (uint64_t)(p->frame + 1) * SPECTROGRAM_HOP;
        }
    return f->part.point != NULL;
}

/* Moves the place to where the film has the most of the clip's peaks at a speed, if it has more. */
static bool place_at_speed(const struct align_sound *clip, const struct film_sound *film,
                           struct align_speed speed, struct find_place *place, struct err *e)
{
    struct align_peaks points;
    struct clip c = {0};
    uint32_t before = place->peaks;
    bool ok = align_peaks_make(clip, false, speed, &points, e) && sort_peaks(&c, &points, e) &&
              refine_offset(place, &c, film, e);
    if (place->peaks > before)
        place->speed = speed;
    align_peaks_free(&points);
    free(c.frame);
    return ok;
}

static bool try_speeds(const struct fit *f, const struct align_speed *speed, size_t n,
                       struct find_place *best, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++)
        ok = place_at_speed(f->clip, &f->part, speed[i], best, e);
    return ok;
}

/*
 * Goes from the best of the even speeds to better ones, by steps that halve. The place is that at
 * the first of them, the films' own.
 */
static bool try_between(const struct fit *f, struct find_place *best, struct err *e)
{
    size_t n, frames = spectrogram_frames(f->clip->samples);
    const struct align_speed *even = align_even_speeds(&n);
    bool ok = try_speeds(f, even + 1, n - 1, best, e);
    for (int step = ALIGN_SPEED_UNIT / 128; ok && frames * 2 * step > ALIGN_SPEED_UNIT; step /= 2) {
        int num = best->speed.num * ALIGN_SPEED_UNIT / best->speed.den;
        const struct align_speed next[] = {
            {(uint16_t)(num - step), ALIGN_SPEED_UNIT, best->speed.same_pitch},
            {(uint16_t)(num + step), ALIGN_SPEED_UNIT, best->speed.same_pitch}};
        ok = try_speeds(f, next, 2, best, e);
    }
    return ok;
}

/*
 * Finds the clip's speed at a place: that of a film, or another at which a sixteenth more peaks are
 * shared.
 */
static bool fit_speed(const struct align_sound *clip, const struct film_sound *film,
                      struct find_place *place, struct err *e)
{
    struct fit f = {.clip = clip};
    struct find_place own = {.speed = {1, 1, false}}, other = own, between;
    size_t n;
    const struct align_speed *speed = align_speeds(&n);
    bool ok = cut_part(film, place, &f, e) && try_speeds(&f, speed, 1, &own, e);
    between = own;
    ok = ok && try_speeds(&f, speed + 1, n - 1, &other, e) && try_between(&f, &between, e);
    own = more_peaks(&own, &other);
    own = more_peaks(&own, &between);
    if (own.peaks > 0) {
        place->peaks = own.peaks;
        place->speed = own.speed;
        place->offset = own.offset + (int32_t)f.from;
        place->sixteenth = own.sixteenth + 16 * (int32_t)f.from;
    }
    free(f.part.point);
    return ok;
}

/*
 * Fits the clip where the votes have it, or where the film has more of its peaks; at the speed that
 * it has there, the film may repeat it.
 */
static bool refine_place(const struct align_sound *clip, const struct film_sound *film,
                         struct find_place *place, struct err *e)
{
    struct find_place most = *place;
    if (!fit_speed(clip, film, place, e) || !place_at_speed(clip, film, most.speed, &most, e))
        return false;
    if (most.peaks > place->peaks) {
        *place = most;
        if (!fit_speed(clip, film, place, e))
            return false;
    }
    bool same = align_speed_is(place->speed, most.speed) &&
                place->speed.same_pitch == most.speed.same_pitch;
    return same || place_at_speed(clip, film, place->speed, place, e);
}

bool find_refine_offsets(struct find_result *r, const struct align_sound *clip, find_load *load,
                         void *user, struct err *e)
{
    bool all = true, ok = true;
    struct align_sound first = *clip;
    if (first.peaks > PEAKS_MOST) {
        first.peaks = PEAKS_MOST;
        first.samples = (uint64_t)(clip->peak[PEAKS_MOST - 1].frame + 1) * SPECTROGRAM_HOP;
    }
    r->peaks = (uint32_t)first.peaks;
    for (size_t i = 0; ok && i < r->found; i++) {
        struct find_place *place = &r->place[i];
        struct film_sound film;
        bool loaded = load(user, place->film, &film);
        ok = !loaded || refine_place(&first, &film, place, e);
        if (loaded)
            film_sound_free(&film);
        all = all && loaded;
    }
    if (ok && all)
        qsort(r->place, r->found, sizeof *r->place, compare_places);
    return ok;
}

bool find_by_peaks(struct find_result *r, const struct align_sound *clip, find_load *load,
                   void *user, struct err *e)
{
    while (r->found < TRIED_MOST && r->place[r->found].votes >= TRIED_VOTES)
        r->found++;
    if (!find_refine_offsets(r, clip, load, user, e))
        return false;
    const struct find_place *best = &r->place[0];
    bool found = r->found > 0 && best->peaks >= TRIED_PEAKS && best->peaks >= r->peaks / 4;
    r->found = found && (r->found == 1 || best->peaks >= 2 * r->place[1].peaks);
    r->needed = r->found ? TRIED_VOTES : r->needed;
    return true;
}
