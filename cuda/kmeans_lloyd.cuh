/*
 * kmeans_lloyd.cuh - assign and update until the inertia no longer falls. Call lloyd() from entire
 * blocks.
 *
 * Scores are those of src/kmeans/assign.h, with raw colours: P_j(c) = constant_j - c . step_j, two
 * dp2a each, j in the low bits. Labels are kept, and sums are updated for the labels that change.
 * Groups where nothing can have changed are skipped. Each lane tests one group
 * (src/kmeans/assign_isa.c explains the tests):
 *
 *   box test  The filtering of Kanungo et al. (IEEE TPAMI 24(7), 2002), over boxes of neighbours in
 *             Morton order. P_w - P_j is linear in the colour: its maximum over a box is that at
 *             the centre plus the half edges times |step_w - step_j|. If it is below 0, no point of
 *             the box can go to j. The remaining centroids are the group's rivals.
 *   margin    The bounds of Hamerly (SDM 2010), one for each group. slack <= P_j - P_winner for the
 *             group's points and rivals j. Every step subtracts how far scores moved. With two
 *             rivals, each has its own slack, because a moving border threatens only one side.
 *
 * The tests use floats with a margin above every rounding: SAFETY, or 1 for moves that floats hold
 * exactly. They only decide what is examined, never the result.
 */
#ifndef BARCODE_CUDA_KMEANS_LLOYD_CUH
#define BARCODE_CUDA_KMEANS_LLOYD_CUH

#include "kmeans_block.cuh"

/* ---- The update step: centroids and inertia from sums, and the tables for the assign step ---- */

enum {
    SAFETY = 64, /* above every rounding error of the tests' floats, which stay below 2^27 */
    NEAR_CONSTANT = 1 << 21,
    NEAR_STEP = 1 << 12 /* floats hold moves below these two limits exactly */
};

/* Writes centroid q to the tables. Returns true if it moved farther than floats hold exactly. */
template <class T>
static __device__ bool set_centroid(const struct lloyd_work<T> *w, int j, int r, int g, int b)
{
    int scale = 1 << w->bits, square = r * r + g * g + b * b;
    int constant = (square / (1 << (9 - w->bits)) + 127 * (r + g + b)) * scale + j;
    r *= -scale;
    g *= -scale;
    b *= -scale;
    float4 line = make_float4((float)constant, (float)r, (float)g, (float)b), old = w->m->line[j];
    int gap = constant - w->m->now[1 + j].x;
    float4 moved = make_float4((float)gap, line.y - old.y, line.z - old.z, line.w - old.w);
    uint2 packed = steps(r, g, b);
    w->m->now[1 + j] = make_int4(constant, (int)packed.x, (int)packed.y, 0);
    w->m->line[j] = line;
    w->m->moved[j] = moved;
    return abs(gap) > NEAR_CONSTANT || fabsf(moved.y) > NEAR_STEP || fabsf(moved.z) > NEAR_STEP ||
           fabsf(moved.w) > NEAR_STEP;
}

/* Initializes centroid j from the start or an earlier launch, with an empty cluster. */
template <class T>
static __device__ void begin_centroid(const struct lloyd_work<T> *w, int j, uint2 from)
{
    int scale = 1 << w->bits, r = (int16_t)from.x, g = (int16_t)(from.x >> 16), b = (int16_t)from.y;
    w->m->now[1 + j] = make_int4(0, 0, 0, 0);
    w->m->line[j] = make_float4(0, 0, 0, 0);
    set_centroid(w, j, -r / scale, -g / scale, -b / scale);
    for (int i = 0; i < 4; i++)
        w->m->sum[j][i] = 0;
}

/* Returns x / n, rounded down; the quotient fits 32 bits. */
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

/*
 * Computes the centroid of sums. Returns |S|^2 / n in units of 2^-INERTIA_FRACTION, like
 * centroid_of in src/kmeans/restart.c. Uses 64-bit integers, for sums of any size.
 */
static __device__ wide centroid_of(const wide *sum, int f, int *q)
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
    return ((whole + unit) << INERTIA_FRACTION) +
           divide((rest - unit * n) << INERTIA_FRACTION, n, inverse);
}

/* Returns floor(x / n) below 2^32 of integers below 2^53, and *rest. Every step is exact. */
static __device__ __forceinline__ double divide_exact(double x, double n, double inverse,
                                                      double *rest)
{
    double quotient = (double)(uint32_t)(x * inverse), r = fma(-quotient, n, x);
    if (r < 0) {
        quotient -= 1;
        r += n;
    }
    if (r >= n) {
        quotient += 1;
        r -= n;
    }
    *rest = r;
    return quotient;
}

