/*
 * kmeans_seed.cuh - the three starts of kmeans.h, which fill m.centre: for entire blocks, and for
 * frames with more than k colours.
 */
#ifndef BARCODE_CUDA_KMEANS_SEED_CUH
#define BARCODE_CUDA_KMEANS_SEED_CUH

#include "kmeans_nearest.cuh"

/* Returns 2 + floor(ln k), like seed_trials. */
static __device__ __forceinline__ int trials_of(int k)
{
    return 2 + (k >= 3) + (k >= 8) + (k >= 21) + (k >= 55);
}

/* Returns the trial of smallest potential, ties to the lower one. */
template <class T>
static __device__ __forceinline__ int best_trial(const struct start_work<T> *w, int trials)
{
    int best = 0;
    for (int i = 1; i < trials; i++)
        if (w->m->potential[i] < w->m->potential[best])
            best = i;
    return best;
}

/* Returns the first index in [low, high) whose key is above `value` (`at_least`: or equal). */
static __device__ uint32_t key_search(const uint32_t *key, uint32_t low, uint32_t high,
                                      uint32_t value, bool at_least)
{
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (key[middle] > value || (at_least && key[middle] == value))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The random start in thread 0. t moves past the keys already drawn (src/kmeans/seed.c). */
template <class T> static __device__ void start_random(const struct start_work<T> *w)
{
    uint32_t *begin = w->m->colour, *end = w->m->weight;
    wide left = w->pixels;
    if (threadIdx.x != 0)
        return;
    for (int c = 0; c < w->k; c++) {
        uint32_t t = (uint32_t)draw_below(w, STAGE_RANDOM, c, left);
        int at = 0;
        for (; at < c && t >= begin[at]; at++)
            t += end[at] - begin[at];
        uint32_t key = w->sorted[t];
        for (int i = c; i > at; i--) {
            begin[i] = begin[i - 1];
            end[i] = end[i - 1];
        }
        begin[at] = key_search(w->sorted, 0, t, key, true);
        end[at] = key_search(w->sorted, t, w->pixels, key, false);
        left -= end[at] - begin[at];
        w->m->centre[c] = colour_of(key);
    }
}

/* Performs greedy k-means++ on the frame's points. */
template <class T> static __device__ void start_plusplus(const struct start_work<T> *w)
{
    int trials = trials_of(w->k);
    if (threadIdx.x == 0)
        w->m->centre[0] = draw_colour(w, STAGE_PLUSPLUS, 0);
    __syncthreads();
    for (int c = 1; c < w->k; c++) {
        wide total = nearest_add(w, w->m->centre + c - 1, c - 1, 1);
        for (int i = warp_id(); i < trials; i += warp_count()) {
            uint32_t colour =
                nearest_find(w, draw_below(w, STAGE_PLUSPLUS, 1 + (c - 1) * trials + i, total));
            if (lane_id() == 0)
                w->m->drawn[i] = colour;
        }
        __syncthreads();
        nearest_try(w, w->m->drawn, trials);
        if (threadIdx.x == 0)
            w->m->centre[c] = w->m->drawn[best_trial(w, trials)];
        __syncthreads();
    }
}

/* Returns the first candidate whose sum of weight * D2 (`plain`: weight) exceeds t. One warp. */
template <class T>
static __device__ int candidate_find(const struct start_work<T> *w, int count, bool plain, wide t)
{
    for (int at = 0;; at += 32) {
        int i = at + lane_id();
        wide mass = i < count ? w->m->weight[i] * (plain ? 1ull : w->m->distance[i]) : 0;
        wide sum = warp_prefix(mass);
        uint32_t lanes = __ballot_sync(WARP_ALL, sum > t);
        if (lanes)
            return at + __ffs(lanes) - 1;
        t -= __shfl_sync(WARP_ALL, sum, 31);
    }
}

/* Returns the potential of the candidates if `colour` were a centre too. One warp. */
template <class T>
static __device__ wide candidate_try(const struct start_work<T> *w, int count, uint32_t colour)
{
    wide sum = 0;
    for (int i = lane_id(); i < count; i += 32) {
        uint32_t d = distance2(w->m->colour[i], colour), old = w->m->distance[i];
        sum += (wide)w->m->weight[i] * (d < old ? d : old);
    }
    return warp_sum_wide(sum);
}

/* Performs greedy k-means++ on the candidates. */
template <class T> static __device__ void recluster(const struct start_work<T> *w, int count)
{
    int trials = trials_of(w->k);
    if (warp_id() == 0) {
        int first = candidate_find(w, count, true, draw_below(w, STAGE_RECLUSTER, 0, w->pixels));
        if (lane_id() == 0)
            w->m->centre[0] = w->m->colour[first];
    }
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x)
        w->m->distance[i] = UINT32_MAX;
    __syncthreads();
    for (int c = 1; c < w->k; c++) {
        for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) {
            uint32_t d = distance2(w->m->colour[i], w->m->centre[c - 1]);
            w->m->distance[i] = d < w->m->distance[i] ? d : w->m->distance[i];
        }
        __syncthreads();
        for (int i = warp_id(); i < trials; i += warp_count()) {
            wide total = candidate_try(w, count, w->m->centre[c - 1]);
            int at = candidate_find(
                w, count, false, draw_below(w, STAGE_RECLUSTER, 1 + (c - 1) * trials + i, total));
            wide potential = candidate_try(w, count, w->m->colour[at]);
            if (lane_id() == 0) {
                w->m->drawn[i] = w->m->colour[at];
                w->m->potential[i] = potential;
            }
        }
        __syncthreads();
        if (threadIdx.x == 0)
            w->m->centre[c] = w->m->drawn[best_trial(w, trials)];
        __syncthreads();
    }
}

