/*
 * dominant_gpu.h - the mode of dominant.h for many frames at once, on the current CUDA device: the
 * same bytes as dominant_modes. One thread and one stream at a time an object: its memory is shared
 * by all that it runs.
 */
#ifndef BARCODE_CUDA_DOMINANT_GPU_H
#define BARCODE_CUDA_DOMINANT_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime.h>

#include "barcode/base/err.h"
#include "barcode/engine/dominant.h"

/* One frame's modes. What follows the last is 0. */
struct gpu_modes {
    int32_t modes; /* 1..most */
    uint32_t zero;
    struct cluster mode[DOMINANT_MOST];
};

struct dominant_gpu;

/* Device bytes that dominant_gpu_open takes for batches of at most `frames` frames. */
size_t dominant_gpu_bytes(int frames);

/* A workspace on the current device. NULL when memory runs out or the device fails. */
struct dominant_gpu *dominant_gpu_open(int frames, struct err *e);

/*
 * Enqueues the first `most` (1..DOMINANT_MOST) modes of rgb[n][pixels][3] (1 <= n <= frames, 1 <=
 * pixels <= 2^28) into out[n] on `stream` and returns at once: nothing is allocated and nothing
 * waited for. rgb and out are device memory of the caller, to be left alone until the stream has
 * passed.
 */
bool dominant_gpu_run(struct dominant_gpu *d, const uint8_t *rgb, int n, int pixels, int most,
                      cudaStream_t stream, struct gpu_modes *out, struct err *e);

/* Frees the workspace, which must be idle; sets *d to NULL. NULL is fine. */
void dominant_gpu_free(struct dominant_gpu **d);

#endif
