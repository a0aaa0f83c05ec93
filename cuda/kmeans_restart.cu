/*
 * kmeans_restart.cu - the kernel that does the work: restarts, each a block's, until none is left.
 *
 * Restarts differ in length by a factor of ten; a counter gives them out, so that no block waits for another's. A frame's
 * restarts follow each other, so that those in work at once read the same points from the cache.
 */
#include "kmeans_lloyd.cuh"
#include "kmeans_seed.cuh"

/* What the compiler fits its registers to. */
#ifndef RESTART_THREADS
#define RESTART_THREADS (32 * WARPS_MOST)
#define RESTART_BLOCKS 2
#endif

template <class T> static __device__ void take_slot(struct work<T> *w, const struct kmeans_job &j)
{
    char *at = j.slot + j.slot_bytes * blockIdx.x;
    w->s.key = (uint32_t *)at;
    w->s.label = (uint8_t *)at;
    w->s.state = (struct group_state<T> *)(w->s.key + j.capacity);
    w->s.mass = (uint32_t *)(at + j.capacity * sizeof(uint32_t) + j.groups * (size_t)24);
    w->s.reach = w->s.mass + j.groups;
}

template <class T> static __device__ void take_frame(struct work<T> *w, const struct kmeans_job &j, uint32_t frame)
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

template <class T> __global__ void __launch_bounds__(RESTART_THREADS, RESTART_BLOCKS) restart_kernel(struct kmeans_job j)
{
    __shared__ struct block_shared<T> shared;
    struct work<T> w;
    DYNAMIC_SHARED(base);
    w.m = &shared;
    w.base = (wide *)base;
    take_slot(&w, j);
    w.pixels = j.pixels;
    w.seed = j.params.seed;
    w.k = j.params.k;
    w.bits = j.bits;
    w.max_iter = j.params.max_iter;
    uint32_t tasks = (uint32_t)j.frames * (uint32_t)j.params.n_init;
    for (;;) {
        if (threadIdx.x == 0)
            shared.task = atomicAdd(j.next, 1u);
        __syncthreads();
        uint32_t task = shared.task, frame = task / (uint32_t)j.params.n_init;
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
            wide inertia = lloyd(&w);
            if (threadIdx.x == 0)
                j.inertia[task] = inertia;
            for (int i = (int)threadIdx.x; i < 4 * w.k; i += (int)blockDim.x)
                j.outcome[(size_t)task * (4 * w.k) + i] = shared.kept[i / 4][i % 4];
        }
        __syncthreads();
    }
}

typedef void restart_function(struct kmeans_job);

/* The smallest version that holds k clusters and the sums of so many pixels. */
static restart_function *version_for(const struct kmeans_job *j)
{
    if (j->pixels > 1u << 24)
        return restart_kernel<many_pixels>;
    if (j->params.k > some_clusters::MOST)
        return restart_kernel<many_clusters>;
    return j->params.k > few_clusters::MOST ? restart_kernel<some_clusters> : restart_kernel<few_clusters>;
}

cudaError_t restart_prepare(const struct kmeans_job *j, int threads, int *blocks_per_multiprocessor)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks_per_multiprocessor, version_for(j), threads,
                                                         threads * sizeof(wide));
}

void restart_launch(const struct kmeans_job *j, int threads, int blocks, cudaStream_t stream)
{
    restart_function *version = version_for(j);
    LAUNCH(version, blocks, threads, threads * sizeof(wide), stream, *j);
}
