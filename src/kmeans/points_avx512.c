/* Boxes and sums for AVX-512; the Makefile gives this file the flags. */
#define ISA(name) name##_avx512
#include "points_template.h"
