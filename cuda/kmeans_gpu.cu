/* kmeans_gpu.cu - the host side of the k-means: memory, and the order of the kernels. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

#ifdef BARCODE_EMULATED
#include "cuda_emulator.h"
#endif

#include "barcode/kmeans/points.h"
#include "kmeans_job.h"

/* Frames sorted together: their number must fit above the key; CHUNK_KEYS keys are enough. */
enum { CHUNK_FRAMES = 256, CHUNK_KEYS = 1 << 25 };

/* Limit of all blocks' private memory together, unless a multiprocessor would get no block. */
#define SLOTS_BYTES ((size_t)4 << 30)

enum { WARPS_BITS = 5 }; /* 1, 2, 4, 8, 16 warps */

/* Restarts for each block, so that all blocks end at about the same time. */
enum { TASKS_EACH = 5, WARPS_LEAST = 2 };

/* One for the starts and one for each rung. */
enum { COUNTERS = 1 + KMEANS_RUNGS };

struct plan {
    struct kmeans_job job; /* with NULL pointers */
    int frames, chunk;
    struct kmeans_rung rung[KMEANS_RUNGS];
    /* listed: the total of a frame's restarts that continue, over all rungs but the last */
    int rungs, listed;
    int multiprocessors, slots;           /* slots: number of restart blocks that fit in memory */
    int most[RESTART_PHASES][WARPS_BITS]; /* blocks of 1 << i warps that the device can hold */
    size_t sort_bytes;                    /* of points_scratch */
};

struct kmeans_gpu {
    struct plan plan;
    uint32_t *list; /* the lists of all rungs, one after the other */
    unsigned *next; /* [COUNTERS] */
    struct points_scratch scratch;
    char *memory;
    int warps[RESTART_PHASES]; /* warps in a block; 0: automatic */
};

static void plan_frames(struct plan *p, const struct kmeans_params *params, int pixels, int frames)
{
    struct kmeans_job *j = &p->job;
    size_t capacity = points_most((size_t)pixels) + (size_t)pixels / WEIGHT_MOST + 1;
    memset(p, 0, sizeof *p);
    j->params = *params;
    while (1 << j->bits < params->k)
        j->bits++;
    j->pixels = (uint32_t)pixels;
    j->capacity = (uint32_t)((capacity + CHUNK - 1) / CHUNK * CHUNK);
    j->groups = j->capacity / GROUP;
    j->slot_bytes = slot_bytes(j);
    p->frames = frames;
    p->rungs = kmeans_rungs(params, p->rung);
    for (int i = 0; i + 1 < p->rungs; i++)
        p->listed += p->rung[i].go_on;
    p->chunk = CHUNK_KEYS / pixels < 1 ? 1 : CHUNK_KEYS / pixels;
    p->chunk = p->chunk > CHUNK_FRAMES ? CHUNK_FRAMES : p->chunk;
    p->chunk = p->chunk > frames ? frames : p->chunk;
}

/* Returns log2 of the warps in a block, at most `i`: a warp takes eight groups at a time. */
static int warps_fit(const struct plan *p, int i)
{
    while (i > 0 && (uint32_t)(8 << i) * GROUP > p->job.pixels)
        i--;
    return i;
}

