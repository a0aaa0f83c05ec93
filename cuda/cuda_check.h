/* cuda_check.h - the error message for a failed CUDA runtime call. Private to cuda/. */
#ifndef BARCODE_CUDA_CUDA_CHECK_H
#define BARCODE_CUDA_CUDA_CHECK_H

#include <cuda_runtime.h>

#include "barcode/base/err.h"

/* Sets "cannot WHAT on the GPU: ..." (ERR_ENGINE) if `code` is an error. Any thread. */
static inline bool cuda_check(cudaError_t code, const char *what, struct err *e)
{
    return code == cudaSuccess ||
           err_set(e, ERR_ENGINE, "cannot %s on the GPU: %s", what, cudaGetErrorString(code));
}

#endif
