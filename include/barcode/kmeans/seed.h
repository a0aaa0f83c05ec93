/*
 * seed.h - where a restart of the k-means begins: k distinct colours of the frame.
 *
 * The definition stands in kmeans.h ("Start"); this is its orchestration, the same for
 * every instruction set. The passes over the points are in seed_nearest.h. One thread an object.
 */
#ifndef BARCODE_SEED_H
#define BARCODE_SEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/base/isa.h"
#include "barcode/kmeans/kmeans.h"
#include "barcode/kmeans/points.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The fourth word of the counter: one number a purpose, so that no two draws share a block. */
enum seed_stage {
    STAGE_RANDOM,   /* the draws of the random start */
    STAGE_PLUSPLUS, /* k-means++ on the frame's points */
    STAGE_ROUNDS,   /* the rounds of k-means|| */
    STAGE_RECLUSTER /* k-means++ on the candidates that the rounds gave */
};

enum {
    SEED_ROUNDS = 5,
    SEED_CANDIDATES = 1 + SEED_ROUNDS * 2 * CLUSTERS_MAX /* at most */
};

struct seed;

/* Works with frames of at most `capacity` distinct colours. `params` is copied. NULL on failure. */
struct seed *seed_open(const struct kmeans_params *params, size_t capacity, enum isa isa,
                       struct err *e);
void seed_close(struct seed **s);

/* floor(u * total / 2^64): a draw below `total`. */
uint64_t seed_scale(uint64_t u, uint64_t total);

/* 2 + floor(ln k): the trials that greedy k-means++ makes for a centre. */
int seed_trials(int k);

/*
 * The k starting centres as colour words (points.h) of restart `restart` of frame `frame`. p has
 * more than k points, and boxes unless the instruction set is ISA_C.
 */
void seed_start(struct seed *s, const struct points *p, uint64_t frame, int restart,
                uint32_t centre[CLUSTERS_MAX]);

#ifdef __cplusplus
}
#endif
#endif
