/*
 * dominant_gpu.cu - a block a frame. A pixel's place is worked out anew in each of the five passes over the pixels: it costs three look-ups
 * in a table that stays in the first-level cache, and less than what a place a pixel would take of the memory's bandwidth.
 */
#include "dominant_gpu.h"

#include <stdlib.h>

#include "barcode/dominant.h"
#include "barcode/srgb.h"
#include "cuda_check.h"
#include "warp.cuh"

enum { THREADS = 512, WARPS = THREADS / 32, LAYER = DOMINANT_A * DOMINANT_B };

struct dominant_tables {
    uint16_t linear[256], root[OKLAB_ROOTS];
};

/* What a block needs in device memory: cell counts, and sums of them along an axis. */
struct dominant_cells {
    uint32_t cell[DOMINANT_CELLS], sum[DOMINANT_CELLS];
};

struct dominant_gpu {
    struct dominant_tables *tables;      /* device           */
    struct dominant_cells *cells;        /* device, [frames] */
};

/* What a block works on. */
struct dominant_work {
    const struct dominant_tables *t;
    const uint8_t *rgb;                  /* its frame                 */
    int pixels;
    struct dominant_cells *cells;
    wide (*part)[4];                     /* shared, [WARPS]           */
};

static __device__ __forceinline__ struct dominant_place place_at(const struct dominant_work &w, int i)
{
    return dominant_place_of(w.t->linear, w.t->root, w.rgb + 3 * (size_t)i);
}

static __device__ void count_cells(const struct dominant_work &w)
{
    for (int i = (int)threadIdx.x; i < DOMINANT_CELLS; i += THREADS)
        w.cells->cell[i] = 0;
    __syncthreads();
    for (int i = (int)threadIdx.x; i < w.pixels; i += THREADS)
        atomicAdd(&w.cells->cell[dominant_cell_of(place_at(w, i))], 1u);
    __syncthreads();
}

/* (1 2 3 2 1) along an axis of `count` steps of `stride` cells, on which the cell is the `at`th. */
static __device__ __forceinline__ wide smooth(const uint32_t *cell, int at, int count, int stride)
{
    wide sum = (wide)3 * *cell;
    for (int step = 1; step <= 2; step++) {
        wide below = at >= step ? cell[-step * stride] : 0, above = at + step < count ? cell[step * stride] : 0;
        sum += (wide)(3 - step) * (below + above);
    }
    return sum;
}

/* The greatest of the block's numbers. The whole block. */
static __device__ wide block_max(const struct dominant_work &w, wide mine)
{
    for (int d = 16; d; d >>= 1) {
        wide other = __shfl_xor_sync(WARP_ALL, mine, d);
        mine = other > mine ? other : mine;
    }
    if (lane_id() == 0)
        w.part[warp_id()][0] = mine;
    __syncthreads();
    for (int i = 0; i < WARPS; i++)
        mine = w.part[i][0] > mine ? w.part[i][0] : mine;
    __syncthreads();
    return mine;
}

/* One number holds a density, below 2^33, and below it the cell's, the lowest as the greatest. The whole block. */
static __device__ uint32_t densest_cell(const struct dominant_work &w)
{
    enum { NUMBER_BITS = 15, NUMBERS = 1 << NUMBER_BITS };
    static_assert((int)DOMINANT_CELLS <= (int)NUMBERS, "a cell's number has 15 bits");
    uint32_t *cell = w.cells->cell, *sum = w.cells->sum;
    wide most = 0;
    for (int i = (int)threadIdx.x; i < DOMINANT_CELLS; i += THREADS)
        sum[i] = (uint32_t)smooth(cell + i, i % DOMINANT_B, DOMINANT_B, 1);
    __syncthreads();
    for (int i = (int)threadIdx.x; i < DOMINANT_CELLS; i += THREADS)
        cell[i] = (uint32_t)smooth(sum + i, i / DOMINANT_B % DOMINANT_A, DOMINANT_A, DOMINANT_B);
    __syncthreads();
    for (int i = (int)threadIdx.x; i < DOMINANT_CELLS; i += THREADS) {
        wide density = smooth(cell + i, i / LAYER, DOMINANT_L, LAYER) << NUMBER_BITS | (wide)(NUMBERS - 1 - i);
        most = density > most ? density : most;
    }
    return (uint32_t)(NUMBERS - 1) - (uint32_t)(block_max(w, most) & (NUMBERS - 1));
}

