/*
 * points_key.h - a colour's place in Morton order (points.h): shifts and masks, which compilers
 * turn into vectors. Any thread.
 */
#ifndef BARCODE_POINTS_KEY_H
#define BARCODE_POINTS_KEY_H

#include <stdint.h>

#include "barcode/kmeans/points.h"

/*
 * Keys have KEY_BITS; above them the sort of the vector versions carries how many equal neighbours
 * a key stands for, less one: at most KEY_RUN.
 */
enum { KEY_BITS = 24, KEYS = 1 << KEY_BITS, KEY_RUN = 256 };

/* Bit i of a channel to bit 3i. */
static inline uint32_t key_spread(uint32_t v)
{
    v = (v | v << 8) & 0x00f00f;
    v = (v | v << 4) & 0x0c30c3;
    return (v | v << 2) & 0x249249;
}

/* Bit 3i to bit i; the others are dropped. */
static inline uint32_t key_compact(uint32_t v)
{
    v &= 0x249249;
    v = (v | v >> 2) & 0x0c30c3;
    v = (v | v >> 4) & 0x00f00f;
    return (v | v >> 8) & 0x0000ff;
}

static inline uint32_t key_of(const uint8_t rgb[3])
{
    return key_spread(rgb[0]) << 2 | key_spread(rgb[1]) << 1 | key_spread(rgb[2]);
}

/* The colour word of a key. */
static inline uint32_t key_colour(uint32_t key)
{
    return colour_word(key_compact(key >> 2), key_compact(key >> 1), key_compact(key));
}

#endif
