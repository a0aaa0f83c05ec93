/*
 * kmeans_restart.cu - the two main kernels: starts, then iterations, one block a restart, until
 * none is left.
 *
 * The length of restarts differs by a factor of ten. So a counter distributes them, and no block
 * waits for another. A frame's restarts are consecutive, so that concurrent ones read the same
 * points from the cache.
 *
 * Then, for each frame: race_kernel lists the restarts that continue, and choose_kernel writes the
 * clusters of the best restart in order.
 */
#include "kmeans_seed.cuh"

/*
 * ---- Assign and update until the inertia no longer falls ----
 *
 * Call lloyd() from entire blocks.
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
 * centroid_of in src/kmeans/assign.c. Uses 64-bit integers, for sums of any size.
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

/* ---- The kernels ---- */

/* The register limit allows so many blocks on a multiprocessor. Fewer threads wait more. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
enum { BLOCKS_FITTED = 3 };
#else
enum { BLOCKS_FITTED = 2 }; /* Turing holds 1024 threads. */
#endif
#ifndef START_BOUNDS
#define START_BOUNDS __launch_bounds__(32 * WARPS_MOST, BLOCKS_FITTED)
#define LLOYD_BOUNDS __launch_bounds__(32 * WARPS_MOST, BLOCKS_FITTED)
#endif

/* Returns the block's next restart, frame * n_init + restart, or -1. */
static __device__ __forceinline__ int next_task(const struct kmeans_job &j, uint32_t *shared)
{
    __syncthreads();
    if (threadIdx.x == 0)
        *shared = atomicAdd(j.next, 1u);
    __syncthreads();
    uint32_t task = *shared;
    if (task >= j.tasks)
        return -1;
    return (int)(j.list ? j.list[task] : task);
}

static __device__ __forceinline__ struct points_view frame_of(const struct kmeans_job &j,
                                                              uint32_t frame)
{
    struct points_view f;
    f.point = j.point + (size_t)frame * j.capacity;
    f.box = j.box + (size_t)frame * j.groups;
    f.groups = j.made[frame].groups;
    return f;
}

template <class T, int INIT> __global__ void START_BOUNDS start_kernel(struct kmeans_job j)
{
    __shared__ struct start_shared<T> shared;
    DYNAMIC_SHARED(base);
    struct start_work<T> w;
    w.m = &shared;
    w.base = (wide *)base;
    w.key = (uint32_t *)(j.slot + j.slot_bytes * blockIdx.x);
    w.mass = w.key + j.capacity;
    w.reach = w.mass + j.groups;
    w.pixels = j.pixels;
    w.seed = j.params.seed;
    w.k = j.params.k;
    for (int task; (task = next_task(j, &shared.task)) >= 0;) {
        uint32_t frame = (uint32_t)task / (uint32_t)j.params.n_init;
        if (j.made[frame].distinct <= (uint32_t)w.k)
            continue;
        w.f = frame_of(j, frame);
        w.sum = j.sum + (size_t)frame * j.groups;
        w.square = j.square + (size_t)frame * j.groups;
        w.sorted = j.sorted + (size_t)frame * j.pixels;
        w.alone = false;
        w.points = j.made[frame].points;
        w.number = (uint32_t)j.frame[frame];
        w.restart = (uint32_t)task % (uint32_t)j.params.n_init;
        if (INIT == INIT_RANDOM)
            start_random(&w);
        else if (INIT == INIT_PLUSPLUS)
            start_plusplus(&w);
        else
            start_scalable(&w);
        __syncthreads();
        for (int i = (int)threadIdx.x; i < w.k; i += (int)blockDim.x)
            j.centre[(size_t)task * w.k + i] = steps_of(shared.centre[i]);
    }
}

