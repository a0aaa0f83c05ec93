#define MAX_ROWS max_rows_avx2
#include "max_rows_template.h"
