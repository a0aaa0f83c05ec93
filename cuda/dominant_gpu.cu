/*
 * dominant_gpu.cu - computes modes. All frames of a batch go through the kernels together, several
 * blocks a frame. The kernels count cells, find the densest ones, then weigh the pixels around each
 * mode: once a round, and once for the colour. Sums are integers, so the order of the blocks does
 * not matter. Each pass recomputes a pixel's place, with three lookups in a table that stays in the
 * L1 cache.
 */
#include "gpu.h"

#include <stdlib.h>

#include "barcode/engine/colour.h"
#include "warp.cuh"

enum {
    THREADS = 512,
    WARPS = THREADS / 32,
    PIXELS_A_BLOCK = 16 * THREADS,
    LAYER = DOMINANT_A * DOMINANT_B
};
static_assert(sizeof(struct cluster) == sizeof(uint2),
              "a cluster is rgb, a byte of padding, count");

struct dominant_tables {
    uint16_t linear[256], root[OKLAB_ROOTS];
};

/* State of a frame; initially zero. */
struct dominant_frame {
    /* number of pixels, and their sums along an axis */
    uint32_t cell[DOMINANT_CELLS], sum[DOMINANT_CELLS];
    /* number of peaks, their cells' numbers, the modes' counts */
    uint32_t peaks, peak[DOMINANT_MOST], count[DOMINANT_MOST];
    uint32_t zero;
    /* for each round, the sums of weight * place and of the weights; then of weight * colour */
    wide total[DOMINANT_MOST][DOMINANT_ROUNDS + 1][4];
};

struct dominant_gpu {
    struct dominant_tables *tables; /* device */
    struct dominant_frame *frame;   /* device, [frames] */
};

/* The kernels' parameters. */
struct dominant_work {
    const struct dominant_tables *t;
    const uint8_t *rgb; /* [gridDim.y][pixels][3] */
    int pixels;
    struct dominant_frame *frame;
};

static __device__ __forceinline__ struct dominant_place place_of(const struct dominant_work &w,
                                                                 const uint8_t *rgb)
{
    return dominant_place_of(w.t->linear, w.t->root, rgb);
}

/* Returns the first of the block's pixels of its frame; *count gets their number. */
static __device__ __forceinline__ const uint8_t *block_pixels(const struct dominant_work &w,
                                                              int *count)
{
    int first = (int)blockIdx.x * PIXELS_A_BLOCK;
    *count = w.pixels - first < PIXELS_A_BLOCK ? w.pixels - first : PIXELS_A_BLOCK;
    return w.rgb + ((size_t)blockIdx.y * w.pixels + first) * 3;
}

__global__ void __launch_bounds__(THREADS) count_kernel(struct dominant_work w)
{
    int count;
    const uint8_t *rgb = block_pixels(w, &count);
    for (int i = (int)threadIdx.x; i < count; i += THREADS)
        atomicAdd(&w.frame[blockIdx.y].cell[dominant_cell_of(place_of(w, rgb + 3 * i))], 1u);
}

/* Returns the weighted sum (1 2 3 2 1) along an axis of `count` cells, at number `at`. */
static __device__ __forceinline__ wide smooth(const uint32_t *cell, int at, int count, int stride)
{
    wide sum = (wide)3 * *cell;
    for (int step = 1; step <= 2; step++) {
        wide below = at >= step ? cell[-step * stride] : 0,
             above = at + step < count ? cell[step * stride] : 0;
        sum += (wide)(3 - step) * (below + above);
    }
    return sum;
}

/* Returns the maximum over the block. Call it from the entire block. */
static __device__ wide block_max(wide largest)
{
    __shared__ wide part[WARPS];
    for (int d = 16; d; d >>= 1) {
        wide other = __shfl_xor_sync(WARP_ALL, largest, d);
        largest = other > largest ? other : largest;
    }
    if (lane_id() == 0)
        part[warp_id()] = largest;
    __syncthreads();
    for (int i = 0; i < WARPS; i++)
        largest = part[i] > largest ? part[i] : largest;
    __syncthreads();
    return largest;
}

enum { NUMBER_BITS = 15, NUMBERS = 1 << NUMBER_BITS };
static_assert((int)DOMINANT_CELLS <= (int)NUMBERS, "a cell's number has 15 bits");

/*
 * Returns a number that is unique for each cell and greater for cells that come earlier among the
 * peaks. It is the density, below 2^33, followed by the inverted cell number in the low bits.
 * Returns 0 only for a density of 0.
 */
