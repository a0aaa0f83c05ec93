#include "barcode/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

uint64_t hash_64(const void *data, size_t bytes)
{
    return XXH3_64bits(data, bytes);
}

struct hash128 hash_128(const void *data, size_t bytes)
{
    XXH128_hash_t h = XXH3_128bits(data, bytes);
    return (struct hash128){h.low64, h.high64};
}

bool hash_same(struct hash128 a, struct hash128 b)
{
    return a.low == b.low && a.high == b.high;
}

void hash_hex(struct hash128 h, char text[33])
{
    snprintf(text, 33, "%016" PRIx64 "%016" PRIx64, h.high, h.low);
}
