/*
 * stft_frames_isa.c - stft_frames.h for one instruction set (isa.h). A vector holds one component
 * of one point of BATCH frames, so that the transform needs no shuffles. Component c of point n is
 * row 2n + c of `work`.
 */
#include "stft_frames.h"

#ifdef __AVX2__
#include <immintrin.h>
enum { BATCH = 8 };

static inline __m256i odds(__m256i v) { return _mm256_srli_epi64(v, 32); }

/* Sums of products, separately for even and odd elements. */
struct wide {
    __m256i even, odd;
};

static inline struct wide times(__m256i a, __m256i b)
{
    return (struct wide){_mm256_mul_epi32(a, b), _mm256_mul_epi32(odds(a), b)};
}

static inline struct wide plus(struct wide a, struct wide b)
{
    return (struct wide){_mm256_add_epi64(a.even, b.even), _mm256_add_epi64(a.odd, b.odd)};
}

static inline struct wide minus(struct wide a, struct wide b)
{
    return (struct wide){_mm256_sub_epi64(a.even, b.even), _mm256_sub_epi64(a.odd, b.odd)};
}

/* Returns a * -2^31 + 2^31: half of what rounding divides by is added here, for both results. */
static inline struct wide raised(__m256i a)
{
    struct wide half = {_mm256_set1_epi64x(INT64_C(1) << 31), _mm256_set1_epi64x(INT64_C(1) << 31)};
    return plus(times(a, _mm256_set1_epi64x(INT32_MIN)), half);
}

/* stft_round, if 2^31 was added: ties are where the low half is 0, and lose an odd one's last bit.
 */
static inline __m256i rounded(struct wide t)
{
    __m256i high = _mm256_blend_epi32(odds(t.even), t.odd, 0xaa);
    __m256i low = _mm256_blend_epi32(t.even, _mm256_slli_epi64(t.odd, 32), 0xaa);
    __m256i tie = _mm256_cmpeq_epi32(low, _mm256_setzero_si256());
    return _mm256_andnot_si256(_mm256_and_si256(tie, _mm256_set1_epi32(1)), high);
}

static inline __m256i load(const int32_t *row)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)row);
}

static inline void store(int32_t *row, __m256i v)
{
    _mm256_storeu_si256((__m256i *)(void *)row, v);
}

/* stft_butterfly on points a and b. */
static inline void butterfly(int32_t *a, int32_t *b, int32_t minus_cos, int32_t minus_sin)
{
    __m256i c = _mm256_set1_epi64x(minus_cos), s = _mm256_set1_epi64x(minus_sin);
    __m256i b_re = load(b), b_im = load(b + BATCH);
    struct wide wb_re = plus(times(b_re, c), times(b_im, s));
    struct wide wb_im = minus(times(b_im, c), times(b_re, s));
    struct wide a_re = raised(load(a)), a_im = raised(load(a + BATCH));
    store(a, rounded(plus(a_re, wb_re)));
    store(a + BATCH, rounded(plus(a_im, wb_im)));
    store(b, rounded(minus(a_re, wb_re)));
    store(b + BATCH, rounded(minus(a_im, wb_im)));
}
#else
enum { BATCH = 1 };

static inline void butterfly(int32_t *a, int32_t *b, int32_t minus_cos, int32_t minus_sin)
{
    struct stft_complex x = {a[0], a[1]}, y = {b[0], b[1]};
    stft_butterfly(&x, &y, minus_cos, minus_sin);
    a[0] = x.re, a[1] = x.im;
    b[0] = y.re, b[1] = y.im;
}
#endif

static int32_t *point(int32_t *work, size_t n) { return work + n * 2 * BATCH; }

static void load_windowed(const struct stft_tables *t, const int16_t *const *in, int32_t *work)
{
    for (size_t i = 0; i < BATCH; i++)
        for (size_t n = 0; n < SPECTROGRAM_BINS; n++) {
            int32_t *to = point(work, t->place[n]) + i;
            to[0] = in[i][2 * n] * t->window[2 * n];
            to[BATCH] = in[i][2 * n + 1] * t->window[2 * n + 1];
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

const struct stft_frames ISA_NAME(stft_frames) = {.batch = BATCH, .run = run_frames};
