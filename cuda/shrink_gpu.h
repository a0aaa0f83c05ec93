/*
 * shrink_gpu.h - the shrink of include/barcode/engine/shrink.h as a kernel: the same bytes from the
 * same view, whose planes lie in device memory. Any thread, on the current device; nothing is
 * allocated, the host never waits.
 */
#ifndef BARCODE_CUDA_SHRINK_GPU_H
#define BARCODE_CUDA_SHRINK_GPU_H

#include <cuda_runtime.h>

#include "barcode/base/err.h"
#include "barcode/engine/frame.h"
#include "barcode/engine/light.h"

/*
 * Enqueues the shrink of `view` into rgb[height][width][3] (device; orientation applied; 1..16384
 * each). `light`: the tables on the device (light_gpu.h) where light_wanted says so of the view,
 * else NULL. The planes must stay as they are until `stream` has passed. Fails on a view that
 * shrink_frame would refuse, and when the launch does.
 */
bool shrink_gpu(const struct frame_view *view, int width, int height,
                const struct light_table *light, uint8_t *rgb, cudaStream_t stream, struct err *e);

/*
 * Enqueues the sums of every row of n frames: rgb[n][height][width][3] to sum[n][height][3]
 * (device), at most 255 * 16384 each. With SDR's tables (on the device; else NULL) what
 * column_row_light gives of every row instead.
 */
bool row_sums_gpu(const uint8_t *rgb, int n, int width, int height, const struct light_table *means,
                  uint32_t *sum, cudaStream_t stream, struct err *e);

#endif
