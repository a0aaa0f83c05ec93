#define FIR fir_c
#include "fir_template.h"

const struct fir *fir_for(enum isa isa)
{
#ifdef __x86_64__
    if (isa >= ISA_AVX2)
        return &fir_avx2;
#endif
    (void)isa;
    return &fir_c;
}