/* The block's sums of four numbers, for every thread. The whole block. */
static __device__ void block_sums(const struct dominant_work &w, wide sum[4])
{
    for (int c = 0; c < 4; c++) {
        sum[c] = warp_sum_wide(sum[c]);
        if (lane_id() == 0)
            w.part[warp_id()][c] = sum[c];
    }
    __syncthreads();
    for (int c = 0; c < 4; c++) {
        sum[c] = 0;
        for (int i = 0; i < WARPS; i++)
            sum[c] += w.part[i][c];
    }
    __syncthreads();
}

/* The weighted means around m of the pixels' colours, or of their places. The whole block. */
static __device__ void means(const struct dominant_work &w, struct dominant_place m, bool colours, uint32_t mean[3])
{
    wide sum[4] = {0, 0, 0, 0};
    for (int i = (int)threadIdx.x; i < w.pixels; i += THREADS) {
        const uint8_t *rgb = w.rgb + 3 * (size_t)i;
        struct dominant_place p = place_at(w, i);
        wide weight = dominant_weight(p, m);
        sum[0] += weight * (colours ? rgb[0] : p.l);
        sum[1] += weight * (colours ? rgb[1] : p.a);
        sum[2] += weight * (colours ? rgb[2] : p.b);
        sum[3] += weight;
    }
    block_sums(w, sum);
    for (int c = 0; c < 3; c++)
        mean[c] = (uint32_t)((2 * sum[c] + sum[3]) / (2 * sum[3]));
}

/* A block of THREADS a frame. */
__global__ void __launch_bounds__(THREADS) dominant_kernel(const struct dominant_tables *t, const uint8_t *rgb, int pixels,
                                                           struct dominant_cells *cells, uint8_t *colour)
{
    __shared__ wide part[WARPS][4];
    struct dominant_work w = {t, rgb + (size_t)blockIdx.x * pixels * 3, pixels, cells + blockIdx.x, part};
    uint32_t mean[3];
    count_cells(w);
    struct dominant_place m = dominant_centre(densest_cell(w));
    for (int round = 0; round < DOMINANT_ROUNDS; round++) {
        means(w, m, false, mean);
        m.l = (uint16_t)mean[0];
        m.a = (uint16_t)mean[1];
        m.b = (uint16_t)mean[2];
    }
    means(w, m, true, mean);
    if (threadIdx.x == 0)
        for (int c = 0; c < 3; c++)
            colour[3 * (size_t)blockIdx.x + c] = (uint8_t)mean[c];
}

/* ------------------------------------------------------------------ host */

size_t dominant_gpu_bytes(int frames)
{
    return sizeof(struct dominant_tables) + (size_t)frames * sizeof(struct dominant_cells);
}

static bool upload_tables(struct dominant_gpu *d, struct err *e)
{
    struct dominant_tables *t = (struct dominant_tables *)malloc(sizeof *t);
    if (!t)
        return err_memory(e, sizeof *t);
    for (int i = 0; i < 256; i++)
        t->linear[i] = srgb_linear[i];
    oklab_roots(t->root);
    bool fine = cuda_check(cudaMemcpy(d->tables, t, sizeof *t, cudaMemcpyHostToDevice), "upload tables", e) &&
                cuda_check(cudaDeviceSynchronize(), "upload tables", e);
    free(t);
    return fine;
}

struct dominant_gpu *dominant_gpu_open(int frames, struct err *e)
{
    struct dominant_gpu *d = (struct dominant_gpu *)calloc(1, sizeof *d);
    const char *what = "make room for the modes";
    if (!d) {
        err_memory(e, sizeof *d);
        return NULL;
    }
    if (!cuda_check(cudaMalloc((void **)&d->tables, sizeof *d->tables), what, e) ||
        !cuda_check(cudaMalloc((void **)&d->cells, (size_t)frames * sizeof *d->cells), what, e) || !upload_tables(d, e))
        dominant_gpu_free(&d);
    return d;
}

bool dominant_gpu_run(struct dominant_gpu *d, const uint8_t *rgb, int n, int pixels, cudaStream_t stream, uint8_t *colour, struct err *e)
{
    LAUNCH(dominant_kernel, n, THREADS, 0, stream, d->tables, rgb, pixels, d->cells, colour);
    return cuda_check(cudaGetLastError(), "find modes", e);
}

void dominant_gpu_free(struct dominant_gpu **d)
{
    if (!*d)
        return;
    cudaFree((*d)->tables);
    cudaFree((*d)->cells);
    free(*d);
    *d = NULL;
}
