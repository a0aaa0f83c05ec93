#include "day.h"

#include <stdlib.h>
#include <string.h>

struct live_feed {
    int height;
    int64_t period_us, capacity, oldest, newest;
    struct live_column *column; /* [capacity], by number */
    uint8_t *rgb;               /* [capacity][height][3] */
};

struct live_feed *live_feed_open(size_t capacity, int height, int64_t period_us, struct err *e)
{
    struct live_feed *f = err_calloc(1, sizeof *f, e);
    if (!f)
        return NULL;
    *f = (struct live_feed){.height = height,
                            .period_us = period_us,
                            .capacity = (int64_t)capacity,
                            .oldest = INT64_MIN,
                            .newest = INT64_MIN};
    f->column = err_calloc(capacity, sizeof *f->column, e);
    f->rgb = f->column ? err_calloc(capacity, (size_t)height * 3, e) : NULL;
    if (!f->rgb)
        live_feed_free(&f);
    return f;
}

size_t live_feed_capacity(const struct live_feed *f) { return (size_t)f->capacity; }
int live_feed_height(const struct live_feed *f) { return f->height; }
int64_t live_feed_period_us(const struct live_feed *f) { return f->period_us; }
int64_t live_feed_oldest(const struct live_feed *f) { return f->oldest; }
int64_t live_feed_newest(const struct live_feed *f) { return f->newest; }

static size_t place_of(const struct live_feed *f, int64_t number)
{
    int64_t place = number % f->capacity;
    return (size_t)(place < 0 ? place + f->capacity : place);
}

static void store(struct live_feed *f, const struct live_column *c, const uint8_t *rgb)
{
    const size_t place = place_of(f, c->number), bytes = (size_t)f->height * 3;
    f->column[place] = *c;
    if (rgb && !c->missing)
        memcpy(f->rgb + place * bytes, rgb, bytes);
    else
        memset(f->rgb + place * bytes, 0, bytes);
}

void live_feed_put(struct live_feed *f, const struct live_column *c, const uint8_t *rgb)
{
    const bool first = f->newest == INT64_MIN;
    if (!first && c->number < f->newest)
        return;
    if (first || c->number - f->newest >= f->capacity)
        f->oldest = c->number;
    else
        for (int64_t n = f->newest + 1; n < c->number; n++)
            store(f,
                  &(struct live_column){.number = n, .time_us = n * f->period_us, .missing = true},
                  NULL);
    store(f, c, rgb);
    f->newest = c->number;
    if (f->oldest <= f->newest - f->capacity)
        f->oldest = f->newest - f->capacity + 1;
}

const struct live_column *live_feed_get(const struct live_feed *f, int64_t number,
                                        const uint8_t **rgb)
{
    if (f->newest == INT64_MIN || number < f->oldest || number > f->newest)
        return NULL;
    const size_t place = place_of(f, number);
    *rgb = f->rgb + place * (size_t)f->height * 3;
    return &f->column[place];
}

void live_feed_free(struct live_feed **f)
{
    if (!*f)
        return;
    free((*f)->column);
    free((*f)->rgb);
    free(*f);
    *f = NULL;
}
