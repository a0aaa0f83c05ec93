/* pack.h - compresses and decompresses bytes (zstd). Each thread needs its own cache_packer. */
#ifndef BARCODE_PACK_H
#define BARCODE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

struct cache_packer;

/*
 * Opens a packer. zstd's memory is allocated at the first use of each direction. Returns NULL if
 * out of memory.
 */
struct cache_packer *cache_packer_open(struct err *e);

/* Returns the largest possible compressed size of `bytes` bytes. */
size_t cache_pack_bound(size_t bytes);

/* Compresses into out[cache_pack_bound(bytes)]. Returns the compressed size, or 0 on failure. */
size_t cache_pack(struct cache_packer *p, const uint8_t *data, size_t bytes, uint8_t *out,
                  struct err *e);

/*
 * Decompresses untrusted bytes into exactly `bytes` bytes. On failure returns false, and the
 * contents of `out` are undefined.
 */
bool cache_unpack(struct cache_packer *p, const uint8_t *packed, size_t packed_bytes, uint8_t *out,
                  size_t bytes, struct err *e);

void cache_packer_free(struct cache_packer **p);

#endif