/* The same in doubles, for n <= 2^24: nothing exceeds 2^53, and the code is shorter. */
static __device__ wide centroid_of(const uint32_t *sum, int f, int *q)
{
    double n = sum[3], half = sum[3] / 2, inverse = 1.0 / n, whole = 0, rest = 0, r, last;
    for (int c = 0; c < 3; c++) {
        double a = divide_exact(sum[c], n, inverse, &r);
        q[c] = ((int)a << f) +
               (int)divide_exact(fma(r, (double)(1 << f), half), n, inverse, &last) - (127 << f);
        whole += fma(a * a, n, 2 * a * r);
        rest = fma(r, r, rest);
    }
    whole += divide_exact(rest, n, inverse, &r);
    return ((wide)whole << INERTIA_FRACTION) +
           (wide)divide_exact(r * (1 << INERTIA_FRACTION), n, inverse, &last);
}

/* Updates in one warp. Returns the lowest inertia so far; sets m->go if this clustering has it. */
template <class T> static __device__ wide update(const struct lloyd_work<T> *w, wide last)
{
    enum { EACH = (T::MOST + 31) / 32 };
    wide explained = 0;
    int q[EACH][3];
    for (int i = 0; i < EACH; i++) {
        int j = lane_id() + 32 * i;
        if (j < w->k && w->m->sum[j][3])
            explained += centroid_of(w->m->sum[j], 8 - w->bits, q[i]);
    }
    wide inertia = (w->square << INERTIA_FRACTION) - warp_sum_wide(explained);
    bool far = false, better = inertia < last;
    for (int i = 0; i < EACH; i++) {
        int j = lane_id() + 32 * i;
        if (!better || j >= w->k)
            continue;
        for (int c = 0; c < 4; c++)
            w->m->kept[j][c] = w->m->sum[j][c];
        if (w->m->sum[j][3])
            far |= set_centroid(w, j, q[i][0], q[i][1], q[i][2]);
        else
            w->m->moved[j] = make_float4(0, 0, 0, 0);
    }
    far = __any_sync(WARP_ALL, far);
    if (lane_id() == 0) {
        w->m->go = better;
        w->m->some |= better;
        w->m->blur = far ? SAFETY : 1;
    }
    return better ? inertia : last;
}

/* ---- The assign step ---- */

enum { SCORE_NEVER = 1 << 29, SLACK_MOST = 1 << 30 };

/* Returns constant + steps . c, from `line` or `moved`. */
static __device__ __forceinline__ float line_at(float4 line, float3 c)
{
    return fmaf(line.w, c.z, fmaf(line.z, c.y, fmaf(line.y, c.x, line.x)));
}

/* Returns |steps| . half. */
static __device__ __forceinline__ float line_reach(float4 line, float3 half)
{
    return fmaf(fabsf(line.w), half.z, fmaf(fabsf(line.z), half.y, fabsf(line.y) * half.x));
}

static __device__ __forceinline__ float4 line_gap(float4 a, float4 b)
{
    return make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
}

/* Returns the winner at the centre of a box. */
template <class T> static __device__ __forceinline__ int box_winner(const struct lloyd_work<T> *w,
                                                                    const struct lane_box &b)
{
    float least = line_at(w->m->line[0], b.centre);
    int winner = 0;
    for (int j = 1; j < w->k; j++) {
        float score = line_at(w->m->line[j], b.centre);
        winner = score < least ? j : winner;
        least = fminf(score, least);
    }
    return winner;
}

/* Returns the rivals in a lane's box. *winner may be any centroid; sets it to the nearest. */
template <class T>
static __device__ __forceinline__ typename T::mask box_rivals(const struct lloyd_work<T> *w,
                                                              const struct lane_box &b, int *winner)
{
    float4 own = w->m->line[*winner];
    float here = line_at(own, b.centre), least = here;
    typename T::mask set = (typename T::mask)1 << *winner;
    here += SAFETY;
    for (int j = 0; j < w->k; j++) {
        float4 line = w->m->line[j];
        float score = line_at(line, b.centre), reach = line_reach(line_gap(own, line), b.half);
        if (here + reach >= score)
            set |= (typename T::mask)1 << j;
        *winner = score < least ? j : *winner;
        least = fminf(score, least);
    }
    return set;
}

