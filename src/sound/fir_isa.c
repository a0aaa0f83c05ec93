/* fir_isa.c - the inner loop of resample.h for one instruction set (isa.h). */
#include "resample.h"

#ifdef __AVX2__
#include <immintrin.h>

static inline __m256i load(const int16_t *row)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)row);
}

/* Returns the sums of four vectors. */
static inline __m128i sums(__m256i a, __m256i b, __m256i c, __m256i d)
{
    __m256i all = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    return _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
}

static void run_batch(const int16_t *const *in, const int16_t *const *coef, size_t taps,
                      int16_t *out)
{
    __m256i sum[FIR_BATCH] = {_mm256_setzero_si256(), _mm256_setzero_si256(),
                              _mm256_setzero_si256(), _mm256_setzero_si256()};
    for (size_t k = 0; k < taps; k += FIR_STEP)
        for (int i = 0; i < FIR_BATCH; i++)
            sum[i] =
                _mm256_add_epi32(sum[i], _mm256_madd_epi16(load(in[i] + k), load(coef[i] + k)));
    __m128i all =
        _mm_add_epi32(sums(sum[0], sum[1], sum[2], sum[3]), _mm_set1_epi32(1 << (FIR_BITS - 1)));
    all = _mm_srai_epi32(all, FIR_BITS);
    _mm_storel_epi64((__m128i *)(void *)out, _mm_packs_epi32(all, all));
}
#else
static void run_batch(const int16_t *const *in, const int16_t *const *coef, size_t taps,
                      int16_t *out)
{
    for (int i = 0; i < FIR_BATCH; i++) {
        int32_t sum = 1 << (FIR_BITS - 1);
        for (size_t k = 0; k < taps; k++)
            sum += in[i][k] * coef[i][k];
        sum >>= FIR_BITS;
        out[i] = (int16_t)(sum > INT16_MAX ? INT16_MAX : sum < INT16_MIN ? INT16_MIN : sum);
    }
}
#endif

const struct fir ISA_NAME(fir) = {.run = run_batch};
