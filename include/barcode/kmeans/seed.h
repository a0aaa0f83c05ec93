/*
 * seed.h - chooses where a restart of the k-means starts: k distinct colours of the frame.
 *
 * kmeans.h defines the algorithm ("Start"). This module is its control flow, the same for every
 * instruction set; the loops over the points are in kmeans_vector.h. One thread an object.
 */
#ifndef BARCODE_SEED_H
#define BARCODE_SEED_H

#include "barcode/base/err.h"
#include "barcode/base/isa.h"
#include "barcode/kmeans/kmeans.h"
#include "barcode/kmeans/points.h"

/* The fourth word of the counter, so that no two draws share a Philox block. */
enum seed_stage {
    STAGE_RANDOM,   /* draws of the random start */
    STAGE_PLUSPLUS, /* k-means++ on the frame's points */
    STAGE_ROUNDS,   /* rounds of k-means|| */
    STAGE_RECLUSTER /* k-means++ on the candidates of the rounds */
};

enum {
    SEED_ROUNDS = 5,
    SEED_CANDIDATES = 1 + SEED_ROUNDS * 2 * CLUSTERS_MAX /* at most */
};

struct seed;

/* Creates a workspace for frames of at most `capacity` distinct colours. Copies `params`. */
struct seed *seed_open(const struct kmeans_params *params, size_t capacity, enum isa isa,
                       struct err *e);
void seed_close(struct seed **s);

/* Returns floor(u * total / 2^64): a draw below `total`. */
uint64_t seed_scale(uint64_t u, uint64_t total);

/* Returns 2 + floor(ln k): the trials of greedy k-means++ for each centre. */
int seed_trials(int k);

/*
 * Writes the k starting centres of restart `restart` of frame `frame` as colour words (points.h). p
 * has more than k points, and boxes.
 */
void seed_start(struct seed *s, const struct points *p, uint64_t frame, int restart,
                uint32_t centre[CLUSTERS_MAX]);

/*
 * ---- Philox4x32-10, the counter-based random number generator of the k-means ----
 *
 * Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011. A pure
 * function of key and counter: no state, any order, any thread. It equals Random123's function, and
 * cuRAND's device generator with (seed, subsequence, offset): key = seed, counter = (offset / 4,
 * subsequence), each low word first.
 */

/* Writes the block at `counter` under `key` to `out`; word 0 first. */
static inline void philox4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * a;
        uint64_t p1 = (uint64_t)0xCD9E8D57u * c;
        a = (uint32_t)(p1 >> 32) ^ b ^ k0;
        b = (uint32_t)p1;
        c = (uint32_t)(p0 >> 32) ^ d ^ k1;
        d = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
}

/*
 * Returns word 0 | word 1 << 32 of the block at counter (draw, restart, frame, stage) under the key
 * `seed` (low word first). This is the 64-bit number u of kmeans.h.
 */
static inline uint64_t philox_u64(uint64_t seed, uint32_t draw, uint32_t restart, uint32_t frame,
                                  uint32_t stage)
{
    const uint32_t counter[4] = {draw, restart, frame, stage};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t out[4];
    philox4x32_10(counter, key, out);
    return out[0] | (uint64_t)out[1] << 32;
}

#endif
