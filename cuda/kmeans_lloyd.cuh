/*
 * kmeans_lloyd.cuh - assign and update until the inertia no longer falls. Whole blocks call lloyd().
 *
 * Scores are those of src/assign.h, with raw colours: P_j(c) = constant_j - c . step_j, two dp2a each, j in the low
 * bits. Labels are kept and sums follow the labels that change. Groups where nothing may have changed are not
 * looked at; a lane tests a group (src/assign_template.h says why this holds):
 *   box test   P_w - P_j is linear in the colour: its maximum over a box is that at the centre plus the half edges
 *              times |step_w - step_j|. Below 0: no point of the box goes to j. The others are the group's rivals.
 *   margin     slack <= P_j - P_winner for the group's points and rivals j. Taken off it is by how much scores moved.
 * The tests are in floats, wide of the mark by SAFETY at least: they decide what is looked at, never what is found.
 */
#ifndef BARCODE_CUDA_KMEANS_LLOYD_CUH
#define BARCODE_CUDA_KMEANS_LLOYD_CUH

#include "kmeans_block.cuh"

enum {
    SAFETY = 64,                /* above every rounding of floats up to 2^27      */
    SCORE_NEVER = 1 << 29
};

/* The box of a lane's group: centre and half edges. */
struct lane_box {
    float3 centre, half;
};

static __device__ __forceinline__ struct lane_box lane_box_of(uint2 box)
{
    float3 low = make_float3((float)red_of(box.x), (float)green_of(box.x), (float)blue_of(box.x));
    float3 high = make_float3((float)red_of(box.y), (float)green_of(box.y), (float)blue_of(box.y));
    struct lane_box b;
    b.centre = make_float3(0.5f * (low.x + high.x), 0.5f * (low.y + high.y), 0.5f * (low.z + high.z));
    b.half = make_float3(0.5f * (high.x - low.x), 0.5f * (high.y - low.y), 0.5f * (high.z - low.z));
    return b;
}

/* constant + steps . c, in `line` or `moved`. */
static __device__ __forceinline__ float line_at(float4 line, float3 c)
{
    return fmaf(line.w, c.z, fmaf(line.z, c.y, fmaf(line.y, c.x, line.x)));
}

/* |steps| . half */
static __device__ __forceinline__ float line_reach(float r, float g, float b, float3 half)
{
    return fmaf(fabsf(b), half.z, fmaf(fabsf(g), half.y, fabsf(r) * half.x));
}

/* The rivals in a lane's box. MASK: room for k bits. */
template <typename MASK> static __device__ __forceinline__ MASK box_rivals(const struct work *w, const struct lane_box &b)
{
    float least = line_at(w->m.line[0], b.centre);
    int winner = 0;
    for (int j = 1; j < w->k; j++) {
        float score = line_at(w->m.line[j], b.centre);
        winner = score < least ? j : winner;
        least = fminf(score, least);
    }
    float4 own = w->m.line[winner];
    MASK set = (MASK)1 << winner;
    least += SAFETY;
    for (int j = 0; j < w->k; j++) {
        float4 line = w->m.line[j];
        float reach = line_reach(own.y - line.y, own.z - line.z, own.w - line.w, b.half);
        if (least + reach >= line_at(line, b.centre))
            set |= (MASK)1 << j;
    }
    return set;
}

/* By how much P_winner - P_j can have grown since the last step, for all winners and j in `set`. */
template <typename MASK>
static __device__ __forceinline__ int box_drift(const struct work *w, const struct lane_box &b, MASK set)
{
    float up = -1e30f, down = 1e30f;
    for (int j = 0; j < w->k; j++) {
        float4 moved = w->m.moved[j];
        float centre = line_at(moved, b.centre), reach = line_reach(moved.y, moved.z, moved.w, b.half);
        if (set >> j & 1) {
            up = fmaxf(up, centre + reach);
            down = fminf(down, centre - reach);
        }
    }
    return (int)ceilf(up - down) + (int)w->m.flag[3];
}

template <typename SUM> static __device__ __forceinline__ void add4(SUM *to, SUM r, SUM g, SUM b, SUM n)
{
    atomicAdd(to, r);
    atomicAdd(to + 1, g);
    atomicAdd(to + 2, b);
    atomicAdd(to + 3, n);
}

/* The sums of the whole warp's points, which had no labels before. */
template <typename SUM> static __device__ void claim_each(const struct work *w, uint32_t word, uint32_t label)
{
    SUM *sum = (SUM *)w->m.sum;
    uint32_t weight = word >> 24, left = WARP_ALL;
    while (left) {
        uint32_t leader = __shfl_sync(WARP_ALL, label, __ffs(left) - 1);
        uint32_t n = label == leader ? weight : 0;
        left &= ~__ballot_sync(WARP_ALL, label == leader);
        uint32_t r = warp_sum(n * red_of(word)), g = warp_sum(n * green_of(word)), b = warp_sum(n * blue_of(word));
        n = warp_sum(n);
        if (lane_id() == 0)
            add4<SUM>(sum + 4 * leader, r, g, b, n);
    }
}

