/*
 * cuda_emulator.h - the kernels' own source on the CPU, for machines without a GPU.
 *
 * Compile a .cu file as C++ with -DBARCODE_EMULATED: every CUDA thread becomes a fibre, blocks run
 * one after the other, and what warps and blocks do together (shuffles, ballots, barriers) waits
 * for all of them. Shared memory is poisoned before each block, warps take turns in a random order.
 * Slow; it answers whether the algorithm is right, not whether the machine code is.
 */
#ifndef BARCODE_CUDA_EMULATOR_H
#define BARCODE_CUDA_EMULATOR_H

#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <functional>

#define QUALIFIERS static inline
#include <curand_philox4x32_x.h>

#undef __shared__
#undef __launch_bounds__
#define __shared__ static
#define __launch_bounds__(...)

struct emulated_index {
    unsigned x, y, z;
};
extern struct emulated_index emulated_thread, emulated_block, emulated_block_size,
    emulated_grid_size;
#define threadIdx emulated_thread
#define blockIdx emulated_block
#define blockDim emulated_block_size
#define gridDim emulated_grid_size

extern char emulated_shared[];
#define DYNAMIC_SHARED(name) ulonglong2 *name = (ulonglong2 *)emulated_shared

void emulated_launch(dim3 grid, dim3 block, size_t shared, const std::function<void()> &body);
#define LAUNCH(kernel, grid, block, shared, stream, ...) \
    ((void)(stream), emulated_launch(grid, block, shared, [=] { kernel(__VA_ARGS__); }))

/* Waits for the warp; gives all lanes' values. */
const uint64_t *emulated_exchange(uint64_t mine);
void emulated_barrier();
#define __syncthreads emulated_barrier
static inline void __syncwarp(unsigned = ~0u) { emulated_exchange(0); }

template <typename T> static inline uint64_t emulated_pack(T v)
{
    uint64_t bits = 0;
    memcpy(&bits, &v, sizeof v);
    return bits;
}
template <typename T> static inline T emulated_unpack(uint64_t bits)
{
    T v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
static inline int emulated_lane() { return (int)(emulated_thread.x & 31); }

template <typename T> static inline T __shfl_sync(unsigned, T v, int lane)
{
    return emulated_unpack<T>(emulated_exchange(emulated_pack(v))[lane & 31]);
}
template <typename T> static inline T __shfl_xor_sync(unsigned mask, T v, int d)
{
    return __shfl_sync(mask, v, emulated_lane() ^ d);
}
template <typename T> static inline T __shfl_up_sync(unsigned mask, T v, unsigned d)
{
    int from = emulated_lane() - (int)d;
    return __shfl_sync(mask, v, from < 0 ? emulated_lane() : from);
}
static inline unsigned __ballot_sync(unsigned, bool p)
{
    const uint64_t *all = emulated_exchange(p);
    unsigned bits = 0;
    for (int i = 0; i < 32; i++)
        bits |= (unsigned)all[i] << i;
    return bits;
}
static inline int __any_sync(unsigned mask, bool p) { return __ballot_sync(mask, p) != 0; }

template <typename T, typename F> static inline T emulated_reduce(T v, F combine)
{
    const uint64_t *all = emulated_exchange(emulated_pack(v));
    T sum = emulated_unpack<T>(all[0]);
    for (int i = 1; i < 32; i++)
        sum = combine(sum, emulated_unpack<T>(all[i]));
    return sum;
}
template <typename T> static inline T __reduce_add_sync(unsigned, T v)
{
    return emulated_reduce(v, [](T a, T b) { return a + b; });
}
template <typename T> static inline T __reduce_min_sync(unsigned, T v)
{
    return emulated_reduce(v, [](T a, T b) { return a < b ? a : b; });
}
template <typename T> static inline T __reduce_max_sync(unsigned, T v)
{
    return emulated_reduce(v, [](T a, T b) { return a > b ? a : b; });
}

template <typename T> static inline T atomicAdd(T *to, T v)
{
    T old = *to;
    *to = old + v;
    return old;
}

static inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __ffsll(long long v) { return __builtin_ffsll(v); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    for (int i = 0; i < 32; i += 8)
        c += (a >> i & 255) * (b >> i & 255);
    return c;
}
static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }
static inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }

#endif
