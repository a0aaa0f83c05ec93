/*
 * wire.h - numbers to bytes and back, the same on every machine: little-endian words, and numbers
 * of any length (seven bits a byte, lowest first, the top bit says that more follow). One thread a
 * buffer.
 *
 * Both ends remember a failure, so that a long row of calls needs one check at its end.
 */
#ifndef BARCODE_WIRE_H
#define BARCODE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/hash.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Grows by itself; begin with zeros, end with wire_free. */
struct wire_out {
    uint8_t *data;
    size_t count, room;
    bool failed; /* no memory: what was put since is lost */
};

void wire_put(struct wire_out *o, const void *data, size_t bytes);
void wire_put_u32(struct wire_out *o, uint32_t value);
void wire_put_u64(struct wire_out *o, uint64_t value);
void wire_put_hash(struct wire_out *o, struct hash128 value);
void wire_put_number(struct wire_out *o, uint64_t value);
void wire_put_signed(struct wire_out *o, int64_t value); /* as the number wire_fold gives */
void wire_free(struct wire_out *o);

/* Numbers of either sign as unsigned ones, small ones as small ones: 0, -1, 1, -2 are 0, 1, 2, 3.
 * And back. */
uint64_t wire_fold(int64_t value);
int64_t wire_unfold(uint64_t value);

/* Reads [at, end), which is the caller's and may be anything at all. */
struct wire_in {
    const uint8_t *at, *end;
    bool failed; /* asked for more than there is, or for a number that does not fit */
};

struct wire_in wire_read(const uint8_t *data, size_t bytes);
size_t wire_left(const struct wire_in *i);

/* 0 once it has failed. */
uint32_t wire_u32(struct wire_in *i);
uint64_t wire_u64(struct wire_in *i);
struct hash128 wire_hash(struct wire_in *i);
uint64_t wire_number(struct wire_in *i);
int64_t wire_signed(struct wire_in *i);

#ifdef __cplusplus
}
#endif
#endif
