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
    AROUND_US = 130000, /* the frames with which a cut's score is compared */
    BLACK = 30,
    WHITE = 225, /* luma of blank frames, and their contrast: */
    BLANK_CONTRAST = 4,
    DISSOLVE_LEAST = 5 * SCAN_UNIT,
};

struct boundary {
    size_t at; /* index of the first frame after it */
    unsigned score;
    enum shot_transition by;
    uint32_t frames;
};

struct finder {
    const struct scan_frame *frame;
    size_t count;
    unsigned threshold; /* in SCAN_UNIT */
    struct boundary *found;
    size_t founds, room;
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

/* Returns the score of a cut before frame `at`: a change of dark frames counts more. */
static unsigned score_at(const struct finder *f, size_t at)
{
    unsigned contrast = (unsigned)f->frame[at - 1].contrast + f->frame[at].contrast;
    unsigned moved = f->frame[at].moved;
    return contrast < 60 ? moved * 72 / (contrast + 12) : moved;
}

/* Returns the mean of the scores beside a cut, on the side where it is larger. */
static unsigned score_around(const struct finder *f, size_t at)
{
    unsigned sum[2] = {0}, n[2] = {0};
    for (size_t i = at - 1; i > 0 && (n[0] < 2 || apart_us(f, i, at) <= AROUND_US); i--, n[0]++)
        sum[0] += score_at(f, i);
    for (size_t i = at + 1; i < f->count && (n[1] < 2 || apart_us(f, at, i) <= AROUND_US);
         i++, n[1]++)
        sum[1] += score_at(f, i);
    unsigned before = n[0] ? sum[0] / n[0] : 0, after = n[1] ? sum[1] / n[1] : 0;
    return before > after ? before : after;
}

/* Returns true if a frame soon after the change is like the one before it, or a frame before it
 * like the one after. */
static bool is_flash(const struct finder *f, size_t at)
{
    unsigned most = f->frame[at].near[0] / 2;
    for (int lag = 1; lag < SCAN_NEAR; lag++) {
        size_t later = at + (size_t)lag;
        if (later < f->count && apart_us(f, at, later) <= FLASH_US &&
            f->frame[later].near[lag] < most)
            return true;
        if (at > (size_t)lag && apart_us(f, at - (size_t)lag - 1, at) <= FLASH_US &&
            f->frame[at].near[lag] < most)
            return true;
    }
    return false;
}

static bool find_cuts(struct finder *f, struct err *e)
{
    for (size_t i = 1; i < f->count; i++) {
        unsigned score = score_at(f, i);
        if (score < f->threshold || score < 3 * score_around(f, i) || is_flash(f, i))
            continue;
        if (!add_boundary(f, (struct boundary){.at = i, .score = score}, e))
            return false;
    }
    return true;
}

/* ---- Fades ---- */

static bool is_blank(const struct scan_frame *f)
{
    return f->contrast <= BLANK_CONTRAST && (f->luma <= BLACK || f->luma >= WHITE);
}

static bool has_cut(const struct finder *f, size_t at)
{
    for (size_t i = 0; i < f->founds; i++)
        if (f->found[i].at == at)
            return true;
    return false;
}

static bool find_fades(struct finder *f, struct err *e)
{
    size_t end;
    for (size_t i = 0; i < f->count; i = end) {
        end = i + 1;
        if (!is_blank(&f->frame[i]))
            continue;
        while (end < f->count && is_blank(&f->frame[end]))
            end++;
        if (i == 0 || end == f->count || has_cut(f, i) || has_cut(f, end))
            continue;
        size_t from = i, to = end - 1;
        while (from > 0 && f->frame[from - 1].contrast > f->frame[from].contrast)
            from--;
        while (to + 1 < f->count && f->frame[to + 1].contrast > f->frame[to].contrast)
            to++;
        struct boundary b = {.at = (i + end) / 2, .score = UINT16_MAX, .by = SHOT_FADE};
        b.frames = (uint32_t)(to - from + 1);
        if (!add_boundary(f, b, e))
            return false;
    }
    return true;
}

/* ---- Dissolves ---- */

static const uint8_t far_lag[SCAN_FAR] = {8, 16, 32, 64, 128};

/* Returns how much the frame is a mixture of the frames before and after, in SCAN_UNIT. */
static unsigned mixture_at(const struct finder *f, size_t at, int lag)
{
    size_t end = at + far_lag[lag] / 2;
    if (end >= f->count || at < far_lag[lag] / 2)
        return 0;
    const struct scan_span *s = &f->frame[end].far[lag];
    if (s->likeness > 128 || 2 * s->residue > s->distance || is_blank(&f->frame[end]) ||
        is_blank(&f->frame[end - far_lag[lag]]))
        return 0;
    return s->distance - 2 * s->residue;
}

static unsigned best_mixture(const struct finder *f, size_t at, int *lag)
{
    unsigned best = 0;
    for (int i = 0; i < SCAN_FAR; i++) {
        unsigned mixture = mixture_at(f, at, i);
        if (mixture > best) {
            best = mixture;
            *lag = i;
        }
    }
    return best;
}

static bool find_dissolves(struct finder *f, struct err *e)
{
    struct boundary last = {0};
    for (size_t i = 1; i < f->count; i++) {
        int lag = 0;
        unsigned mixture = best_mixture(f, i, &lag);
        if (last.score && i > last.at + last.frames / 2) {
            if (!add_boundary(f, last, e))
                return false;
            last.score = 0;
        }
        if (mixture >= DISSOLVE_LEAST && mixture > last.score)
            last = (struct boundary){i, mixture, SHOT_DISSOLVE, far_lag[lag]};
    }
    return !last.score || add_boundary(f, last, e);
}

/* ---- Shots ---- */

static int compare_boundaries(const void *a, const void *b)
{
    const struct boundary *p = a, *q = b;
    return p->at < q->at ? -1 : p->at > q->at;
}

/* Sorts the boundaries, and of two that are too near leaves out that with the lower score. */
static void join_shots(struct finder *f)
{
    size_t kept = 0;
    if (f->founds > 0)
        qsort(f->found, f->founds, sizeof *f->found, compare_boundaries);
    for (size_t i = 0; i < f->founds; i++) {
        struct boundary b = f->found[i];
        while (kept > 0 && apart_us(f, f->found[kept - 1].at, b.at) < SHOT_LEAST_US &&
               f->found[kept - 1].score < b.score)
            kept--;
        if (kept == 0 || apart_us(f, f->found[kept - 1].at, b.at) >= SHOT_LEAST_US)
            f->found[kept++] = b;
    }
    f->founds = kept;
}

/* Fills a shot of the frames [from, to). */
static void fill_shot(const struct film_scan *s, size_t from, size_t to, struct shot *shot)
{
    uint64_t sum[3] = {0}, n = to - from;
    for (size_t i = from; i < to; i++)
        for (int c = 0; c < 3; c++)
            sum[c] += s->frame[i].mean[c];
    for (int c = 0; c < 3; c++)
        shot->mean[c] = (uint8_t)((sum[c] + n / 2) / n);
    const struct scan_frame *last = &s->frame[s->count - 1];
    shot->frame = s->frame[from].frame;
    shot->start_us = s->frame[from].time_us;
    shot->frames = (to < s->count ? s->frame[to].frame : last->frame + 1) - shot->frame;
    shot->end_us = to < s->count ? s->frame[to].time_us : s->end_us;
    if (to == s->count && shot->end_us < last->time_us) { /* unknown: as long as the one before */
        int64_t step = s->count > 1 ? last->time_us - last[-1].time_us : 0;
        shot->end_us = last->time_us + step;
    }
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
    struct finder f = {s->frame, s->count, (unsigned)threshold * SCAN_UNIT, NULL, 0, 0};
    *out = (struct shots){0};
    bool ok = find_cuts(&f, e) && find_fades(&f, e) && find_dissolves(&f, e);
    if (ok) {
        join_shots(&f);
        ok = make_shots(&f, s, out, e);
    }
    free(f.found);
    return ok;
}
