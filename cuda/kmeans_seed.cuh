/*
 * kmeans_seed.cuh - the three starts of kmeans.h, which fill m.centre: for entire blocks, and for
 * frames with more than k colours.
 */
#ifndef BARCODE_CUDA_KMEANS_SEED_CUH
#define BARCODE_CUDA_KMEANS_SEED_CUH

#include "kmeans_block.cuh"

/*
 * ---- Every point's nearest candidate so far, sums of weight * D2, and draws from them ----
 *
 * Call these from entire blocks unless stated otherwise.
 *
 * A candidate changes nothing in a group in two cases. Either it is at least as far from the
 * group's box as the group's farthest point is from its nearest candidate. Or another candidate of
 * the pass is nearer to the entire box (src/kmeans/kmeans_isa.c). Each lane tests one group. The
 * floats are exact: squares of half integers below 2^18.
 */

/* A point's key is D2 << KEY_INDEX | candidate: one minimum gives both, ties to the lower. */
enum { KEY_INDEX = 10 };

template <class T> static __device__ __forceinline__ wide draw_below(const struct start_work<T> *w,
                                                                     int stage, int draw,
                                                                     wide total)
{
    return __umul64hi(random_u64(w->seed, (uint32_t)draw, w->restart, w->number, (uint32_t)stage),
                      total);
}

/* Returns the colour of a draw from the weights. */
template <class T>
static __device__ __forceinline__ uint32_t draw_colour(const struct start_work<T> *w, int stage,
                                                       int draw)
{
    return colour_of(w->sorted[draw_below(w, stage, draw, w->pixels)]);
}

/* Returns the exclusive prefix sum over the block's threads; *total gets the sum of all. */
template <class T>
static __device__ wide block_prefix(const struct start_work<T> *w, wide mine, wide *total)
{
    wide sum = warp_prefix(mine), below = 0;
    if (lane_id() == 31)
        w->m->part[warp_id()] = sum;
    __syncthreads();
    *total = 0;
    for (int i = 0; i < warp_count(); i++) {
        below += i < warp_id() ? w->m->part[i] : 0;
        *total += w->m->part[i];
    }
    __syncthreads();
    return below + sum - mine;
}

template <class T>
static __device__ __forceinline__ uint32_t groups_each(const struct start_work<T> *w)
{
    return (w->f.groups + blockDim.x - 1) / blockDim.x;
}

/* Computes `base` from the masses; returns the potential. */
template <class T> static __device__ wide nearest_total(const struct start_work<T> *w)
{
    uint32_t each = groups_each(w), begin = threadIdx.x * each, end = begin + each;
    wide mine = 0, total;
    for (uint32_t g = begin; g < end && g < w->f.groups; g++)
        mine += w->mass[g];
    mine = block_prefix(w, mine, &total);
    w->base[threadIdx.x] = mine;
    __syncthreads();
    return total;
}

/* Writes a group's keys and computes *mass and *reach from them. Call it from the entire warp. */
template <class T> static __device__ __forceinline__ void keep_keys(const struct start_work<T> *w,
                                                                    uint32_t at, uint32_t word,
                                                                    uint32_t key, uint32_t *mass,
                                                                    uint32_t *reach)
{
    w->key[at] = key;
    *mass = warp_sum((word >> 24) * (key >> KEY_INDEX));
    *reach = warp_max_unsigned(key >> KEY_INDEX);
}

/* Adds the first candidate to all groups, without previous state. */
template <class T> static __device__ void add_first(const struct start_work<T> *w)
{
    struct candidate c = w->m->pass[1];
    for (uint32_t group = warp_id(); group < w->f.groups; group += warp_count()) {
        uint32_t at = group * GROUP + lane_id(), word = w->f.point[at], mass, reach;
        uint32_t key = c.key + ((square_of(word) - 2 * dot4(word, c.colour)) << KEY_INDEX);
        keep_keys(w, at, word, key, &mass, &reach);
        if (lane_id() == 0) {
            w->mass[group] = mass;
            w->reach[group] = reach;
        }
    }
}

