/*
 * kmeans_restart.cu - the kernel that does the work: restarts, each a block's, until none is left.
 *
 * Restarts differ in length by a factor of ten; a counter gives them out, so that no block waits for another's. A frame's
 * restarts follow each other, so that those in work at once read the same points from the cache.
 */
#include "kmeans_lloyd.cuh"
#include "kmeans_seed.cuh"

static __device__ void take_slot(struct work *w, const struct kmeans_job &j)
{
    char *at = j.slot + j.slot_bytes * blockIdx.x;
    w->s.rivals = (uint64_t *)at;
    w->s.key = (uint32_t *)(w->s.rivals + j.groups);
    w->s.label = (uint8_t *)w->s.key;
    w->s.mass = w->s.key + j.capacity;
    w->s.slack = (int32_t *)(w->s.mass + j.groups);
}

static __device__ void take_frame(struct work *w, const struct kmeans_job &j, uint32_t frame)
{
    w->sorted = j.sorted + (size_t)frame * j.pixels;
    w->point = j.point + (size_t)frame * j.capacity;
    w->box = j.box + (size_t)frame * j.groups;
    w->sum = j.sum + (size_t)frame * j.groups;
    w->points = j.made[frame].points;
    w->groups = j.made[frame].groups;
    w->square = j.made[frame].square;
    w->number = (uint32_t)j.frame[frame];
}

template <typename MASK, typename SUM>
__global__ void __launch_bounds__(32 * WARPS_MOST, 2) restart_kernel(struct kmeans_job j)
{
    DYNAMIC_SHARED(memory);
    struct work w;
    block_layout(&w.m, (char *)memory, j.params.k, (int)blockDim.x);
    take_slot(&w, j);
    w.pixels = j.pixels;
    w.seed = j.params.seed;
    w.k = j.params.k;
    w.bits = j.bits;
    w.max_iter = j.params.max_iter;
    uint32_t tasks = (uint32_t)j.frames * (uint32_t)j.params.n_init;
    for (;;) {
        if (threadIdx.x == 0)
            w.m.flag[0] = atomicAdd(j.next, 1u);
        __syncthreads();
        uint32_t task = w.m.flag[0], frame = task / (uint32_t)j.params.n_init;
        if (task >= tasks)
            return;
        if (j.made[frame].distinct > (uint32_t)w.k) {
            w.restart = task % (uint32_t)j.params.n_init;
            take_frame(&w, j, frame);
            if (j.params.init == INIT_RANDOM)
                start_random(&w);
            else if (j.params.init == INIT_PLUSPLUS)
                start_plusplus(&w);
            else
                start_scalable(&w);
            wide inertia = lloyd<MASK, SUM>(&w);
            if (threadIdx.x == 0)
                j.inertia[task] = inertia;
            for (int i = (int)threadIdx.x; i < 4 * w.k; i += (int)blockDim.x)
                j.outcome[(size_t)task * (4 * w.k) + i] = w.m.kept[i];
        }
        __syncthreads();
    }
}

typedef void restart_function(struct kmeans_job);

/* The narrowest version that holds k bits, and sums of so many pixels. */
static restart_function *version_for(const struct kmeans_job *j)
{
    if (j->pixels > 1u << 24)
        return restart_kernel<uint64_t, wide>;
    return j->params.k > 32 ? restart_kernel<uint64_t, uint32_t> : restart_kernel<uint32_t, uint32_t>;
}

size_t restart_shared_bytes(const struct kmeans_job *j, int threads)
{
    struct block_memory m;
    char *somewhere = (char *)sizeof(ulonglong2);
    return (size_t)(block_layout(&m, somewhere, j->params.k, threads) - somewhere);
}

cudaError_t restart_prepare(const struct kmeans_job *j, int threads, int *blocks_per_multiprocessor)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks_per_multiprocessor, version_for(j), threads,
                                                         restart_shared_bytes(j, threads));
}

void restart_launch(const struct kmeans_job *j, int threads, int blocks, cudaStream_t stream)
{
    restart_function *version = version_for(j);
    LAUNCH(version, blocks, threads, restart_shared_bytes(j, threads), stream, *j);
}
