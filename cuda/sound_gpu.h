/*
 * sound_gpu.h - the spectrogram (spectrogram.h) and the maximum filter (max_filter.h) on the
 * current CUDA device, with the same bytes. Arrays are the caller's device memory and must not be
 * touched until the stream has finished. The functions enqueue work and return; they allocate
 * nothing unless they say so.
 */
#ifndef BARCODE_CUDA_SOUND_GPU_H
#define BARCODE_CUDA_SOUND_GPU_H

#include <cuda_runtime.h>

#include "barcode/base/err.h"
#include "barcode/sound/max_filter.h"
#include "barcode/sound/spectrogram.h"

/* Up to this radius the maximum filter is one pass over the array. */
enum { MAX_FILTER_GPU_REACH = 20 };

/*
 * Computes out[rows][columns] from in[rows][columns] for radius 0..MAX_FILTER_RADIUS_MOST. A
 * radius above MAX_FILTER_GPU_REACH needs `scratch`, another array of the size; else it may be
 * NULL. No arrays overlap. Nothing happens if the array is empty.
 */
bool max_filter_gpu(const int16_t *in, size_t rows, size_t columns, int radius, int16_t *scratch,
                    int16_t *out, cudaStream_t stream, struct err *e);

/* Returns the tables in device memory, which cudaFree frees. NULL if the device fails. */
struct stft_tables *spectrogram_gpu_tables(struct err *e);

/* Computes out[frames][SPECTROGRAM_BINS] from sound[samples], as spectrogram_run. */
bool spectrogram_gpu(const struct stft_tables *tables, const int16_t *sound, size_t samples,
                     size_t frames, int16_t *out, cudaStream_t stream, struct err *e);

#endif
