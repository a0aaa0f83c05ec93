#define FIR fir_avx2
#include "fir_template.h"
