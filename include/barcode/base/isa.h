/*
 * isa.h - which instruction set the CPU engine's inner loops use.
 *
 * All of them give the same bytes. The best one that the processor has is taken;
 * the environment variable BARCODE_ISA (c, avx2, avx512, vnni) forces one, for
 * tests and measurements.
 */
#ifndef BARCODE_ISA_H
#define BARCODE_ISA_H

#include <stdbool.h>

#include "barcode/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

enum isa {
    ISA_C,      /* plain C, the reference */
    ISA_AVX2,   /* AVX2 and BMI */
    ISA_AVX512, /* AVX-512 F, BW, DQ, VL */
    ISA_VNNI    /* the same and AVX-512 VNNI (vpdpwssd) */
};

/* True if this processor and its operating system have it; processors other than x86-64 have ISA_C
 * alone. Any thread. */
bool isa_supported(enum isa isa);

/* "c", "avx2", "avx512", "vnni": what BARCODE_ISA takes. Never to be freed. */
const char *isa_name(enum isa isa);

/*
 * The one to use: the last of them that is supported, or what BARCODE_ISA asks for. Fails
 * (ERR_USAGE) when BARCODE_ISA names none or one that this processor lacks. Main thread.
 */
bool isa_choose(enum isa *isa, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
