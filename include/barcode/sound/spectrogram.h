/*
 * spectrogram.h - a sound's spectrogram in integers: the same bytes on every machine.
 *
 * The sound is mono, 16 bits, SPECTROGRAM_RATE samples a second. Frame t begins at sample
 * t * SPECTROGRAM_HOP and has SPECTROGRAM_WINDOW samples. There is a frame for each t that begins
 * within the sound; samples after the end are 0. So n samples have ceil(n / SPECTROGRAM_HOP)
 * frames. A frame has SPECTROGRAM_BINS values; bin f is at f * RATE / WINDOW = 15.625 f Hz. The bin
 * of half the rate is left out.
 *
 *   1. a(n) = x(n) w(n), exactly; w is the periodic Hann window (1 - cos(2 pi n / 1024)) / 2 in
 * Q15.
 *   2. z(n) = a(2n) + i a(2n + 1): the transform of 1024 real values is one of 512 complex ones and
 *      a last step (Cooley, Lewis and Welch 1970).
 *   3. Nine stages of radix 2, decimation in time (Cooley and Tukey 1965), on 32-bit values in
 *      place. A stage replaces a and b by (a + W b) / 2 and (a - W b) / 2. W has Q31, products and
 *      sums have 64 bits, and each component is rounded once, to nearest, ties to even.
 *   4. With E = Z(k) + conj Z(512 - k), O = -i (Z(k) - conj Z(512 - k)) and Z(512) = Z(0), the same
 *      step gives X(k) = (E + W O) / 2 and conj X(512 - k) = (E - W O) / 2. X is the transform of a
 *      divided by 512.
 *   5. value = round(256 log2(|X|^2 + 1)), exactly rounded: 0.0118 dB a step. 0 for silence, 14848
 *      for a full-scale sine in the middle of a bin, at most 15616.
 *
 * Nothing overflows. |a| <= 2^30, so |z| <= sqrt(2) 2^30, and no stage makes the largest modulus
 * larger, but for rounding: components stay below 2^31, sums below 2 sqrt(2) 2^30 2^31 < 2^63. The
 * mean of w is 1/2, so |Z| <= 2^30 / sqrt(2): E and O stay below 2^31 too. |X|^2 < 2^61.
 *
 * A butterfly here changes the sign of both results, since -1 has a Q31 and 1 has none. Rounding is
 * symmetrical and only |X|^2 is used, so that the values are those of the definition.
 */
#ifndef BARCODE_SPECTROGRAM_H
#define BARCODE_SPECTROGRAM_H

#include "barcode/base/err.h"
#include "barcode/base/isa.h"

SHARED_BEGIN

enum {
    SPECTROGRAM_RATE = 16000,
    SPECTROGRAM_WINDOW = 1024,
    SPECTROGRAM_HOP = 512,
    SPECTROGRAM_BINS = 512,
    SPECTROGRAM_VALUE_MOST = 15616
};

/* For C and CUDA. Computed by integers alone. */
struct stft_tables {
    struct {
        int32_t minus_cos, minus_sin; /* of 2 pi k / 1024, Q31 */
    } twiddle[SPECTROGRAM_BINS];
    uint64_t threshold[257]; /* of the logarithm's 256 steps, normalized to 64 bits; UINT64_MAX */
    uint16_t steps[512];     /* thresholds below each 512th of an octave */
    uint16_t window[SPECTROGRAM_WINDOW];
    uint16_t place[SPECTROGRAM_BINS]; /* of z(n) before the first stage: n's 9 bits reversed */
};

struct stft_complex {
    int32_t re, im;
};

/* Returns t / 2^32, rounded to nearest, ties to even. |t| < 2^63 - 2^32. */
SHARED_INLINE int32_t stft_round(int64_t t)
{
    int64_t odd = (int64_t)((uint64_t)t >> 32 & 1);
    return (int32_t)((t + INT32_MAX + odd) >> 32);
}

/* Replaces a and b by -(a + W b) / 2 and -(a - W b) / 2. */
SHARED_INLINE void stft_butterfly(struct stft_complex *a, struct stft_complex *b, int32_t minus_cos,
                                  int32_t minus_sin)
{
    int64_t wb_re = (int64_t)b->re * minus_cos + (int64_t)b->im * minus_sin;
    int64_t wb_im = (int64_t)b->im * minus_cos - (int64_t)b->re * minus_sin;
    int64_t a_re = (int64_t)a->re * INT32_MIN, a_im = (int64_t)a->im * INT32_MIN;
    a->re = stft_round(a_re + wb_re);
    a->im = stft_round(a_im + wb_im);
    b->re = stft_round(a_re - wb_re);
    b->im = stft_round(a_im - wb_im);
}

/* Computes E and O of step 4 from z = Z(k) and y = Z(512 - k), in place. */
SHARED_INLINE void stft_even_odd(struct stft_complex *z, struct stft_complex *y)
{
    struct stft_complex even = {z->re + y->re, z->im - y->im};
    struct stft_complex odd = {z->im + y->im, y->re - z->re};
    *z = even;
    *y = odd;
}

/* Returns step 5's value. */
SHARED_INLINE int16_t stft_value(const struct stft_tables *t, struct stft_complex x)
{
    uint64_t power = (uint64_t)((int64_t)x.re * x.re) + (uint64_t)((int64_t)x.im * x.im) + 1;
#ifdef __CUDA_ARCH__
    int zeros = __clzll((long long)power);
#else
    int zeros = __builtin_clzll(power);
#endif
    uint64_t normal = power << zeros;
    int steps = t->steps[normal >> 54 & 511];
    return (int16_t)(256 * (63 - zeros) + steps + (normal >= t->threshold[steps]));
}

void stft_tables_init(struct stft_tables *t);

/* Returns the number of frames of a sound of `samples` samples. */
static inline size_t spectrogram_frames(size_t samples)
{
    return samples / SPECTROGRAM_HOP + (samples % SPECTROGRAM_HOP != 0);
}

struct spectrogram;

/* Creates the tables and scratch memory for a supported instruction set. One thread an object. */
struct spectrogram *spectrogram_open(enum isa isa, struct err *e);
void spectrogram_free(struct spectrogram **s);

/*
 * Computes out[frames][SPECTROGRAM_BINS] from sound[samples]. The first frame begins at sound[0];
 * samples after sound[samples - 1] are 0. To compute a sound in parts, pass the 1024 - 512 samples
 * after a part's last hop too.
 */
void spectrogram_run(struct spectrogram *s, const int16_t *sound, size_t samples, size_t frames,
                     int16_t *out);

SHARED_END
#endif
