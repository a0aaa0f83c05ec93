/*
 * pack.h - compresses bytes and restores them (zstd). One cache_packer a thread.
 */
#ifndef BARCODE_PACK_H
#define BARCODE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cache_packer;

/* Takes its memory at the first use of each direction. NULL: no memory. */
struct cache_packer *cache_packer_open(struct err *e);

/* How much room the packed form of `bytes` bytes may take. */
size_t cache_pack_bound(size_t bytes);

/* Packs into `out`, of cache_pack_bound(bytes). Returns the packed size, 0 on failure. */
size_t cache_pack(struct cache_packer *p, const uint8_t *data, size_t bytes, uint8_t *out,
                  struct err *e);

/* Unpacks untrusted bytes into exactly `bytes` bytes. False when they are not that; `out` then
 * holds anything. */
bool cache_unpack(struct cache_packer *p, const uint8_t *packed, size_t packed_bytes, uint8_t *out,
                  size_t bytes, struct err *e);

void cache_packer_free(struct cache_packer **p);

#ifdef __cplusplus
}
#endif
#endif
