/*
 * dominant_gpu.h - computes the modes of dominant.h for many frames at once, on the current CUDA
 * device. Gives the same bytes as dominant_modes. Use an object from one thread and one stream at a
 * time, because its calls share its memory.
 */
#ifndef BARCODE_CUDA_DOMINANT_GPU_H
#define BARCODE_CUDA_DOMINANT_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime.h>

#include "barcode/base/err.h"
#include "barcode/engine/dominant.h"

/* One frame's modes. Entries after the last mode are 0. */
struct gpu_modes {
    int32_t modes; /* 1..most */
    uint32_t zero;
    struct cluster mode[DOMINANT_MOST];
};

struct dominant_gpu;

/* Returns the device bytes that dominant_gpu_open allocates for batches of `frames` frames. */
size_t dominant_gpu_bytes(int frames);

/* Creates a workspace on the current device. */
struct dominant_gpu *dominant_gpu_open(int frames, struct err *e);

/*
 * Enqueues the computation of the first `most` (1..DOMINANT_MOST) modes of rgb[n][pixels][3] into
 * out[n] on `stream`. 1 <= n <= frames, 1 <= pixels <= 2^28. Returns immediately; allocates nothing
 * and does not wait. rgb and out are the caller's device memory and must not be touched until the
 * stream has finished.
 */
bool dominant_gpu_run(struct dominant_gpu *d, const uint8_t *rgb, int n, int pixels, int most,
                      cudaStream_t stream, struct gpu_modes *out, struct err *e);

/* The workspace must be idle. */
void dominant_gpu_free(struct dominant_gpu **d);

#endif
