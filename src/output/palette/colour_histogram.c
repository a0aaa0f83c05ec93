#include "colour_histogram.h"

#include <pthread.h>
#include <stdlib.h>

struct colour_histogram {
    pthread_mutex_t lock; /* guards `bin` */
    size_t pixels, step;
    struct histogram_bin bin[HISTOGRAM_BINS];
};

static size_t common_divisor(size_t a, size_t b)
{
    while (b > 0) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

struct colour_histogram *colour_histogram_open(int width, int height, struct err *e)
{
    struct colour_histogram *h = err_calloc(1, sizeof *h, e);
    if (!h)
        return NULL;
    pthread_mutex_init(&h->lock, NULL);
    h->pixels = (size_t)width * (size_t)height;
    h->step = h->pixels > HISTOGRAM_PIXELS ? h->pixels / HISTOGRAM_PIXELS : 1;
    while (common_divisor(h->step, (size_t)width) > 1)
        h->step--;
    return h;
}

void colour_histogram_put(struct colour_histogram *h, const struct frame_tag *tag,
                          const uint8_t *rgb)
{
    pthread_mutex_lock(&h->lock);
    for (size_t i = tag->column % h->step; i < h->pixels; i += h->step) {
        const uint8_t *c = rgb + 3 * i;
        struct histogram_bin *bin = &h->bin[c[0] >> 2 << 12 | c[1] >> 2 << 6 | c[2] >> 2];
        bin->count += tag->repeat;
        for (int j = 0; j < 3; j++)
            bin->sum[j] += (uint64_t)tag->repeat * c[j];
    }
    pthread_mutex_unlock(&h->lock);
}

const struct histogram_bin *colour_histogram_bins(const struct colour_histogram *h)
{
    return h->bin;
}

void colour_histogram_free(struct colour_histogram **h)
{
    if (!*h)
        return;
    pthread_mutex_destroy(&(*h)->lock);
    free(*h);
    *h = NULL;
}
