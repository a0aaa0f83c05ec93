/*
 * kmeans_choose.cu - selects the restarts of a frame that continue in the race, its best restart,
 * and its clusters in order.
 */
#include "kmeans_job.h"
#include "warp.cuh"

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
 * Returns the thread index of the restart with the smallest inertia, ties to the lower restart.
 * Call it from the entire block.
 */
static __device__ int best_restart(const struct kmeans_job &j, int frame, wide *inertia,
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
 * One block of CLUSTERS_MAX threads a frame. A frame of few colours has no inertias, and lloyd
 * ignores its list.
 */
__global__ void race_kernel(struct kmeans_job j, int racing, int go_on, uint32_t *list)
{
    uint32_t frame = blockIdx.x, n_init = (uint32_t)j.params.n_init;
    const uint32_t *from = j.list ? j.list + (size_t)frame * racing : NULL;
    bool few = j.made[frame].distinct <= (uint32_t)j.params.k;
    list += (size_t)frame * go_on;
    for (int i = (int)threadIdx.x; i < racing; i += CLUSTERS_MAX) {
        uint32_t mine = from ? from[i] : frame * n_init + i;
        wide inertia = few ? 0 : j.inertia[mine];
        int rank = few ? i : 0;
        for (int other = 0; !few && other < racing; other++) {
            uint32_t task = from ? from[other] : frame * n_init + other;
            wide here = j.inertia[task];
            rank += here < inertia || (here == inertia && task < mine);
        }
        if (rank < go_on)
            list[rank] = mine;
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
    int best = few ? 0 : best_restart(j, frame, inertia, restart);
    __syncthreads();
    if (few && me == 0)
        few_colours(j, frame, found);
    if (!few && me < k)
        clusters_of(j.outcome + (((size_t)frame * j.params.n_init + restart[best]) * k + me) * 4,
                    found + me);
    __syncthreads();
    struct found mine = found[me];
    for (int i = 0; i < CLUSTERS_MAX; i++) {
        struct found other = found[i];
        bool before = other.count != mine.count ? other.count > mine.count
                      : other.rgb != mine.rgb   ? other.rgb < mine.rgb
                                                : i < me;
        rank += before;
        all += other.count != 0;
    }
    /* Write a struct cluster as two words, including its padding. */
    uint32_t bytes = mine.rgb >> 16 | (mine.rgb >> 8 & 255) << 8 | (mine.rgb & 255) << 16;
    ((uint2 *)out->cluster)[rank] = make_uint2(bytes, mine.count);
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
