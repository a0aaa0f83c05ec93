/* fir.h - the inner loop of resample.h for one instruction set. */
#ifndef BARCODE_SRC_FIR_H
#define BARCODE_SRC_FIR_H

#include <stddef.h>
#include <stdint.h>

#include "barcode/base/isa.h"

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

extern const struct fir fir_c, fir_avx2; /* fir_avx2: x86-64 only */

/* Returns the code for a supported instruction set. */
static inline const struct fir *fir_for(enum isa isa)
{
#ifdef __x86_64__
    if (isa >= ISA_AVX2)
        return &fir_avx2;
#endif
    (void)isa;
    return &fir_c;
}

#endif
