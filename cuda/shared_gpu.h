/* shared_gpu.h - shared_votes of shared_words.h on the current CUDA device: the same votes. */
#ifndef BARCODE_CUDA_SHARED_GPU_H
#define BARCODE_CUDA_SHARED_GPU_H

#include <cuda_runtime.h>

#include "barcode/sound/shared_words.h"

/*
 * As shared_votes, but word[n] stays as it is, in any order. Takes 24 bytes of device memory a word
 * and 16 a vote. Fails with ERR_ENGINE if the device fails, or has not enough memory. Waits for the
 * result.
 */
bool shared_votes_device(const uint64_t *word, size_t n, const struct shared_films *films,
                         size_t most, uint64_t **vote, size_t *votes, struct err *e);

/*
 * CUB's radix sort of in[count] to out[count], and its exclusive sums of in[count] to out[count].
 * If `scratch` is NULL, *bytes is set to the scratch memory that they need.
 */
cudaError_t shared_sort(void *scratch, size_t *bytes, const uint64_t *in, uint64_t *out,
                        size_t count);
cudaError_t shared_sum(void *scratch, size_t *bytes, const uint32_t *in, uint64_t *out,
                       size_t count);

#endif