/* A point moves from one cluster to another. */
template <typename SUM> static __device__ __forceinline__ void move(const struct work *w, uint32_t word, uint32_t from, uint32_t to)
{
    SUM *sum = (SUM *)w->m.sum;
    SUM n = word >> 24, r = n * red_of(word), g = n * green_of(word), b = n * blue_of(word);
    add4<SUM>(sum + 4 * from, (SUM)0 - r, (SUM)0 - g, (SUM)0 - b, (SUM)0 - n);
    add4<SUM>(sum + 4 * to, r, g, b, n);
}

/* Scores a group's points against `set`; returns its slack. The whole warp. */
template <typename MASK, typename SUM>
static __device__ __forceinline__ int visit(const struct work *w, uint32_t group, MASK set, bool first)
{
    uint32_t at = group * GROUP + lane_id(), word = w->point[at];
    int best = SCORE_NEVER, second = SCORE_NEVER;
    for (; set; set &= set - 1) {
        int4 t = w->m.now[sizeof(MASK) == 8 ? __ffsll((long long)set) - 1 : __ffs((int)set) - 1];
        int score = dot2_high((uint32_t)t.z, word, dot2_low((uint32_t)t.y, word, t.x));
        second = min(second, max(best, score));
        best = min(best, score);
    }
    uint32_t label = (uint32_t)best & ((1u << w->bits) - 1);
    if (first) {
        w->s.label[at] = (uint8_t)label;
        claim_each<SUM>(w, word, label);
    } else {
        uint32_t old = w->s.label[at];
        if (old != label) {
            w->s.label[at] = (uint8_t)label;
            move<SUM>(w, word, old, label);
        }
    }
    return warp_min(second - best);
}

/* Gives a lane's whole group to the only member of its set. */
template <typename MASK, typename SUM>
static __device__ void claim_group(const struct work *w, uint32_t group, MASK set)
{
    uint32_t label = sizeof(MASK) == 8 ? __ffsll((long long)set) - 1 : __ffs((int)set) - 1;
    uint4 sum = w->sum[group], fill = make_uint4(label, label, label, label);
    fill.x = fill.y = fill.z = fill.w = label * 0x01010101u;
    uint4 *to = (uint4 *)(w->s.label + (size_t)group * GROUP);
    to[0] = fill;
    to[1] = fill;
    add4<SUM>((SUM *)w->m.sum + 4 * label, sum.x, sum.y, sum.z, sum.w);
}

/* Whether a lane's group must be looked at, and its rivals. */
template <typename MASK>
static __device__ __forceinline__ bool test_group(const struct work *w, uint32_t group, MASK *set, bool first)
{
    struct lane_box b = lane_box_of(w->box[group]);
    MASK now = box_rivals<MASK>(w, b);
    *set = now;
    if (first) {
        w->s.rivals[group] = now;
        return (now & (now - 1)) != 0;
    }
    MASK known = (MASK)w->s.rivals[group];
    int drift = box_drift<MASK>(w, b, known);
    w->s.rivals[group] = now;
    if (now & ~known)
        return true;
    if ((known & (known - 1)) == 0)
        return false;
    int slack = w->s.slack[group] - drift;
    w->s.slack[group] = slack;
    return slack < 0;
}

/* One assign step. */
template <typename MASK, typename SUM> static __device__ void assign(const struct work *w, bool first)
{
    for (uint32_t base = warp_id() * 32; base < w->groups; base += warp_count() * 32) {
        uint32_t group = base + lane_id();
        MASK set = 0;
        bool look = group < w->groups && test_group<MASK>(w, group, &set, first);
        if (first && !look && group < w->groups)
            claim_group<MASK, SUM>(w, group, set);
        for (uint32_t left = __ballot_sync(WARP_ALL, look); left; left &= left - 1) {
            int lane = __ffs(left) - 1;
            int slack = visit<MASK, SUM>(w, base + lane, __shfl_sync(WARP_ALL, set, lane), first);
            if (lane == lane_id())
                w->s.slack[group] = slack;
        }
    }
}

