/* pack.h - residuals of frames, and zstd. Each thread needs its own cache_packer. */
#ifndef BARCODE_PACK_H
#define BARCODE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

struct cache_packer;

/* zstd's memory is allocated at the first use of each direction. */
struct cache_packer *cache_packer_open(struct err *e);
void cache_packer_free(struct cache_packer **p);

/* Returns the largest possible compressed size of `bytes` bytes. */
size_t cache_pack_bound(size_t bytes);

/* Compresses into out[cache_pack_bound(bytes)]. Returns the compressed size, or 0 on failure. */
size_t cache_pack(struct cache_packer *p, const uint8_t *data, size_t bytes, uint8_t *out,
                  struct err *e);

/* Decompresses untrusted bytes into exactly `bytes` bytes. */
bool cache_unpack(struct cache_packer *p, const uint8_t *packed, size_t packed_bytes, uint8_t *out,
                  size_t bytes, struct err *e);

/*
 * Converts an analysis frame to prediction residuals, which zstd compresses well, and
 * back without loss. The residuals are bytes modulo 256, as many as rgb[height][width][3].
 *
 * Green is subtracted from red and blue (+ 128, so that grey is in the middle). Then each sample is
 * predicted by the median of left, above and left + above - upper left (the predictor of lossless
 * JPEG-LS). `scratch` has the size of the frame. The three buffers must not overlap. Any thread.
 */
void cache_residual_make(const uint8_t *rgb, int width, int height, uint8_t *scratch, uint8_t *out);
void cache_residual_undo(const uint8_t *residual, int width, int height, uint8_t *scratch,
                         uint8_t *rgb);

#endif
