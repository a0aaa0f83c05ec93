/*
 * kmeans_block.cuh - what a block has at hand while it works on one restart.
 */
#ifndef BARCODE_CUDA_KMEANS_BLOCK_CUH
#define BARCODE_CUDA_KMEANS_BLOCK_CUH

#include "barcode/seed.h"

#include "kmeans_job.h"
#include "warp.cuh"

enum { TRIALS_MOST = 8 };

/* The block's shared memory. What the start needs and what the iterations need lie in the same place. */
struct block_memory {
    wide *base;             /* [threads] D2 masses before each thread's groups         */
    wide *part;             /* [WARPS_MOST]                                            */
    wide *potential;        /* [TRIALS_MOST]                                           */
    uint32_t *centre;       /* [CLUSTERS_MAX] where the iterations begin               */
    uint32_t *flag;         /* [4]                                                     */
    /* start */
    uint32_t *colour, *weight, *distance;   /* [candidates]                            */
    uint2 *entry;           /* [2 k] the candidates of a pass                          */
    uint32_t *drawn;        /* [2 k]                                                   */
    /* iterations */
    wide *kept;             /* [k][4] the clustering that counts                       */
    void *sum;              /* [k][4] of the labels as they are                        */
    int4 *now;              /* [k] constant, -step of red and green, -step of blue     */
    float4 *line, *moved;   /* [k] the same four numbers; what they changed by         */
};

/* One restart of one frame. */
struct work {
    const uint32_t *sorted, *point;
    const uint2 *box;
    const uint4 *sum;
    uint32_t pixels, points, groups;
    wide square;
    uint64_t seed;
    uint32_t restart, number;
    int k, bits, max_iter;
    struct slot s;
    struct block_memory m;
};

static inline __host__ __device__ int candidates_most(int k)
{
    return 1 + SEED_ROUNDS * 2 * k;
}

/* Lays out the shared memory from `at` on; returns its end. */
static __host__ __device__ char *block_layout(struct block_memory *m, char *at, int k, int threads)
{
    int candidates = (candidates_most(k) + 3) / 4 * 4, pairs = (2 * k + 3) / 4 * 4;
    m->base = (wide *)at;
    m->part = m->base + threads;
    m->potential = m->part + WARPS_MOST;
    m->centre = (uint32_t *)(m->potential + TRIALS_MOST);
    m->flag = m->centre + CLUSTERS_MAX;
    char *both = (char *)(m->flag + 4);
    m->colour = (uint32_t *)both;
    m->weight = m->colour + candidates;
    m->distance = m->weight + candidates;
    m->entry = (uint2 *)(m->distance + candidates);
    m->drawn = (uint32_t *)(m->entry + pairs);
    char *start_end = (char *)(m->drawn + pairs);
    m->now = (int4 *)both;
    m->line = (float4 *)(m->now + k);
    m->moved = m->line + k;
    m->kept = (wide *)(m->moved + k);
    m->sum = m->kept + 4 * k;
    char *end = (char *)m->sum + 4 * k * sizeof(wide);
    return start_end > end ? start_end : end;
}

static __device__ __forceinline__ wide draw_below(const struct work *w, int stage, int draw, wide total)
{
    return __umul64hi(random_u64(w->seed, (uint32_t)draw, w->restart, w->number, (uint32_t)stage), total);
}

/* The colour that a draw from the weights gives. */
static __device__ __forceinline__ uint32_t draw_colour(const struct work *w, int stage, int draw)
{
    return colour_of(w->sorted[draw_below(w, stage, draw, w->pixels)]);
}

static __device__ __forceinline__ uint32_t distance2(uint32_t a, uint32_t b)
{
    return square_of(a) + square_of(b) - 2 * dot4(a & 0xffffff, b & 0xffffff);
}

#endif
