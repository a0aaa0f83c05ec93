#include "kweight.h"

#include <math.h>
#include <string.h>

enum { LANES = 2, PAIR = 2 * LANES };

typedef int16_t samples __attribute__((vector_size(2 * LANES)));
typedef double lanes __attribute__((vector_size(8 * LANES)));

void kweight_init(struct kweight *k, int rate, int channels)
{
    *k = (struct kweight){.channels = channels, .b = {1}};
    if (rate >= KWEIGHT_SHELF_LEAST) {
        double w = tan(M_PI * 1681.974450955533 / rate), q = w / 0.7071752369554196;
        double high = pow(10, 3.999843853973347 / 20), band = pow(high, 0.4996667741545416);
        double unit = 1 + q + w * w;
        k->b[0] = (high + band * q + w * w) / unit;
        k->b[1] = 2 * (w * w - high) / unit;
        k->b[2] = (high - band * q + w * w) / unit;
        k->a[0][0] = 2 * (w * w - 1) / unit;
        k->a[0][1] = (1 - q + w * w) / unit;
    }
    double w = tan(M_PI * 38.13547087602444 / rate), q = w / 0.5003270373238773;
    k->a[1][0] = 2 * (w * w - 1) / (1 + q + w * w);
    k->a[1][1] = (1 - q + w * w) / (1 + q + w * w);
}

/* Filters `vectors` times LANES channels from `first` on. Reads samples beyond the last channel. */
static inline void filter(struct kweight *k, int first, int vectors, const int16_t *in,
                          size_t frames)
{
    lanes s[2][KWEIGHT_STATES];
    const double b0 = k->b[0], b1 = k->b[1], b2 = k->b[2];
    const double a01 = k->a[0][0], a02 = k->a[0][1], a11 = k->a[1][0], a12 = k->a[1][1];
    for (int v = 0; v < vectors; v++)
        for (int i = 0; i < KWEIGHT_STATES; i++)
            memcpy(&s[v][i], &k->state[i][first + v * LANES], sizeof s[v][i]);
    for (size_t n = 0; n < frames; n++)
        for (int v = 0; v < vectors; v++) {
            samples now;
            memcpy(&now, in + n * (size_t)k->channels + (size_t)(first + v * LANES), sizeof now);
            lanes x = __builtin_convertvector(now, lanes);
            lanes y = x * b0 + s[v][0];
            s[v][0] = x * b1 - y * a01 + s[v][1];
            s[v][1] = x * b2 - y * a02;
            lanes z = y + s[v][2]; /* the second numerator is 1 -2 1 */
            s[v][2] = s[v][3] - (y + y) - z * a11;
            s[v][3] = y - z * a12;
            s[v][4] += z * z;
        }
    for (int v = 0; v < vectors; v++)
        for (int i = 0; i < KWEIGHT_STATES; i++)
            memcpy(&k->state[i][first + v * LANES], &s[v][i], sizeof s[v][i]);
}

static void run(struct kweight *k, const int16_t *in, size_t frames)
{
    for (int first = 0; first < k->channels; first += PAIR) {
        /* the number of vectors is a constant for the compiler */
        if (k->channels - first > LANES)
            filter(k, first, 2, in, frames);
        else
            filter(k, first, 1, in, frames);
    }
}

void kweight_run(struct kweight *k, const int16_t *in, size_t frames)
{
    size_t channels = (size_t)k->channels, tail = PAIR / channels + 1;
    int16_t padded[2 * PAIR + KWEIGHT_CHANNELS] = {0}; /* since vectors read beyond the end */
    tail = tail < frames ? tail : frames;
    run(k, in, frames - tail);
    memcpy(padded, in + (frames - tail) * channels, tail * channels * sizeof *in);
    run(k, padded, tail);
    /* Numbers near 0 would slow the filter down. */
    for (int i = 0; i < KWEIGHT_STATES - 1; i++)
        for (int c = 0; c < KWEIGHT_CHANNELS; c++)
            k->state[i][c] = fabs(k->state[i][c]) < 1e-12 ? 0 : k->state[i][c];
}

double kweight_power(struct kweight *k)
{
    double sum = 0;
    for (int c = 0; c < k->channels; c++)
        sum += k->weight[c] * k->state[KWEIGHT_STATES - 1][c];
    memset(k->state[KWEIGHT_STATES - 1], 0, sizeof k->state[0]);
    return sum / (32768.0 * 32768);
}
