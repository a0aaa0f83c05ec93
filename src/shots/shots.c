/*
 * shots.c - finds a film's shots in the facts of its frames.
 *
 * A cut stands out of the differences around it, and neither frame beside it returns within a
 * flash's time. A fade is a run of blank frames that is neither entered nor left by a cut. In the
 * middle of a dissolve the frame is the mean of the frames at both ends, which differ; of a pan it
 * is not.
 */
#include "shots.h"

#include <stdlib.h>
#include <string.h>

enum {
    FLASH_US = 250000,
    FLASH_LAGS = SCAN_NEAR + 2, /* by which a flash is recognized */
    AROUND_US = 130000,         /* the frames with which a cut's score is compared, at least 2 */
    AROUND_MOST = 32,
    BLANK_CONTRAST = 3,
    RAMP = 8,            /* frames in which the contrast of a fade changes */
    CONTRAST_LEAST = 12, /* sums of two frames */
    CONTRAST_USUAL = 100,
    LIKE = 60 /* the most likeness of both ends of a dissolve */
};

enum { EVENT_CUT = 1, EVENT_FADE = 2 /* the frame is in it */ };

struct boundary {
    size_t at; /* index of the first frame after it */
    unsigned score;
    enum shot_transition by;
    uint32_t frames;
};

struct finder {
    const struct scan_frame *frame;
    size_t count;
    int64_t end_us;
    unsigned threshold; /* in SCAN_UNIT */
    struct boundary *found;
    size_t founds, room;
    uint32_t *events; /* of each frame; for dissolves: how many frames up to it have any */
};

static const char *const names[] = {"cut", "fade", "dissolve"};

const char *shot_transition_name(enum shot_transition t) { return names[t]; }

void shots_free(struct shots *s)
{
    free(s->shot);
    *s = (struct shots){0};
}

static int64_t apart_us(const struct finder *f, size_t from, size_t to)
{
    return f->frame[to].time_us - f->frame[from].time_us;
}

static bool add_boundary(struct finder *f, struct boundary b, struct err *e)
{
    if (!err_reserve(&f->found, f->founds + 1, &f->room, sizeof *f->found, e))
        return false;
    f->found[f->founds++] = b;
    return true;
}

/* ---- Cuts ---- */

static bool is_blank(const struct scan_frame *f) { return f->contrast <= BLANK_CONTRAST; }

/* Returns a distance less what is alike. */
static unsigned difference_of(unsigned distance, unsigned likeness)
{
    return distance * (255 - likeness) / 255;
}

/* Returns a score, in which half alike is different and frames of little contrast count more. */
static unsigned score_of(unsigned distance, unsigned likeness, unsigned contrasts)
{
    unsigned twice = 2 * difference_of(distance, likeness);
    unsigned contrast = contrasts < CONTRAST_LEAST   ? CONTRAST_LEAST
                        : contrasts < CONTRAST_USUAL ? contrasts
                                                     : CONTRAST_USUAL;
    return (twice < distance ? twice : distance) * CONTRAST_USUAL / contrast;
}

/* Returns the sum of the contrasts of frame `at` and the one `lag` before it. */
static unsigned contrasts_of(const struct finder *f, size_t at, size_t lag)
{
    return (unsigned)f->frame[at - lag].contrast + f->frame[at].contrast;
}

/* Returns the difference of frame `at` and the one scan_lag[i] before it. */
static unsigned difference_at(const struct finder *f, size_t at, int i)
{
    return difference_of(f->frame[at].distance[i], f->frame[at].likeness[i]);
}

/* Returns the mean difference of neighbours on one side of a cut. */
static unsigned difference_beside(const struct finder *f, size_t at, int step)
{
    unsigned sum = 0, n = 0;
    for (size_t i = at + (size_t)step; i > 0 && i < f->count; i += (size_t)step, n++) {
        if (n >= AROUND_MOST || (n >= 2 && llabs(apart_us(f, at, i)) > AROUND_US))
            break;
        sum += difference_at(f, i, 0);
    }
    return n > 0 ? sum / n : 0;
}

