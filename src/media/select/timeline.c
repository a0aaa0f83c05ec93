#include "timeline.h"

#define BACK_US INT64_C(1000000)
#define AHEAD_US INT64_C(3600000000)

struct timeline timeline_begin(const struct film_clock *clock)
{
    return (struct timeline){.frame_us = clock->frame_us,
                             .origin_us = clock->origin_us,
                             .wraps = clock->wraps,
                             .last_us = -1};
}

/* Sets the origin by the first frame with a stored time, unless the container's can be relied on.
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
