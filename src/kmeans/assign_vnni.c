/* The assign step for AVX-512 with VNNI; the Makefile gives this file the flags. */
#define ISA(name) name##_vnni
#include "assign_template.h"
