#include <stdlib.h>

#include "align.h"
#include "base/log.h"

/* ---- One edit ---- */

enum {
    SHIFT_MOST = 4,                    /* frames that the sound's offset may be wrong by */
    CLEAR = 3 * 8 * ALIGN_FRAME_BYTES, /* three frames that differ by 8 levels */
    SAME = 24 * ALIGN_FRAME_BYTES,     /* frames that differ by less are the same */
    FRAMES_LEAST = 8
};

static size_t nearest(const struct align_frames *f, int64_t us)
{
    size_t low = 0, high = f->count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        /* The middle between two frames belongs to the earlier one. */
        if (f->time_us[middle] + (f->time_us[middle + 1] - f->time_us[middle]) / 2 < us)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t difference(const struct align_frames *a, size_t i, const struct align_frames *b,
                          size_t k)
{
    const uint8_t *x = a->rgb + i * ALIGN_FRAME_BYTES, *y = b->rgb + k * ALIGN_FRAME_BYTES;
    int64_t sum = 0;
    for (size_t n = 0; n < ALIGN_FRAME_BYTES; n++)
        sum += abs(x[n] - y[n]);
    return sum;
}

/* Returns the frame of `other` that is shown with own's frame i, if `at` is shown with own_us. */
static size_t partner(const struct align_frames *own, size_t i, const struct align_frames *other,
                      const struct align_edit *edit, int64_t at)
{
    return nearest(other, at + (own->time_us[i] - edit->own_us) * edit->num / edit->den);
}

/*
 * Returns `at`, moved by the frames that make own's frames [from, to) most like those of `other`.
 * A longer move must be better by a quarter of a level: pictures that stand still fit anywhere.
 */
static int64_t best_shift(const struct align_frames *own, size_t from, size_t to,
                          const struct align_frames *other, const struct align_edit *edit,
                          int64_t at)
{
    int64_t step =
        (other->time_us[other->count - 1] - other->time_us[0]) / (int64_t)(other->count - 1);
    int64_t best = 0, shift = 0;
    for (int n = 0; n <= 2 * SHIFT_MOST; n++) {
        int64_t move = step * (n % 2 ? (n + 1) / 2 : -(n / 2)), sum = 0;
        for (size_t i = from; i < to; i++)
            sum += difference(own, i, other, partner(own, i, other, edit, at + move));
        if (n == 0 || sum + (int64_t)(to - from) * ALIGN_FRAME_BYTES / 4 < best) {
            best = sum;
            shift = move;
        }
    }
    return at + shift;
}

/*
 * Finds the frame x of own, 1..count - 1, at which the change from `before` to `after` costs least;
 * of equal ones that next to the edit. Returns 0 if it is not clear.
 */
static size_t find_change(const struct align_frames *own, const struct align_frames *before,
                          const struct align_frames *after, const struct align_edit *edit)
{
    int64_t cost = 0, first, best = INT64_MAX;
    size_t x = 0;
    for (size_t i = 0; i < own->count; i++)
        cost += difference(own, i, after, partner(own, i, after, edit, edit->to_us));
    first = cost;
    for (size_t i = 1; i < own->count; i++) {
        cost += difference(own, i - 1, before, partner(own, i - 1, before, edit, edit->from_us));
        cost -= difference(own, i - 1, after, partner(own, i - 1, after, edit, edit->to_us));
        bool nearer =
            x > 0 && llabs(own->time_us[i] - edit->own_us) < llabs(own->time_us[x] - edit->own_us);
        if (cost < best || (cost == best && nearer)) {
            best = cost;
            x = i;
        }
    }
    bool clear = first - best >= CLEAR && cost - best >= CLEAR && best < (int64_t)own->count * SAME;
    return clear ? x : 0;
}

bool align_frames_refine(const struct align_frames *own, const struct align_frames *before,
                         const struct align_frames *after, struct align_edit *edit)
{
    if (own->count < FRAMES_LEAST || before->count < FRAMES_LEAST || after->count < FRAMES_LEAST)
        return false;
    struct align_edit moved = *edit;
    size_t quarter = own->count / 4;
    moved.from_us = best_shift(own, 0, quarter, before, edit, edit->from_us);
    moved.to_us = best_shift(own, own->count - quarter, own->count, after, edit, edit->to_us);
    size_t x = find_change(own, before, after, &moved);
    if (x == 0)
        return false;
    int64_t from = before->time_us[partner(own, x, before, &moved, moved.from_us)];
    int64_t to = after->time_us[partner(own, x, after, &moved, moved.to_us)];
    edit->own_us = own->time_us[x];
    edit->from_us = from;
    edit->to_us = to;
    return from < to;
}

/* ---- All edits ---- */

enum { REACH_US = 2000000, MORE_US = 400000 };

struct exact {
    struct command_films *films;
    const struct align_film *film;
    int *status;
};

void align_frames_free(struct align_frames *f)
{
    free(f->time_us);
    free(f->rgb);
    *f = (struct align_frames){0};
}

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

/* Decodes the frames of a film from `reach` before a time to `reach` after it. */
static bool decode_around(const struct exact *x, int film, int64_t us, int64_t reach,
                          struct align_frames *out, struct err *e)
{
    struct align_film facts[2] = {x->film[0], x->film[1]}; /* are known */
    const struct align_film *f = &x->film[film];
    int64_t from = later(us - reach, f->start_us);
    int64_t to = earlier(us + reach, f->start_us + f->duration_us);
    if (to - from < REACH_US / 4)
        return true;
    struct plan plan = x->films->options.plan;
    plan.film.selection =
        (struct selection){.kind = SELECT_EVERY, .every = 1, .start_us = from, .end_us = to};
    plan.film.size = (struct size_rule){.kind = SIZE_EXACT, .width = 16, .height = 9};
    plan.film.crop.kind = CROP_OFF;
    plan.cache.off = true;
    x->films->in.duty[film] = INPUT_TO_DO;
    x->films->in.duty[1 - film] = INPUT_OTHERS;
    return align_films_render(x->films, &plan, facts, out, x->status, e);
}

/* Decodes the frames around an edit and moves it. `film` is the one that has the scene. */
static bool refine(const struct exact *x, int film, struct align_edit *edit, bool *moved,
                   struct err *e)
{
    struct align_frames own = {0}, before = {0}, after = {0};
    bool ok = decode_around(x, 1 - film, edit->own_us, REACH_US, &own, e) &&
              decode_around(x, film, edit->from_us, REACH_US + MORE_US, &before, e) &&
              decode_around(x, film, edit->to_us, REACH_US + MORE_US, &after, e);
    *moved = ok && align_frames_refine(&own, &before, &after, edit);
    align_frames_free(&own);
    align_frames_free(&before);
    align_frames_free(&after);
    return ok;
}

/* Moves the ends of a segment of one film only, and of its neighbours, if they stay in order. */
static void move_ends(struct align_segment *s, const struct align_edit *edit)
{
    struct align_segment *last = s - 1, *next = s + 1;
    bool a = s->kind == ALIGN_ONLY_A;
    int64_t a_from = a ? edit->from_us : edit->own_us, a_to = a ? edit->to_us : edit->own_us;
    int64_t b_from = a ? edit->own_us : edit->from_us, b_to = a ? edit->own_us : edit->to_us;
    if (a_from <= last->a_from_us || b_from <= last->b_from_us || a_to >= next->a_to_us ||
        b_to >= next->b_to_us)
        return;
    *s = (struct align_segment){s->kind, a_from, a_to, b_from, b_to};
    last->a_to_us = a_from;
    last->b_to_us = b_from;
    next->a_from_us = a_to;
    next->b_from_us = b_to;
}

static bool refine_all(const struct exact *x, struct align_map *map, int *moved, int *edits,
                       struct err *e)
{
    for (size_t i = 1; i + 1 < map->segments; i++) {
        struct align_segment *s = &map->segment[i];
        bool a = s->kind == ALIGN_ONLY_A, done;
        if (s->kind == ALIGN_BOTH || s[-1].kind != ALIGN_BOTH || s[1].kind != ALIGN_BOTH)
            continue;
        struct align_edit edit = {a ? s->b_from_us : s->a_from_us, a ? s->a_from_us : s->b_from_us,
                                  a ? s->a_to_us : s->b_to_us, a ? map->speed_num : map->speed_den,
                                  a ? map->speed_den : map->speed_num};
        if (!refine(x, a ? 0 : 1, &edit, &done, e))
            return false;
        if (done)
            move_ends(s, &edit);
        *moved += done;
        ++*edits;
    }
    return true;
}

bool align_exact(struct command_films *films, const struct align_film film[2],
                 struct align_map *map, int *status, struct err *e)
{
    const struct exact x = {films, film, status};
    int moved = 0, edits = 0;
    bool ok = refine_all(&x, map, &moved, &edits, e);
    map->common_us = 0;
    for (size_t i = 0; i < map->segments; i++)
        if (map->segment[i].kind == ALIGN_BOTH)
            map->common_us += map->segment[i].a_to_us - map->segment[i].a_from_us;
    if (ok)
        log_msg(LOG_INFO, "%d of %d edits placed by the pictures", moved, edits);
    return ok;
}