static __device__ __forceinline__ wide rank_of(const uint32_t *cell, int i)
{
    wide density = smooth(cell + i, i / LAYER, DOMINANT_L, LAYER);
    return density ? density << NUMBER_BITS | (wide)(NUMBERS - 1 - i) : 0;
}

static __device__ bool is_peak(const uint32_t *cell, int at, wide rank)
{
    int l = at / LAYER, a = at / DOMINANT_B % DOMINANT_A, b = at % DOMINANT_B;
    for (int i = max(l - 1, 0); i <= min(l + 1, DOMINANT_L - 1); i++)
        for (int j = max(a - 1, 0); j <= min(a + 1, DOMINANT_A - 1); j++)
            for (int k = max(b - 1, 0); k <= min(b + 1, DOMINANT_B - 1); k++)
                if (rank_of(cell, (i * DOMINANT_A + j) * DOMINANT_B + k) > rank)
                    return false;
    return true;
}

enum : wide { NO_LIMIT = ~(wide)0 };

/*
 * Returns the greatest rank of a peak below `limit`, or 0. Without a limit that is the greatest
 * rank of all cells: its cell is a peak. Call it from the entire block.
 */
static __device__ wide next_peak(const uint32_t *cell, wide limit)
{
    wide most = 0;
    for (int i = (int)threadIdx.x; i < DOMINANT_CELLS; i += THREADS) {
        wide rank = rank_of(cell, i);
        if (rank > most && rank < limit && (limit == NO_LIMIT || is_peak(cell, i, rank)))
            most = rank;
    }
    return block_max(most);
}

/* Finds the peaks of a frame. One block a frame. */
__global__ void __launch_bounds__(THREADS) peaks_kernel(struct dominant_frame *frames, int most)
{
    struct dominant_frame *f = frames + blockIdx.x;
    for (int i = (int)threadIdx.x; i < DOMINANT_CELLS; i += THREADS)
        f->sum[i] = (uint32_t)smooth(f->cell + i, i % DOMINANT_B, DOMINANT_B, 1);
    __syncthreads();
    for (int i = (int)threadIdx.x; i < DOMINANT_CELLS; i += THREADS)
        f->cell[i] =
            (uint32_t)smooth(f->sum + i, i / DOMINANT_B % DOMINANT_A, DOMINANT_A, DOMINANT_B);
    __syncthreads();
    wide rank = NO_LIMIT;
    for (int n = 0; n < most; n++) {
        rank = next_peak(f->cell, rank);
        if (rank == 0)
            break;
        if (threadIdx.x == 0) {
            f->peak[n] = (uint32_t)(NUMBERS - 1) - (uint32_t)(rank & (NUMBERS - 1));
            f->count[n] = (uint32_t)((rank >> NUMBER_BITS) / DOMINANT_PEAK);
            f->peaks = (uint32_t)(n + 1);
        }
    }
}

/* Returns a mean from the sums of a round. */
static __device__ __forceinline__ uint32_t mean(const wide *total, int channel)
{
    return (uint32_t)((2 * total[channel] + total[3]) / (2 * total[3]));
}

/* Returns mode n before a round. */
static __device__ __forceinline__ struct dominant_place mode_before(const struct dominant_frame *f,
                                                                    int n, int round)
{
    if (round == 0)
        return dominant_centre(f->peak[n]);
    const wide *total = f->total[n][round - 1];
    struct dominant_place m = {(uint16_t)mean(total, 0), (uint16_t)mean(total, 1),
                               (uint16_t)mean(total, 2)};
    return m;
}

/* Adds the block's sums of four numbers to the frame's. Call it once, from the entire block. */
static __device__ void add_up(const wide sum[4], wide total[4])
{
    __shared__ wide part[WARPS][4];
    for (int c = 0; c < 4; c++) {
        wide all = warp_sum_wide(sum[c]);
        if (lane_id() == 0)
            part[warp_id()][c] = all;
    }
    __syncthreads();
    if (threadIdx.x >= 4)
        return;
    wide all = 0;
    for (int i = 0; i < WARPS; i++)
        all += part[i][threadIdx.x];
    if (all > 0)
        atomicAdd(&total[threadIdx.x], all);
}