/* One round: 2k draws by weight * D2, without repeated colours. Returns how many candidates. */
template <class T>
static __device__ int draw_round(const struct start_work<T> *w, int round, int count, wide total)
{
    int draws = 2 * w->k;
    for (int d = warp_id(); d < draws; d += warp_count()) {
        uint32_t colour =
            nearest_find(w, draw_below(w, STAGE_ROUNDS, 1 + round * draws + d, total));
        if (lane_id() == 0)
            w->m->drawn[d] = colour;
    }
    __syncthreads();
    if (warp_id() == 0)
        for (int at = 0; at < draws; at += 32) {
            int d = at + lane_id();
            bool add = d < draws;
            for (int e = 0; add && e < d; e++)
                add = w->m->drawn[e] != w->m->drawn[d];
            uint32_t lanes = __ballot_sync(WARP_ALL, add);
            if (add)
                w->m->colour[count + __popc(lanes & ((1u << lane_id()) - 1))] = w->m->drawn[d];
            count += __popc(lanes);
        }
    if (threadIdx.x == 0)
        w->m->count = (uint32_t)count;
    __syncthreads();
    return (int)w->m->count;
}

/* Appends the lowest colours that are not candidates, up to k candidates. */
template <class T> static __device__ void top_up(const struct start_work<T> *w, int count)
{
    for (uint32_t at = 0; warp_id() == 0 && count < w->k; at += 32) {
        uint32_t i = at + lane_id();
        bool exists = i < w->points;
        uint32_t word = exists ? w->f.point[i] & 0xffffff : 0;
        bool is_candidate = exists && (w->key[i] >> KEY_INDEX) == 0; /* its D2 is 0 */
        bool add = exists && !is_candidate && (i == 0 || (w->f.point[i - 1] & 0xffffff) != word);
        uint32_t lanes = __ballot_sync(WARP_ALL, add);
        int to = count + __popc(lanes & ((1u << lane_id()) - 1));
        if (add && to < w->k)
            w->m->colour[to] = word;
        count += __popc(lanes);
    }
    __syncthreads();
}

/* Performs k-means||: candidates, their weights, and k-means++ on them. */
template <class T> static __device__ void start_scalable(struct start_work<T> *w)
{
    int count = 1;
    if (threadIdx.x == 0)
        w->m->colour[0] = draw_colour(w, STAGE_ROUNDS, 0);
    __syncthreads();
    wide total = nearest_begin(w);
    for (int round = 0; round < SEED_ROUNDS && total > 0; round++) {
        int before = w->alone ? 0 : count;
        count = draw_round(w, round, count, total);
        total = nearest_add(w, w->m->colour + before, before, count - before);
        w->alone = false;
    }
    if (count < w->k) {
        int before = count;
        top_up(w, count);
        count = w->k;
        nearest_add(w, w->m->colour + before, before, count - before);
    }
    nearest_count(w, count);
    recluster(w, count);
}

#endif
