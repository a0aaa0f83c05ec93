/*
 * kweight.h - the power of channels after the K-weighting filter of ITU-R BS.1770, at any rate.
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
#ifndef BARCODE_SRC_KWEIGHT_H
#define BARCODE_SRC_KWEIGHT_H

#include <stddef.h>
#include <stdint.h>

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

/* Begins with silence. The caller then sets the weights. */
void kweight_init(struct kweight *k, int rate, int channels);

/* Filters in[frames][channels]. */
void kweight_run(struct kweight *k, const int16_t *in, size_t frames);

/* Returns the weighted sum of squares since the last call; full scale is 1. */
double kweight_power(struct kweight *k);

#endif
