/*
 * sound_gpu.cu - spectrogram.h and peaks.h's maximum filter on the GPU.
 *
 * Spectrogram: a block computes a frame in shared memory.
 *
 * Maximum filter: the diamond by doubling, in shared memory.
 *
 *   D(2a) = D(a) + {(a, 0), (-a, 0), (0, a), (0, -a)}      D(a + 1) = D(a) + D(1)
 *
 * So each pass takes the maximum of a point and its four neighbours at one distance: for radius 20
 * at 1, 1, 2, 1, 5 and 10. A block filters a tile and a halo as wide as the radius around it.
 * Values at the halo's edge become too small with each pass, but never in the tile. A word holds
 * two columns.
 *
 * A larger radius is several filters one after another: D(a + b) = D(a) + D(b).
 */
#include "gpu.h"

#include <cstdlib>

#include "barcode/sound/peaks.h"
#include "barcode/sound/spectrogram.h"
#include "warp.cuh"

namespace {

/* ------------------------------------------------------------------ spectrogram */

enum { BINS = SPECTROGRAM_BINS, FRAME_THREADS = BINS / 2 };

__device__ __forceinline__ int windowed(const struct stft_tables *t, const int16_t *sound,
                                        size_t samples, size_t first, int n)
{
    return first + n < samples ? sound[first + n] * t->window[n] : 0;
}

/* A thread computes one butterfly of each stage. */
__device__ void transform(const struct stft_tables *t, struct stft_complex *z)
{
    int i = (int)threadIdx.x;
    for (int half = 1; half < BINS; half *= 2) {
        __syncthreads();
        int j = i & (half - 1), a = 2 * (i - j) + j, k = j * (BINS / half);
        stft_butterfly(z + a, z + a + half, t->twiddle[k].minus_cos, t->twiddle[k].minus_sin);
    }
    __syncthreads();
}

/* Steps 4 and 5 for bins k and 512 - k. */
__device__ void finish_bins(const struct stft_tables *t, const struct stft_complex *z, int k,
                            int16_t *out)
{
    int mirror = (BINS - k) % BINS;
    struct stft_complex x = z[k], y = z[mirror];
    stft_even_odd(&x, &y);
    stft_butterfly(&x, &y, t->twiddle[k].minus_cos, t->twiddle[k].minus_sin);
    out[k] = stft_value(t, x);
    if (k > 0 && k < BINS / 2)
        out[mirror] = stft_value(t, y);
}

__global__ void __launch_bounds__(FRAME_THREADS)
    spectrogram_frame(const struct stft_tables *t, const int16_t *sound, size_t samples,
                      int16_t *out)
{
    __shared__ struct stft_complex z[BINS];
    size_t first = (size_t)blockIdx.x * SPECTROGRAM_HOP;
    for (int n = (int)threadIdx.x; n < BINS; n += FRAME_THREADS) {
        int even = windowed(t, sound, samples, first, 2 * n);
        int odd = windowed(t, sound, samples, first, 2 * n + 1);
        z[t->place[n]] = {even, odd};
    }
    transform(t, z);
    out += (size_t)blockIdx.x * BINS;
    finish_bins(t, z, (int)threadIdx.x, out);
    if (threadIdx.x == 0)
        finish_bins(t, z, BINS / 2, out);
}

/* ------------------------------------------------------------------ maximum filter */

/* REACH: up to this radius the filter is one pass over the array. */
enum { REACH = 20, TILE = 64, SIDE = TILE + 2 * REACH, WORDS = SIDE / 2, THREADS = 256 };

static_assert(REACH % 2 == 0, "a halo has whole words");

#define LOWEST 0x80008000u

__device__ __forceinline__ uint32_t larger_pair(uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
    return __vmaxs2(a, b);
#else
    int16_t low = (int16_t)a > (int16_t)b ? (int16_t)a : (int16_t)b;
    int16_t high =
        (int16_t)(a >> 16) > (int16_t)(b >> 16) ? (int16_t)(a >> 16) : (int16_t)(b >> 16);
    return (uint32_t)(uint16_t)high << 16 | (uint16_t)low;
#endif
}

__device__ __forceinline__ uint32_t word_at(const uint32_t *row, int i, int words)
{
    return i < 0 || i >= words ? LOWEST : row[i];
}

/* Returns columns first and first + 1 of a row. */
__device__ __forceinline__ uint32_t pair_at(const uint32_t *row, int first, int words)
{
    int i = first >> 1;
    uint32_t low = word_at(row, i, words);
    if (!(first & 1))
        return low;
    return low >> 16 | word_at(row, i + 1, words) << 16;
}

/* One pass at `distance` over a tile with its halo. */
__device__ void raise_to_neighbours(const uint32_t (*from)[WORDS], uint32_t (*to)[WORDS], int side,
                                    int distance)
{
    int words = side / 2;
    for (int y = warp_id(); y < side; y += THREADS / 32)
        for (int i = lane_id(); i < words; i += 32) {
            uint32_t most = from[y][i];
            if (y >= distance)
                most = larger_pair(most, from[y - distance][i]);
            if (y + distance < side)
                most = larger_pair(most, from[y + distance][i]);
            most = larger_pair(most, pair_at(from[y], 2 * i - distance, words));
            to[y][i] = larger_pair(most, pair_at(from[y], 2 * i + distance, words));
        }
    __syncthreads();
}

/* Loads the side x side values from (top, left) on; those outside of the array are the lowest. */
__device__ void load_tile(const int16_t *in, long long rows, long long columns, long long top,
                          long long left, int side, uint32_t (*to)[WORDS])
{
    for (int y = warp_id(); y < side; y += THREADS / 32)
        for (int i = lane_id(); i < side / 2; i += 32) {
            long long row = top + y, column = left + 2 * i;
            uint32_t word = LOWEST;
            if (row >= 0 && row < rows && column > -2 && column < columns) {
                const int16_t *at = in + row * columns + column;
                uint32_t low = column >= 0 ? (uint16_t)at[0] : LOWEST & 0xffff;
                uint32_t high = column + 1 < columns ? (uint16_t)at[1] : LOWEST & 0xffff;
                word = high << 16 | low;
            }
            to[y][i] = word;
        }
    __syncthreads();
}

__global__ void __launch_bounds__(THREADS)
    filter_tile(const int16_t *in, long long rows, long long columns, int radius, int16_t *out)
{
    __shared__ uint32_t tile[2][SIDE][WORDS];
    long long across = (columns + TILE - 1) / TILE;
    long long top = blockIdx.x / across * TILE, left = blockIdx.x % across * TILE;
    int halo = radius + (radius & 1), side = TILE + 2 * halo, now = 0;
    load_tile(in, rows, columns, top - halo, left - halo, side, tile[0]);
    for (int bit = 31 - __clz(radius), done = 0; bit >= 0; bit--) {
        if (done > 0) {
            raise_to_neighbours(tile[now], tile[!now], side, done);
            now = !now;
        }
        done *= 2;
        if (radius >> bit & 1) {
            raise_to_neighbours(tile[now], tile[!now], side, 1);
            now = !now;
            done++;
        }
    }
    for (int y = warp_id(); y < TILE && top + y < rows; y += THREADS / 32)
        for (int x = lane_id(); x < TILE && left + x < columns; x += 32) {
            uint32_t word = tile[now][halo + y][(halo + x) / 2];
            out[(top + y) * columns + left + x] = (int16_t)(x & 1 ? word >> 16 : word);
        }
}

/* ------------------------------------------------------------------ the device */

struct sound_gpu {
    struct sound_device base;
    int device;
    cudaStream_t stream;
    struct stft_tables *tables;
    /* on the GPU, each with room for `room` values: input, result, and what is between passes */
    int16_t *in, *out, *scratch;
    size_t room;
};

void free_buffers(struct sound_gpu *g)
{
    cudaFree(g->in);
    cudaFree(g->out);
    cudaFree(g->scratch);
    g->in = g->out = g->scratch = NULL;
    g->room = 0;
}

/* Makes the GPU current for the calling thread, and room for input and result. */
bool begin_call(struct sound_gpu *g, size_t values, const char *what, struct err *e)
{
    if (!cuda_check(cudaSetDevice(g->device), what, e))
        return false;
    if (values <= g->room)
        return true;
    free_buffers(g);
    size_t bytes = values * sizeof *g->in;
    if (!cuda_check(cudaMalloc(&g->in, bytes), what, e) ||
        !cuda_check(cudaMalloc(&g->out, bytes), what, e) ||
        !cuda_check(cudaMalloc(&g->scratch, bytes), what, e))
        return false;
    g->room = values;
    return true;
}

bool upload(struct sound_gpu *g, const int16_t *values, size_t n, const char *what, struct err *e)
{
    return cuda_check(
        cudaMemcpyAsync(g->in, values, n * sizeof *values, cudaMemcpyHostToDevice, g->stream), what,
        e);
}

/* Waits for the result. */
bool download(struct sound_gpu *g, int16_t *values, size_t n, const char *what, struct err *e)
{
    return cuda_check(cudaGetLastError(), what, e) &&
           cuda_check(cudaMemcpyAsync(values, g->out, n * sizeof *values, cudaMemcpyDeviceToHost,
                                      g->stream),
                      what, e) &&
           cuda_check(cudaStreamSynchronize(g->stream), what, e);
}

bool run_spectrogram(struct sound_device *d, const int16_t *sound, size_t samples, size_t frames,
                     int16_t *out, struct err *e)
{
    struct sound_gpu *g = (struct sound_gpu *)d;
    const char *what = "compute a spectrogram";
    size_t values = frames * BINS;
    if (frames == 0)
        return true;
    if (!begin_call(g, samples > values ? samples : values, what, e) ||
        !upload(g, sound, samples, what, e))
        return false;
    LAUNCH(spectrogram_frame, dim3((unsigned)frames), dim3(FRAME_THREADS), 0, g->stream, g->tables,
           g->in, samples, g->out);
    return download(g, out, values, what, e);
}

/* Filters g->in to g->out in as many passes as the radius needs. */
void enqueue_filter(struct sound_gpu *g, size_t rows, size_t columns, int radius)
{
    size_t tiles = ((rows + TILE - 1) / TILE) * ((columns + TILE - 1) / TILE);
    const int16_t *in = g->in;
    int passes = (radius + REACH - 1) / REACH;
    for (; passes > 0; passes--) {
        int reach = radius < REACH ? radius : REACH;
        int16_t *to = passes % 2 ? g->out : g->scratch; /* the last pass writes to `out` */
        LAUNCH(filter_tile, dim3((unsigned)tiles), dim3(THREADS), 0, g->stream, in, (long long)rows,
               (long long)columns, reach, to);
        in = to;
        radius -= reach;
    }
}

bool run_filter(struct sound_device *d, const int16_t *in, size_t rows, size_t columns, int radius,
                int16_t *out, struct err *e)
{
    struct sound_gpu *g = (struct sound_gpu *)d;
    const char *what = "filter a spectrogram";
    size_t values = rows * columns;
    if (values == 0)
        return true;
    if (!begin_call(g, values, what, e) || !upload(g, in, values, what, e))
        return false;
    enqueue_filter(g, rows, columns, radius);
    return download(g, out, values, what, e);
}

void close_gpu(struct sound_device **d)
{
    struct sound_gpu *g = (struct sound_gpu *)*d;
    cudaSetDevice(g->device);
    free_buffers(g);
    cudaFree(g->tables);
    if (g->stream)
        cudaStreamDestroy(g->stream);
    free(g);
    *d = NULL;
}

/* Copies the tables to the GPU. */
bool upload_tables(struct sound_gpu *g, const char *what, struct err *e)
{
    struct stft_tables *host = (struct stft_tables *)err_calloc(1, sizeof *host, e);
    if (!host)
        return false;
    stft_tables_init(host);
    bool ok = cuda_check(cudaMalloc(&g->tables, sizeof *g->tables), what, e) &&
              cuda_check(
                  cudaMemcpyAsync(g->tables, host, sizeof *host, cudaMemcpyHostToDevice, g->stream),
                  what, e) &&
              cuda_check(cudaStreamSynchronize(g->stream), what, e);
    free(host);
    return ok;
}

} // namespace

struct sound_device *sound_gpu_open(int device, struct err *e)
{
    const char *what = "prepare for sound";
    struct sound_gpu *g = (struct sound_gpu *)err_calloc(1, sizeof *g, e);
    if (!g)
        return NULL;
    struct sound_device *d = &g->base;
    g->base = {run_spectrogram, run_filter, close_gpu};
    g->device = device;
    if (!cuda_check(cudaSetDevice(device), what, e) ||
        !cuda_check(cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking), what, e)) {
        g->stream = NULL; /* the runtime leaves an invalid handle */
        close_gpu(&d);
    } else if (!upload_tables(g, what, e)) {
        close_gpu(&d);
    }
    return d;
}
