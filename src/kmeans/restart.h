/*
 * restart.h - one restart of the k-means, from its start to its end, in as many parts as its rungs
 * ask for.
 *
 * Assign, update and stop are those of kmeans.h. What a restart needs to go on is `q`: the memory
 * of the assign step only saves work. One thread an object.
 */
#ifndef BARCODE_RESTART_H
#define BARCODE_RESTART_H

#include <stdbool.h>
#include <stdint.h>

#include "assign.h"
#include "barcode/kmeans/kmeans.h"
#include "barcode/kmeans/points.h"

struct restart {
    struct assign *assign; /* where it is worked on */
    bool own; /* no other restart is: `assign` remembers the step before when this one goes on */
    bool ended;
    int number, iterations;        /* iterations: so many are done */
    int32_t q[CLUSTERS_MAX][3];    /* the centroids of the next iteration, as in assign.h */
    uint64_t sum[CLUSTERS_MAX][4]; /* of the clustering that counts, as in assign.h */
    uint64_t inertia;              /* and its inertia; UINT64_MAX before the first iteration */
};

/* Puts restart `number` where it starts: at centre[k], colour words (points.h). `assign` and `own`
 * stay as they are. */
void restart_begin(struct restart *r, int number, const uint32_t *centre);

/* Goes on until `iterations` (1 or more) are done in all, or to the end. p: as for assign_step, the
 * same in every part. */
void restart_go_on(struct restart *r, const struct points *p, int iterations);

/* True if a comes before b in a race and in the choice: the smaller inertia, then the lower number.
 */
static inline bool restart_before(const struct restart *a, const struct restart *b)
{
    return a->inertia != b->inertia ? a->inertia < b->inertia : a->number < b->number;
}

#endif