/* Returns the squared distance to the nearest (way -1) or farthest (1) point of a box. */
static __device__ __forceinline__ float box_distance(const struct candidate &c,
                                                     const struct lane_box &b, float way)
{
    float r = fmaxf(fmaf(way, b.half.x, fabsf(c.r - b.centre.x)), 0.0f);
    float g = fmaxf(fmaf(way, b.half.y, fabsf(c.g - b.centre.y)), 0.0f);
    float u = fmaxf(fmaf(way, b.half.z, fabsf(c.b - b.centre.z)), 0.0f);
    return fmaf(u, u, fmaf(g, g, r * r));
}

/* Returns the candidates from `from` on, at most 32, that may be nearer than `reach` to the box. */
template <class T>
static __device__ __forceinline__ uint32_t near_box(const struct start_work<T> *w,
                                                    const struct lane_box &b, uint32_t reach,
                                                    int from, int count, bool rival)
{
    float limit = (float)reach;
    uint32_t near = 0;
    for (int i = 0; rival && i < count; i++)
        limit = fminf(limit, box_distance(w->m->pass[1 + from + i], b, 1.0f) + 1.0f);
    for (int i = 0; i < count; i++)
        if (box_distance(w->m->pass[1 + from + i], b, -1.0f) < limit)
            near |= 1u << i;
    return near;
}

/* Returns the key that a candidate gives a point, minus the point's square. */
static __device__ __forceinline__ int key_from(const struct candidate &c, uint32_t word)
{
    return (int)c.key - (2 << KEY_INDEX) * (int)dot4(word, c.colour);
}

/*
 * Processes the groups of one turn with up to 32 candidates. FRESH: there is no previous state, and
 * some candidate is near to every group.
 */
template <bool FRESH, class T> static __device__ void add_turn(const struct start_work<T> *w,
                                                               int turn, int from, int count,
                                                               bool rival)
{
    uint32_t group = turn_group(turn), near = 0, mass = 0, reach = UINT32_MAX;
    if (group < w->f.groups) {
        if (!FRESH)
            reach = w->reach[group];
        near = near_box(w, lane_box_of(w->f.box[group]), reach, from, count, rival);
    }
    uint32_t left = __ballot_sync(WARP_ALL, near != 0);
    while (left) {
        int lane = __ffs(left) - 1;
        left &= left - 1;
        uint32_t at = __shfl_sync(WARP_ALL, group * GROUP, lane) + lane_id(),
                 set = __shfl_sync(WARP_ALL, near, lane);
        uint32_t word = w->f.point[at], square = square_of(word) << KEY_INDEX, new_mass, new_reach;
        int key = FRESH ? INT32_MAX : (int)(w->key[at] - square);
        while (set) { /* two at a time; after the last one comes pass[0] */
            int i = highest(set);
            set ^= member<uint32_t>(i);
            int second = highest(set);
            set &= ~member<uint32_t>(second);
            key = min(min(key, key_from(w->m->pass[1 + from + i], word)),
                      key_from(w->m->pass[1 + from + second], word));
        }
        keep_keys(w, at, word, (uint32_t)key + square, &new_mass, &new_reach);
        mass = lane == lane_id() ? new_mass : mass;
        reach = lane == lane_id() ? new_reach : reach;
    }
    if (near) {
        w->mass[group] = mass;
        w->reach[group] = reach;
    }
}

/*
 * Adds m->colour[0] as candidate 0 alone and returns the potential. Postpones its keys, because
 * nearly all points get a nearer candidate in the next round. For a group, sum w|x - c|^2 = sum
 * w|x|^2 - 2 c . sum wx + |c|^2 sum w, below 2^32 like every mass.
 */
template <class T> static __device__ wide nearest_begin(struct start_work<T> *w)
{
    uint32_t c = w->m->colour[0];
    for (uint32_t g = threadIdx.x; g < w->f.groups; g += blockDim.x) {
        uint4 sum = w->sum[g];
        w->mass[g] = w->square[g] + square_of(c) * sum.w -
                     2 * (red_of(c) * sum.x + green_of(c) * sum.y + blue_of(c) * sum.z);
    }
    w->alone = true;
    __syncthreads();
    return nearest_total(w);
}

/*
 * Adds colour[count], count <= 2 k + 1, from number `first` on; 0 discards all others. Returns the
 * potential.
 */
