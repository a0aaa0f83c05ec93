/*
 * restart.h - one restart of the k-means, run in as many parts as there are rungs.
 *
 * kmeans.h defines assign, update and stop. A restart needs only `q` to continue; the state of the
 * assign step just saves work. One thread an object.
 */
#ifndef BARCODE_RESTART_H
#define BARCODE_RESTART_H

#include <stdbool.h>
#include <stdint.h>

#include "assign.h"
#include "barcode/kmeans/kmeans.h"
#include "barcode/kmeans/points.h"

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