/* Weighs the pixels' places around mode blockIdx.z; after the last round, their colours. */
__global__ void __launch_bounds__(THREADS) weigh_kernel(struct dominant_work w, int round)
{
    int count, n = (int)blockIdx.z;
    const uint8_t *rgb = block_pixels(w, &count);
    struct dominant_frame *f = w.frame + blockIdx.y;
    if (n >= (int)f->peaks)
        return;
    struct dominant_place m = mode_before(f, n, round);
    bool colours = round == DOMINANT_ROUNDS;
    wide sum[4] = {0, 0, 0, 0};
    for (int i = (int)threadIdx.x; i < count; i += THREADS) {
        const uint8_t *pixel = rgb + 3 * i;
        struct dominant_place p = place_of(w, pixel);
        wide weight = dominant_weight(p, m);
        sum[0] += weight * (colours ? pixel[0] : p.l);
        sum[1] += weight * (colours ? pixel[1] : p.a);
        sum[2] += weight * (colours ? pixel[2] : p.b);
        sum[3] += weight;
    }
    add_up(sum, f->total[n][round]);
}

/* Writes the modes of a frame. One warp a frame. A struct cluster is written as two words,
 * including its padding. */
__global__ void modes_kernel(const struct dominant_frame *frames, struct gpu_modes *out)
{
    const struct dominant_frame *f = frames + blockIdx.x;
    struct gpu_modes *to = out + blockIdx.x;
    uint32_t n = threadIdx.x;
    if (n < DOMINANT_MOST) {
        const wide *total = f->total[n][DOMINANT_ROUNDS];
        bool found = n < f->peaks;
        uint32_t rgb = found ? mean(total, 0) | mean(total, 1) << 8 | mean(total, 2) << 16 : 0;
        ((uint2 *)to->mode)[n] = make_uint2(rgb, found ? f->count[n] : 0);
    }
    if (n == 0) {
        to->modes = (int32_t)f->peaks;
        to->zero = 0;
    }
}

/* ------------------------------------------------------------------ host */

size_t dominant_gpu_bytes(int frames)
{
    return sizeof(struct dominant_tables) + (size_t)frames * sizeof(struct dominant_frame);
}

static bool upload_tables(struct dominant_gpu *d, struct err *e)
{
    struct dominant_tables *t = (struct dominant_tables *)malloc(sizeof *t);
    if (!t)
        return err_memory(e, sizeof *t);
    for (int i = 0; i < 256; i++)
        t->linear[i] = srgb_linear[i];
    oklab_roots(t->root);
    bool ok = cuda_check(cudaMemcpy(d->tables, t, sizeof *t, cudaMemcpyHostToDevice),
                         "upload tables", e) &&
              cuda_check(cudaDeviceSynchronize(), "upload tables", e);
    free(t);
    return ok;
}

struct dominant_gpu *dominant_gpu_open(int frames, struct err *e)
{
    struct dominant_gpu *d = (struct dominant_gpu *)err_calloc(1, sizeof *d, e);
    const char *what = "make room for the modes";
    if (!d)
        return NULL;
    if (!cuda_check(cudaMalloc((void **)&d->tables, sizeof *d->tables), what, e) ||
        !cuda_check(cudaMalloc((void **)&d->frame, (size_t)frames * sizeof *d->frame), what, e) ||
        !upload_tables(d, e))
        dominant_gpu_free(&d);
    return d;
}

bool dominant_gpu_run(struct dominant_gpu *d, const uint8_t *rgb, int n, int pixels, int most,
                      cudaStream_t stream, struct gpu_modes *out, struct err *e)
{
    struct dominant_work w = {d->tables, rgb, pixels, d->frame};
    unsigned blocks = (unsigned)((pixels + PIXELS_A_BLOCK - 1) / PIXELS_A_BLOCK);
    const char *what = "find modes";
    if (!cuda_check(cudaMemsetAsync(d->frame, 0, (size_t)n * sizeof *d->frame, stream), what, e))
        return false;
    LAUNCH(count_kernel, dim3(blocks, (unsigned)n), THREADS, 0, stream, w);
    LAUNCH(peaks_kernel, n, THREADS, 0, stream, d->frame, most);
    for (int round = 0; round <= DOMINANT_ROUNDS; round++)
        LAUNCH(weigh_kernel, dim3(blocks, (unsigned)n, (unsigned)most), THREADS, 0, stream, w,
               round);
    LAUNCH(modes_kernel, n, 32, 0, stream, d->frame, out);
    return cuda_check(cudaGetLastError(), what, e);
}

void dominant_gpu_free(struct dominant_gpu **d)
{
    if (!*d)
        return;
    cudaFree((*d)->tables);
    cudaFree((*d)->frame);
    free(*d);
    *d = NULL;
}
