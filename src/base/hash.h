/* hash.h - XXH3, which detects accidental changes, not deliberate ones. Any thread. */
#ifndef BARCODE_HASH_H
#define BARCODE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash128 {
    uint64_t low, high;
};

uint64_t hash_64(const void *data, size_t bytes);
struct hash128 hash_128(const void *data, size_t bytes);
bool hash_same(struct hash128 a, struct hash128 b);

/* Computes hash_128 of data that is added in pieces. One thread. */
struct hash_stream;

/* Returns NULL if out of memory. */
struct hash_stream *hash_stream_open(void);
void hash_stream_add(struct hash_stream *s, const void *data, size_t bytes);

/* Returns the hash of all data added, and frees the stream. */
struct hash128 hash_stream_end(struct hash_stream **s);

/* Writes 32 lower-case hexadecimal digits, high half first, and a terminating zero. */
void hash_hex(struct hash128 h, char text[33]);

#endif
