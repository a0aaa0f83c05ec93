/* kmeans_block.cuh - the data of a block that processes one restart. */
#ifndef BARCODE_CUDA_KMEANS_BLOCK_CUH
#define BARCODE_CUDA_KMEANS_BLOCK_CUH

#include "barcode/kmeans/seed.h"

#include "kmeans_job.h"
#include "warp.cuh"

enum { TRIALS_MOST = 8 };

/*
 * The versions of the restart kernels. Each has a maximum number of clusters, a mask type with one
 * bit for each, an index type of the same width, and a type for a frame's sums.
 */
struct few_clusters {
    enum { MOST = 8 };
    typedef uint32_t mask;
    typedef int index;
    typedef uint32_t sum;
};
struct some_clusters {
    enum { MOST = 32 };
    typedef uint32_t mask;
    typedef int index;
    typedef uint32_t sum;
};
struct many_clusters {
    enum { MOST = CLUSTERS_MAX };
    typedef uint64_t mask;
    typedef int64_t index;
    typedef uint32_t sum;
};
struct many_pixels {
    enum { MOST = CLUSTERS_MAX };
    typedef uint64_t mask;
    typedef int64_t index;
    typedef wide sum;
};

/* Return the lowest and the highest member of a set; the highest of an empty set is -1. */
static __device__ __forceinline__ int lowest(uint32_t set) { return __ffs((int)set) - 1; }
static __device__ __forceinline__ int lowest(uint64_t set) { return __ffsll((long long)set) - 1; }
static __device__ __forceinline__ int highest(uint32_t set) { return 31 - __clz((int)set); }
static __device__ __forceinline__ int highest(uint64_t set) { return 63 - __clzll((long long)set); }
/* Returns {j}; for -1 any other set. */
template <typename M> static __device__ __forceinline__ M member(int j)
{
    return (M)1 << (j & (int)(8 * sizeof(M) - 1));
}
template <typename M> static __device__ __forceinline__ bool single(M set)
{
    return (set & (set - 1)) == 0;
}
template <typename M> static __device__ __forceinline__ bool pair(M set)
{
    return !single(set) && single((M)(set & (set - 1)));
}

/* A candidate of one pass over the points. */
struct candidate {
    float r, g, b;
    uint32_t colour, key; /* key: |colour|^2 << KEY_INDEX | its number */
    uint32_t zero[3];
};

/* Shared memory of a block that computes a start, at addresses known at compile time. */
template <class T> struct start_shared {
    enum { CANDIDATES = 1 + SEED_ROUNDS * 2 * T::MOST };
    uint32_t task, count;
    wide part[WARPS_MOST];
    wide potential[TRIALS_MOST];
    uint32_t centre[T::MOST];
    uint32_t colour[CANDIDATES], weight[CANDIDATES], distance[CANDIDATES];
    uint32_t drawn[2 * T::MOST > TRIALS_MOST ? 2 * T::MOST : TRIALS_MOST];
    struct candidate pass[2 + 2 * T::MOST]; /* starts at pass[1]; pass[0] is near to no point */
};

/* Shared memory of a block that iterates. */
template <class T> struct lloyd_shared {
    uint32_t task, go, blur;         /* blur: rounding error of floats in `moved` */
    uint32_t some;                   /* not 0: kept is valid */
    wide kept[T::MOST][4];           /* the best clustering, if this launch found it */
    typename T::sum sum[T::MOST][4]; /* sums of the current labels */
    /* starts at now[1]: constant, the two words of steps(); now[0] never wins */
    int4 now[1 + T::MOST];
    float4 line[T::MOST], moved[T::MOST]; /* the same four numbers as floats; their changes */
};

/*
 * State of a group between iterations. It has no padding: the compiler reads the struct in its
 * widest words but writes its members. initcheck would report reads of uninitialized bytes.
 */
template <class T> struct group_state {
    typename T::mask rivals;
    /* for the points of the lower of two rivals, and of the other; otherwise both equal */
    int slack[2];
    typename T::index winner; /* estimate of the centroid nearest to the group */
};

/* The points of one frame, as both kernels read them. */
struct points_view {
    const uint32_t *point;
    const uint2 *box;
    uint32_t groups;
};

/* A start in progress. */
template <class T> struct start_work {
    struct points_view f;
    const uint4 *sum;       /* for each group: sum of weight * (r, g, b, 1) */
    const uint32_t *square; /* for each group: sum of weight * (r^2 + g^2 + b^2) */
    const uint32_t *sorted;
    uint32_t pixels, points;
    uint64_t seed;
    uint32_t restart, number;
    int k;
    uint32_t *key;          /* [capacity] D2 << KEY_INDEX | nearest candidate */
    uint32_t *mass, *reach; /* [groups] sum of weight * D2, largest D2 */
    /* there is only candidate 0, m->colour[0]; neither keys nor reach are written yet */
    bool alone;
    struct start_shared<T> *m;
    wide *base; /* shared, [threads]: D2 masses before each thread's groups */
};

/* Iterations in progress. */
template <class T> struct lloyd_work {
    struct points_view f;
    const uint4 *sum;
    wide square;
    int k, bits, iterations;      /* iterations: the maximum */
    uint8_t *label;               /* [capacity] each point's winner */
    struct group_state<T> *state; /* [groups] */
    struct lloyd_shared<T> *m;
};

/*
 * Distributes the groups over a block: each warp takes octets of eight groups, four at a time, so
 * that all warps share difficult regions. The function turn_group returns the group of a lane in
 * the warp's i-th turn. There are turns while turn_begin < groups.
 */
static __device__ __forceinline__ uint32_t turn_begin(int i)
{
    return ((uint32_t)(i * 4 * warp_count()) + (uint32_t)warp_id()) * 8;
}
static __device__ __forceinline__ uint32_t turn_group(int i)
{
    return ((uint32_t)((i * 4 + (lane_id() >> 3)) * warp_count()) + (uint32_t)warp_id()) * 8 +
           (uint32_t)(lane_id() & 7);
}

static __device__ __forceinline__ uint32_t distance2(uint32_t a, uint32_t b)
{
    return square_of(a) + square_of(b) - 2 * dot4(a & 0xffffff, b & 0xffffff);
}

/* Packs a centroid for dp2a, exactly: -step (src/kmeans/assign.h) of red and green, and of blue. */
static __device__ __forceinline__ uint2 steps(int r, int g, int b)
{
    return make_uint2((uint32_t)(uint16_t)r | (uint32_t)g << 16, (uint16_t)b);
}

/* Returns the steps of a starting centre: 256 for each level, for every k. */
static __device__ __forceinline__ uint2 steps_of(uint32_t colour)
{
    return steps((127 - (int)red_of(colour)) * 256, (127 - (int)green_of(colour)) * 256,
                 (127 - (int)blue_of(colour)) * 256);
}

/* The box of a lane's group: centre and half edges. */
struct lane_box {
    float3 centre, half;
};

static __device__ __forceinline__ struct lane_box lane_box_of(uint2 box)
{
    float3 low = make_float3((float)red_of(box.x), (float)green_of(box.x), (float)blue_of(box.x));
    float3 high = make_float3((float)red_of(box.y), (float)green_of(box.y), (float)blue_of(box.y));
    struct lane_box b;
    b.centre =
        make_float3(0.5f * (low.x + high.x), 0.5f * (low.y + high.y), 0.5f * (low.z + high.z));
    b.half = make_float3(0.5f * (high.x - low.x), 0.5f * (high.y - low.y), 0.5f * (high.z - low.z));
    return b;
}

#endif