template <class T> __global__ void LLOYD_BOUNDS lloyd_kernel(struct kmeans_job j)
{
    __shared__ struct lloyd_shared<T> shared;
    struct lloyd_work<T> w;
    char *slot = j.slot + j.slot_bytes * blockIdx.x;
    w.m = &shared;
    w.label = (uint8_t *)slot;
    w.state = (struct group_state<T> *)(slot + j.capacity);
    w.k = j.params.k;
    w.bits = j.bits;
    w.iterations = j.iterations - j.done;
    for (int task; (task = next_task(j, &shared.task)) >= 0;) {
        uint32_t frame = (uint32_t)task / (uint32_t)j.params.n_init;
        if (j.made[frame].distinct <= (uint32_t)w.k || (j.done && j.ended[task]))
            continue;
        uint2 *centre = j.centre + (size_t)task * w.k;
        w.f = frame_of(j, frame);
        w.sum = j.sum + (size_t)frame * j.groups;
        w.square = j.made[frame].square;
        wide inertia = lloyd(&w, centre, j.done ? j.inertia[task] : ~0ull);
        if (threadIdx.x == 0) {
            j.inertia[task] = inertia;
            j.ended[task] = !shared.go;
        }
        for (int i = (int)threadIdx.x; i < w.k; i += (int)blockDim.x)
            centre[i] = make_uint2((uint32_t)shared.now[1 + i].y, (uint32_t)shared.now[1 + i].z);
        for (int i = (int)threadIdx.x; shared.some && i < 4 * w.k; i += (int)blockDim.x)
            j.outcome[(size_t)task * (4 * w.k) + i] = shared.kept[i / 4][i % 4];
    }
}

typedef void restart_function(struct kmeans_job);

struct version {
    restart_function *start[INIT_RANDOM + 1], *lloyd;
};

template <class T> static struct version version_of(restart_function *lloyd)
{
    struct version v = {{start_kernel<T, INIT_SCALABLE>, start_kernel<T, INIT_PLUSPLUS>,
                         start_kernel<T, INIT_RANDOM>},
                        lloyd};
    return v;
}

/* Returns the smallest version that holds k clusters and the sums of the frame's pixels. */
static restart_function *kernel_for(const struct kmeans_job *j, enum restart_phase phase)
{
    struct version v;
    if (j->pixels > 1u << 24)
        v = version_of<many_clusters>(lloyd_kernel<many_pixels>);
    else if (j->params.k > some_clusters::MOST)
        v = version_of<many_clusters>(lloyd_kernel<many_clusters>);
    else if (j->params.k > few_clusters::MOST)
        v = version_of<some_clusters>(lloyd_kernel<some_clusters>);
    else
        v = version_of<few_clusters>(lloyd_kernel<few_clusters>);
    return phase == RESTART_START ? v.start[j->params.init] : v.lloyd;
}

static size_t dynamic_bytes(enum restart_phase phase, int threads)
{
    return phase == RESTART_START ? (size_t)threads * sizeof(wide) : 0;
}

cudaError_t restart_prepare(const struct kmeans_job *j, enum restart_phase phase, int threads,
                            int *blocks_per_multiprocessor)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks_per_multiprocessor, kernel_for(j, phase), threads, dynamic_bytes(phase, threads));
}

void restart_launch(const struct kmeans_job *j, enum restart_phase phase, int threads, int blocks,
                    cudaStream_t stream)
{
    restart_function *kernel = kernel_for(j, phase);
    LAUNCH(kernel, blocks, threads, dynamic_bytes(phase, threads), stream, *j);
}

/* ---- Race and choice ---- */

static_assert(sizeof(struct cluster) == sizeof(uint2),
              "a cluster is rgb, a byte of padding, count");

struct found {
    uint32_t rgb, count; /* 0xRRGGBB; count 0: none */
};

