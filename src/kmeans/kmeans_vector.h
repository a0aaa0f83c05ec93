/*
 * kmeans_vector.h - the vectorized loops over a frame's points, one set of functions for each
 * instruction set. They are written once in the templates on top of kmeans_lanes.h, and compiled by
 * kmeans_avx2.c, kmeans_avx512.c and kmeans_vnni.c.
 */
#ifndef BARCODE_KMEANS_VECTOR_H
#define BARCODE_KMEANS_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/isa.h"

struct assign;
struct nearest;
struct points;

/* Gives the same results as the plain functions. Those from `begin` on need the output of `box`. */
struct kmeans_vector {
    /*
     * Writes the pixels rgb[pixels][3] as runs of equal neighbours to run[pixels] (points_key.h).
     * Returns the number of runs. Overwrites p.
     */
    size_t (*runs)(struct points *p, uint32_t *run, const uint8_t *rgb, size_t pixels);
    /*
     * Computes colours, weights, prefix sums and square from runs sorted by key. Returns the number
     * of points.
     */
    size_t (*distinct)(struct points *p, const uint32_t *run, size_t runs);
    /* Implements points_box. */
    void (*box)(struct points *p);
    /* Computes the masses of the groups with n->origin as the only candidate. */
    void (*begin)(struct nearest *n);
    /*
     * Implements seed_nearest_add; the caller computes `total` and `before`. If n->alone, writes
     * all keys.
     */
    void (*add)(struct nearest *n, const uint32_t *colour, int first, int count, bool last);
    /* Implements seed_nearest_try. */
    void (*try)(const struct nearest *n, const uint32_t *colour, int count, uint64_t *potential);
    /* Implements seed_nearest_count. */
    void (*count)(const struct nearest *n, uint32_t *weight, int count);
    /* Implements assign_step; the caller sets `p` and computes `sum`. */
    void (*step)(struct assign *a, bool first);
};

/* x86-64 only */
extern const struct kmeans_vector kmeans_avx2, kmeans_avx512, kmeans_vnni;

/*
 * Returns the functions for a supported instruction set. Returns NULL for ISA_C, which uses plain
 * C.
 */
const struct kmeans_vector *kmeans_vector_of(enum isa isa);

#endif
