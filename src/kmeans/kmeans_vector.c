#include "kmeans_vector.h"

const struct kmeans_vector *kmeans_vector_of(enum isa isa)
{
    switch (isa) {
#ifdef __x86_64__
    case ISA_AVX2: return &kmeans_avx2;
    case ISA_AVX512: return &kmeans_avx512;
    case ISA_VNNI: return &kmeans_vnni;
#endif
    default: return NULL;
    }
}
