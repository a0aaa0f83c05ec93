/*
 * assign.h - the assign step: which centroid wins each point, and the sums of what it won.
 *
 * The score of kmeans.h with raw colours c = x + 127 is P_j(c) = constant_j - c . step_j, where
 * step_j = q_j * 2^b and constant_j = ((h_j + 127 * (q_j.r + q_j.g + q_j.b)) * 2^b) + j. Its low b
 * bits are j, so one minimum gives the winner and no two scores of a point are equal. |P| < 2^25.
 *
 * The plain version scores every point against every centroid. The vector versions keep labels
 * and margins from step to step and look only where something may have changed.
 */
#ifndef BARCODE_ASSIGN_H
#define BARCODE_ASSIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/base/isa.h"
#include "barcode/kmeans/kmeans.h"
#include "barcode/kmeans/points.h"

/* Above every score, and its double fits. */
#define ASSIGN_NEVER (INT32_C(1) << 29)

/* What `kind` tells of a block: KIND_ONE * how many rivals it has and, if one or two, which. */
enum { KIND_ONE = 1 << 16, KIND_HIGH = 8 };
#define KIND_LOWER(kind) ((kind)&255)
#define KIND_HIGHER(kind) ((kind) >> KIND_HIGH & 255)

/* The centroids as the vector code reads them, padded to a whole vector: entries beyond k are not
 * used. */
struct assign_table {
    _Alignas(64) int32_t constant[CLUSTERS_MAX];
    /* 2 * (constant - j) + j: twice a score, with the index in the low b bits */
    int32_t twice[CLUSTERS_MAX];
    uint32_t rb[CLUSTERS_MAX]; /* two int16: -step of red (low half) and blue */
    uint32_t g[CLUSTERS_MAX];  /* -step of green, high half 0 */
    /* half of rb and g: exact, but for k = 1, which has no rivals */
    uint32_t half_rb[CLUSTERS_MAX];
    uint32_t half_g[CLUSTERS_MAX];
};

struct assign {
    const struct kmeans_vector *vector; /* NULL: the plain version */
    int k, bits;                        /* bits = ceil(log2 k): b */
    const struct points *p;
    /* in: the centroids, fixed point with 8 - b fractional bits, centred */
    int32_t q[CLUSTERS_MAX][3];
    uint64_t sum[CLUSTERS_MAX][4]; /* out: weight * (r, g, b, 1) of the points that each won */

    /* The vector versions' memory from step to step; see assign_template.h. */
    uint8_t *label; /* [padded] the winner */
    /* [groups] how far scores may still move before a label may change: two sides */
    int32_t *slack[2];
    /* [blocks] the least of slack - due; what slack does not know yet */
    int32_t *least[2], *due[2];
    /* [blocks] one bit for each centroid that slack speaks of: 0..31 and 32..63 */
    uint32_t *rivals[2];
    int32_t *kind; /* [blocks] see KIND_ONE */
    /* moved: by how much twice, rb and g differ from the step before */
    struct assign_table now, moved;
    bool far; /* a centroid moved by more than `moved` can hold: look at everything */
    _Alignas(16) uint32_t total[2][CLUSTERS_MAX][4]; /* `sum` is these two added */
};

/* A workspace for at most `capacity` points; 1 <= k <= 64. NULL on failure. */
struct assign *assign_open(int k, size_t capacity, enum isa isa, struct err *e);
void assign_close(struct assign **a);

/*
 * One assign step over p: reads q, fills sum. `first` starts anew (other points, another restart);
 * otherwise p must be as in the step before. The vector versions need boxes.
 */
void assign_step(struct assign *a, const struct points *p, bool first);

/* Fills now, moved and far from q. Common to the vector versions. */
void assign_load(struct assign *a, bool first);

/* constant_j of the score above, for j = index. */
int32_t assign_constant(const int32_t q[3], int bits, int index);

/* P_j of a colour word (points.h). */
static inline int32_t assign_score(int32_t constant, const int32_t q[3], int bits, uint32_t colour)
{
    int32_t dot =
        q[0] * colour_red(colour) + q[1] * colour_green(colour) + q[2] * colour_blue(colour);
    return constant - dot * (1 << bits);
}

#endif
