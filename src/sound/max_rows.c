#define MAX_ROWS max_rows_c
#include "max_rows_template.h"

const struct max_rows *max_rows_for(enum isa isa)
{
#ifdef __x86_64__
    if (isa >= ISA_AVX512)
        return &max_rows_avx512;
    if (isa >= ISA_AVX2)
        return &max_rows_avx2;
#endif
    (void)isa;
    return &max_rows_c;
}
