/* Boxes and sums for AVX2; the Makefile gives this file the flags. */
#define ISA(name) name##_avx2
#include "points_template.h"
