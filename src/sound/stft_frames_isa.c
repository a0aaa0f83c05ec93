/*
 * stft_frames_isa.c - stft_frames.h for one instruction set (isa.h). Compilers make vectors of the
 * loops over BATCH frames. A row of `work` holds one component of one point of these frames: so the
 * transform needs no shuffles. Component c of point n is row 2n + c.
 */
#include "stft_frames.h"

enum { BATCH = STFT_BATCH };

/*
 * Replaces a by (wb / 2^31 - a) / 2 and b by -(wb / 2^31 + a) / 2, rounded as by stft_round. wb has
 * 64 bits: `high` and `low`. Both results are high words of sums with half of their unit. `half`,
 * the low word of all but wb, is 0 or 2^31 and the same for both: so are carry and tie.
 */
static inline void round_sums(int32_t *a, int32_t *b, uint32_t high, uint32_t low)
{
    int32_t old = *a;
    uint32_t half = ((uint32_t)old + 1) << 31;
    int32_t carried = (int32_t)(high + ((low & half) >> 31)), tie = low == half;
    *a = (carried - (old >> 1)) & ~tie;
    *b = -((carried + ((old + 1) >> 1)) & ~tie);
}

/*
 * stft_butterfly on points a and b. SSE2 multiplies unsigned words only. So b + 2^31 is multiplied
 * by -cos modulo 2^32 and by sin, and what that adds is subtracted.
 */
static inline void butterfly(int32_t *restrict a, int32_t *restrict b, int32_t minus_cos,
                             int32_t minus_sin)
{
    const int64_t c = minus_cos, s = -(int64_t)minus_sin;
    const uint32_t by_cos = (uint32_t)minus_cos, by_sin = -(uint32_t)minus_sin;
    const uint64_t re_rest = (uint64_t)(s - c) << 31, im_rest = (uint64_t)(-s - c) << 31;
    const uint32_t wrapped = c < 0 ? UINT32_MAX : 0;
    for (size_t i = 0; i < BATCH; i++) {
        uint32_t x = (uint32_t)b[i] + (UINT32_C(1) << 31);
        uint32_t y = (uint32_t)b[BATCH + i] + (UINT32_C(1) << 31);
        uint64_t re = (uint64_t)x * by_cos - (uint64_t)y * by_sin + re_rest;
        uint64_t im = (uint64_t)y * by_cos + (uint64_t)x * by_sin + im_rest;
        round_sums(a + i, b + i, (uint32_t)(re >> 32) - (x & wrapped), (uint32_t)re);
        round_sums(a + BATCH + i, b + BATCH + i, (uint32_t)(im >> 32) - (y & wrapped),
                   (uint32_t)im);
    }
}

static int32_t *point(int32_t *work, size_t n) { return work + n * 2 * BATCH; }

static void load_windowed(const struct stft_tables *t, const int16_t *const *in, int32_t *work)
{
    for (size_t n = 0; n < SPECTROGRAM_BINS; n++) {
        int32_t *to = point(work, t->place[n]);
        for (size_t i = 0; i < BATCH; i++) {
            to[i] = in[i][2 * n] * t->window[2 * n];
            to[BATCH + i] = in[i][2 * n + 1] * t->window[2 * n + 1];
        }
    }
}

static void transform(const struct stft_tables *t, int32_t *work)
{
    for (size_t half = 1; half < SPECTROGRAM_BINS; half *= 2)
        for (size_t j = 0; j < half; j++) {
            size_t k = j * (SPECTROGRAM_BINS / half);
            for (size_t i = j; i < SPECTROGRAM_BINS; i += 2 * half)
                butterfly(point(work, i), point(work, i + half), t->twiddle[k].minus_cos,
                          t->twiddle[k].minus_sin);
        }
}

/* Steps 4 and 5 for bins k and 512 - k. */
static void finish_bins(const struct stft_tables *t, int32_t *work, size_t k, int16_t *const *out)
{
    size_t mirror = (SPECTROGRAM_BINS - k) % SPECTROGRAM_BINS;
    int32_t even[2 * BATCH], odd[2 * BATCH];
    for (size_t i = 0; i < BATCH; i++) {
        const int32_t *a = point(work, k) + i, *b = point(work, mirror) + i;
        struct stft_complex z = {a[0], a[BATCH]}, y = {b[0], b[BATCH]};
        stft_even_odd(&z, &y);
        even[i] = z.re, even[BATCH + i] = z.im;
        odd[i] = y.re, odd[BATCH + i] = y.im;
    }
    butterfly(even, odd, t->twiddle[k].minus_cos, t->twiddle[k].minus_sin);
    for (size_t i = 0; i < BATCH; i++) {
        struct stft_complex x = {even[i], even[BATCH + i]};
        struct stft_complex y = {odd[i], odd[BATCH + i]};
        if (k > 0)
            out[i][mirror] = stft_value(t, y);
        out[i][k] = stft_value(t, x);
    }
}

static void run_frames(const struct stft_tables *t, const int16_t *const *in, int32_t *work,
                       int16_t *const *out)
{
    load_windowed(t, in, work);
    transform(t, work);
    for (size_t k = 0; k <= SPECTROGRAM_BINS / 2; k++)
        finish_bins(t, work, k, out);
}

const struct stft_frames ISA_NAME(stft_frames) = {.run = run_frames};
