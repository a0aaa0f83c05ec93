#include "align_edges.h"

#include <stdlib.h>

enum {
    REACH = 6 * ALIGN_WINDOW,                    /* frames by which an end may move */
    REPLACED = ALIGN_CHANGE * ALIGN_ABSENT_SHARE /* peaks that a run does not go on over */
};

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* Returns how many peaks of B are in frames [from, to). */
static size_t count_peaks(const struct align_peaks *b, uint32_t from, uint32_t to)
{
    return align_peaks_first(b, to) - align_peaks_first(b, from);
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

static bool refine_between(const struct align_peaks *a, const struct align_peaks *b,
                           struct align_run *before, struct align_run *after, struct err *e)
{
    int32_t step = after->offset - before->offset;
    if (abs(step) <= ALIGN_DRIFT && after->from == before->to)
        return true;
    uint32_t skip = step < 0 ? (uint32_t)-step : 0, from = 0, to = 0;
    uint32_t low = larger(before->from, before->to > REACH ? before->to - REACH : 0);
    uint32_t high = smaller(after->to, after->from + REACH);
    high = larger(high > skip ? high - skip : 0, low + 1);
    int32_t *cost = err_calloc(high - low, sizeof *cost, e);
    if (!cost)
        return false;
    count_exceptions(a, b, before, after, low, high - low, skip, cost);
    find_least(cost, high - low, &from, &to);
    free(cost);
    from += low;
    to += low;
    size_t between = count_peaks(b, from, to) + (skip ? count_peaks(b, from + skip, to + skip) : 0);
    if (between < REPLACED)
        from = to = from + (to - from) / 2;
    before->to = from;
    after->from = to + skip;
    return true;
}

/* Moves the beginning to the first shared peak, or to where the shorter of both films begins. */
static void refine_first(const struct align_peaks *a, const struct align_peaks *b,
                         struct align_run *run)
{
    uint32_t low = run->from > REACH ? run->from - REACH : 0, first = run->from;
    uint32_t begin = run->offset < 0 ? (uint32_t)-run->offset : 0;
    for (size_t i = align_peaks_first(b, low); i < b->count && b->point[i].frame < run->to; i++)
        if (align_peaks_shared(a, b, i, run->offset)) {
            first = b->point[i].frame;
            break;
        }
    run->from = begin > first || count_peaks(b, begin, first) < REPLACED ? begin : first;
}

static void refine_last(const struct align_peaks *a, const struct align_peaks *b,
                        struct align_run *run)
{
    uint32_t last = run->to;
    int64_t a_end = (int64_t)a->frames - run->offset;
    uint32_t end = a_end < b->frames ? (uint32_t)(a_end > 0 ? a_end : 0) : b->frames;
    for (size_t i = align_peaks_first(b, (int64_t)run->to + REACH);
         i-- > 0 && b->point[i].frame >= run->from;)
        if (align_peaks_shared(a, b, i, run->offset)) {
            last = b->point[i].frame + 1;
            break;
        }
    run->to = end < last || count_peaks(b, last, end) < REPLACED ? end : last;
}

bool align_edges_refine(const struct align_peaks *a, const struct align_peaks *b,
                        struct align_path *path, struct err *e)
{
    for (size_t i = 1; i < path->runs; i++)
        if (!refine_between(a, b, &path->run[i - 1], &path->run[i], e))
            return false;
    refine_first(a, b, &path->run[0]);
    refine_last(a, b, &path->run[path->runs - 1]);
    return true;
}
