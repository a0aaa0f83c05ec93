/*
 * kmeans_gpu.h - the k-means of kmeans.h for many frames at once, on the current CUDA device.
 *
 * Same bytes as kmeans_run for every input (tests/check/check_kmeans.cu). How it is done:
 * kmeans_job.h. One thread and one stream at a time an object: its memory is shared by all that it
 * runs.
 */
#ifndef BARCODE_CUDA_KMEANS_GPU_H
#define BARCODE_CUDA_KMEANS_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime.h>

#include "barcode/base/err.h"
#include "barcode/engine/column.h"
#include "barcode/kmeans/kmeans.h"

/* One frame's result. What follows the last cluster is 0. */
struct gpu_column {
    uint64_t inertia; /* units of 2^-INERTIA_FRACTION */
    int32_t clusters; /* k' <= k */
    uint32_t zero;
    struct cluster cluster[CLUSTERS_MAX];
};

struct kmeans_gpu;

/*
 * Device bytes that kmeans_gpu_open would take on the current device for batches of at most
 * `frames` frames of at most `pixels` (1..2^28) pixels. 0 where there is no device.
 */
size_t kmeans_gpu_bytes(const struct kmeans_params *params, int pixels, int frames);

/* A workspace on the current device. NULL when memory runs out or the device fails. `params` is
 * copied. */
struct kmeans_gpu *kmeans_gpu_open(const struct kmeans_params *params, int pixels, int frames,
                                   struct err *e);

/*
 * Enqueues the clustering of rgb[n][pixels][3] (1 <= n <= frames; `pixels` as at opening) on
 * `stream` and returns at once: nothing is allocated and nothing waited for. frame[n]: the frames'
 * numbers. out[n] is filled when the stream gets there. rgb, frame and out are device memory of the
 * caller, to be left alone until then.
 */
bool kmeans_gpu_run(struct kmeans_gpu *km, const uint8_t *rgb, const uint64_t *frame, int n,
                    cudaStream_t stream, struct gpu_column *out, struct err *e);

/* Frees the workspace, which must be idle; sets *km to NULL. NULL is fine. */
void kmeans_gpu_free(struct kmeans_gpu **km);

/*
 * For benchmarks and checks: warps (1..16) a block for the starts and for the iterations, instead
 * of what suits (0). Never changes a result. False when out of range.
 */
bool kmeans_gpu_warps(struct kmeans_gpu *km, int start, int lloyd);

#endif