/* Puts centroid q into the tables; returns whether it moved farther than floats hold exactly. */
static __device__ bool set_centroid(const struct work *w, int j, int r, int g, int b)
{
    int scale = 1 << w->bits, square = r * r + g * g + b * b;
    int constant = (square / (1 << (9 - w->bits)) + 127 * (r + g + b)) * scale + j;
    r *= -scale;
    g *= -scale;
    b *= -scale;
    float4 line = make_float4((float)constant, (float)r, (float)g, (float)b), old = w->m.line[j];
    int gap = constant - w->m.now[j].x;
    float4 moved = make_float4((float)gap, line.y - old.y, line.z - old.z, line.w - old.w);
    w->m.now[j] = make_int4(constant, (int)((uint32_t)(uint16_t)r | (uint32_t)g << 16), (uint16_t)b, 0);
    w->m.line[j] = line;
    w->m.moved[j] = moved;
    return abs(gap) > 1 << 21 || fabsf(moved.y) > 4096 || fabsf(moved.z) > 4096 || fabsf(moved.w) > 4096;
}

/* x / n, rounded down; the quotient fits 32 bits. */
static __device__ __forceinline__ wide divide(wide x, wide n, double inverse)
{
    wide quotient = (wide)((double)x * inverse);
    long long rest = (long long)(x - quotient * n);
    while (rest < 0) {
        rest += (long long)n;
        quotient--;
    }
    while (rest >= (long long)n) {
        rest -= (long long)n;
        quotient++;
    }
    return quotient;
}

/* The centroid of sums, and |S|^2 / n in units of 2^-INERTIA_FRACTION, as src/kmeans.c's settle. */
static __device__ wide settle(const wide *sum, int f, int *q)
{
    wide n = sum[3], whole = 0, rest = 0;
    double inverse = 1.0 / (double)n;
    for (int c = 0; c < 3; c++) {
        wide a = divide(sum[c], n, inverse), r = sum[c] - a * n;
        q[c] = (int)(a << f) + (int)divide((r << f) + n / 2, n, inverse) - (127 << f);
        whole += a * a * n + 2 * a * r;
        rest += r * r;
    }
    wide unit = divide(rest, n, inverse);
    return ((whole + unit) << INERTIA_FRACTION) + divide((rest - unit * n) << INERTIA_FRACTION, n, inverse);
}

/* The update step, one warp; returns the inertia of the clustering that the sums describe. */
template <typename SUM> static __device__ wide update(const struct work *w, wide last)
{
    const SUM *sum = (const SUM *)w->m.sum;
    wide explained = 0;
    int q[2][3];
    for (int i = 0; i < 2; i++) {
        int j = lane_id() + 32 * i;
        wide s[4] = {0, 0, 0, 0};
        for (int c = 0; c < 4 && j < w->k; c++)
            s[c] = sum[4 * j + c];
        if (s[3])
            explained += settle(s, 8 - w->bits, q[i]);
    }
    wide inertia = (w->square << INERTIA_FRACTION) - warp_sum_wide(explained);
    bool far = false, better = inertia < last;
    for (int i = 0; i < 2; i++) {
        int j = lane_id() + 32 * i;
        if (!better || j >= w->k)
            continue;
        for (int c = 0; c < 4; c++)
            w->m.kept[4 * j + c] = sum[4 * j + c];
        if (sum[4 * j + 3])
            far |= set_centroid(w, j, q[i][0], q[i][1], q[i][2]);
        else
            w->m.moved[j] = make_float4(0, 0, 0, 0);
    }
    far = __any_sync(WARP_ALL, far);
    if (lane_id() == 0) {
        w->m.flag[2] = better;
        w->m.flag[3] = far ? SAFETY : 1;
    }
    return better ? inertia : last;
}

/* From m.centre to the end; leaves the clustering that counts in m.kept. Warp 0 gets its inertia. */
template <typename MASK, typename SUM> static __device__ wide lloyd(const struct work *w)
{
    SUM *sum = (SUM *)w->m.sum;
    wide last = ~0ull;
    __syncthreads();
    for (int j = (int)threadIdx.x; j < w->k; j += (int)blockDim.x) {
        uint32_t c = w->m.centre[j];
        int f = 8 - w->bits;
        w->m.now[j] = make_int4(0, 0, 0, 0);
        w->m.line[j] = make_float4(0, 0, 0, 0);
        set_centroid(w, j, ((int)red_of(c) - 127) * (1 << f), ((int)green_of(c) - 127) * (1 << f),
                     ((int)blue_of(c) - 127) * (1 << f));
        for (int i = 0; i < 4; i++)
            sum[4 * j + i] = 0;
    }
    __syncthreads();
    for (int i = 0; i < w->max_iter; i++) {
        assign<MASK, SUM>(w, i == 0);
        __syncthreads();
        if (warp_id() == 0)
            last = update<SUM>(w, last);
        __syncthreads();
        if (!w->m.flag[2])
            break;
    }
    return last;
}

#endif
