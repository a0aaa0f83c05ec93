#include "gaps.h"

void gaps_note(struct gaps *g, uint64_t serial) { g->after[g->noted++ % GAPS_KEPT] = serial; }

bool gaps_between(const struct gaps *g, uint64_t a, uint64_t b, bool reordered)
{
    /*
     * No codec reorders by more than 16, so pictures around a missing one may be that far from its
     * place in decoding order.
     */
    uint64_t reach = reordered ? 17 : 0, kept = g->noted < GAPS_KEPT ? g->noted : GAPS_KEPT;
    uint64_t first = a < b ? a : b, last = a < b ? b : a;
    for (uint64_t i = 0; i < kept; i++)
        if (first < g->after[i] + reach && last + reach >= g->after[i])
            return true;
    return false;
}

bool gaps_inside(const struct gaps *g, uint64_t a, uint64_t b)
{
    uint64_t kept = g->noted < GAPS_KEPT ? g->noted : GAPS_KEPT;
    for (uint64_t i = 0; i < kept; i++)
        if (g->after[i] >= a && g->after[i] <= b)
            return true;
    return false;
}

int64_t gaps_reached(struct gaps *g, int64_t time_us)
{
    if (time_us > g->latest_us)
        g->latest_us = time_us;
    return g->latest_us;
}

uint64_t gap_frames(int64_t from_us, int64_t to_us, int64_t frame_us)
{
    const int64_t hour = INT64_C(3600000000);
    int64_t gap = to_us - from_us;
    if (gap > hour || gap < frame_us + frame_us / 2)
        return 0;
    return (uint64_t)((gap + frame_us / 2) / frame_us) - 1;
}

int64_t gap_frame_time(int64_t from_us, int64_t to_us, uint64_t i, uint64_t count)
{
    return from_us + (to_us - from_us) * (int64_t)i / (int64_t)(count + 1);
}
