/*
 * kmeans_job.h - declarations shared by the k-means kernels.
 *
 * The order of the work, on one stream; all results are decided in integers:
 *
 *   points  kmeans_points.cu   Morton keys, one radix sort for many frames, runs of equal keys to
 *                              points, groups
 *   start   kmeans_restart.cu  one block a (frame, restart), taken from a counter until none is
 *                              left: the initial centroids (kmeans_seed.cuh)
 *   lloyd   kmeans_restart.cu  likewise: assign and update up to the rung of the race, or to the
 *                              end
 *   race    kmeans_restart.cu  between two rungs: lists the restarts that continue, for the next
 *                              launch of lloyd, with a suitable number of warps a block
 *   choose  kmeans_restart.cu  the best restart, clusters in order
 *
 * A point is one word, r | g << 8 | b << 16 | weight << 24. A weight above 255 does not fit, so a
 * colour may have several consecutive points. This does not change sums, and draws are compared by
 * colour. 32 points form a group, with its box and its sums. A warp processes 32 points, or each of
 * its lanes tests a group.
 */
#ifndef BARCODE_CUDA_KMEANS_JOB_H
#define BARCODE_CUDA_KMEANS_JOB_H

#include "gpu.h"

enum {
    GROUP = 32,         /* points in a group, one for each lane of a warp */
    CHUNK = 32 * GROUP, /* points that a warp tests at once, one group a lane */
    WEIGHT_MOST = 255,
    WARPS_MOST = 16 /* warps in a block */
};

/* The number of points of a frame. */
struct frame_points {
    uint32_t points, groups;
    uint32_t distinct; /* number of colours */
    uint32_t zero;
    unsigned long long square; /* sum of weight * (r^2 + g^2 + b^2) */
};

/* The parameters of every kernel. Arrays of frames have stride `pixels`, `capacity` or `groups`. */
struct kmeans_job {
    struct kmeans_params params;
    int bits; /* ceil(log2 k) */
    int frames;
    uint32_t pixels;
    /* capacity: room for points, a multiple of CHUNK; groups: capacity / GROUP */
    uint32_t capacity, groups;
    const uint64_t *frame; /* frame numbers */
    /* the pixels' sorted keys: key in the low 24 bits, frame in the high byte */
    uint32_t *sorted;
    uint32_t *point;
    uint2 *box;       /* lowest and highest r | g << 8 | b << 16 */
    uint4 *sum;       /* of weight * (r, g, b, 1) */
    uint32_t *square; /* of weight * (r^2 + g^2 + b^2) */
    struct frame_points *made;
    unsigned long long *inertia; /* [frames][n_init] */
    uint32_t *ended;             /* [frames][n_init] not 0: the restart has ended */
    unsigned long long *outcome; /* [frames][n_init][k][4] */
    /* [frames][n_init][k] steps (kmeans_block.cuh) of the centroids to start or continue with */
    uint2 *centre;
    int done, iterations; /* for lloyd: iterations done before this launch, and after it */
    unsigned tasks;       /* restarts to process in this launch */
    const uint32_t *list; /* [tasks] their numbers, frame * n_init + restart; NULL: all */
    unsigned *next;       /* the counter of the next task */
    char *slot;           /* the blocks' private memory */
    size_t slot_bytes;
    struct gpu_column *out;
};

/* Returns the bytes of a block's private memory for one restart (kmeans_restart.cu). */
static inline size_t slot_bytes(const struct kmeans_job *j)
{
    size_t start =
        (size_t)j->capacity * sizeof(uint32_t) + (size_t)j->groups * 2 * sizeof(uint32_t);
    size_t lloyd = (size_t)j->capacity + (size_t)j->groups * 24;
    return start > lloyd ? start : lloyd;
}

/* kmeans_restart.cu: how many blocks the device can hold, and one phase for all frames */
enum restart_phase { RESTART_START, RESTART_LLOYD, RESTART_PHASES };
cudaError_t restart_prepare(const struct kmeans_job *j, enum restart_phase phase, int threads,
                            int *blocks_per_multiprocessor);
void restart_launch(const struct kmeans_job *j, enum restart_phase phase, int threads, int blocks,
                    cudaStream_t stream);

/* kmeans_points.cu. key[chunk frames][pixels], start[...][capacity], tile[...][tiles] */
struct points_scratch {
    uint32_t *key, *start, *tile;
    char *sort;
    size_t sort_bytes;
};
int points_tiles(uint32_t pixels);
void points_launch(const struct kmeans_job *j, const struct points_scratch *s, const uint8_t *rgb,
                   int first, int frames, cudaStream_t stream);

/* kmeans_points.cu: sorts by the low `bits` bits; without `scratch` only sets *bytes, its size */
cudaError_t sort_keys(void *scratch, size_t *bytes, const uint32_t *in, uint32_t *out, int count,
                      int bits, cudaStream_t stream);

/*
 * kmeans_restart.cu. race_launch lists the `go_on` best of a frame's `racing` restarts in
 * list[frames][go_on]. The restarts are those of j->list, or all if it is NULL.
 */
void race_launch(const struct kmeans_job *j, int racing, int go_on, uint32_t *list,
                 cudaStream_t stream);
void choose_launch(const struct kmeans_job *j, cudaStream_t stream);

#endif
