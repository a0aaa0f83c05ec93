/*
 * hash.h - XXH3, for fingerprints and checksums. Against accidents, not against an enemy. Any
 * thread.
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

/* hash_128 of what comes in pieces. One thread. */
struct hash_stream;

/* The caller's. NULL: no memory. */
struct hash_stream *hash_stream_open(void);
void hash_stream_add(struct hash_stream *s, const void *data, size_t bytes);

/* Of all that was added. Frees; sets *s to NULL. */
struct hash128 hash_stream_end(struct hash_stream **s);

/* 32 lower-case hexadecimal digits, high half first, and a zero. */
void hash_hex(struct hash128 h, char text[33]);

#ifdef __cplusplus
}
#endif
#endif
