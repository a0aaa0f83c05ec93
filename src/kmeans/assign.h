/*
 * assign.h - the assign step: finds each point's nearest centroid (its winner) and sums the points
 * of each centroid.
 *
 * With raw colours c = x + 127, the score of kmeans.h is
 *
 *   P_j(c) = constant_j - c . step_j, where step_j = q_j * 2^b
 *   and constant_j = ((h_j + 127 * (q_j.r + q_j.g + q_j.b)) * 2^b) + j
 *
 * The low b bits of a score are j. So one minimum gives the winner, and no two scores of a point
 * are equal. |P| < 2^25.
 *
 * Labels and margins are kept from step to step, so that only points whose winner may have changed
 * are examined.
 */
#ifndef BARCODE_ASSIGN_H
#define BARCODE_ASSIGN_H

#include "barcode/base/err.h"
#include "barcode/base/isa.h"
#include "barcode/kmeans/kmeans.h"
#include "barcode/kmeans/points.h"

/* What the table adds to scores, so that they are positive; a value above all; its double fits. */
#define ASSIGN_RAISED (INT32_C(1) << 26)
#define ASSIGN_NEVER (INT32_C(1) << 29)

/*
 * A block's `kind` is KIND_ONE times the number of its rivals (the centroids that can win one of
 * its points). If there are one or two, their numbers are in the low bits.
 */
enum { KIND_ONE = 1 << 16, KIND_HIGH = 8 };
#define KIND_LOWER(kind) ((kind)&255)
#define KIND_HIGHER(kind) ((kind) >> KIND_HIGH & 255)

/* The centroids, padded to a full vector. Entries beyond k are unused. */
struct assign_table {
    _Alignas(64) int32_t constant[CLUSTERS_MAX];
    /* 2 * (constant - j) + j: twice a score, with the index in the low b bits */
    int32_t twice[CLUSTERS_MAX];
    uint32_t rb[CLUSTERS_MAX]; /* two int16: -step of red (low half) and blue */
    uint32_t g[CLUSTERS_MAX];  /* -step of green, high half 0 */
    /* half of rb and g; exact except for k = 1, which has no rivals */
    uint32_t half_rb[CLUSTERS_MAX];
    uint32_t half_g[CLUSTERS_MAX];
};

struct assign {
    const struct kmeans_vector *vector;
    int k, bits; /* bits: b = ceil(log2 k) */
    const struct points *p;
    /* input: the centroids in fixed point with 8 - b fractional bits, centred */
    int32_t q[CLUSTERS_MAX][3];
    /* output: weight * (r, g, b, 1) summed over the points of each centroid */
    uint64_t sum[CLUSTERS_MAX][4];

    /* State that is kept from step to step; see assign_isa.c. */
    uint8_t *label; /* [padded] each point's winner */
    /* [groups] how far scores may still move before a label may change, for two sides */
    int32_t *slack[2];
    /* [blocks] least: the minimum of slack - due; due: drift not yet subtracted from slack */
    int32_t *least[2], *due[2];
    /* [blocks] one bit for each of the block's rivals: 0..31 and 32..63 */
    uint32_t *rivals[2];
    int32_t *kind; /* [blocks] see KIND_ONE */
    /* moved: differences of twice, rb and g from the previous step */
    struct assign_table now, moved;
    bool far; /* a centroid moved by more than `moved` can hold: examine everything */
    _Alignas(32) uint64_t total[2][CLUSTERS_MAX][4]; /* `sum` is the sum of these two */
};

/* Creates a workspace for at most `capacity` points; 1 <= k <= 64. */
struct assign *assign_open(int k, size_t capacity, enum isa isa, struct err *e);
void assign_close(struct assign **a);

/*
 * Performs one assign step over p: reads q, fills sum. `first` restarts with other points or for
 * another restart; otherwise p must be as in the previous step. p has boxes.
 */
void assign_step(struct assign *a, const struct points *p, bool first);

/* Returns constant_j of the score above, for j = index. */
int32_t assign_constant(const int32_t q[3], int bits, int index);

/*
 * ---- A restart of the k-means, run in as many parts as there are rungs ----
 *
 * kmeans.h defines assign, update and stop. A restart needs only `q` to continue; the state of the
 * assign step just saves work. One thread an object.
 */

struct restart {
    struct assign *assign; /* the workspace to use */
    bool unshared;         /* `assign` is not shared, so its state is still valid when this restart
                              continues */
    bool ended;
    int number, iterations;        /* iterations: number of finished iterations */
    int32_t q[CLUSTERS_MAX][3];    /* centroids of the next iteration, as in assign.h */
    uint64_t sum[CLUSTERS_MAX][4]; /* sums of the best clustering, as in assign.h */
    /* inertia of the best clustering; UINT64_MAX before the first iteration */
    uint64_t inertia;
};

/* Initializes restart `number` with centre[k] (points.h). Keeps `assign` and `unshared`. */
void restart_begin(struct restart *r, int number, const uint32_t *centre);

/* Continues until `iterations` (1 or more) in total, or its end. p: the same in every part. */
void restart_go_on(struct restart *r, const struct points *p, int iterations);

/* Returns true if a ranks before b: smaller inertia, then lower number. */
static inline bool restart_before(const struct restart *a, const struct restart *b)
{
    return a->inertia != b->inertia ? a->inertia < b->inertia : a->number < b->number;
}

#endif
