#include "timecode.h"

#include <math.h>

struct timecode timecode_of(double rate, bool drop)
{
    const int base = rate >= 1 ? (int)lround(rate) : 1;
    const double ntsc = base * 1000 / 1001.0;
    const bool is_ntsc = fabs(rate - ntsc) < 1e-5 * ntsc;
    return (struct timecode){.rate = is_ntsc ? ntsc : rate,
                             .base = base,
                             .drop = drop && is_ntsc && (base == 30 || base == 60) ? base / 15 : 0};
}

struct timecode timecode_of_film(const struct film *film, bool drop)
{
    const bool known = film->rate_num > 0 && film->rate_den > 0;
    const double rate = known ? (double)film->rate_num / (double)film->rate_den : 25;
    struct timecode t = timecode_of(rate, drop);
    t.zero_us = film->length.start_us;
    return t;
}

int64_t timecode_frame(const struct timecode *t, int64_t time_us)
{
    const int64_t us = time_us - t->zero_us;
    return us > 0 ? llround((double)us * t->rate / 1e6) : 0;
}

/* Returns the number that a frame has on a clock that leaves numbers out. */
static int64_t skip_dropped(const struct timecode *t, int64_t frame)
{
    const int64_t minute = t->base * 60 - t->drop, ten = 10 * minute + t->drop;
    const int64_t tens = frame / ten, rest = frame % ten;
    /* the first minute of ten leaves out nothing, and so is longer */
    const int64_t minutes = rest < t->drop ? 0 : (rest - t->drop) / minute;
    return frame + t->drop * (9 * tens + minutes);
}

void timecode_text(const struct timecode *t, int64_t frame, char text[TIMECODE_TEXT])
{
    const int64_t number = t->drop ? skip_dropped(t, frame) : frame, second = number / t->base;
    snprintf(text, TIMECODE_TEXT, "%02d:%02d:%02d%c%02d", (int)(second / 3600 % 24),
             (int)(second / 60 % 60), (int)(second % 60), t->drop ? ';' : ':',
             (int)(number % t->base));
}

void timecode_put_event(FILE *f, const struct timecode *t, size_t number, const char *reel,
                        const int64_t frame[4])
{
    char text[TIMECODE_TEXT];
    fprintf(f, "%03zu  %-8s V     C       ", number, reel);
    for (int i = 0; i < 4; i++) {
        timecode_text(t, frame[i], text);
        fprintf(f, " %s", text);
    }
    fputc('\n', f);
}
