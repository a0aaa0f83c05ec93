#ifndef BARCODE_CUDA_KMEANS_GPU_H
#define BARCODE_CUDA_KMEANS_GPU_H
#include <cuda_runtime.h>
#include "barcode/kmeans.h"
struct gpu_column { int clusters; struct cluster cluster[CLUSTERS_MAX]; };
struct kmeans_gpu;
size_t kmeans_gpu_bytes(const struct kmeans_params *params, int pixels, int frames);
struct kmeans_gpu *kmeans_gpu_open(const struct kmeans_params *params, int pixels, int frames, struct err *e);
bool kmeans_gpu_run(struct kmeans_gpu *km, const uint8_t *rgb, const uint64_t *frame, int n, cudaStream_t stream, struct gpu_column *out, struct err *e);
void kmeans_gpu_free(struct kmeans_gpu **km);
#endif
