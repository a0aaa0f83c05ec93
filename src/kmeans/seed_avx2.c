/* The passes of the seeding for AVX2; the Makefile gives this file the flags. */
#define ISA(name) name##_avx2
#include "seed_template.h"
