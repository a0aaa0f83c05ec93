/*
 * wire.h - converts numbers to bytes and back, the same on every machine. Words are little-endian.
 * Numbers of any length use seven bits a byte, lowest first; the top bit is set if more bytes
 * follow. One thread a buffer.
 *
 * Reader and writer keep their failure state, so that a series of calls needs only one check at its
 * end.
 */
#ifndef BARCODE_WIRE_H
#define BARCODE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash.h"

/* Grows as needed. Initialize with zeros; free with wire_free. */
struct wire_out {
    uint8_t *data;
    size_t count, room;
    bool failed; /* out of memory: later data is discarded */
};

void wire_put(struct wire_out *o, const void *data, size_t bytes);
void wire_put_u32(struct wire_out *o, uint32_t value);
void wire_put_u64(struct wire_out *o, uint64_t value);
void wire_put_hash(struct wire_out *o, struct hash128 value);
void wire_put_number(struct wire_out *o, uint64_t value);
void wire_put_signed(struct wire_out *o, int64_t value); /* encoded by wire_fold */
void wire_free(struct wire_out *o);

/* Maps 0, -1, 1, -2 to 0, 1, 2, 3, and so on. wire_unfold reverses it. */
uint64_t wire_fold(int64_t value);
int64_t wire_unfold(uint64_t value);

/* Reads [at, end), which is the caller's. The bytes need not be valid. */
struct wire_in {
    const uint8_t *at, *end;
    bool failed; /* the data was too short, or a number did not fit */
};

struct wire_in wire_read(const uint8_t *data, size_t bytes);
size_t wire_left(const struct wire_in *i);

/* These return 0 after a failure. */
uint32_t wire_u32(struct wire_in *i);
uint64_t wire_u64(struct wire_in *i);
struct hash128 wire_hash(struct wire_in *i);
uint64_t wire_number(struct wire_in *i);
int64_t wire_signed(struct wire_in *i);

#endif
