#include "align_path.h"

#include <stdlib.h>

#include "barcode/sound/spectrogram.h"

/* ---- The ends of the path's runs ---- */

enum {
    REACH = 6 * ALIGN_WINDOW,      /* frames by which an end may move */
    REPLACED = 8,                  /* shared peaks that other sound must outweigh */
    PAUSE_MOST = 2 * ALIGN_WINDOW, /* frames */
    PAUSE_POINTS = 12              /* that a pause may lose */
};

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    if (value < least)
        return least;
    return value < most ? value : most;
}

/* Returns the points that other sound must lose to be known. */
static int64_t replaced_points(const struct align_run *run)
{
    return (int64_t)REPLACED * run->worth;
}

/* Appends frames [from, to) of a span. */
static bool add_run(struct align_path *out, size_t *room, const struct align_run *span,
                    uint32_t from, uint32_t to, struct err *e)
{
    if (from >= to)
        return true;
    if (!err_reserve(&out->run, out->runs + 1, room, sizeof *out->run, e))
        return false;
    out->run[out->runs++] = (struct align_run){span->offset, from, to, span->worth};
    return true;
}

/*
 * Appends the parts of a span that both films have. A part ends where the sum of points is highest
 * before it falls by replaced_points, and begins where the sum is lowest before it rises by them.
 */
static bool split_span(const struct align_peaks *a, const struct align_peaks *b,
                       const struct align_run *span, struct align_path *out, size_t *room,
                       struct err *e)
{
    int64_t sum = 0, extreme = 0;
    uint32_t from = span->from, at = from;
    bool both = false;
    for (uint32_t x = span->from; x < span->to; x++) {
        sum += align_peaks_points(a, b, span, x, x + 1);
        if (both ? sum > extreme : sum <= extreme) {
            extreme = sum;
            at = x + 1;
        } else if (llabs(sum - extreme) >= replaced_points(span)) {
            if (both && !add_run(out, room, span, from, at, e))
                return false;
            from = at;
            both = !both;
            extreme = sum;
            at = x + 1;
        }
    }
    return !both || add_run(out, room, span, from, span->to, e);
}

/*
 * Sets what a shared peak of a span is worth, from the share of the path's `runs` in it. Where less
 * than two sevenths of that share are shared, the span loses.
 */
static void set_worth(const struct align_peaks *a, const struct align_peaks *b,
                      const struct align_run *run, size_t runs, struct align_run *span)
{
    int64_t peaks = 0, shared = 0;
    for (size_t i = 0; i < runs; i++) {
        span->worth = 0;
        int64_t lost = align_peaks_points(a, b, span, run[i].from, run[i].to);
        span->worth = 1;
        shared += align_peaks_points(a, b, span, run[i].from, run[i].to) - lost;
        peaks -= lost;
    }
    span->worth = ALIGN_WORTH_MOST;
    if (shared > 0)
        span->worth = (int)clamp(7 * peaks / (2 * shared), 1, ALIGN_WORTH_MOST);
}

/* Splits the path's runs where other sound lies between parts at the same offset. */
static bool split_runs(const struct align_peaks *a, const struct align_peaks *b,
                       struct align_path *path, struct err *e)
{
    struct align_path out = {.points = path->points};
    size_t room = 0;
    bool ok = true;
    for (size_t i = 0, n; ok && i < path->runs; i += n) {
        struct align_run span = path->run[i];
        for (n = 1; i + n < path->runs && path->run[i + n].offset == span.offset; n++)
            span.to = path->run[i + n].to;
        set_worth(a, b, &path->run[i], n, &span);
        ok = split_span(a, b, &span, &out, &room, e);
    }
    free(path->run);
    *path = out;
    return ok;
}

/* Returns half the frames of the pause from `from` to at most `limit`: hardly a peak is in it. */
static uint32_t half_pause_after(const struct align_peaks *a, const struct align_peaks *b,
                                 const struct align_run *run, uint32_t from, uint32_t limit)
{
    uint32_t to = from;
    limit = smaller(limit, from + PAUSE_MOST);
    while (to < limit && align_peaks_points(a, b, run, from, to + 1) >= -PAUSE_POINTS)
        to++;
    return (to - from) / 2;
}

