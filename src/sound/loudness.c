#include "loudness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "downmix.h"

/* ---- The filter ---- */

/*
 * The power of channels after the K-weighting filter of ITU-R BS.1770, at any rate.
 *
 * Two stages of second order: a shelf of 4 dB from 1682 Hz on, and a high-pass at 38 Hz. The
 * standard has the coefficients at 48 kHz; those at other rates are of the same analogue filters by
 * the bilinear transform (B. De Man, "Evaluation of implementations of the EBU R128 loudness
 * measurement", AES 2018). Below KWEIGHT_SHELF_LEAST there is no shelf, and nothing where it would
 * be.
 *
 * Channels are side by side in vectors: a channel's samples have to wait for one another, and
 * channels need not.
 */
enum {
    KWEIGHT_RATE_LEAST = 100,
    KWEIGHT_SHELF_LEAST = 4000,
    KWEIGHT_CHANNELS = 64,
    KWEIGHT_STATES = 5
};

struct kweight {
    int channels;         /* 1..KWEIGHT_CHANNELS */
    double b[3], a[2][2]; /* the shelf's numerator, and both denominators without their 1 */
    /* of the channels: two of each stage, and the sum of squares since kweight_power */
    double state[KWEIGHT_STATES][KWEIGHT_CHANNELS];
    double weight[KWEIGHT_CHANNELS]; /* of the channels' power */
};

/* channels of a vector, and of the two vectors that are filtered together */
enum { LANES = 2, PAIR = 2 * LANES };

typedef int16_t samples __attribute__((vector_size(2 * LANES)));
typedef double lanes __attribute__((vector_size(8 * LANES)));

