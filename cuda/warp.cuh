/* warp.cuh - device operations for the k-means and mode kernels. Call them from entire warps. */
#ifndef BARCODE_CUDA_WARP_CUH
#define BARCODE_CUDA_WARP_CUH

#ifdef BARCODE_EMULATED
#include "cuda_emulator.h"
#else
#include <cuda_runtime.h>
#include <curand_kernel.h>
#define LAUNCH(kernel, grid, block, shared, stream, ...) \
    kernel<<<grid, block, shared, stream>>>(__VA_ARGS__)
#define DYNAMIC_SHARED(name) extern __shared__ ulonglong2 name[]
#endif

#include <stdint.h>

#include "barcode/kmeans/points.h"

#define WARP_ALL 0xffffffffu

typedef unsigned long long wide;

static __device__ __forceinline__ int lane_id() { return (int)(threadIdx.x & 31); }
static __device__ __forceinline__ int warp_id() { return (int)(threadIdx.x >> 5); }
static __device__ __forceinline__ int warp_count() { return (int)(blockDim.x >> 5); }

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define WARP_REDUCE(name, type, combine) \
    static __device__ __forceinline__ type name(type a) \
    { \
        for (int d = 16; d; d >>= 1) { \
            type b = __shfl_xor_sync(WARP_ALL, a, d); \
            a = combine; \
        } \
        return a; \
    }
WARP_REDUCE(warp_sum, uint32_t, a + b)
WARP_REDUCE(warp_min, int32_t, a < b ? a : b)
WARP_REDUCE(warp_min_unsigned, uint32_t, a < b ? a : b)
WARP_REDUCE(warp_max_unsigned, uint32_t, a > b ? a : b)
#else
static __device__ __forceinline__ uint32_t warp_sum(uint32_t a)
{
    return __reduce_add_sync(WARP_ALL, a);
}
static __device__ __forceinline__ int32_t warp_min(int32_t a)
{
    return __reduce_min_sync(WARP_ALL, a);
}
static __device__ __forceinline__ uint32_t warp_min_unsigned(uint32_t a)
{
    return __reduce_min_sync(WARP_ALL, a);
}
static __device__ __forceinline__ uint32_t warp_max_unsigned(uint32_t a)
{
    return __reduce_max_sync(WARP_ALL, a);
}
#endif

static __device__ __forceinline__ wide warp_sum_wide(wide a)
{
    for (int d = 16; d; d >>= 1)
        a += __shfl_xor_sync(WARP_ALL, a, d);
    return a;
}

/* Returns the inclusive prefix sums over the lanes. */
template <typename T> static __device__ __forceinline__ T warp_prefix(T a)
{
    for (int d = 1; d < 32; d <<= 1) {
        T b = __shfl_up_sync(WARP_ALL, a, d);
        if (lane_id() >= d)
            a += b;
    }
    return a;
}

/* Return acc + the low (high) two bytes of `bytes`, unsigned, times the signed halves of `pair`. */
static __device__ __forceinline__ int dot2_low(uint32_t pair, uint32_t bytes, int acc)
{
#ifdef __CUDA_ARCH__
    int d;
    asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(pair), "r"(bytes), "r"(acc));
    return d;
#else
    return acc + (int16_t)pair * (int)(bytes & 255) +
           (int16_t)(pair >> 16) * (int)(bytes >> 8 & 255);
#endif
}
static __device__ __forceinline__ int dot2_high(uint32_t pair, uint32_t bytes, int acc)
{
#ifdef __CUDA_ARCH__
    int d;
    asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(pair), "r"(bytes), "r"(acc));
    return d;
#else
    return acc + (int16_t)pair * (int)(bytes >> 16 & 255) +
           (int16_t)(pair >> 16) * (int)(bytes >> 24);
#endif
}

/* Returns the number u of kmeans.h, from cuRAND's generator. */
static __device__ __forceinline__ wide random_u64(uint64_t seed, uint32_t draw, uint32_t restart,
                                                  uint32_t frame, uint32_t stage)
{
    uint4 out = curand_Philox4x32_10(make_uint4(draw, restart, frame, stage),
                                     make_uint2((uint32_t)seed, (uint32_t)(seed >> 32)));
    return out.x | (wide)out.y << 32;
}

/* Returns the colour r | g << 8 | b << 16 of a Morton key (points.h). */
static __device__ __forceinline__ uint32_t colour_of(uint32_t key)
{
    return key_compact(key >> 2) | key_compact(key >> 1) << 8 | key_compact(key) << 16;
}

static __device__ __forceinline__ uint32_t red_of(uint32_t word) { return word & 255; }
static __device__ __forceinline__ uint32_t green_of(uint32_t word) { return word >> 8 & 255; }
static __device__ __forceinline__ uint32_t blue_of(uint32_t word) { return word >> 16 & 255; }

/* Returns the dot product of four unsigned bytes each. */
static __device__ __forceinline__ uint32_t dot4(uint32_t a, uint32_t b) { return __dp4a(a, b, 0u); }

static __device__ __forceinline__ uint32_t square_of(uint32_t colour)
{
    colour &= 0xffffff;
    return dot4(colour, colour);
}

#endif
