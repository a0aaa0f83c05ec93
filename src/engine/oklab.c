#include "barcode/engine/oklab.h"

/* Returns the lower bound of x * 2^45 for roots above r; at most 2^61. */
static uint64_t above(uint64_t r) { return (2 * r + 1) * (2 * r + 1) * (2 * r + 1) * 65535; }

void oklab_roots(uint16_t root[OKLAB_ROOTS])
{
    uint64_t r = 0;
    for (uint64_t x = 0; x < OKLAB_ROOTS; x++) {
        while (x << 45 >= above(r))
            r++;
        root[x] = (uint16_t)r;
    }
}