/* Begins with silence. The caller then sets the weights. */
static void kweight_init(struct kweight *k, int rate, int channels)
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
static inline void filter_vectors(struct kweight *k, int first, int vectors, const int16_t *in,
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

static void filter_all(struct kweight *k, const int16_t *in, size_t frames)
{
    for (int first = 0; first < k->channels; first += PAIR) {
        /* the number of vectors is a constant for the compiler */
        if (k->channels - first > LANES)
            filter_vectors(k, first, 2, in, frames);
        else
            filter_vectors(k, first, 1, in, frames);
    }
}

/* Filters in[frames][channels]. */
static void kweight_run(struct kweight *k, const int16_t *in, size_t frames)
{
    /* The vectors of the last frames read beyond the end of `in`, so they get a padded copy. */
    size_t channels = (size_t)k->channels, tail = PAIR / channels + 1;
    int16_t padded[2 * PAIR + KWEIGHT_CHANNELS] = {0};
    if (tail > frames)
        tail = frames;
    filter_all(k, in, frames - tail);
    memcpy(padded, in + (frames - tail) * channels, tail * channels * sizeof *in);
    filter_all(k, padded, tail);
    /* Numbers near 0 would become denormal, which slows the filter down. */
    for (int i = 0; i < KWEIGHT_STATES - 1; i++)
        for (int c = 0; c < KWEIGHT_CHANNELS; c++)
            k->state[i][c] = fabs(k->state[i][c]) < 1e-12 ? 0 : k->state[i][c];
}

/* Returns the weighted sum of squares since the last call; full scale is 1. */
static double kweight_power(struct kweight *k)
{
    double sum = 0;
    for (int c = 0; c < k->channels; c++)
        sum += k->weight[c] * k->state[KWEIGHT_STATES - 1][c];
    memset(k->state[KWEIGHT_STATES - 1], 0, sizeof k->state[0]);
    return sum / (32768.0 * 32768);
}

/* ---- Loudness and peaks ---- */

static const double BLOCK_SECONDS = 0.1;
enum { MOMENTARY = 4, SHORT_TERM = 30, SECOND = 10 }; /* in blocks */

struct loudness {
    struct kweight filter;
    int rate;           /* 0: before loudness_format */
    int hop_peak;       /* of the current hop so far, 0..32768 */
    double block_power; /* of the current block so far */
    uint16_t *peak;     /* [hops] */
    size_t hops, peak_room;
    float *power; /* [blocks] */
    size_t blocks, power_room;
};

struct loudness *loudness_open(struct err *e) { return err_calloc(1, sizeof(struct loudness), e); }

void loudness_free(struct loudness **l)
{
    if (*l) {
        free((*l)->peak);
        free((*l)->power);
    }
    free(*l);
    *l = NULL;
}

/*
 * Channels at 60 to 120 degrees from the front and less than 30 above or below count more, those of
 * low frequency not (ITU-R BS.1770-5, annex 3). So a back centre counts as a front one.
 */
static double weight_of(uint8_t position, uint64_t mask)
{
    const double beside = 1.41;
    const uint64_t sides =
        UINT64_C(1) << CHANNEL_SIDE_LEFT | UINT64_C(1) << CHANNEL_SIDE_RIGHT |
        UINT64_C(1) << CHANNEL_SURROUND_DIRECT_LEFT | UINT64_C(1) << CHANNEL_SURROUND_DIRECT_RIGHT |
        UINT64_C(1) << CHANNEL_SIDE_SURROUND_LEFT | UINT64_C(1) << CHANNEL_SIDE_SURROUND_RIGHT;
    const uint64_t wide = UINT64_C(1) << CHANNEL_WIDE_LEFT | UINT64_C(1) << CHANNEL_WIDE_RIGHT;
    switch (position) {
    case CHANNEL_LOW_FREQUENCY:
    case CHANNEL_LOW_FREQUENCY_2: return 0;
    case CHANNEL_BACK_LEFT:
    case CHANNEL_BACK_RIGHT:
        return mask & sides ? 1 : beside; /* 5.1 has them at the sides under this name */
    case CHANNEL_FRONT_LEFT:
    case CHANNEL_FRONT_RIGHT: /* they are at 60 degrees in 22.2 alone */
        return mask >> CHANNEL_BOTTOM_FRONT_CENTRE & 1 ? beside : 1;
    default: return (sides | wide) >> position & 1 ? beside : 1;
    }
}

/* Adds the power of the samples since the last call to the current block's. */
static void collect_power(struct loudness *l)
{
    if (l->rate > 0)
        l->block_power += kweight_power(&l->filter) / (l->rate * BLOCK_SECONDS);
}

void loudness_format(struct loudness *l, int rate, int channels, uint64_t mask)
{
    uint8_t position[SOUND_CHANNELS_MOST];
    bool known = channel_positions(mask, channels, position);
    collect_power(l);
    l->rate = rate;
    kweight_init(&l->filter, rate, channels);
    for (int c = 0; c < channels; c++)
        l->filter.weight[c] = known ? weight_of(position[c], mask) : 1;
}

/* Returns the largest absolute value. */
static int largest(const int16_t *sample, size_t count)
{
    int16_t least = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        least = sample[i] < least ? sample[i] : least;
        most = sample[i] > most ? sample[i] : most;
    }
    return -least > most ? -least : most;
}

void loudness_push(struct loudness *l, const int16_t *sample, size_t frames)
{
    int peak = largest(sample, frames * (size_t)l->filter.channels);
    l->hop_peak = peak > l->hop_peak ? peak : l->hop_peak;
    if (l->rate >= KWEIGHT_RATE_LEAST)
        kweight_run(&l->filter, sample, frames);
}

bool loudness_end_hops(struct loudness *l, uint64_t end, struct err *e)
{
    if (!err_reserve(&l->peak, (size_t)end, &l->peak_room, sizeof *l->peak, e))
        return false;
    while (l->hops < end) {
        l->peak[l->hops++] = (uint16_t)l->hop_peak;
        l->hop_peak = 0;
    }
    return true;
}

bool loudness_end_blocks(struct loudness *l, uint64_t end, struct err *e)
{
    if (!err_reserve(&l->power, (size_t)end, &l->power_room, sizeof *l->power, e))
        return false;
    collect_power(l);
    while (l->blocks < end) {
        l->power[l->blocks++] = (float)l->block_power;
        l->block_power = 0;
    }
    return true;
}

