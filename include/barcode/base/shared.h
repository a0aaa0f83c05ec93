/* shared.h - what lets a header be included from C, C++ and CUDA. */
#ifndef BARCODE_SHARED_H
#define BARCODE_SHARED_H

/* Around declarations of functions that C defines and C++ calls. */
#ifdef __cplusplus
#define SHARED_BEGIN extern "C" {
#define SHARED_END }
#else
#define SHARED_BEGIN
#define SHARED_END
#endif

/* Before a function that is compiled for processor and GPU. */
#ifdef __CUDACC__
#define SHARED_INLINE __host__ __device__ static inline
#else
#define SHARED_INLINE static inline
#endif

#endif
