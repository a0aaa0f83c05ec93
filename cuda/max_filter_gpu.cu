/*
 * max_filter_gpu.cu - max_filter.h's diamond by doubling, in shared memory.
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
#include "cuda_check.h"
#include "sound_gpu.h"
#include "warp.cuh"

enum { TILE = 64, SIDE = TILE + 2 * MAX_FILTER_GPU_REACH, WORDS = SIDE / 2, THREADS = 256 };

static_assert(MAX_FILTER_GPU_REACH % 2 == 0, "a halo has whole words");

#define LOWEST 0x80008000u

static __device__ __forceinline__ uint32_t larger_pair(uint32_t a, uint32_t b)
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

static __device__ __forceinline__ uint32_t word_at(const uint32_t *row, int i, int words)
{
    return i < 0 || i >= words ? LOWEST : row[i];
}

/* Returns columns first and first + 1 of a row. */
static __device__ __forceinline__ uint32_t pair_at(const uint32_t *row, int first, int words)
{
    int i = first >> 1;
    uint32_t low = word_at(row, i, words);
    if (!(first & 1))
        return low;
    return low >> 16 | word_at(row, i + 1, words) << 16;
}

/* One pass at `distance` over a tile with its halo. */
static __device__ void raise_to_neighbours(const uint32_t (*from)[WORDS], uint32_t (*to)[WORDS],
                                           int side, int distance)
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
static __device__ void load_tile(const int16_t *in, long long rows, long long columns,
                                 long long top, long long left, int side, uint32_t (*to)[WORDS])
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

bool max_filter_gpu(const int16_t *in, size_t rows, size_t columns, int radius, int16_t *scratch,
                    int16_t *out, cudaStream_t stream, struct err *e)
{
    const char *what = "filter a spectrogram";
    if (!rows || !columns)
        return true;
    if (!radius)
        return cuda_check(
            cudaMemcpyAsync(out, in, rows * columns * sizeof *in, cudaMemcpyDeviceToDevice, stream),
            what, e);
    size_t tiles = ((rows + TILE - 1) / TILE) * ((columns + TILE - 1) / TILE);
    if (tiles > INT32_MAX)
        return err_set(e, ERR_ENGINE, "cannot %s of %zu x %zu values on the GPU", what, rows,
                       columns);
    /* The last of these passes writes to `out`. */
    int passes = (radius + MAX_FILTER_GPU_REACH - 1) / MAX_FILTER_GPU_REACH;
    for (; passes > 0; passes--) {
        int reach = radius < MAX_FILTER_GPU_REACH ? radius : MAX_FILTER_GPU_REACH;
        int16_t *to = passes % 2 ? out : scratch;
        LAUNCH(filter_tile, dim3((unsigned)tiles), dim3(THREADS), 0, stream, in, (long long)rows,
               (long long)columns, reach, to);
        in = to;
        radius -= reach;
    }
    return cuda_check(cudaGetLastError(), what, e);
}
