/*
 * seed_nearest.h - every point's nearest candidate so far, and the passes that keep it.
 *
 * The plain functions look at every point; the vector ones (seed_template.h) skip groups of points
 * whose box is too far from a candidate to change. Both leave the same distances, indices and sums.
 */
#ifndef BARCODE_SEED_NEAREST_H
#define BARCODE_SEED_NEAREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/kmeans/points.h"

enum {
    NEAREST_BATCH = 128,              /* candidates that one call takes at most: 2k with k = 64 */
    NEAREST_TRIALS = 8,               /* trials of one call */
    NEAREST_INDEX = 10,               /* bits that a candidate's number has in a key */
    NEAREST_MOST = 1 << NEAREST_INDEX /* candidates in all, at most */
};

struct nearest {
    const struct points *p;
    /*
     * [padded] the lowest of squared distance << NEAREST_INDEX | candidate, below 2^28: the nearest
     * candidate, ties to the lower
     */
    uint32_t *key;
    uint64_t total; /* sum of weight * distance */
    /* The vector versions only. */
    bool alone;       /* there is candidate 0 alone: no key is written, and no reach */
    uint32_t origin;  /* its colour */
    uint32_t *reach;  /* [groups] the largest distance in the group */
    uint64_t *mass;   /* [groups] sum of weight * distance in the group */
    uint64_t *before; /* [groups] the masses of the groups before, once per settle */
};

/* The two parts of a key. */
static inline uint32_t nearest_distance(uint32_t key) { return key >> NEAREST_INDEX; }
static inline uint32_t nearest_index(uint32_t key) { return key & (NEAREST_MOST - 1); }

bool seed_nearest_open(struct nearest *n, size_t capacity, struct err *e);
void seed_nearest_close(struct nearest *n);

/*
 * Takes `count` (1..NEAREST_BATCH) candidates, numbered first, first + 1, ...; first = 0 forgets
 * what was before and takes one candidate alone, whose keys the vector versions write when others
 * follow or seed_nearest_try or _count asks for them. `last`: nothing but seed_nearest_count
 * follows, so that `total` and what the vector versions keep may be left as they are.
 */
void seed_nearest_add(struct nearest *n, enum isa isa, const uint32_t *colour, int first, int count,
                      bool last);

/* potential[i] = what `total` would be with colour[i] added, for each i < count (1..NEAREST_TRIALS)
 * alone. */
void seed_nearest_try(struct nearest *n, enum isa isa, const uint32_t *colour, int count,
                      uint64_t *potential);

/* The first point whose inclusive prefix sum of weight * distance exceeds t < total. */
size_t seed_nearest_find(const struct nearest *n, enum isa isa, uint64_t t);

/* weight[i] = the pixels whose nearest candidate is i, for i < count. */
void seed_nearest_count(struct nearest *n, enum isa isa, uint32_t *weight, int count);

#endif