/* Returns the end of the run of equal keys that contains `at`, in the frame's sorted keys. */
static __device__ uint32_t run_end(const uint32_t *key, uint32_t at, uint32_t pixels)
{
    uint32_t value = key[at], low = at + 1, high = pixels;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (key[middle] > value)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Returns the colours of a frame with at most k colours as its clusters. One thread. */
static __device__ void few_colours(const struct kmeans_job &j, int frame, struct found *found)
{
    const uint32_t *key = j.sorted + (size_t)frame * j.pixels;
    for (uint32_t at = 0, end; at < j.pixels; at = end, found++) {
        uint32_t colour = colour_of(key[at]);
        end = run_end(key, at, j.pixels);
        found->rgb = red_of(colour) << 16 | green_of(colour) << 8 | blue_of(colour);
        found->count = end - at;
    }
}

/*
 * Sets inertia[] and restart[] to the best of each thread's restarts. Returns the thread of the
 * best of all, ties to the lower restart. For the entire block.
 */
static __device__ int thread_of_best(const struct kmeans_job &j, int frame, wide *inertia,
                                     int *restart)
{
    const unsigned long long *all = j.inertia + (size_t)frame * j.params.n_init;
    int me = (int)threadIdx.x;
    inertia[me] = ~0ull;
    restart[me] = 0;
    for (int i = me; i < j.params.n_init; i += CLUSTERS_MAX)
        if (all[i] < inertia[me]) {
            inertia[me] = all[i];
            restart[me] = i;
        }
    __syncthreads();
    int best = 0;
    for (int i = 1; i < CLUSTERS_MAX; i++)
        if (inertia[i] < inertia[best] ||
            (inertia[i] == inertia[best] && restart[i] < restart[best]))
            best = i;
    return best;
}

/*
 * Lists the restarts of each frame that continue. One block of CLUSTERS_MAX threads a frame. A
 * frame of at most k colours gets some list, which lloyd_kernel skips.
 */
__global__ void race_kernel(struct kmeans_job j, int racing, int go_on, uint32_t *list)
{
    uint32_t frame = blockIdx.x, n_init = (uint32_t)j.params.n_init;
    const uint32_t *from = j.list ? j.list + (size_t)frame * racing : NULL;
    bool few = j.made[frame].distinct <= (uint32_t)j.params.k;
    list += (size_t)frame * go_on;
    for (int i = (int)threadIdx.x; i < racing; i += CLUSTERS_MAX) {
        uint32_t self = from ? from[i] : frame * n_init + i;
        wide inertia = few ? 0 : j.inertia[self];
        int rank = few ? i : 0;
        for (int other = 0; !few && other < racing; other++) {
            uint32_t task = from ? from[other] : frame * n_init + other;
            wide here = j.inertia[task];
            rank += here < inertia || (here == inertia && task < self);
        }
        if (rank < go_on)
            list[rank] = self;
    }
}

static __device__ void clusters_of(const wide *sum, struct found *found)
{
    wide n = sum[3];
    if (!n)
        return;
    uint32_t r = (uint32_t)((2 * sum[0] + n) / (2 * n));
    uint32_t g = (uint32_t)((2 * sum[1] + n) / (2 * n));
    uint32_t b = (uint32_t)((2 * sum[2] + n) / (2 * n));
    found->rgb = r << 16 | g << 8 | b;
    found->count = (uint32_t)n;
}

/* Writes the result of a frame. One block of CLUSTERS_MAX threads a frame. */
__global__ void choose_kernel(struct kmeans_job j)
{
    __shared__ struct found found[CLUSTERS_MAX];
    __shared__ wide inertia[CLUSTERS_MAX];
    __shared__ int restart[CLUSTERS_MAX];
    int frame = (int)blockIdx.x, me = (int)threadIdx.x, k = j.params.k, rank = 0, all = 0;
    struct gpu_column *out = j.out + frame;
    bool few = j.made[frame].distinct <= (uint32_t)k;
    found[me].rgb = found[me].count = 0;
    int best = few ? 0 : thread_of_best(j, frame, inertia, restart);
    __syncthreads();
    if (few && me == 0)
        few_colours(j, frame, found);
    if (!few && me < k)
        clusters_of(j.outcome + (((size_t)frame * j.params.n_init + restart[best]) * k + me) * 4,
                    found + me);
    __syncthreads();
    struct found self = found[me];
    for (int i = 0; i < CLUSTERS_MAX; i++) {
        struct found other = found[i];
        if (other.count != self.count)
            rank += other.count > self.count;
        else if (other.rgb != self.rgb)
            rank += other.rgb < self.rgb;
        else
            rank += i < me;
        all += other.count != 0;
    }
    /* Write a struct cluster as two words, including its padding. */
    uint32_t bytes = self.rgb >> 16 | (self.rgb >> 8 & 255) << 8 | (self.rgb & 255) << 16;
    ((uint2 *)out->cluster)[rank] = make_uint2(bytes, self.count);
    if (me == 0) {
        out->inertia = few ? 0 : inertia[best];
        out->clusters = all;
        out->zero = 0;
    }
}

void race_launch(const struct kmeans_job *j, int racing, int go_on, uint32_t *list,
                 cudaStream_t stream)
{
    LAUNCH(race_kernel, j->frames, CLUSTERS_MAX, 0, stream, *j, racing, go_on, list);
}

void choose_launch(const struct kmeans_job *j, cudaStream_t stream)
{
    LAUNCH(choose_kernel, j->frames, CLUSTERS_MAX, 0, stream, *j);
}
