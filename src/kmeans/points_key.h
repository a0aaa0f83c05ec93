/*
 * points_key.h - converts a colour to its Morton key (points.h) and back, by shifts and masks that
 * compilers vectorize. Any thread.
 */
#ifndef BARCODE_POINTS_KEY_H
#define BARCODE_POINTS_KEY_H

#include <stdint.h>

#include "barcode/kmeans/points.h"

/*
 * A key has KEY_BITS bits. In the vector code's sort, the bits above hold the number of equal
 * neighbours with this key, less one: at most KEY_RUN neighbours.
 */
enum { KEY_BITS = 24, KEYS = 1 << KEY_BITS, KEY_RUN = 256 };

/* Moves bit i of a channel to bit 3i. */
static inline uint32_t key_spread(uint32_t v)
{
    v = (v | v << 8) & 0x00f00f;
    v = (v | v << 4) & 0x0c30c3;
    return (v | v << 2) & 0x249249;
}

/* Moves bit 3i to bit i; drops the other bits. */
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

/* Returns the colour word of a key. */
static inline uint32_t key_colour(uint32_t key)
{
    return colour_word(key_compact(key >> 2), key_compact(key >> 1), key_compact(key));
}

#endif