template <class T> static __device__ wide nearest_add(const struct start_work<T> *w,
                                                      const uint32_t *colour, int first, int count)
{
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) {
        struct candidate *c = w->m->pass + 1 + i;
        c->colour = colour[i];
        c->r = (float)red_of(colour[i]);
        c->g = (float)green_of(colour[i]);
        c->b = (float)blue_of(colour[i]);
        c->key = square_of(colour[i]) << KEY_INDEX | (uint32_t)(first + i);
    }
    if (threadIdx.x == 0) {
        w->m->pass[0].colour = 0;
        w->m->pass[0].key = INT32_MAX;
    }
    __syncthreads();
    int from = 0;
    if (first == 0 && count == 1) {
        add_first(w);
        from = 1;
    } else if (first == 0) {
        for (int turn = 0; turn_begin(turn) < w->f.groups; turn++)
            add_turn<true>(w, turn, 0, count < 32 ? count : 32, true);
        from = 32;
    }
    for (; from < count; from += 32)
        for (int turn = 0; turn_begin(turn) < w->f.groups; turn++)
            add_turn<false>(w, turn, from, count - from < 32 ? count - from : 32,
                            first <= 1 + 2 * w->k && count > 1);
    __syncthreads();
    return nearest_total(w);
}

/*
 * Returns the colour of the first point whose inclusive sum of weight * D2 exceeds t, below
 * the potential. One warp.
 */
template <class T> static __device__ uint32_t nearest_find(const struct start_work<T> *w, wide t)
{
    int owner = -1;
    for (int i = 0; i < (int)blockDim.x; i += 32)
        owner += __popc(__ballot_sync(WARP_ALL, w->base[i + lane_id()] <= t));
    t -= w->base[owner];
    uint32_t each = groups_each(w), group = owner * each, lanes = 0;
    wide sum = 0, mass = 0;
    for (;; group += 32) {
        uint32_t g = group + lane_id();
        mass = g < w->f.groups ? w->mass[g] : 0;
        sum = warp_prefix(mass);
        lanes = __ballot_sync(WARP_ALL, sum > t);
        if (lanes)
            break;
        t -= __shfl_sync(WARP_ALL, sum, 31);
    }
    int lane = __ffs(lanes) - 1;
    t -= __shfl_sync(WARP_ALL, sum - mass, lane);
    uint32_t at = (group + lane) * GROUP + lane_id();
    uint32_t word = w->f.point[at];
    uint32_t part = warp_prefix(
        (word >> 24) * (w->alone ? distance2(word, w->m->colour[0]) : w->key[at] >> KEY_INDEX));
    lane = __ffs(__ballot_sync(WARP_ALL, part > (uint32_t)t)) - 1;
    return __shfl_sync(WARP_ALL, word, lane) & 0xffffff;
}

/* Computes weight[i], the number of pixels nearest to candidate i < count. */
template <class T> static __device__ void nearest_count(const struct start_work<T> *w, int count)
{
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x)
        w->m->weight[i] = 0;
    __syncthreads();
    for (uint32_t g = warp_id(); g < w->f.groups; g += warp_count()) {
        uint32_t at = g * GROUP + lane_id(), weight = w->f.point[at] >> 24;
        uint32_t index = w->key[at] & ((1u << KEY_INDEX) - 1), left = WARP_ALL;
        while (left) {
            uint32_t leader = __shfl_sync(WARP_ALL, index, __ffs(left) - 1);
            uint32_t sum = warp_sum(index == leader ? weight : 0);
            left &= ~__ballot_sync(WARP_ALL, index == leader);
            if (lane_id() == 0)
                atomicAdd(w->m->weight + leader, sum);
        }
    }
    __syncthreads();
}

/* Computes potential[i]: what the potential would be with only trial[i] added, i < trials. */
template <class T>
static __device__ void nearest_try(const struct start_work<T> *w, const uint32_t *trial, int trials)
{
    if (threadIdx.x < TRIALS_MOST)
        w->m->potential[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < trials; i++) {
        uint32_t colour = trial[i];
        wide sum = 0;
        for (uint32_t g = warp_id(); g < w->f.groups; g += warp_count()) {
            uint32_t at = g * GROUP + lane_id(), word = w->f.point[at],
                     old = w->key[at] >> KEY_INDEX;
            sum += (wide)(word >> 24) * min(distance2(word, colour), old);
        }
        sum = warp_sum_wide(sum);
        if (lane_id() == 0)
            atomicAdd(w->m->potential + i, sum);
    }
    __syncthreads();
}

/* ---- The starts ---- */

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
