/*
 * kmeans_points.cu - converts frames to points: keys, runs of equal keys, groups.
 *
 * All frames of a call are sorted together, with the frame's number above the key. CUB's sort is
 * fastest on many keys, and every frame size uses the same code. A new point begins where the key
 * changes and at every multiple of 255, so that no weight exceeds 255.
 */
#ifndef BARCODE_EMULATED
#include <cub/device/device_radix_sort.cuh>
#endif

#include "kmeans_job.h"
#include "warp.cuh"

enum { TILE_WARPS = 8, WARP_KEYS = 256, TILE = TILE_WARPS * WARP_KEYS, THREADS = 32 * TILE_WARPS };

int points_tiles(uint32_t pixels) { return (int)((pixels + TILE - 1) / TILE); }

__global__ void keys_kernel(const uint8_t *rgb, uint32_t *key, uint32_t pixels)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels)
        return;
    size_t at = (size_t)blockIdx.y * pixels + i;
    key[at] = key_of(rgb + 3 * at) | blockIdx.y << 24;
}

/* Returns true if pixel i begins a point; *fresh: it begins a colour. */
static __device__ __forceinline__ bool begins(const uint32_t *key, uint32_t i, uint32_t pixels,
                                              bool *fresh)
{
    *fresh = i < pixels && (i == 0 || key[i] != key[i - 1]);
    return *fresh || (i < pixels && i % WEIGHT_MOST == 0);
}

/* Counts the points and colours that begin in each tile. */
__global__ void count_kernel(struct kmeans_job j, int first, uint32_t *tile)
{
    __shared__ uint32_t count[2];
    const uint32_t *key = j.sorted + (size_t)(first + blockIdx.y) * j.pixels;
    uint32_t at = blockIdx.x * TILE + warp_id() * WARP_KEYS + lane_id();
    uint32_t points = 0, colours = 0;
    if (threadIdx.x < 2)
        count[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < WARP_KEYS; i += 32) {
        bool fresh, begin = begins(key, at + i, j.pixels, &fresh);
        points += __popc(__ballot_sync(WARP_ALL, begin));
        colours += __popc(__ballot_sync(WARP_ALL, fresh));
    }
    if (lane_id() == 0) {
        atomicAdd(count, points);
        atomicAdd(count + 1, colours);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        tile[blockIdx.y * gridDim.x + blockIdx.x] = count[0];
        atomicAdd(&j.made[first + blockIdx.y].distinct, count[1]);
    }
}

/* Replaces a frame's counts of tiles by their exclusive prefix sums. One block a frame. */
__global__ void scan_kernel(struct kmeans_job j, int first, uint32_t *tile, int tiles)
{
    __shared__ uint32_t total[TILE_WARPS];
    uint32_t before = 0;
    tile += (size_t)blockIdx.x * tiles;
    for (int at = 0; at < tiles; at += THREADS) {
        int i = at + (int)threadIdx.x;
        uint32_t here = i < tiles ? tile[i] : 0, sum = warp_prefix(here);
        if (lane_id() == 31)
            total[warp_id()] = sum;
        __syncthreads();
        uint32_t below = before;
        for (int w = 0; w < TILE_WARPS; w++) {
            below += w < warp_id() ? total[w] : 0;
            before += total[w];
        }
        if (i < tiles)
            tile[i] = below + sum - here;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        j.made[first + blockIdx.x].points = before;
        j.made[first + blockIdx.x].groups = (before + GROUP - 1) / GROUP;
    }
}