static uint32_t half_pause_before(const struct align_peaks *a, const struct align_peaks *b,
                                  const struct align_run *run, uint32_t to, uint32_t limit)
{
    uint32_t from = to;
    limit = larger(limit, to > PAUSE_MOST ? to - PAUSE_MOST : 0);
    while (from > limit && align_peaks_points(a, b, run, from - 1, to) >= -PAUSE_POINTS)
        from--;
    return (to - from) / 2;
}

/* Finds the longest stretch [*from, *to] of cost[n]'s least value. */
static void find_least(const int32_t *cost, uint32_t n, uint32_t *from, uint32_t *to)
{
    int32_t least = cost[0];
    bool found = false;
    for (uint32_t i = 1; i < n; i++)
        least = cost[i] < least ? cost[i] : least;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t begin = i;
        if (cost[i] != least)
            continue;
        while (i + 1 < n && cost[i + 1] == least)
            i++;
        if (!found || i - begin > *to - *from) {
            *from = begin;
            *to = i;
        }
        found = true;
    }
}

/*
 * Counts for each x = low + i, with i < n: the peaks of `before` at x or later less those that are
 * earlier, and the reverse for those of `after` and x + skip. Both but for a constant.
 */
static void count_exceptions(const struct align_peaks *a, const struct align_peaks *b,
                             const struct align_run *before, const struct align_run *after,
                             uint32_t low, uint32_t n, uint32_t skip, int32_t *cost)
{
    for (uint32_t i = 1; i < n; i++) {
        cost[i] = cost[i - 1];
        /* Frame x - 1 now belongs to `before`, and x - 1 + skip no more to `after`. */
        uint32_t x = low + i - 1;
        for (size_t p = align_peaks_first(b, x); p < align_peaks_first(b, x + 1); p++)
            cost[i] -= align_peaks_shared(a, b, p, before->offset);
        x += skip;
        for (size_t p = align_peaks_first(b, x); p < align_peaks_first(b, x + 1); p++)
            cost[i] += align_peaks_shared(a, b, p, after->offset);
    }
}

/*
 * Finds the end of `before` and the beginning of `after`, at least `skip` later, at which both win
 * most in frames [low, high) and [low + skip, high + skip).
 */
static void find_ends(const struct align_peaks *a, const struct align_peaks *b,
                      const struct align_run *before, const struct align_run *after, uint32_t low,
                      uint32_t high, uint32_t skip, uint32_t *end, uint32_t *begin)
{
    int64_t left = 0, left_most = 0, best;
    int64_t right = align_peaks_points(a, b, after, low + skip, high + skip);
    uint32_t left_end = low;
    best = right;
    *end = low;
    *begin = low + skip;
    for (uint32_t x = low; x < high; x++) {
        left += align_peaks_points(a, b, before, x, x + 1);
        right -= align_peaks_points(a, b, after, x + skip, x + skip + 1);
        if (left > left_most) {
            left_most = left;
            left_end = x + 1;
        }
        if (left_most + right >= best) {
            best = left_most + right;
            *end = left_end;
            *begin = x + 1 + skip;
        }
    }
}

/* Places the end of a run and the beginning of the next, at one point if little is between. */
static bool refine_between(const struct align_peaks *a, const struct align_peaks *b,
                           struct align_run *before, struct align_run *after, struct err *e)
{
    int32_t step = after->offset - before->offset;
    if (abs(step) <= ALIGN_DRIFT && after->from == before->to)
        return true;
    uint32_t skip = step < 0 ? (uint32_t)-step : 0, from = 0, to = 0, end, begin;
    uint32_t low = larger(before->from, before->to > REACH ? before->to - REACH : 0);
    uint32_t high = smaller(after->to, after->from + REACH);
    high = larger(high > skip ? high - skip : 0, low + 1);
    int32_t *cost = err_calloc(high - low, sizeof *cost, e);
    if (!cost)
        return false;
    count_exceptions(a, b, before, after, low, high - low, skip, cost);
    find_least(cost, high - low, &from, &to);
    free(cost);
    uint32_t x = low + from + (to - from) / 2;
    find_ends(a, b, before, after, low, high, skip, &end, &begin);
    before->to = x;
    after->from = x + skip;
    int64_t lost =
        align_peaks_points(a, b, before, end, x) + align_peaks_points(a, b, after, x + skip, begin);
    if (-lost >= replaced_points(before->worth > after->worth ? before : after)) {
        before->to = end + half_pause_after(a, b, before, end, begin - skip);
        after->from = begin - half_pause_before(a, b, after, begin, end + skip);
    }
    return true;
}

