/* The assign step for AVX2; the Makefile gives this file the flags. */
#define ISA(name) name##_avx2
#include "assign_template.h"
