/*
 * kmeans_vector.h - the vectorized loops over a frame's points, one set of functions for each
 * instruction set (kmeans_isa.c), and the memory that they need.
 */
#ifndef BARCODE_KMEANS_VECTOR_H
#define BARCODE_KMEANS_VECTOR_H

#include <stdlib.h>
#include <string.h>

#include "barcode/base/err.h"
#include "barcode/base/isa.h"
#include "barcode/kmeans/points.h"

struct assign;
struct nearest;

/* The functions from `begin` on need the output of `box`. */
struct kmeans_vector {
    /*
     * Writes the runs of equal neighbouring pixels (points.h). Returns the number of runs, up to
     * `pixels`. Overwrites p.
     */
    size_t (*runs)(struct points *p, uint32_t *run, const uint8_t *rgb, size_t pixels);
    /* Computes points without groups from runs sorted by key. Returns their number. */
    size_t (*distinct)(struct points *p, const uint32_t *run, size_t runs);
    /* Implements points_box. */
    void (*box)(struct points *p);
    /* Computes the masses of the groups with n->origin as the only candidate. */
    void (*begin)(struct nearest *n);
    /* Implements seed_nearest_add, but for `total` and `before`. Writes all keys if n->alone. */
    void (*add)(struct nearest *n, const uint32_t *colour, int first, int count, bool last);
    /* Implements seed_nearest_try. */
    void (*try)(const struct nearest *n, const uint32_t *colour, int count, uint64_t *potential);
    /* Implements seed_nearest_count. */
    void (*count)(const struct nearest *n, uint32_t *weight, int count);
    /* Implements assign_step; the caller sets `p`, loads the centroids and computes `sum`. */
    void (*step)(struct assign *a, bool first);
};

/* All but the base line: x86-64 only. */
extern const struct kmeans_vector kmeans_base, kmeans_avx2, kmeans_vnni;

#ifdef ISA
void ISA_NAME(assign_again)(struct assign *a, bool first); /* `step` */
#endif

/* Returns the functions for a supported instruction set. */
static inline const struct kmeans_vector *kmeans_vector_of(enum isa isa)
{
    switch (isa) {
#ifdef __x86_64__
    case ISA_AVX2: return &kmeans_avx2;
    case ISA_VNNI: return &kmeans_vnni;
#endif
    default: return &kmeans_base;
    }
}

/*
 * Arrays are complete, aligned cache lines of 64 bytes, a multiple of every vector size. So a
 * vector at any multiple of its size may be loaded and stored, even over the end of an array.
 */
static inline size_t kmeans_lines_bytes(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* Allocates `bytes` uninitialized bytes. Returns NULL if out of memory. */
static inline void *kmeans_lines(size_t bytes)
{
    return aligned_alloc(64, kmeans_lines_bytes(bytes));
}

/* Allocates zeroed bytes, up to the end of the last line. Returns NULL if out of memory. */
static inline void *kmeans_lines_zeroed(size_t bytes)
{
    void *p = kmeans_lines(bytes);
    return p ? memset(p, 0, kmeans_lines_bytes(bytes)) : NULL;
}

/*
 * ---- Every point's nearest candidate so far: seed.c ----
 *
 * The loops that update it (kmeans_isa.c) skip groups of points whose box is too far from a
 * candidate to change.
 */

enum {
    NEAREST_BATCH = 128,               /* most candidates of one call: 2k with k = 64 */
    NEAREST_TRIALS = 8,                /* most trials of one call */
    NEAREST_INDEX = 10,                /* bits of a candidate's number in a key */
    NEAREST_MOST = 1 << NEAREST_INDEX, /* most candidates in total */
    NEAREST_NEVER = 1 << 29            /* above every key */
};

struct nearest {
    const struct points *p;
    /* [padded] the nearest candidate: squared distance << NEAREST_INDEX | its number, < 2^28 */
    uint32_t *key;
    uint64_t total;   /* sum of weight * distance */
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
 * discards all previous candidates and adds exactly one. Its keys are written only when other
 * candidates follow, or seed_nearest_try or seed_nearest_count needs them. `last`: only
 * seed_nearest_count follows, so that `total` and the masses need not be updated.
 */
void seed_nearest_add(struct nearest *n, enum isa isa, const uint32_t *colour, int first, int count,
                      bool last);

/* Computes what `total` would be with only colour[i] added, i < count (1..NEAREST_TRIALS). */
void seed_nearest_try(struct nearest *n, enum isa isa, const uint32_t *colour, int count,
                      uint64_t *potential);

/* Returns the first point whose inclusive prefix sum of weight * distance exceeds t < total. */
size_t seed_nearest_find(const struct nearest *n, uint64_t t);

/* Computes weight[i], the number of pixels whose nearest candidate is i, for i < count. */
void seed_nearest_count(struct nearest *n, enum isa isa, uint32_t *weight, int count);

#endif