static double level_of(double power) { return power > 0 ? 10 * log10(power) - 0.691 : -HUGE_VAL; }

/* Returns a level in tenths, within what a row has room for. */
static int tenths(double level)
{
    return level > SOUND_SILENCE / 10.0 ? (int)lrint(10 * fmin(level, 9.9)) : SOUND_SILENCE;
}

static int decibels(int peak)
{
    return peak > 0 ? tenths(20 * log10(peak / 32768.0)) : SOUND_SILENCE;
}

/* Returns the mean power of `count` blocks, of which those outside of the sound are silent. */
static double mean_power(const struct loudness *l, int64_t first, int count)
{
    double sum = 0;
    for (int64_t i = first; i < first + count; i++)
        sum += i >= 0 && i < (int64_t)l->blocks ? (double)l->power[i] : 0;
    return sum / count;
}

/* Mean powers of several blocks each, of which those below a threshold were removed. */
struct gated {
    double *power; /* [n] */
    size_t n;
    double mean;
};

/* Removes the powers up to `least`, and computes the mean of the others. */
static void gate(struct gated *g, double least)
{
    size_t n = 0;
    g->mean = 0;
    for (size_t i = 0; i < g->n; i++)
        if (g->power[i] > least) {
            g->power[n++] = g->power[i];
            g->mean += g->power[i];
        }
    g->n = n;
    g->mean /= n > 0 ? (double)n : 1;
}

/*
 * Computes the powers of `count` blocks each, `step` apart. Keeps those above -70 LUFS, and of
 * these the ones above their mean less `below` LU.
 */
static bool gate_blocks(const struct loudness *l, int count, int step, double below,
                        struct gated *g, struct err *e)
{
    *g = (struct gated){.power = err_calloc(l->blocks + 1, sizeof *g->power, e)};
    if (!g->power)
        return false;
    for (size_t i = 0; i + (size_t)count <= l->blocks; i += (size_t)step)
        g->power[g->n++] = mean_power(l, (int64_t)i, count);
    gate(g, pow(10, (-70 + 0.691) / 10));
    gate(g, g->mean * pow(10, -below / 10));
    return true;
}

static int by_power(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the loudness range in tenths of a LU (EBU Tech 3342). Sorts the powers. */
static int range_of(struct gated *g)
{
    if (g->n == 0)
        return 0;
    qsort(g->power, g->n, sizeof *g->power, by_power);
    size_t low = (size_t)lrint((double)(g->n - 1) * 0.1);
    size_t high = (size_t)lrint((double)(g->n - 1) * 0.95);
    return (int)lrint(10 * (level_of(g->power[high]) - level_of(g->power[low])));
}

bool loudness_sum(struct loudness *l, struct film_sound *out, struct err *e)
{
    struct gated momentary, short_term;
    int peak = 0;
    for (size_t i = 0; i < l->hops; i++)
        peak = l->peak[i] > peak ? l->peak[i] : peak;
    out->peak = decibels(peak);
    if (!gate_blocks(l, MOMENTARY, 1, 10, &momentary, e))
        return false;
    out->loudness = l->blocks < MOMENTARY ? SOUND_NONE : tenths(level_of(momentary.mean));
    free(momentary.power);
    if (!gate_blocks(l, SHORT_TERM, SECOND, 20, &short_term, e))
        return false;
    out->range = range_of(&short_term);
    free(short_term.power);
    return true;
}

void loudness_row(const struct loudness *l, uint64_t first, uint32_t hops, struct sound_row *row)
{
    int peak = 0;
    for (uint64_t i = first; i < first + hops && i < l->hops; i++)
        peak = l->peak[i] > peak ? l->peak[i] : peak;
    uint64_t middle = (2 * first + hops) * (SPECTROGRAM_HOP / 2);
    int64_t block = (int64_t)((middle + LOUDNESS_BLOCK / 2) / LOUDNESS_BLOCK) - MOMENTARY / 2;
    row->peak = (int16_t)decibels(peak);
    row->loudness = (int16_t)tenths(level_of(mean_power(l, block, MOMENTARY)));
}
