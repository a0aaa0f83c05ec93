#define LIGHT_ROW light_row_avx2
#include "light_row_template.h"
