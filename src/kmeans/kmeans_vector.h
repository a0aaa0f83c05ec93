/*
 * kmeans_vector.h - the passes over a frame's points that are worth vectors, one set of functions
 * for each instruction set. The templates hold them, written once over kmeans_lanes.h;
 * kmeans_avx2.c and its like compile them.
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

/* A set leaves the same as the plain functions; those from `begin` on need what `box` has filled.
 */
struct kmeans_vector {
    /* The pixels rgb[pixels][3] as runs of equal neighbours in run[pixels] (points_key.h); returns
     * how many. Uses up p. */
    size_t (*runs)(struct points *p, uint32_t *run, const uint8_t *rgb, size_t pixels);
    /* Colours, weights, prefixes and square of the runs, which are sorted by key; returns how many
     * points they are. */
    size_t (*distinct)(struct points *p, const uint32_t *run, size_t runs);
    /* points_box. */
    void (*box)(struct points *p);
    /* The masses of the groups with n->origin alone. */
    void (*begin)(struct nearest *n);
    /* seed_nearest_add; the caller sums `total` and `before`. With n->alone it writes all keys. */
    void (*add)(struct nearest *n, const uint32_t *colour, int first, int count, bool last);
    /* seed_nearest_try. */
    void (*try)(const struct nearest *n, const uint32_t *colour, int count, uint64_t *potential);
    /* seed_nearest_count. */
    void (*count)(const struct nearest *n, uint32_t *weight, int count);
    /* assign_step; the caller sets `p` and sums `sum`. */
    void (*step)(struct assign *a, bool first);
};

/* in builds for x86-64 */
extern const struct kmeans_vector kmeans_avx2, kmeans_avx512, kmeans_vnni;

/* The set for an instruction set that this processor has; NULL for ISA_C, whose passes are plain C.
 */
const struct kmeans_vector *kmeans_vector_of(enum isa isa);

#endif
