#include "hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

uint64_t hash_64(const void *data, size_t bytes) { return XXH3_64bits(data, bytes); }

struct hash128 hash_128(const void *data, size_t bytes)
{
    XXH128_hash_t h = XXH3_128bits(data, bytes);
    return (struct hash128){h.low64, h.high64};
}

/* A stream is the state of the library. */
struct hash_stream *hash_stream_open(void)
{
    XXH3_state_t *state = XXH3_createState();
    if (state && XXH3_128bits_reset(state) != XXH_OK) {
        XXH3_freeState(state);
        state = NULL;
    }
    return (struct hash_stream *)state;
}

void hash_stream_add(struct hash_stream *s, const void *data, size_t bytes)
{
    XXH3_128bits_update((XXH3_state_t *)s, data, bytes);
}

struct hash128 hash_stream_end(struct hash_stream **s)
{
    XXH128_hash_t h = XXH3_128bits_digest((XXH3_state_t *)*s);
    XXH3_freeState((XXH3_state_t *)*s);
    *s = NULL;
    return (struct hash128){h.low64, h.high64};
}

bool hash_same(struct hash128 a, struct hash128 b) { return a.low == b.low && a.high == b.high; }

void hash_hex(struct hash128 h, char text[33])
{
    snprintf(text, 33, "%016" PRIx64 "%016" PRIx64, h.high, h.low);
}
