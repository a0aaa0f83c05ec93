/*
 * kmeans_nearest.cuh - every point's nearest candidate so far, sums of weight * D2, draws from them.
 * Whole blocks call these unless said otherwise.
 */
#ifndef BARCODE_CUDA_KMEANS_NEAREST_CUH
#define BARCODE_CUDA_KMEANS_NEAREST_CUH

#include "kmeans_block.cuh"

enum {
    KEY_INDEX = 10,      /* a point's key: D2 << KEY_INDEX | candidate. One minimum gives both, ties to the lower */
    STRIP = 4            /* groups that a warp takes through the candidates together                              */
};

/* Exclusive sums over the block's threads; *total: of all. */
static __device__ wide block_prefix(const struct work *w, wide mine, wide *total)
{
    wide sum = warp_prefix(mine), below = 0;
    if (lane_id() == 31)
        w->m.part[warp_id()] = sum;
    __syncthreads();
    *total = 0;
    for (int i = 0; i < warp_count(); i++) {
        below += i < warp_id() ? w->m.part[i] : 0;
        *total += w->m.part[i];
    }
    __syncthreads();
    return below + sum - mine;
}

static __device__ __forceinline__ uint32_t groups_each(const struct work *w)
{
    return (w->groups + blockDim.x - 1) / blockDim.x;
}

/* Fills m.base from the masses; returns the potential. */
static __device__ wide nearest_total(const struct work *w)
{
    uint32_t each = groups_each(w), begin = threadIdx.x * each, end = begin + each;
    wide mine = 0, total;
    for (uint32_t g = begin; g < end && g < w->groups; g++)
        mine += w->s.mass[g];
    mine = block_prefix(w, mine, &total);
    w->m.base[threadIdx.x] = mine;
    __syncthreads();
    return total;
}

/* A warp's strip of groups against the `count` candidates of m.entry. */
static __device__ void strip_add(const struct work *w, uint32_t group, int count, bool fresh)
{
    uint32_t word[STRIP], square[STRIP];
    int best[STRIP];
    for (int v = 0; v < STRIP; v++) {
        bool in = group + v < w->groups;
        uint32_t at = (group + v) * GROUP + lane_id();
        word[v] = in ? w->point[at] : 0;
        square[v] = square_of(word[v]) << KEY_INDEX;
        best[v] = fresh || !in ? INT32_MAX : (int)(w->s.key[at] - square[v]);
    }
    for (int i = 0; i < count; i++) {
        uint2 entry = w->m.entry[i];
        for (int v = 0; v < STRIP; v++) {
            int key = (int)entry.y - (2 << KEY_INDEX) * (int)dot4(word[v], entry.x);
            best[v] = key < best[v] ? key : best[v];
        }
    }
    for (int v = 0; v < STRIP; v++) {
        uint32_t key = (uint32_t)best[v] + square[v];
        uint32_t mass = warp_sum((word[v] >> 24) * (key >> KEY_INDEX));
        if (group + v < w->groups) {
            w->s.key[(group + v) * GROUP + lane_id()] = key;
            if (lane_id() == 0)
                w->s.mass[group + v] = mass;
        }
    }
}

/* Takes candidates colour[0..count), count <= 2 k, numbered from `first`; `fresh` forgets what was. Returns the potential. */
static __device__ wide nearest_add(const struct work *w, const uint32_t *colour, int first, int count, bool fresh)
{
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x)
        w->m.entry[i] = make_uint2(colour[i], square_of(colour[i]) << KEY_INDEX | (uint32_t)(first + i));
    __syncthreads();
    for (uint32_t g = warp_id() * STRIP; g < w->groups; g += warp_count() * STRIP)
        strip_add(w, g, count, fresh);
    __syncthreads();
    return nearest_total(w);
}

/* The colour of the first point whose inclusive sum of weight * D2 exceeds t < potential. One warp. */
static __device__ uint32_t nearest_find(const struct work *w, wide t)
{
    int owner = -1;
    for (int i = 0; i < (int)blockDim.x; i += 32)
        owner += __popc(__ballot_sync(WARP_ALL, w->m.base[i + lane_id()] <= t));
    t -= w->m.base[owner];
    uint32_t each = groups_each(w), group = owner * each, lanes = 0;
    wide sum = 0, mass = 0;
    for (;; group += 32) {
        uint32_t g = group + lane_id();
        mass = g < w->groups ? w->s.mass[g] : 0;
        sum = warp_prefix(mass);
        lanes = __ballot_sync(WARP_ALL, sum > t);
        if (lanes)
            break;
        t -= __shfl_sync(WARP_ALL, sum, 31);
    }
    int lane = __ffs(lanes) - 1;
    t -= __shfl_sync(WARP_ALL, sum - mass, lane);
    uint32_t at = (group + lane) * GROUP + lane_id();
    uint32_t word = w->point[at];
    uint32_t part = warp_prefix((word >> 24) * (w->s.key[at] >> KEY_INDEX));
    lane = __ffs(__ballot_sync(WARP_ALL, part > (uint32_t)t)) - 1;
    return __shfl_sync(WARP_ALL, word, lane) & 0xffffff;
}

/* m.weight[i] = the pixels nearest to candidate i < count. Neighbours mostly have the same. */
static __device__ void nearest_count(const struct work *w, int count)
{
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x)
        w->m.weight[i] = 0;
    __syncthreads();
    for (uint32_t g = warp_id(); g < w->groups; g += warp_count()) {
        uint32_t at = g * GROUP + lane_id(), weight = w->point[at] >> 24;
        uint32_t index = w->s.key[at] & ((1u << KEY_INDEX) - 1), left = WARP_ALL;
        while (left) {
            uint32_t leader = __shfl_sync(WARP_ALL, index, __ffs(left) - 1);
            uint32_t sum = warp_sum(index == leader ? weight : 0);
            left &= ~__ballot_sync(WARP_ALL, index == leader);
            if (lane_id() == 0)
                atomicAdd(w->m.weight + leader, sum);
        }
    }
    __syncthreads();
}

/* m.potential[i] = what the potential would be with trial[i] added alone, i < trials. */
static __device__ void nearest_try(const struct work *w, const uint32_t *trial, int trials)
{
    wide sum[TRIALS_MOST];
    for (int i = 0; i < TRIALS_MOST; i++)
        sum[i] = 0;
    if (threadIdx.x < TRIALS_MOST)
        w->m.potential[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t g = warp_id(); g < w->groups; g += warp_count()) {
        uint32_t at = g * GROUP + lane_id(), word = w->point[at], old = w->s.key[at] >> KEY_INDEX;
        for (int i = 0; i < TRIALS_MOST; i++) {
            uint32_t d = i < trials ? distance2(word, trial[i]) : 0;
            sum[i] += (wide)(word >> 24) * (d < old ? d : old);
        }
    }
    for (int i = 0; i < TRIALS_MOST; i++) {
        wide all = warp_sum_wide(sum[i]);
        if (lane_id() == 0)
            atomicAdd(w->m.potential + i, all);
    }
    __syncthreads();
}

#endif
