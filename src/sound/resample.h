/*
 * resample.h - a sound of one channel at any rate from 1 Hz to 768 kHz, at SPECTROGRAM_RATE.
 *
 * Output n is the input at n RATE / SPECTROGRAM_RATE, through a low-pass filter: a sinc of
 * RESAMPLE_ZEROS zeros a side under a Kaiser window. It passes up to 6.4 kHz (0.8 of half the lower
 * rate) and stops from 8 kHz on by 60 dB (55 dB above 192 kHz). Coefficients have 14 bits, so that
 * sums have 32. They are computed by integers alone: the same on every machine.
 *
 * The filter has a row of coefficients for each place between two samples that an output can have
 * (polyphase). 48 kHz has one, 44.1 kHz 160. Rates with more than about 1,000 of them, as 44,099
 * Hz, take the nearest of some hundreds.
 *
 * A sound is 0 before its first sample and after its last. In which parts it arrives makes no
 * difference.
 */
#ifndef BARCODE_SRC_RESAMPLE_H
#define BARCODE_SRC_RESAMPLE_H

#include "barcode/base/err.h"
#include "barcode/base/isa.h"

enum { RESAMPLE_ZEROS = 21, RESAMPLE_RATE_MOST = 768000 };

/* ---- The inner loop, for one instruction set (fir_isa.c) ---- */

enum { FIR_BATCH = 4, FIR_STEP = 16, FIR_BITS = 14 };

/* Any thread. */
struct fir {
    /*
     * Computes out[i] = round(sum of in[i][k] coef[i][k] / 2^FIR_BITS), halves upwards, saturated,
     * for FIR_BATCH outputs. `taps` is a multiple of FIR_STEP, and the sum of |coef[i]| is below
     * 2^16, so that no sum overflows.
     */
    void (*run)(const int16_t *const *in, const int16_t *const *coef, size_t taps, int16_t *out);
};

extern const struct fir fir_base, fir_avx2; /* fir_avx2: x86-64 only */

/* ---- The filter ---- */

/* The coefficients for a rate. */
struct resample_filter {
    int rate;
    uint32_t up, down; /* SPECTROGRAM_RATE / rate, in lowest terms */
    uint32_t phases;   /* rows less 1: the last one is the first, a sample later */
    size_t taps;       /* of a row: a multiple of FIR_STEP; half of them before the output's time */
    int16_t *coef;     /* [phases + 1][taps] */
};

/* Makes *f the filter for a rate, 1..RESAMPLE_RATE_MOST, and frees what it had. */
bool resample_filter_set(struct resample_filter *f, int rate, struct err *e);
void resample_filter_free(struct resample_filter *f);

/* ---- The resampler ---- */

struct resampler;

/* Called with samples at SPECTROGRAM_RATE, in order. */
typedef bool resample_out(void *user, const int16_t *samples, size_t count, struct err *e);

/* One thread. */
struct resampler *resampler_open(enum isa isa, resample_out *out, void *user, struct err *e);
void resampler_free(struct resampler **r);

/* Begins a sound; the last one was ended. */
bool resampler_begin(struct resampler *r, int rate, struct err *e);
bool resampler_push(struct resampler *r, const int16_t *samples, size_t count, struct err *e);

/* Ends the sound: n samples have given ceil(n SPECTROGRAM_RATE / rate). */
bool resampler_end(struct resampler *r, struct err *e);

#endif
