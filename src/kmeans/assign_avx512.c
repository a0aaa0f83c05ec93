/* The assign step for AVX-512; the Makefile gives this file the flags. */
#define ISA(name) name##_avx512
#include "assign_template.h"
