/*
 * seed_nearest.h - every point's nearest candidate so far, and the loops that update it.
 *
 * The plain functions examine every point. The vector functions (kmeans_isa.c) skip groups of
 * points whose box is too far from a candidate to change. Both give the same distances, indices and
 * sums.
 */
#ifndef BARCODE_SEED_NEAREST_H
#define BARCODE_SEED_NEAREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/kmeans/points.h"

enum {
    NEAREST_BATCH = 128,              /* most candidates of one call: 2k with k = 64 */
    NEAREST_TRIALS = 8,               /* most trials of one call */
    NEAREST_INDEX = 10,               /* bits of a candidate's number in a key */
    NEAREST_MOST = 1 << NEAREST_INDEX /* most candidates in total */
};

struct nearest {
    const struct points *p;
    /* [padded] the nearest candidate: squared distance << NEAREST_INDEX | its number, < 2^28 */
    uint32_t *key;
    uint64_t total; /* sum of weight * distance */
    /* Used by the vector code only. */
    bool alone;       /* there is only candidate 0, and neither keys nor reach are written yet */
    uint32_t origin;  /* its colour */
    uint32_t *reach;  /* [groups] the largest distance in the group */
    uint64_t *mass;   /* [groups] sum of weight * distance in the group */
    uint64_t *before; /* [groups] the total mass of the preceding groups */
};

/* Return the two parts of a key. */
static inline uint32_t nearest_distance(uint32_t key) { return key >> NEAREST_INDEX; }
static inline uint32_t nearest_index(uint32_t key) { return key & (NEAREST_MOST - 1); }

bool seed_nearest_open(struct nearest *n, size_t capacity, struct err *e);
void seed_nearest_close(struct nearest *n);

/*
 * Adds `count` (1..NEAREST_BATCH) candidates, numbered first, first + 1, ... If first is 0,
 * discards all previous candidates and adds exactly one. The vector code postpones writing its keys
 * until other candidates follow, or seed_nearest_try or seed_nearest_count needs them. `last`: only
 * seed_nearest_count follows, so that `total` and the vector code's sums need not be updated.
 */
void seed_nearest_add(struct nearest *n, enum isa isa, const uint32_t *colour, int first, int count,
                      bool last);

/* Computes what `total` would be with only colour[i] added, i < count (1..NEAREST_TRIALS). */
void seed_nearest_try(struct nearest *n, enum isa isa, const uint32_t *colour, int count,
                      uint64_t *potential);

/* Returns the first point whose inclusive prefix sum of weight * distance exceeds t < total. */
size_t seed_nearest_find(const struct nearest *n, enum isa isa, uint64_t t);

/* Computes weight[i], the number of pixels whose nearest candidate is i, for i < count. */
void seed_nearest_count(struct nearest *n, enum isa isa, uint32_t *weight, int count);

#endif
