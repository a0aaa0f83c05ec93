/*
 * align_exact.c - what the films' pictures say: jobs that hand over strips, facts and frames in
 * memory, and edits to the frame.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "align.h"
#include "base/log.h"
#include "output/writer.h"

/* ---- The films' jobs ---- */

enum { FRAMES_MOST = 4096 };

/* What a job writes about its film, and behind it the times of `columns` columns. */
struct facts {
    double rate;
    int64_t start_us, duration_us;
    uint64_t columns;
};

/* ---- In a worker process ---- */

static bool write_facts(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    const struct film *film = r->film;
    const bool has_rate = film->rate_num > 0 && film->rate_den > 0;
    const struct facts facts = {.rate =
                                    has_rate ? (double)film->rate_num / (double)film->rate_den : 0,
                                .start_us = film->length.start_us,
                                .duration_us = film->length.duration_us,
                                .columns = r->count};
    (void)strips;
    errno = 0;
    fwrite(&facts, sizeof facts, 1, f);
    for (uint64_t i = 0; i < r->count; i++)
        fwrite(&columns_get(r->columns, i)->time_us, sizeof(int64_t), 1, f);
    return !ferror(f) || writer_failed(e);
}

static const struct writer facts_writer = {
    .name = "facts", .title = "facts", .binary = true, .modeless = true, .write = write_facts};

/* ---- In the parent ---- */

/* Returns a time, or 0 if it is none that a film has. */
static int64_t check_time(int64_t us) { return us >= 0 && us < INT64_C(1000000000000000) ? us : 0; }

bool align_facts_read(const uint8_t *bytes, size_t size, struct align_film *film,
                      struct align_frames *frames)
{
    struct facts facts;
    errno = EINVAL;
    if (size < sizeof facts)
        return false;
    memcpy(&facts, bytes, sizeof facts);
    if (facts.columns != (size - sizeof facts) / sizeof(int64_t))
        return false;
    film->rate = facts.rate > 0 && facts.rate < 1e9 ? facts.rate : 0; /* 0 for a NaN */
    film->start_us = check_time(facts.start_us);
    film->duration_us = check_time(facts.duration_us);
    if (!frames)
        return true;
    frames->count = facts.columns < FRAMES_MOST ? (size_t)facts.columns : FRAMES_MOST;
    free(frames->time_us);
    frames->time_us = calloc(frames->count + 1, sizeof *frames->time_us);
    if (!frames->time_us)
        return false;
    memcpy(frames->time_us, bytes + sizeof facts, frames->count * sizeof *frames->time_us);
    for (size_t i = 0; i < frames->count; i++)
        frames->time_us[i] = check_time(frames->time_us[i]);
    return true;
}

/* What the outputs of a run are taken into. */
struct sink {
    struct align_film *film; /* [2] */
    struct align_frames *frames;
    size_t rgb_bytes;
};

/* Implements batch_sink.take. */
static bool take_output(void *user, size_t film, const struct writer *writer, uint8_t *bytes,
                        size_t size)
{
    struct sink *s = user;
    if (writer == &facts_writer) {
        bool ok = align_facts_read(bytes, size, &s->film[film], s->frames);
        free(bytes);
        return ok;
    }
    uint8_t **to = writer ? &s->film[film].png : &s->frames->rgb;
    free(*to);
    *to = bytes;
    if (writer)
        s->film[film].png_bytes = size;
    else
        s->rgb_bytes = size;
    return true;
}

/*
 * Adds rate, start and duration to the outputs of `plan`, and the times of all frames, and renders
 * the films that are due. Sets film[], and *frames unless it is NULL: the analysis frames (--dump),
 * of one film. Returns false as align_pictures_read.
 */
static bool render_films(const struct command_films *films, const struct plan *plan,
                         struct align_film film[2], struct align_frames *frames, int *status,
                         struct err *e)
{
    struct sink s = {.film = film, .frames = frames};
    const struct batch_sink sink = {take_output, &s};
    struct plan with = *plan;
    with.outputs.sound_only = false;
    with.outputs.in_memory = true;
    with.outputs.extra[with.outputs.extras++] =
        (struct options_extra){&facts_writer, facts_writer.name};
    if (frames)
        with.outputs.dump = "frames";
    *status = command_films_render(films, &with, true, &sink);
    if (*status != 0 || batch_is_worker())
        return false;
    if (!frames)
        return true;
    if (!frames->time_us || !frames->rgb)
        return err_set(e, ERR_FAILED, "a worker process handed over no frames");
    if (frames->count > s.rgb_bytes / ALIGN_FRAME_BYTES)
        frames->count = s.rgb_bytes / ALIGN_FRAME_BYTES;
    return true;
}

bool align_pictures_read(const struct command_films *films, bool strips, struct align_film film[2],
                         int *status, struct err *e)
{
    struct plan plan = films->options.plan;
    if (strips) {
        static const char mode[] = "squeeze";
        plan.picture.strip[0] = strip_find(mode, sizeof mode - 1);
        plan.picture.strips = 1;
        plan.picture.height = 160;
        plan.outputs.extra[plan.outputs.extras++] =
            (struct options_extra){writer_find("png"), "strip"};
    } else {
        plan.film.selection.every = INT32_MAX;
    }
    return render_films(films, &plan, film, NULL, status, e);
}

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

static void free_frames(struct align_frames *f)
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
    return render_films(x->films, &plan, facts, out, x->status, e);
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
    free_frames(&own);
    free_frames(&before);
    free_frames(&after);
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
