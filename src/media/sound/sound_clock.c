#include "sound_clock.h"

#include "media/select/timeline.h"

/* Jumps, as in timeline.c. */
#define BACK_US INT64_C(1000000)
#define AHEAD_US INT64_C(3600000000)

/* Shifts of sound and pictures that differ by less come from the same jump. */
#define SAME_US INT64_C(2000000)

struct sound_clock sound_clock_begin(int64_t origin_us, int64_t pictures_us, bool wraps,
                                     int64_t frame_us)
{
    bool far = origin_us != TIME_NONE && pictures_us != TIME_NONE &&
               (pictures_us - origin_us > AHEAD_US || origin_us - pictures_us > BACK_US);
    return (struct sound_clock){.origin_us =
                                    origin_us == TIME_NONE || far ? pictures_us : origin_us,
                                .wraps = wraps,
                                .most_us = INT64_MAX,
                                .frame_us = frame_us};
}

/* Returns the time of a track's next packet, and lets it end `lasts_us` later. */
static int64_t advance(const struct sound_clock *c, struct sound_track *t, int64_t stored_us,
                       int64_t lasts_us)
{
    int64_t time = stored_us - c->origin_us + t->shift_us;
    bool ahead = c->wraps && time > t->end_us + AHEAD_US;
    if (t->begun && (time < t->end_us - BACK_US || ahead)) {
        t->shift_us += t->end_us - time;
        time = t->end_us;
    }
    if (time > c->most_us)
        return TIME_NONE;
    t->end_us = time + lasts_us;
    t->begun = true;
    return time;
}

/* Returns true for a time with which sums do not overflow. */
static bool is_usable(const struct sound_clock *c, int64_t stored_us)
{
    return c->origin_us != TIME_NONE && stored_us >= -TIME_MOST && stored_us <= TIME_MOST;
}

void sound_clock_picture(struct sound_clock *c, int64_t stored_us)
{
    if (is_usable(c, stored_us))
        advance(c, &c->pictures, stored_us, c->frame_us);
}

int64_t sound_clock_at(struct sound_clock *c, int64_t stored_us, int64_t lasts_us)
{
    lasts_us = lasts_us > 0 && lasts_us < AHEAD_US ? lasts_us : 0;
    if (!is_usable(c, stored_us)) {
        c->sound.end_us += lasts_us;
        return TIME_NONE;
    }
    int64_t off = c->pictures.shift_us - c->sound.shift_us;
    if (off > -SAME_US && off < SAME_US)
        c->sound.shift_us = c->pictures.shift_us;
    return advance(c, &c->sound, stored_us, lasts_us);
}