/* Moves the beginning to where the run wins most, or to where the shorter of both films begins. */
static void refine_first(const struct align_peaks *a, const struct align_peaks *b,
                         struct align_run *run)
{
    uint32_t begin = run->offset < 0 ? (uint32_t)-run->offset : 0;
    uint32_t low = larger(begin, run->from > REACH ? run->from - REACH : 0);
    uint32_t first = smaller(run->to, run->from + REACH);
    int64_t sum = 0, most = 0;
    for (uint32_t x = first; x-- > low;) {
        sum += align_peaks_points(a, b, run, x, x + 1);
        if (sum > most) {
            most = sum;
            first = x;
        }
    }
    if (-align_peaks_points(a, b, run, begin, first) >= replaced_points(run))
        run->from = first - half_pause_before(a, b, run, first, begin);
    else
        run->from = smaller(begin, first);
}

static void refine_last(const struct align_peaks *a, const struct align_peaks *b,
                        struct align_run *run)
{
    int64_t a_end = (int64_t)a->frames - run->offset;
    uint32_t end = a_end < b->frames ? (uint32_t)(a_end > 0 ? a_end : 0) : b->frames;
    uint32_t high = smaller(end, run->to + REACH);
    uint32_t last = larger(run->from, run->to > REACH ? run->to - REACH : 0);
    int64_t sum = 0, most = 0;
    for (uint32_t x = last; x < high; x++) {
        sum += align_peaks_points(a, b, run, x, x + 1);
        if (sum > most) {
            most = sum;
            last = x + 1;
        }
    }
    if (-align_peaks_points(a, b, run, last, end) >= replaced_points(run))
        run->to = last + half_pause_after(a, b, run, last, end);
    else
        run->to = larger(end, last);
}

/* Returns true if two runs are one part: the clock drifted. */
static bool goes_on(const struct align_run *run, const struct align_run *next)
{
    return next->from <= run->to + ALIGN_DRIFT && abs(next->offset - run->offset) <= ALIGN_DRIFT;
}

/* Removes runs that, by their own, win less than a change of offset costs: similar sound. */
static void drop_chance(const struct align_peaks *a, const struct align_peaks *b,
                        struct align_path *path)
{
    const struct align_run *run = path->run;
    size_t kept = 0;
    for (size_t i = 0; i < path->runs; i++) {
        bool alone = (i == 0 || !goes_on(&run[i - 1], &run[i])) &&
                     (i + 1 == path->runs || !goes_on(&run[i], &run[i + 1]));
        int64_t least = (int64_t)ALIGN_CHANGE * run[i].worth;
        if (!alone || align_peaks_points(a, b, &run[i], run[i].from, run[i].to) >= least)
            path->run[kept++] = run[i];
    }
    path->runs = kept;
}

static bool refine_edges(const struct align_peaks *a, const struct align_peaks *b,
                         struct align_path *path, struct err *e)
{
    if (!split_runs(a, b, path, e))
        return false;
    if (path->runs > 1)
        drop_chance(a, b, path);
    if (path->runs == 0)
        return true;
    for (size_t i = 1; i < path->runs; i++)
        if (!refine_between(a, b, &path->run[i - 1], &path->run[i], e))
            return false;
    refine_first(a, b, &path->run[0]);
    refine_last(a, b, &path->run[path->runs - 1]);
    return true;
}

/* ---- The map ---- */

enum {
    GAP_LEAST_US = 200000 /* as exact as edges are */
};

/* ---- Segments ---- */

/* Returns the time of a frame. What a frame has belongs to the middle of its window. */
static int64_t edge_us(uint32_t frame) { return ((int64_t)frame + 1) * ALIGN_FRAME_US; }