/*
 * Returns true if the change is the first or last step of a fade: two steps go farther than one. No
 * likeness shows that, because a blank frame is like no other.
 */
static bool is_fade_step(const struct finder *f, size_t at)
{
    for (size_t to = at; to <= at + 1; to++) {
        bool blank = is_blank(&f->frame[to == at ? at : at - 1]);
        if (blank && to > 1 && to < f->count &&
            4 * f->frame[to].distance[1] >= 5 * f->frame[at].distance[0])
            return true;
    }
    return false;
}

/*
 * Returns true if the frame before a change and one soon after it are alike, or one soon before it
 * and the frame after it. In a strobe all dark frames are alike, so these do not count.
 */
static bool is_flash(const struct finder *f, size_t at)
{
    unsigned change = difference_at(f, at, 0), contrasts = contrasts_of(f, at, 1);
    for (int i = 1; i < FLASH_LAGS; i++) {
        const size_t lag = scan_lag[i], ends[] = {at, at + lag - 1};
        for (int k = 0; k < 2; k++) {
            size_t to = ends[k];
            if (to < lag || to >= f->count || apart_us(f, to - lag, to) > FLASH_US ||
                4 * contrasts_of(f, to, lag) < 3 * contrasts)
                continue;
            if (4 * difference_at(f, to, i) < change)
                return true;
        }
    }
    return false;
}

static bool find_cuts(struct finder *f, struct err *e)
{
    for (size_t i = 1; i < f->count; i++) {
        const struct scan_frame *p = &f->frame[i];
        unsigned score = score_of(p->distance[0], p->likeness[0], contrasts_of(f, i, 1));
        unsigned change = difference_at(f, i, 0);
        if (score < f->threshold || change < 3 * difference_beside(f, i, -1) ||
            change < 3 * difference_beside(f, i, 1) || is_fade_step(f, i) || is_flash(f, i))
            continue;
        if (!add_boundary(f, (struct boundary){.at = i, .score = score}, e))
            return false;
        f->events[i] = EVENT_CUT;
    }
    return true;
}

/* ---- Fades ---- */

/* Returns the frame up to which the contrast rises from blank frame `i` on, in steps of 1 or -1,
 * without a cut. */
static size_t end_of_ramp(const struct finder *f, size_t i, int step)
{
    size_t room = step > 0 ? f->count - 1 - i : i;
    for (; room >= RAMP && !(f->events[step > 0 ? i + 1 : i] & EVENT_CUT); room--) {
        if (f->frame[i + (size_t)(step * RAMP)].contrast <= f->frame[i].contrast)
            break;
        i += (size_t)step;
    }
    return i;
}

/* Returns true if the contrast changes step by step from the frame beside a blank one to the end of
 * the ramp. */
static bool is_gradual(const struct finder *f, size_t beside, size_t ramp)
{
    return 2 * f->frame[beside].contrast <= f->frame[ramp].contrast;
}

/* Returns the middle of the frames with the least contrast of [first, end). */
static size_t middle_of_blank(const struct finder *f, size_t first, size_t end)
{
    size_t from = first, to = first;
    for (size_t i = first; i < end; i++) {
        if (f->frame[i].contrast < f->frame[from].contrast)
            from = i;
        if (f->frame[i].contrast == f->frame[from].contrast)
            to = i;
    }
    return (from + to + 1) / 2;
}