/* Subtracts from the slacks what P_winner - P_j can have grown, for all winners and j in `set`. */
template <class T> static __device__ __forceinline__ void use_up(const struct lloyd_work<T> *w,
                                                                 const struct lane_box &b,
                                                                 typename T::mask set, int slack[2])
{
    float blur = (float)w->m->blur, up[2];
    if (pair(set)) {
        float4 gap = line_gap(w->m->moved[lowest(set)], w->m->moved[highest(set)]);
        float centre = line_at(gap, b.centre), reach = line_reach(gap, b.half) + blur;
        up[0] = reach + centre;
        up[1] = reach - centre;
    } else {
        float most = -1e30f, least = 1e30f;
        while (set) { /* finding the highest takes one instruction less than the lowest */
            int j = highest(set);
            float4 moved = w->m->moved[j];
            set ^= member<typename T::mask>(j);
            float centre = line_at(moved, b.centre), reach = line_reach(moved, b.half);
            most = fmaxf(most, centre + reach);
            least = fminf(least, centre - reach);
        }
        up[0] = up[1] = most - least + blur;
    }
    for (int i = 0; i < 2; i++)
        slack[i] = min(slack[i] - (int)ceilf(up[i]), SLACK_MOST);
}

template <typename S> static __device__ __forceinline__ void add4(S *to, S r, S g, S b, S n)
{
    atomicAdd(to, r);
    atomicAdd(to + 1, g);
    atomicAdd(to + 2, b);
    atomicAdd(to + 3, n);
}

/* Adds the points of a warp, which had no labels before, to the sums. */
template <class T>
static __device__ void claim_each(const struct lloyd_work<T> *w, uint32_t word, uint32_t label)
{
    uint32_t weight = word >> 24, left = WARP_ALL;
    while (left) {
        uint32_t leader = __shfl_sync(WARP_ALL, label, __ffs(left) - 1);
        uint32_t n = label == leader ? weight : 0;
        left &= ~__ballot_sync(WARP_ALL, label == leader);
        uint32_t r = warp_sum(n * red_of(word)), g = warp_sum(n * green_of(word)),
                 b = warp_sum(n * blue_of(word));
        n = warp_sum(n);
        if (lane_id() == 0)
            add4<typename T::sum>(w->m->sum[leader], r, g, b, n);
    }
}

/* Moves a point from one cluster to another. */
template <class T> static __device__ __forceinline__ void move(const struct lloyd_work<T> *w,
                                                               uint32_t word, uint32_t from,
                                                               uint32_t to)
{
    typedef typename T::sum S;
    S n = word >> 24, r = n * red_of(word), g = n * green_of(word), b = n * blue_of(word);
    add4<S>(w->m->sum[from], (S)0 - r, (S)0 - g, (S)0 - b, (S)0 - n);
    add4<S>(w->m->sum[to], r, g, b, n);
}

static __device__ __forceinline__ int score_of(int4 t, uint32_t word)
{
    return dot2_high((uint32_t)t.z, word, dot2_low((uint32_t)t.y, word, t.x));
}

/* Returns the winners in `set` of a warp's points, one a lane, and computes the slacks. */
template <class T>
static __device__ __forceinline__ uint32_t win(const struct lloyd_work<T> *w, uint32_t word,
                                               typename T::mask set, int slack[2])
{
    if (pair(set)) {
        int a = lowest(set), b = highest(set);
        int gap = score_of(w->m->now[1 + a], word) - score_of(w->m->now[1 + b], word);
        slack[0] = warp_min(gap < 0 ? -gap : SLACK_MOST);
        slack[1] = warp_min(gap < 0 ? SLACK_MOST : gap);
        return (uint32_t)(gap < 0 ? a : b);
    }
    int best = SCORE_NEVER, second = SCORE_NEVER;
    while (set) { /* two at a time; after the last one comes now[0] */
        int i = highest(set);
        set ^= member<typename T::mask>(i);
        int j = highest(set);
        set &= ~member<typename T::mask>(j);
        int one = score_of(w->m->now[1 + i], word), other = score_of(w->m->now[1 + j], word);
        int low = min(one, other), high = max(one, other);
        second = min(min(second, high), max(best, low));
        best = min(best, low);
    }
    slack[0] = slack[1] = warp_min(second - best);
    return (uint32_t)best & ((1u << w->bits) - 1);
}

