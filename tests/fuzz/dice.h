/* dice.h - the choices of a test: thrown by a fuzzer's bytes, or by a seed. */
#ifndef BARCODE_TESTS_DICE_H
#define BARCODE_TESTS_DICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Dice that are thrown by a fuzzer's bytes first, then by a generator (splitmix64). */
struct dice {
    const uint8_t *data;
    size_t size;
    uint64_t state;
};

/* 0 .. sides - 1 */
static inline uint64_t roll(struct dice *d, uint64_t sides)
{
    if (d->size >= 2) {
        uint64_t value = (uint64_t)d->data[0] << 8 | d->data[1];
        d->data += 2;
        d->size -= 2;
        d->state = (d->state ^ value) * UINT64_C(0x2545f4914f6cdd1d);
        return value % sides;
    }
    uint64_t z = d->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % sides;
}

static inline bool chance(struct dice *d, int percent) { return (int)roll(d, 100) < percent; }

#endif