/* Computes how many restart blocks get memory: as many of the smallest as the device can hold. */
static cudaError_t plan_slots(struct plan *p)
{
    int device, least = warps_fit(p, WARPS_LEAST);
    size_t tasks = (size_t)p->frames * (size_t)p->job.params.n_init, slots = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status =
            cudaDeviceGetAttribute(&p->multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (status != cudaSuccess)
        return status;
    for (int phase = 0; phase < RESTART_PHASES; phase++)
        for (int i = 0; i < WARPS_BITS; i++) {
            int each; /* blocks that a multiprocessor can hold */
            status = restart_prepare(&p->job, (enum restart_phase)phase, 32 << i, &each);
            if (status != cudaSuccess)
                return status;
            p->most[phase][i] = each * p->multiprocessors;
        }
    for (int phase = 0; phase < RESTART_PHASES; phase++)
        slots = slots > (size_t)p->most[phase][least] ? slots : (size_t)p->most[phase][least];
    if (slots * p->job.slot_bytes > SLOTS_BYTES)
        slots = SLOTS_BYTES / p->job.slot_bytes;
    if (slots < (size_t)p->multiprocessors)
        slots = (size_t)p->multiprocessors;
    p->slots = (int)(slots > tasks ? tasks : slots);
    return cudaSuccess;
}

/*
 * Returns log2 of the warps in a block. Few warps wait less at barriers. Many are better if memory
 * suffices only for few blocks, or if there are so few restarts that most of the device would wait
 * for the last ones.
 */
static int warps_for(const struct plan *p, enum restart_phase phase, size_t tasks)
{
    const int *most = p->most[phase];
    int i = WARPS_LEAST;
    while (i + 1 < WARPS_BITS && (p->slots < most[i] || tasks < (size_t)most[i] * TASKS_EACH))
        i++;
    return warps_fit(p, i);
}

/* Fills the plan, for the current device. */
static cudaError_t plan_make(struct plan *p, const struct kmeans_params *params, int pixels,
                             int frames)
{
    plan_frames(p, params, pixels, frames);
    cudaError_t status = plan_slots(p);
    if (status != cudaSuccess)
        return status;
    return sort_keys(NULL, &p->sort_bytes, NULL, NULL, p->chunk * pixels, 32, NULL);
}

/* The workspace, or its size while `memory` is NULL. */
struct layout {
    char *memory;
    size_t bytes;
};

/* Sets `*part` to the next `count` elements of the workspace. */
template <class T> static void place(struct layout *l, T **part, size_t count)
{
    *part = l->memory ? (T *)(l->memory + l->bytes) : NULL;
    l->bytes += (count * sizeof(T) + 255) / 256 * 256;
}

/* Places all parts of the workspace in `memory`, which may be NULL. Returns its size. */
static size_t place_all(struct kmeans_gpu *km, char *memory)
{
    const struct plan *p = &km->plan;
    struct kmeans_job *j = &km->plan.job;
    struct points_scratch *s = &km->scratch;
    struct layout l = {memory, 0};
    size_t n = (size_t)p->frames, tasks = n * (size_t)j->params.n_init,
           centres = tasks * (size_t)j->params.k, chunk = (size_t)p->chunk;
    place(&l, &j->sorted, n * j->pixels);
    place(&l, &j->point, n * j->capacity);
    place(&l, &j->box, n * j->groups);
    place(&l, &j->sum, n * j->groups);
    place(&l, &j->square, n * j->groups);
    place(&l, &j->made, n);
    place(&l, &j->centre, centres);
    place(&l, &j->inertia, tasks);
    place(&l, &j->ended, tasks);
    place(&l, &j->outcome, centres * 4);
    place(&l, &km->list, n * (size_t)p->listed);
    place(&l, &km->next, COUNTERS);
    place(&l, &j->slot, (size_t)p->slots * j->slot_bytes);
    place(&l, &s->key, chunk * j->pixels);
    place(&l, &s->start, chunk * j->capacity);
    place(&l, &s->tile, chunk * (size_t)points_tiles(j->pixels));
    place(&l, &s->sort, p->sort_bytes);
    s->sort_bytes = p->sort_bytes;
    return l.bytes;
}

size_t kmeans_gpu_bytes(const struct kmeans_params *params, int pixels, int frames)
{
    struct kmeans_gpu km;
    return plan_make(&km.plan, params, pixels, frames) == cudaSuccess ? place_all(&km, NULL) : 0;
}

struct kmeans_gpu *kmeans_gpu_open(const struct kmeans_params *params, int pixels, int frames,
                                   struct err *e)
{
    struct kmeans_gpu *km = (struct kmeans_gpu *)err_calloc(1, sizeof *km, e);
    if (!km)
        return NULL;
    cudaError_t status = plan_make(&km->plan, params, pixels, frames);
    if (status == cudaSuccess)
        status = cudaMalloc((void **)&km->memory, place_all(km, NULL));
    if (!cuda_check(status, "make room for the k-means", e)) {
        free(km);
        return NULL;
    }
    place_all(km, km->memory);
    return km;
}

bool kmeans_gpu_warps(struct kmeans_gpu *km, int start, int lloyd)
{
    if (start < 0 || start > WARPS_MOST || lloyd < 0 || lloyd > WARPS_MOST)
        return false;
    km->warps[RESTART_START] = start;
    km->warps[RESTART_LLOYD] = lloyd;
    return true;
}

/* Enqueues one phase of the restarts in `job`. */
static cudaError_t launch_phase(const struct kmeans_gpu *km, const struct kmeans_job *job,
                                enum restart_phase phase, cudaStream_t stream)
{
    const struct plan *p = &km->plan;
    size_t tasks = job->tasks, blocks;
    int warps = km->warps[phase], each = 0;
    if (warps == 0) {
        int i = warps_for(p, phase, tasks);
        warps = 1 << i;
        blocks = (size_t)p->most[phase][i];
    } else {
        cudaError_t status = restart_prepare(job, phase, 32 * warps, &each);
        if (status != cudaSuccess)
            return status;
        blocks = (size_t)each * (size_t)p->multiprocessors;
    }
    blocks = blocks < (size_t)p->slots ? blocks : (size_t)p->slots;
    restart_launch(job, phase, 32 * warps, (int)(blocks < tasks ? blocks : tasks), stream);
    return cudaGetLastError();
}

/* Enqueues the rungs of the race, and between them the selection of the restarts that continue. */
static cudaError_t launch_rungs(const struct kmeans_gpu *km, struct kmeans_job *job,
                                cudaStream_t stream)
{
    const struct plan *p = &km->plan;
    uint32_t *list = km->list;
    cudaError_t status = cudaSuccess;
    int racing = job->params.n_init;
    job->done = 0;
    for (int i = 0; i < p->rungs && status == cudaSuccess; i++) {
        const struct kmeans_rung *rung = &p->rung[i];
        job->tasks = (unsigned)(job->frames * racing);
        job->iterations = rung->iterations;
        job->next = km->next + 1 + i;
        status = launch_phase(km, job, RESTART_LLOYD, stream);
        if (i + 1 == p->rungs)
            break;
        race_launch(job, racing, rung->go_on, list, stream);
        job->done = rung->iterations;
        job->list = list;
        racing = rung->go_on;
        list += (size_t)job->frames * (size_t)racing;
    }
    return status;
}

bool kmeans_gpu_run(struct kmeans_gpu *km, const uint8_t *rgb, const uint64_t *frame, int n,
                    cudaStream_t stream, struct gpu_column *out, struct err *e)
{
    struct kmeans_job job = km->plan.job;
    job.frames = n;
    job.frame = frame;
    job.out = out;
    job.list = NULL;
    job.next = km->next;
    job.tasks = (unsigned)(n * job.params.n_init);
    cudaError_t status = cudaMemsetAsync(job.made, 0, (size_t)n * sizeof *job.made, stream);
    if (status == cudaSuccess)
        status = cudaMemsetAsync(km->next, 0, COUNTERS * sizeof *km->next, stream);
    if (!cuda_check(status, "cluster", e))
        return false;
    for (int first = 0; first < n; first += km->plan.chunk) {
        int frames = n - first < km->plan.chunk ? n - first : km->plan.chunk;
        points_launch(&job, &km->scratch, rgb, first, frames, stream);
    }
    status = launch_phase(km, &job, RESTART_START, stream);
    if (status == cudaSuccess)
        status = launch_rungs(km, &job, stream);
    choose_launch(&job, stream);
    if (status == cudaSuccess)
        status = cudaGetLastError();
    return cuda_check(status, "cluster", e);
}

void kmeans_gpu_free(struct kmeans_gpu **km)
{
    if (!*km)
        return;
    cudaFree((*km)->memory);
    free(*km);
    *km = NULL;
}
