/* chance.h - for tests: numbers that look random, and are the same in each run of a file. */
#ifndef BARCODE_TESTS_CHANCE_H
#define BARCODE_TESTS_CHANCE_H

#include <stdint.h>

static uint64_t chance_state = 1;

/* Returns 32 random bits. */
static inline uint32_t chance(void)
{
    chance_state = chance_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(chance_state >> 32);
}

static inline int between(int low, int high)
{
    return low + (int)(chance() % (uint32_t)(high - low + 1));
}

#endif
