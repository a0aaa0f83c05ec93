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
#include "kmeans_lloyd.cuh"
#include "kmeans_seed.cuh"

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