/* Assigns all points of a lane's group to the only member of its set. */
template <class T> static __device__ void claim_group(const struct lloyd_work<T> *w, uint32_t group,
                                                      typename T::mask set)
{
    uint32_t label = lowest(set), bytes = label * 0x01010101u;
    uint4 sum = w->sum[group], *to = (uint4 *)(w->label + (size_t)group * GROUP);
    to[0] = to[1] = make_uint4(bytes, bytes, bytes, bytes);
    add4<typename T::sum>(w->m->sum[label], sum.x, sum.y, sum.z, sum.w);
}

/* Returns true if a lane's group must be examined. FIRST: it has no state yet. */
template <class T, bool FIRST>
static __device__ __forceinline__ bool test_group(const struct lloyd_work<T> *w, uint32_t group,
                                                  struct group_state<T> *s)
{
    struct lane_box b = lane_box_of(w->f.box[group]);
    int winner;
    if (FIRST) {
        winner = box_winner(w, b);
        s->slack[0] = s->slack[1] = 0;
    } else {
        *s = w->state[group];
        winner = (int)s->winner;
    }
    typename T::mask known = FIRST ? 0 : s->rivals, now = box_rivals(w, b, &winner);
    s->winner = winner;
    s->rivals = now;
    if (FIRST)
        return !single(now);
    if (now & ~known)
        return true;
    if (single(known))
        return false;
    use_up(w, b, known, s->slack);
    return (s->slack[0] | s->slack[1]) < 0;
}

/* Examines the groups of the lanes in `left`, at least one. */
template <class T, bool FIRST>
static __device__ __forceinline__ void visit_groups(const struct lloyd_work<T> *w, uint32_t group,
                                                    uint32_t left, struct group_state<T> *s)
{
    int lane = __ffs(left) - 1;
    uint32_t at = __shfl_sync(WARP_ALL, group * GROUP, lane) + lane_id();
    uint32_t word = w->f.point[at], old = FIRST ? 0 : w->label[at];
    while (left) {
        int here = lane, slack[2];
        uint32_t here_at = at, here_word = word, here_old = old;
        left &= left - 1;
        if (left) { /* prefetch the next group */
            lane = __ffs(left) - 1;
            at = __shfl_sync(WARP_ALL, group * GROUP, lane) + lane_id();
            word = w->f.point[at];
            old = FIRST ? 0 : w->label[at];
        }
        uint32_t label = win(w, here_word, __shfl_sync(WARP_ALL, s->rivals, here), slack);
        if (here == lane_id()) {
            s->slack[0] = slack[0];
            s->slack[1] = slack[1];
        }
        if (FIRST || label != here_old) {
            w->label[here_at] = (uint8_t)label;
            if (!FIRST)
                move(w, here_word, here_old, label);
        }
        if (FIRST)
            claim_each(w, here_word, label);
    }
}

/* Performs one assign step. */
template <class T, bool FIRST>
static __device__ __forceinline__ void assign(const struct lloyd_work<T> *w)
{
    for (int turn = 0; turn_begin(turn) < w->f.groups; turn++) {
        uint32_t group = turn_group(turn);
        struct group_state<T> s;
        bool look = false, in = group < w->f.groups;
        if (in) {
            look = test_group<T, FIRST>(w, group, &s);
            if (FIRST && !look)
                claim_group(w, group, s.rivals);
        }
        uint32_t left = __ballot_sync(WARP_ALL, look);
        if (left)
            visit_groups<T, FIRST>(w, group, left, &s);
        if (in)
            w->state[group] = s;
    }
}

/*
 * Continues from the centroids in `centre` for at most w->iterations iterations. Sets m->go to 0 if
 * the restart ended. `last` is the lowest inertia so far. Returns the new lowest inertia in warp 0.
 * If it fell, its clustering is in m->kept and m->some is not 0. The first step examines all
 * points.
 */
template <class T>
static __device__ wide lloyd(const struct lloyd_work<T> *w, const uint2 *centre, wide last)
{
    for (int j = (int)threadIdx.x; j < w->k; j += (int)blockDim.x)
        begin_centroid(w, j, centre[j]);
    if (threadIdx.x == 0) {
        w->m->some = 0;
        w->m->now[0] = make_int4(SCORE_NEVER, 0, 0, 0);
    }
    __syncthreads();
    assign<T, true>(w);
    for (int i = 1;; i++) {
        __syncthreads();
        if (warp_id() == 0)
            last = update(w, last);
        __syncthreads();
        if (!w->m->go || i >= w->iterations)
            return last;
        assign<T, false>(w);
    }
}

#endif
