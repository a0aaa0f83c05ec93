/*
 * shrink_gpu.h - the downscaler of include/barcode/engine/shrink.h as a kernel: gives the same
 * bytes for a view in device memory. Any thread, on the current device. Allocates nothing and never
 * waits on the host.
 */
#ifndef BARCODE_CUDA_SHRINK_GPU_H
#define BARCODE_CUDA_SHRINK_GPU_H

#include <cuda_runtime.h>

#include "barcode/base/err.h"
#include "barcode/engine/frame.h"
#include "barcode/engine/light.h"

/*
 * Enqueues the downscaling of `view` into rgb[height][width][3] (device; orientation applied;
 * 1..16384 each). `light`: the device tables (light_gpu_table) if light_wanted returns true for the
 * view, else NULL; with them light_gamut's matrix. The planes must not change until `stream` has
 * finished. Fails if shrink_check_view fails, or if the launch fails.
 */
bool shrink_gpu(const struct frame_view *view, int width, int height,
                const struct light_table *light, const struct light_gamut *gamut, uint8_t *rgb,
                cudaStream_t stream, struct err *e);

/*
 * Enqueues the sums of every row of n frames: rgb[n][height][width][3] to sum[n][height][3]
 * (device), at most 255 * 16384 each. If `means` (SDR's tables on the device) is not NULL, computes
 * column_row_light of every row instead.
 */
bool row_sums_gpu(const uint8_t *rgb, int n, int width, int height, const struct light_table *means,
                  uint32_t *sum, cudaStream_t stream, struct err *e);

/* ---- Device copies of the tables of light.h ---- */

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

#endif
