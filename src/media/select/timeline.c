#include "timeline.h"

#include <stdlib.h>
#include <string.h>

#define BACK_US INT64_C(1000000)
#define AHEAD_US INT64_C(3600000000)

struct timeline timeline_begin(const struct film_clock *clock)
{
    return (struct timeline){.frame_us = clock->frame_us,
                             .origin_us = clock->origin_us,
                             .wraps = clock->wraps,
                             .last_us = -1};
}

/* Sets the origin by the first frame with a stored time if the container's is missing or far off.
 */
static void find_origin(struct timeline *t, int64_t pts_us, int64_t expected)
{
    bool first = t->last_us < 0;
    bool far = t->origin_us != TIME_NONE && first &&
               (pts_us - t->origin_us > AHEAD_US || t->origin_us - pts_us > BACK_US);
    if (t->origin_us == TIME_NONE || far)
        t->origin_us = pts_us - expected;
}

/* A first frame without a stored time is at 0: the origin follows from a later frame. */
static int64_t origin_follows(struct timeline *t, int64_t expected)
{
    if (t->last_us < 0)
        t->origin_us = TIME_NONE;
    return expected;
}

int64_t timeline_at(struct timeline *t, int64_t pts_us)
{
    int64_t expected = t->last_us < 0 ? 0 : t->last_us + t->frame_us;
    expected = expected < TIME_MOST ? expected : TIME_MOST;
    if (pts_us == TIME_NONE || pts_us > TIME_MOST || pts_us < -TIME_MOST)
        return origin_follows(t, expected);
    find_origin(t, pts_us, expected);
    int64_t time = pts_us - t->origin_us + t->shift_us;
    int64_t most = t->wraps ? t->last_us + AHEAD_US : TIME_MOST;
    bool ahead = t->last_us >= 0 && time > most;
    bool back = t->last_us >= 0 && time < t->last_us - BACK_US;
    if (back || ahead) {
        t->shift_us += expected - time;
        time = expected;
    }
    return time < 0 ? 0 : time;
}

int64_t timeline_last_stays(int64_t frame_us, int64_t duration_us)
{
    bool slide = duration_us / 2 >= frame_us && duration_us <= AHEAD_US;
    return slide ? duration_us : frame_us;
}

void timeline_step(struct timeline *t, int64_t time_us) { t->last_us = time_us; }

/* ------------------------------------------------------------------ places */

bool time_queue_push(struct time_queue *q, int64_t us, struct err *e)
{
    if (q->end == q->room && q->first > q->room / 2) {
        memmove(q->us, q->us + q->first, (q->end - q->first) * sizeof *q->us);
        q->end -= q->first;
        q->first = 0;
    }
    if (!err_reserve(&q->us, q->end + 1, &q->room, sizeof *q->us, e))
        return false;
    q->us[q->end++] = us;
    return true;
}

bool time_queue_waits(const struct time_queue *q) { return q->end > q->first; }

int64_t time_queue_early(int64_t first_us, int64_t late_us, int delay, int64_t frame_us)
{
    int64_t usual = delay * frame_us, gap = late_us - first_us;
    return gap <= 2 * usual ? gap : usual - frame_us;
}

int64_t time_queue_next(struct time_queue *q, int64_t frame_us, bool take)
{
    size_t waiting = q->end - q->first, delay = (size_t)q->delay;
    if (waiting == 0)
        return TIME_NONE;
    size_t late = delay < waiting ? delay : waiting - 1;
    int64_t us = q->us[q->first + late] + (int64_t)(delay - late) * frame_us;
    if (!q->begun && q->moves)
        q->early_us = time_queue_early(q->us[q->first], us, q->delay, frame_us);
    q->begun = true;
    q->first += take;
    return us - q->early_us;
}

void time_queue_free(struct time_queue *q)
{
    free(q->us);
    *q = (struct time_queue){.us = NULL};
}

/* ------------------------------------------------------------------ gaps */

void gaps_note(struct gaps *g, uint64_t serial) { g->after[g->noted++ % GAPS_KEPT] = serial; }

bool gaps_between(const struct gaps *g, uint64_t a, uint64_t b, bool reordered)
{
    /* Codecs reorder by up to 16: as far pictures may be from a missing one. */
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
