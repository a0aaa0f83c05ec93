#define MAX_ROWS max_rows_avx512
#include "max_rows_template.h"