/* Adds what is up to a place in both films, to the last segment if it is of that kind. */
static void add_segment(struct align_map *out, enum align_kind kind, int64_t a_to, int64_t b_to)
{
    struct align_segment *last = out->segments > 0 ? &out->segment[out->segments - 1] : NULL;
    int64_t a = last ? last->a_to_us : 0, b = last ? last->b_to_us : 0;
    if (kind == ALIGN_ONLY_A)
        b_to = b;
    else if (b_to <= b)
        return;
    if (kind == ALIGN_ONLY_B)
        a_to = a;
    else if (a_to <= a)
        return;
    if (last && last->kind == kind) {
        last->a_to_us = a_to;
        last->b_to_us = b_to;
    } else {
        out->segment[out->segments++] = (struct align_segment){kind, a, a_to, b, b_to};
    }
    if (kind == ALIGN_BOTH)
        out->common_us += a_to - a;
}

/* Adds what is missing up to a place in both films, unless it is too short to be known. */
static void add_gap(struct align_map *out, int64_t a_to, int64_t b_to)
{
    const struct align_segment *last = out->segments > 0 ? &out->segment[out->segments - 1] : NULL;
    int64_t a = last ? last->a_to_us : 0, b = last ? last->b_to_us : 0;
    if (a_to - a >= GAP_LEAST_US)
        add_segment(out, ALIGN_ONLY_A, a_to, 0);
    if (b_to - b >= GAP_LEAST_US)
        add_segment(out, ALIGN_ONLY_B, 0, b_to);
}

static int64_t unscale(const struct align_map *map, int64_t us)
{
    return (us * map->speed_den + map->speed_num / 2) / map->speed_num;
}

static bool make_segments(const struct align_fit *f, struct align_map *out, struct err *e)
{
    const struct align_path *path = &f->path;
    out->segment = err_calloc(3 * path->runs + 2, sizeof *out->segment, e);
    if (!out->segment)
        return false;
    for (size_t i = 0; i < path->runs; i++) {
        const struct align_run *first = &path->run[i];
        while (i + 1 < path->runs && goes_on(&path->run[i], &path->run[i + 1]))
            i++;
        const struct align_run *last = &path->run[i];
        int64_t from = first->from > 0 ? edge_us(first->from) : 0;
        int64_t to = edge_us(last->to);
        int64_t a_from = from + align_run_offset_us(f, first);
        int64_t a_to = to + align_run_offset_us(f, last);
        add_gap(out, clamp(a_from, 0, out->a_us), clamp(unscale(out, from), 0, out->b_us));
        add_segment(out, ALIGN_BOTH, clamp(a_to, 0, out->a_us),
                    clamp(unscale(out, to), 0, out->b_us));
    }
    add_gap(out, out->a_us, out->b_us);
    return true;
}

/* Returns the peaks that both films have, for the film that has fewer. */
static int score_of(const struct align_fit *f)
{
    int64_t shared = 0;
    size_t fewer = f->a.count < f->b.count ? f->a.count : f->b.count;
    for (size_t r = 0; r < f->path.runs; r++) {
        const struct align_run *run = &f->path.run[r];
        for (size_t i = align_peaks_first(&f->b, run->from); i < align_peaks_first(&f->b, run->to);
             i++)
            shared += align_peaks_shared(&f->a, &f->b, i, run->offset);
    }
    return fewer > 0 ? (int)clamp(shared * ALIGN_SCORE_MOST / (int64_t)fewer, 0, ALIGN_SCORE_MOST)
                     : 0;
}

static int64_t samples_us(uint64_t samples)
{
    return (int64_t)(samples / SPECTROGRAM_RATE * 1000000 +
                     samples % SPECTROGRAM_RATE * 1000000 / SPECTROGRAM_RATE);
}

bool align_map_make(const struct align_sound *a, const struct align_sound *b, struct align_map *out,
                    struct err *e)
{
    struct align_fit f;
    bool ok = align_fit_find(a, b, &f, e);
    *out = (struct align_map){.speed_num = f.speed.num,
                              .speed_den = f.speed.den,
                              .same_pitch = f.speed.same_pitch,
                              .a_us = samples_us(a->samples),
                              .b_us = samples_us(b->samples)};
    if (ok && f.path.runs > 0)
        ok = refine_edges(&f.a, &f.b, &f.path, e);
    if (ok) {
        out->score = score_of(&f);
        ok = make_segments(&f, out, e);
    }
    align_fit_free(&f);
    return ok;
}

void align_map_free(struct align_map *map)
{
    free(map->segment);
    *map = (struct align_map){0};
}

const char *align_kind_name(enum align_kind kind)
{
    static const char *const name[] = {"both", "a", "b"};
    return name[kind];
}
