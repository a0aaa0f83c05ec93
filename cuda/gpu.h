/*
 * gpu.h - the host functions of the kernels, on the current CUDA device. Each gives the same bytes
 * as its counterpart in the CPU engine. Those that take a stream enqueue their work and return at
 * once: they allocate nothing and do not wait. Their arrays are the caller's device memory and must
 * not be touched until the stream has finished.
 */
#ifndef BARCODE_CUDA_GPU_H
#define BARCODE_CUDA_GPU_H

#include <cuda_runtime.h>

#include "barcode/base/err.h"
#include "barcode/engine/column.h"
#include "barcode/engine/dominant.h"
#include "barcode/engine/frame.h"
#include "barcode/engine/light.h"
#include "barcode/kmeans/kmeans.h"
#include "barcode/sound/peaks.h"

/* Sets "cannot WHAT on the GPU: ..." (ERR_ENGINE) if `code` is an error. Any thread. */
static inline bool cuda_check(cudaError_t code, const char *what, struct err *e)
{
    return code == cudaSuccess ||
           err_set(e, ERR_ENGINE, "cannot %s on the GPU: %s", what, cudaGetErrorString(code));
}

/* ---- Downscaling: shrink_gpu.cu ---- */

/*
 * Enqueues the downscaling of `view`, whose planes are in device memory, into rgb[height][width][3]
 * (orientation applied; 1..16384 each). `light`: the device tables (light_gpu_table) if
 * light_wanted returns true for the view, else NULL; with them light_gamut's matrix. Fails if
 * shrink_check_view fails, or if the launch fails. Any thread.
 */
bool shrink_gpu(const struct frame_view *view, int width, int height,
                const struct light_table *light, const struct light_gamut *gamut, uint8_t *rgb,
                cudaStream_t stream, struct err *e);

/*
 * Enqueues the sums of every row of n frames: rgb[n][height][width][3] to sum[n][height][3],
 * at most 255 * 16384 each. If `means` (SDR's tables on the device) is not NULL, computes
 * column_row_light of every row instead.
 */
bool row_sums_gpu(const uint8_t *rgb, int n, int width, int height, const struct light_table *means,
                  uint32_t *sum, cudaStream_t stream, struct err *e);

/* ---- Device copies of the tables of light.h: shrink_gpu.cu ---- */

struct light_gpu;

/* Creates the copies' owner for a film on the current device; copies nothing. Borrows `light`. */
struct light_gpu *light_gpu_open(struct light *light, struct err *e);
void light_gpu_free(struct light_gpu **g);

/*
 * Returns the device copy of light_table, which is made on first use and owned by `g`. Returns NULL
 * with *e on failure. Any thread, with the device current.
 */
const struct light_table *light_gpu_table(struct light_gpu *g, enum transfer transfer,
                                          struct err *e);

/* ---- Modes of dominant.h: dominant_gpu.cu. One thread and one stream at a time. ---- */

/* One frame's modes. Entries after the last mode are 0. */
struct gpu_modes {
    int32_t modes; /* 1..most */
    uint32_t zero;
    struct cluster mode[DOMINANT_MOST];
};

struct dominant_gpu;

/* Returns the device bytes that dominant_gpu_open allocates for batches of `frames` frames. */
size_t dominant_gpu_bytes(int frames);

struct dominant_gpu *dominant_gpu_open(int frames, struct err *e);

/*
 * Enqueues the computation of the first `most` (1..DOMINANT_MOST) modes of rgb[n][pixels][3] into
 * out[n]. 1 <= n <= frames, 1 <= pixels <= 2^28.
 */
bool dominant_gpu_run(struct dominant_gpu *d, const uint8_t *rgb, int n, int pixels, int most,
                      cudaStream_t stream, struct gpu_modes *out, struct err *e);
void dominant_gpu_free(struct dominant_gpu **d);

/* ---- K-means of kmeans.h: kmeans_gpu.cu. One thread and one stream at a time. ---- */

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

struct kmeans_gpu *kmeans_gpu_open(const struct kmeans_params *params, int pixels, int frames,
                                   struct err *e);

/*
 * Enqueues the clustering of rgb[n][pixels][3]. 1 <= n <= frames, and `pixels` is that of
 * kmeans_gpu_open. `frame` has the numbers of the n frames.
 */
bool kmeans_gpu_run(struct kmeans_gpu *km, const uint8_t *rgb, const uint64_t *frame, int n,
                    cudaStream_t stream, struct gpu_column *out, struct err *e);
void kmeans_gpu_free(struct kmeans_gpu **km);

/*
 * Sets the number of warps (1..16) in a block for the starts and the iterations; 0: automatic. For
 * benchmarks and checks; never changes a result. Returns false if out of range.
 */
bool kmeans_gpu_warps(struct kmeans_gpu *km, int start, int lloyd);

/* ---- Sound: sound_gpu.cu ---- */

/* Opens struct sound_device's functions on GPU `device`. Returns NULL if the GPU fails. */
struct sound_device *sound_gpu_open(int device, struct err *e);

#endif
