/*
 * cuda_emulator.cc - fibres for cuda_emulator.h, and the runtime's calls as plain memory.
 */
#include "cuda_emulator.h"

#include <stdio.h>

#include <algorithm>
#include <vector>

struct emulated_index emulated_thread, emulated_block, emulated_block_size, emulated_grid_size;
enum { SHARED_BYTES = 228 << 10, STACK_BYTES = 128 << 10, THREADS_MOST = 1024 };
alignas(64) char emulated_shared[SHARED_BYTES];

/* Saves the callee-saved registers and the stack, takes the other's. */
extern "C" void emulated_switch(void **save, void *to);
asm(R"(
.text
.globl emulated_switch
emulated_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
)");

struct warp_state {
    uint64_t value[2][32];
    unsigned arrived[2];
    uint64_t done;
};
static struct warp_state warps[THREADS_MOST / 32];
static struct {
    void *stack;
    char *memory;
    uint64_t exchanges, barriers;
    bool over;
} fibres[THREADS_MOST];
static void *scheduler_stack;
static unsigned current, threads, live, barrier_arrived;
static uint64_t barriers_done, progress;
static const std::function<void()> *body;

static void yield() { emulated_switch(&fibres[current].stack, scheduler_stack); }

const uint64_t *emulated_exchange(uint64_t mine)
{
    unsigned me = current;
    struct warp_state *w = warps + me / 32;
    uint64_t turn = ++fibres[me].exchanges;
    w->value[turn & 1][me & 31] = mine;
    progress++;
    if (++w->arrived[turn & 1] == 32) {
        w->arrived[turn & 1] = 0;
        w->done = turn;
    }
    while (w->done < turn)
        yield();
    return w->value[turn & 1];
}

void emulated_barrier()
{
    uint64_t turn = ++fibres[current].barriers;
    progress++;
    if (++barrier_arrived == live) {
        barrier_arrived = 0;
        barriers_done = turn;
    }
    while (barriers_done < turn)
        yield();
}

static void fibre_main()
{
    (*body)();
    fibres[current].over = true;
    live--;
    progress++;
    yield();
}

static void fibre_begin(unsigned i)
{
    if (!fibres[i].memory)
        fibres[i].memory = (char *)aligned_alloc(64, STACK_BYTES);
    void **top = (void **)(fibres[i].memory + STACK_BYTES) - 2;
    *top = (void *)fibre_main;
    for (int r = 0; r < 6; r++)
        *--top = NULL;
    fibres[i].stack = top;
    fibres[i].exchanges = fibres[i].barriers = 0;
    fibres[i].over = false;
}

static void run_block()
{
    static unsigned order[THREADS_MOST / 32];
    unsigned all = (threads + 31) / 32;
    memset(warps, 0, sizeof warps);
    memset(emulated_shared, 0xa5, sizeof emulated_shared);
    live = threads;
    barrier_arrived = 0;
    barriers_done = 0;
    for (unsigned i = 0; i < threads; i++)
        fibre_begin(i);
    for (unsigned i = 0; i < all; i++)
        order[i] = i;
    while (live) {
        uint64_t before = progress;
        std::swap(order[(unsigned)rand() % all], order[(unsigned)rand() % all]);
        for (unsigned w = 0; w < all; w++)
            for (unsigned i = order[w] * 32; i < order[w] * 32 + 32 && i < threads; i++) {
                if (fibres[i].over)
                    continue;
                current = i;
                emulated_thread.x = i;
                emulated_switch(&scheduler_stack, fibres[i].stack);
            }
        if (progress == before && live) {
            fprintf(stderr, "cuda_emulator: all threads wait\n");
            abort();
        }
    }
}

void emulated_launch(dim3 grid, dim3 block, size_t shared, const std::function<void()> &kernel)
{
    if (shared > SHARED_BYTES || block.x > THREADS_MOST || block.y * block.z != 1)
        abort();
    body = &kernel;
    threads = block.x;
    emulated_block_size = {block.x, 1, 1};
    emulated_grid_size = {grid.x, grid.y, grid.z};
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                emulated_block = {x, y, z};
                run_block();
            }
}

cudaError_t cudaMalloc(void **p, size_t bytes)
{
    *p = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (*p)
        memset(*p, 0x5a, bytes);
    return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void *p)
{
    free(p);
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *p, int v, size_t bytes, cudaStream_t)
{
    memset(p, v, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemset(void *p, int v, size_t bytes) { return cudaMemsetAsync(p, v, bytes, NULL); }
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t)
{
    memcpy(to, from, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    return cudaMemcpyAsync(to, from, bytes, kind, NULL);
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t) { return "emulated"; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    *stream = NULL;
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaGetDeviceCount(int *n)
{
    *n = 1;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetDevice(int *d)
{
    *d = 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *v, cudaDeviceAttr, int)
{
    *v = 2;
    return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *, int, size_t)
{
    *n = 2;
    return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *, int,
                                                                   size_t, unsigned)
{
    *n = 2;
    return cudaSuccess;
}

/* In the place of CUB in kmeans_points.cu. */
cudaError_t sort_keys(void *scratch, size_t *bytes, const uint32_t *in, uint32_t *out, int count,
                      int bits, cudaStream_t)
{
    *bytes = 1;
    if (!scratch)
        return cudaSuccess;
    uint32_t mask = bits < 32 ? (1u << bits) - 1 : ~0u;
    memcpy(out, in, (size_t)count * sizeof *out);
    std::stable_sort(out, out + count,
                     [=](uint32_t a, uint32_t b) { return (a & mask) < (b & mask); });
    return cudaSuccess;
}
