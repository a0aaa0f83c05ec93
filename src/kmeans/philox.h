/*
 * philox.h - Philox4x32-10, the counter-based random number generator of the k-means.
 *
 * Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011. A pure
 * function of key and counter: no state, any order, any thread. It equals Random123's function, and
 * cuRAND's device generator with (seed, subsequence, offset): key = seed, counter = (offset / 4,
 * subsequence), each low word first.
 */
#ifndef BARCODE_PHILOX_H
#define BARCODE_PHILOX_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the block at `counter` under `key` to `out`; word 0 first. */
void philox4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/*
 * Returns word 0 | word 1 << 32 of the block at counter (draw, restart, frame, stage) under the key
 * `seed` (low word first). This is the 64-bit number u of kmeans.h.
 */
uint64_t philox_u64(uint64_t seed, uint32_t draw, uint32_t restart, uint32_t frame, uint32_t stage);

#ifdef __cplusplus
}
#endif
#endif