/* A run of blank frames [first, end) is a fade if it is neither a flash nor beside a cut. */
static bool find_fade(struct finder *f, size_t first, size_t end, struct err *e)
{
    size_t from = end_of_ramp(f, first, -1), to = end_of_ramp(f, end - 1, 1);
    bool has_cut = false;
    for (size_t i = first; i <= end && end < f->count; i++)
        has_cut |= f->events[i] & EVENT_CUT;
    for (size_t i = from; i <= to; i++)
        f->events[i] |= EVENT_FADE;
    if (first == 0 || end == f->count || has_cut ||
        (!is_gradual(f, first - 1, from) && !is_gradual(f, end, to)))
        return true;
    struct boundary b = {middle_of_blank(f, first, end), UINT16_MAX, SHOT_FADE,
                         (uint32_t)(to - from + 1)};
    return add_boundary(f, b, e);
}

static bool find_fades(struct finder *f, struct err *e)
{
    size_t end;
    for (size_t i = 0; i < f->count; i = end) {
        for (end = i; end < f->count && is_blank(&f->frame[end]);)
            end++;
        if (end > i && !find_fade(f, i, end, e))
            return false;
        end += end == i;
    }
    return true;
}

/* ---- Dissolves ---- */

/*
 * Returns how much frame `middle` is the mean of two different frames, `half` before and after it,
 * or 0. Mixing lowers the contrast.
 */
static unsigned mixture_at(const struct finder *f, size_t middle, int far)
{
    int lag = SCAN_NEAR + far;
    size_t half = scan_lag[lag] / 2;
    if (middle < half || f->count - middle <= half)
        return 0;
    const struct scan_frame *from = &f->frame[middle - half], *to = &f->frame[middle + half];
    unsigned contrast = (unsigned)from->contrast + to->contrast;
    unsigned distance = to->distance[lag], residue = to->residue[far];
    if (f->events[middle + half] != f->events[middle - half] || is_blank(from))
        return 0;
    if (to->likeness[lag] > LIKE || 8 * residue > 3 * distance ||
        20U * f->frame[middle].contrast > 9 * contrast)
        return 0;
    return score_of(difference_of(distance - 2 * residue, to->likeness[lag]), 0, contrast);
}

/* Returns the dissolve with its middle at a frame. Its length is that of the shortest span of nearly
 * the highest score. */
static struct boundary dissolve_at(const struct finder *f, size_t middle)
{
    struct boundary b = {.at = middle, .by = SHOT_DISSOLVE};
    unsigned score[SCAN_FAR];
    for (int i = 0; i < SCAN_FAR; i++) {
        score[i] = mixture_at(f, middle, i);
        b.score = score[i] > b.score ? score[i] : b.score;
    }
    for (int i = SCAN_FAR - 1; i >= 0; i--)
        if (score[i] >= b.score - b.score / 8)
            b.frames = scan_lag[SCAN_NEAR + i];
    return b;
}

/* Adds a dissolve, in the middle of the frames with nearly its score. */
static bool add_dissolve(struct finder *f, struct boundary b, struct err *e)
{
    size_t from = b.at, to = b.at;
    while (from > 0 && dissolve_at(f, from - 1).score >= b.score / 4 * 3)
        from--;
    while (to + 1 < f->count && dissolve_at(f, to + 1).score >= b.score / 4 * 3)
        to++;
    b.at = (from + to + 1) / 2;
    return add_boundary(f, b, e);
}

/* Of dissolves that overlap, the one with the highest score counts. */
static bool find_dissolves(struct finder *f, struct err *e)
{
    struct boundary last = {0};
    for (size_t i = 0; i < f->count; i++) {
        struct boundary b = dissolve_at(f, i);
        if (b.score < f->threshold / 3)
            continue;
        if (last.score > 0 && b.at - last.at >= (b.frames + last.frames) / 2) {
            if (!add_dissolve(f, last, e))
                return false;
            last.score = 0;
        }
        last = b.score > last.score ? b : last;
    }
    return last.score == 0 || add_dissolve(f, last, e);
}

/* ---- Shots ---- */

static int compare_boundaries(const void *a, const void *b)
{
    const struct boundary *p = a, *q = b;
    return p->at < q->at ? -1 : p->at > q->at;
}

