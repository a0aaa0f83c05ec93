#define LIGHT_ROW light_row_c
#include "light_row_template.h"

const struct light_row *light_row_for(enum isa isa)
{
#ifdef __x86_64__
    if (isa >= ISA_AVX2)
        return &light_row_avx2;
#endif
    (void)isa;
    return &light_row_c;
}
