/*
 * fir_isa.c - the inner loop of resample.h for one instruction set (isa.h). Compilers use their
 * multiply-add of 16-bit pairs, with a vector of sums for each output.
 */
#include "resample.h"

static int16_t rounded(int32_t sum)
{
    sum = (sum + (1 << (FIR_BITS - 1))) >> FIR_BITS;
    sum = sum > INT16_MAX ? INT16_MAX : sum;
    return (int16_t)(sum < INT16_MIN ? INT16_MIN : sum);
}

static void run_batch(const int16_t *const *in, const int16_t *const *coef, size_t taps,
                      int16_t *out)
{
    int32_t sum[FIR_BATCH] = {0};
#if defined(__clang__) && !defined(SANITIZED) /* there it does not vectorize, and warns */
#pragma clang loop vectorize_width(FIR_STEP) interleave_count(1)
#endif
    for (size_t k = 0; k < taps / FIR_STEP * FIR_STEP; k++)
        for (int i = 0; i < FIR_BATCH; i++)
            sum[i] += in[i][k] * coef[i][k];
    for (int i = 0; i < FIR_BATCH; i++)
        out[i] = rounded(sum[i]);
}

const struct fir ISA_NAME(fir) = {.run = run_batch};
