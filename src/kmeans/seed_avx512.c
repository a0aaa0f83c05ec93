/* The passes of the seeding for AVX-512; the Makefile gives this file the flags. */
#define ISA(name) name##_avx512
#include "seed_template.h"
