/*
 * isa.h - selects the instruction set of the CPU engine's inner loops.
 *
 * All instruction sets give the same bytes. By default the best one that the processor supports is
 * used. The environment variable BARCODE_ISA (base, avx2, vnni) overrides it, for tests and
 * measurements.
 */
#ifndef BARCODE_ISA_H
#define BARCODE_ISA_H

#include "barcode/base/err.h"

SHARED_BEGIN

enum isa {
    ISA_BASE, /* what every processor of the architecture has: SSE2, NEON */
    ISA_AVX2, /* AVX2 and BMI */
    ISA_VNNI  /* AVX-512 F, BW, DQ, VL and VNNI (vpdpwssd) */
};

/*
 * A file NAME_isa.c is compiled once for each of several instruction sets (Makefile). There, ISA is
 * the set's name, and ISA_NAME(x) is x_base, x_avx2, ...
 */
#define ISA_NAME(name) ISA_JOIN(name, ISA)
#define ISA_JOIN(name, isa) ISA_PASTE(name, isa)
#define ISA_PASTE(name, isa) name##_##isa

/* The address of x_avx2 if `isa` is that or more, else that of x_base. */
#ifdef __x86_64__
#define ISA_PICK(name, isa) ((isa) >= ISA_AVX2 ? &name##_avx2 : &name##_base)
#else
#define ISA_PICK(name, isa) ((void)(isa), &name##_base)
#endif

/* Returns true if processor and system support `isa`; other than x86-64, ISA_BASE only. Any thread. */
bool isa_supported(enum isa isa);

/* Returns the name that BARCODE_ISA takes. */
const char *isa_name(enum isa isa);

/*
 * Selects the last supported instruction set of the enum, or the one in BARCODE_ISA. Fails with
 * ERR_USAGE if BARCODE_ISA names an unknown or unsupported one. Main thread.
 */
bool isa_choose(enum isa *isa, struct err *e);

SHARED_END
#endif