/* Writes the start of each point. */
__global__ void starts_kernel(struct kmeans_job j, int first, const uint32_t *tile, uint32_t *start)
{
    __shared__ uint32_t total[TILE_WARPS];
    const uint32_t *key = j.sorted + (size_t)(first + blockIdx.y) * j.pixels;
    uint32_t at = blockIdx.x * TILE + warp_id() * WARP_KEYS + lane_id();
    uint32_t bits[WARP_KEYS / 32], points = 0;
    for (int i = 0; i < WARP_KEYS / 32; i++) {
        bool fresh;
        bits[i] = __ballot_sync(WARP_ALL, begins(key, at + 32 * i, j.pixels, &fresh));
        points += __popc(bits[i]);
    }
    if (lane_id() == 0)
        total[warp_id()] = points;
    __syncthreads();
    uint32_t to = tile[blockIdx.y * gridDim.x + blockIdx.x];
    for (int w = 0; w < warp_id(); w++)
        to += total[w];
    start += (size_t)blockIdx.y * j.capacity;
    for (int i = 0; i < WARP_KEYS / 32; i++) {
        if (bits[i] >> lane_id() & 1)
            start[to + __popc(bits[i] & ((1u << lane_id()) - 1))] = at + 32 * i;
        to += __popc(bits[i]);
    }
}

/* Writes a group's points, box and sums, one warp each; pads the last with points of weight 0. */
__global__ void groups_kernel(struct kmeans_job j, int first, const uint32_t *start)
{
    uint32_t frame = first + blockIdx.y, group = blockIdx.x * TILE_WARPS + warp_id();
    struct frame_points *made = j.made + frame;
    if (group >= made->groups)
        return;
    start += (size_t)blockIdx.y * j.capacity;
    uint32_t at = group * GROUP + lane_id(), point = at < made->points ? at : made->points - 1;
    uint32_t begin = start[point], end = point + 1 < made->points ? start[point + 1] : j.pixels;
    uint32_t weight = at < made->points ? end - begin : 0;
    uint32_t colour = colour_of(j.sorted[(size_t)frame * j.pixels + begin]);
    uint32_t r = red_of(colour), g = green_of(colour), b = blue_of(colour);
    j.point[(size_t)frame * j.capacity + at] = colour | weight << 24;
    uint2 box;
    box.x = warp_min_unsigned(r) | warp_min_unsigned(g) << 8 | warp_min_unsigned(b) << 16;
    box.y = warp_max_unsigned(r) | warp_max_unsigned(g) << 8 | warp_max_unsigned(b) << 16;
    uint4 sum = make_uint4(warp_sum(weight * r), warp_sum(weight * g), warp_sum(weight * b),
                           warp_sum(weight));
    uint32_t square = warp_sum(weight * square_of(colour));
    if (lane_id() == 0) {
        j.box[(size_t)frame * j.groups + group] = box;
        j.sum[(size_t)frame * j.groups + group] = sum;
        j.square[(size_t)frame * j.groups + group] = square;
        atomicAdd(&made->square, (unsigned long long)square);
    }
}

static int bits_for(int values)
{
    int bits = 0;
    while (1 << bits < values)
        bits++;
    return bits;
}

void points_launch(const struct kmeans_job *j, const struct points_scratch *s, const uint8_t *rgb,
                   int first, int frames, cudaStream_t stream)
{
    int tiles = points_tiles(j->pixels);
    size_t bytes = s->sort_bytes;
    LAUNCH(keys_kernel, dim3((j->pixels + THREADS - 1) / THREADS, frames), THREADS, 0, stream,
           rgb + 3 * (size_t)first * j->pixels, s->key, j->pixels);
    sort_keys(s->sort, &bytes, s->key, j->sorted + (size_t)first * j->pixels,
              (int)(j->pixels * (size_t)frames), 24 + bits_for(frames), stream);
    LAUNCH(count_kernel, dim3(tiles, frames), THREADS, 0, stream, *j, first, s->tile);
    LAUNCH(scan_kernel, frames, THREADS, 0, stream, *j, first, s->tile, tiles);
    LAUNCH(starts_kernel, dim3(tiles, frames), THREADS, 0, stream, *j, first, s->tile, s->start);
    LAUNCH(groups_kernel, dim3((j->groups + TILE_WARPS - 1) / TILE_WARPS, frames), THREADS, 0,
           stream, *j, first, s->start);
}

/* The emulator has a sort of its own in its place. */
#ifndef BARCODE_EMULATED
cudaError_t sort_keys(void *scratch, size_t *bytes, const uint32_t *in, uint32_t *out, int count,
                      int bits, cudaStream_t stream)
{
    return cub::DeviceRadixSort::SortKeys(scratch, *bytes, in, out, count, 0, bits, stream);
}
#endif
