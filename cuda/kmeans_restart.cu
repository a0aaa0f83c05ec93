/*
 * kmeans_restart.cu - the two main kernels: starts, then iterations, one block a restart, until
 * none is left.
 *
 * The length of restarts differs by a factor of ten. So a counter distributes them, and no block
 * waits for another. A frame's restarts are consecutive, so that concurrent ones read the same
 * points from the cache.
 */
#include "kmeans_lloyd.cuh"
#include "kmeans_seed.cuh"

/*
 * The register limit allows this many blocks on a multiprocessor. With fewer threads, more of them
 * wait for memory.
 */
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
    struct version v =
        j->pixels > 1u << 24                ? version_of<many_clusters>(lloyd_kernel<many_pixels>)
        : j->params.k > some_clusters::MOST ? version_of<many_clusters>(lloyd_kernel<many_clusters>)
        : j->params.k > few_clusters::MOST  ? version_of<some_clusters>(lloyd_kernel<some_clusters>)
                                            : version_of<few_clusters>(lloyd_kernel<few_clusters>);
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
