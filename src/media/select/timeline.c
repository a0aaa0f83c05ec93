#include "timeline.h"

#include <stdbool.h>

#define BACK_US INT64_C(1000000)
#define AHEAD_US INT64_C(3600000000)
/* times beyond 36,000 years come from broken files; sums of a few others do not overflow */
#define SANE_US ((int64_t)1 << 60)

struct timeline timeline_begin(int64_t frame_us)
{
    return (struct timeline){.frame_us = frame_us, .origin_us = TIME_NONE, .last_us = -1};
}

int64_t timeline_at(struct timeline *t, int64_t pts_us)
{
    int64_t expected = t->last_us < 0 ? 0 : t->last_us + t->frame_us;
    if (pts_us == TIME_NONE || pts_us > SANE_US || pts_us < -SANE_US)
        return expected;
    if (t->origin_us == TIME_NONE)
        t->origin_us = pts_us - expected;
    int64_t time = pts_us - t->origin_us + t->shift_us;
    bool ahead = t->last_us >= 0 && time > t->last_us && time - t->last_us > AHEAD_US;
    if (time < t->last_us - BACK_US || ahead) {
        t->shift_us += expected - time;
        time = expected;
    }
    return time < 0 ? 0 : time;
}

int64_t timeline_last_stays(const struct timeline *t, int64_t duration_us)
{
    bool slide = duration_us / 2 >= t->frame_us && duration_us <= AHEAD_US;
    return slide ? duration_us : t->frame_us;
}

void timeline_step(struct timeline *t, int64_t time_us) { t->last_us = time_us; }