/* Returns true if a shot from a boundary to another, or to an end of the film, is too short. */
static bool is_short(const struct finder *f, size_t from, size_t to)
{
    int64_t end_us = to < f->count ? f->frame[to].time_us : f->end_us;
    return end_us - f->frame[from].time_us < SHOT_LEAST_US;
}

/* Sorts the boundaries, and of two that are too near leaves out that with the lower score. */
static void join_shots(struct finder *f)
{
    size_t kept = 0;
    if (f->founds > 0)
        qsort(f->found, f->founds, sizeof *f->found, compare_boundaries);
    for (size_t i = 0; i < f->founds; i++) {
        struct boundary b = f->found[i];
        if (is_short(f, 0, b.at) || is_short(f, b.at, f->count))
            continue;
        while (kept > 0 && is_short(f, f->found[kept - 1].at, b.at) &&
               f->found[kept - 1].score < b.score)
            kept--;
        if (kept == 0 || !is_short(f, f->found[kept - 1].at, b.at))
            f->found[kept++] = b;
    }
    f->founds = kept;
}

/* Returns when the film ends; if that is unknown, the last frame is as long as the one before. */
static int64_t end_of_film(const struct film_scan *s)
{
    int64_t last_us = s->frame[s->count - 1].time_us;
    if (s->end_us >= last_us)
        return s->end_us;
    return s->count > 1 ? 2 * last_us - s->frame[s->count - 2].time_us : last_us;
}

/* Fills a shot of the frames [from, to). */
static void fill_shot(const struct film_scan *s, size_t from, size_t to, struct shot *shot)
{
    uint64_t sum[3] = {0}, n = to > from ? to - from : 1;
    for (size_t i = from; i < to; i++)
        for (int c = 0; c < 3; c++)
            sum[c] += s->frame[i].mean[c];
    for (int c = 0; c < 3; c++)
        shot->mean[c] = (uint8_t)((sum[c] + n / 2) / n);
    bool is_last = to == s->count;
    shot->frame = s->frame[from].frame;
    shot->start_us = s->frame[from].time_us;
    shot->frames = (is_last ? s->frame[to - 1].frame + 1 : s->frame[to].frame) - shot->frame;
    shot->end_us = is_last ? end_of_film(s) : s->frame[to].time_us;
}

static bool make_shots(const struct finder *f, const struct film_scan *s, struct shots *out,
                       struct err *e)
{
    out->shot = err_calloc(f->founds + 1, sizeof *out->shot, e);
    if (!out->shot)
        return false;
    for (size_t i = 0; i <= f->founds; i++) {
        struct shot *shot = &out->shot[i];
        fill_shot(s, i > 0 ? f->found[i - 1].at : 0, i < f->founds ? f->found[i].at : s->count,
                  shot);
        shot->begins_by = i > 0 ? f->found[i - 1].by : SHOT_CUT;
        shot->transition_frames = i > 0 ? f->found[i - 1].frames : 0;
    }
    out->count = f->founds + 1;
    return true;
}

bool shots_find(const struct film_scan *s, int threshold, struct shots *out, struct err *e)
{
    struct finder f = {.frame = s->frame,
                       .count = s->count,
                       .end_us = end_of_film(s),
                       .threshold = (unsigned)threshold * SCAN_UNIT};
    *out = (struct shots){0};
    f.events = err_calloc(s->count, sizeof *f.events, e);
    bool ok = f.events && find_cuts(&f, e) && find_fades(&f, e);
    if (ok) {
        for (size_t i = 0; i < f.count; i++)
            f.events[i] = (f.events[i] != 0) + (i > 0 ? f.events[i - 1] : 0);
        ok = find_dissolves(&f, e);
    }
    if (ok) {
        join_shots(&f);
        ok = make_shots(&f, s, out, e);
    }
    free(f.events);
    free(f.found);
    return ok;
}
