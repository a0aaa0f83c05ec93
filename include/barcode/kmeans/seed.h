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
 * has more than k points, and boxes unless the instruction set is ISA_C.
 */
void seed_start(struct seed *s, const struct points *p, uint64_t frame, int restart,
                uint32_t centre[CLUSTERS_MAX]);

#endif
