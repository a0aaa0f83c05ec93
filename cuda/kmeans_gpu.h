/*
 * kmeans_gpu.h - the k-means of kmeans.h for many frames at once, on the current CUDA device.
 *
 * Gives the same bytes as kmeans_run for every input (tests/check/check_kmeans.cu). kmeans_job.h
 * describes the kernels. Use an object from one thread and one stream at a time, because its calls
 * share its memory.
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

/* One frame's result. Entries after the last cluster are 0. */
struct gpu_column {
    uint64_t inertia; /* in units of 2^-INERTIA_FRACTION */
    int32_t clusters; /* k' <= k */
    uint32_t zero;
    struct cluster cluster[CLUSTERS_MAX];
};

struct kmeans_gpu;

/*
 * Returns the device bytes that kmeans_gpu_open would allocate on the current device, for batches
 * of at most `frames` frames of at most `pixels` (1..2^28) pixels. Returns 0 without a device.
 */
size_t kmeans_gpu_bytes(const struct kmeans_params *params, int pixels, int frames);

/* Creates a workspace on the current device. Copies `params`. */
struct kmeans_gpu *kmeans_gpu_open(const struct kmeans_params *params, int pixels, int frames,
                                   struct err *e);

/*
 * Enqueues the clustering of rgb[n][pixels][3] on `stream`. 1 <= n <= frames, and `pixels` is that
 * of kmeans_gpu_open. Returns immediately; allocates nothing and does not wait. `frame` has the
 * numbers of the n frames. `out` is valid once the stream has finished. rgb, frame and out are the
 * caller's device memory and must not be touched until then.
 */
bool kmeans_gpu_run(struct kmeans_gpu *km, const uint8_t *rgb, const uint64_t *frame, int n,
                    cudaStream_t stream, struct gpu_column *out, struct err *e);

/* The workspace must be idle. */
void kmeans_gpu_free(struct kmeans_gpu **km);

/*
 * Sets the number of warps (1..16) in a block for the starts and the iterations; 0: automatic. For
 * benchmarks and checks; never changes a result. Returns false if out of range.
 */
bool kmeans_gpu_warps(struct kmeans_gpu *km, int start, int lloyd);

#endif
