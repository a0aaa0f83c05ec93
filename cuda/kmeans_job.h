/*
 * kmeans_job.h - what the kernels of the k-means share.
 *
 * The order of work, all on one stream and all in integers where a result is decided:
 *   points   kmeans_points.cu   Morton keys, one radix sort for many frames, runs of equal keys to
 * points, groups start    kmeans_restart.cu  one block a (frame, restart), taken from a counter
 * until none is left: the centroids to begin with (kmeans_seed.cuh, kmeans_nearest.cuh) lloyd
 * kmeans_restart.cu  likewise: assign and update (kmeans_lloyd.cuh, kmeans_update.cuh) as far as
 * the rung of the race goes, or to the end race     kmeans_choose.cu   between two rungs: lists the
 * restarts that go on, so that the next launch of lloyd has just these to give out, with as many
 * warps a block as suits their number choose   kmeans_choose.cu   the best restart, clusters in
 * order
 *
 * A point is one word, r | g << 8 | b << 16 | weight << 24. A weight above 255 does not fit, so
 * that a colour may stand in several points, one after the other: sums do not notice, and draws are
 * compared by colour. 32 points make a group, with its box and its sums: one warp looks at 32
 * points, or one lane at a group.
 */
#ifndef BARCODE_CUDA_KMEANS_JOB_H
#define BARCODE_CUDA_KMEANS_JOB_H

#include "kmeans_gpu.h"

enum {
    GROUP = 32,         /* points a group: a warp */
    CHUNK = 32 * GROUP, /* points that a warp's lanes test at once, a group each */
    WEIGHT_MOST = 255,
    WARPS_MOST = 16 /* a block */
};

/* What the points of a frame came to. */
struct frame_points {
    uint32_t points, groups;
    uint32_t distinct; /* colours */
    uint32_t zero;
    unsigned long long square; /* sum of weight * (r^2 + g^2 + b^2) */
};

/* The parameters of every kernel. Arrays of frames are strided by `pixels`, `capacity` or `groups`.
 */
struct kmeans_job {
    struct kmeans_params params;
    int bits; /* ceil(log2 k) */
    int frames;
    uint32_t pixels;
    uint32_t capacity, groups; /* room for points, a multiple of CHUNK; / GROUP */
    const uint64_t *frame;     /* numbers */
    uint32_t *sorted;          /* the pixels' keys in order: key 24 bits, frame in the high byte */
    uint32_t *point;
    uint2 *box;       /* lowest and highest r | g << 8 | b << 16 */
    uint4 *sum;       /* of weight * (r, g, b, 1) */
    uint32_t *square; /* of weight * (r^2 + g^2 + b^2) */
    struct frame_points *made;
    unsigned long long *inertia; /* [frames][n_init] */
    uint32_t *ended;             /* [frames][n_init] not 0: the restart is at its end */
    unsigned long long *outcome; /* [frames][n_init][k][4] */
    uint2 *centre; /* [frames][n_init][k] steps to begin or go on from, as in kmeans_block.cuh */
    int done, iterations; /* of lloyd: done before this launch, and after it */
    unsigned tasks;       /* restarts to give out in this launch */
    const uint32_t *list; /* [tasks] which these are, frame * n_init + restart; NULL: all */
    unsigned *next;       /* the counter that gives them out */
    char *slot;           /* a block's own memory */
    size_t slot_bytes;
    struct gpu_column *out;
};

/* A block's own memory while it works on a restart: see the kernels in kmeans_restart.cu. */
static inline size_t slot_bytes(const struct kmeans_job *j)
{
    size_t start =
        (size_t)j->capacity * sizeof(uint32_t) + (size_t)j->groups * 2 * sizeof(uint32_t);
    size_t lloyd = (size_t)j->capacity + (size_t)j->groups * 24;
    return start > lloyd ? start : lloyd;
}

/* kmeans_restart.cu. Blocks as the device holds them, and the launch of one phase for all frames.
 */
enum restart_phase { RESTART_START, RESTART_LLOYD, RESTART_PHASES };
cudaError_t restart_prepare(const struct kmeans_job *j, enum restart_phase phase, int threads,
                            int *blocks_per_multiprocessor);
void restart_launch(const struct kmeans_job *j, enum restart_phase phase, int threads, int blocks,
                    cudaStream_t stream);

/* kmeans_points.cu. `scratch`: uint32_t [chunk frames][max(capacity, pixels)], `tiles` [chunk
 * frames][tiles]. */
struct points_scratch {
    uint32_t *key, *start, *tile;
    void *sort;
    size_t sort_bytes;
};
int points_tiles(uint32_t pixels);
void points_launch(const struct kmeans_job *j, const struct points_scratch *s, const uint8_t *rgb,
                   int first, int frames, cudaStream_t stream);

/* kmeans_sort.cu: out = in[count] sorted by the low `bits` bits. With scratch NULL only *bytes is
 * set. */
cudaError_t sort_keys(void *scratch, size_t *bytes, const uint32_t *in, uint32_t *out, int count,
                      int bits, cudaStream_t stream);

/*
 * kmeans_choose.cu. race_launch lists the `go_on` best of a frame's `racing` restarts: those of
 * j->list, or all when that is NULL. list[frames][go_on].
 */
void race_launch(const struct kmeans_job *j, int racing, int go_on, uint32_t *list,
                 cudaStream_t stream);
void choose_launch(const struct kmeans_job *j, cudaStream_t stream);

#endif
