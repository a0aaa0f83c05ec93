/*
 * hash.h - XXH3, for fingerprints and checksums. Against accidents, not against an enemy. Any thread.
 */
#ifndef BARCODE_HASH_H
#define BARCODE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hash128 {
    uint64_t low, high;
};

uint64_t hash_64(const void *data, size_t bytes);
struct hash128 hash_128(const void *data, size_t bytes);
bool hash_same(struct hash128 a, struct hash128 b);

/* 32 lower-case hexadecimal digits, high half first, and a zero. */
void hash_hex(struct hash128 h, char text[33]);

#ifdef __cplusplus
}
#endif
#endif
