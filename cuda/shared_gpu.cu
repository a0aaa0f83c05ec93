/*
 * shared_gpu.cu - a thread for each sorted word: it finds the word's run, counts the words after it
 * that are of other films, and after the sums of these counts writes its votes.
 */
#ifndef BARCODE_EMULATED
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#endif
#include <cstdlib>

#include "cuda_check.h"
#include "shared_gpu.h"
#include "warp.cuh"

enum { THREADS = 256 };

static const char what[] = "compare films";

struct films_on_device {
    const uint32_t *base;
    uint32_t films;
};

/* Returns the end of the run of word[i], or 0 if the run is too long. */
static __device__ size_t run_end(const uint64_t *word, size_t n, size_t i)
{
    uint64_t bits = word[i] >> 32;
    size_t from = i, to = i + 1;
    while (from > 0 && i - from < SHARED_RUN_MOST && word[from - 1] >> 32 == bits)
        from--;
    while (to < n && to - from <= SHARED_RUN_MOST && word[to] >> 32 == bits)
        to++;
    return to - from <= SHARED_RUN_MOST ? to : 0;
}

static __device__ uint32_t film_at(struct films_on_device f, uint32_t position)
{
    uint32_t low = 0, high = f.films;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (f.base[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Writes the votes of word[i] to `out` if it is not NULL. Returns their number. */
static __device__ uint32_t votes_of(const uint64_t *word, size_t n, size_t i,
                                    struct films_on_device f, uint64_t *out)
{
    size_t end = run_end(word, n, i);
    uint32_t count = 0;
    if (end <= i + 1)
        return 0;
    uint32_t p = (uint32_t)word[i], a = film_at(f, p);
    for (size_t j = i + 1; j < end; j++) {
        uint32_t q = (uint32_t)word[j], b = film_at(f, q);
        if (a == b)
            continue;
        uint64_t offset = (q - f.base[b]) - (p - f.base[a]) + SHARED_OFFSET_ZERO;
        if (out)
            out[count] = (uint64_t)a << (SHARED_FILM_BITS + SHARED_OFFSET_BITS) |
                         (uint64_t)b << SHARED_OFFSET_BITS |
                         (offset & ((1 << SHARED_OFFSET_BITS) - 1));
        count++;
    }
    return count;
}

__global__ void __launch_bounds__(THREADS)
    count_votes(const uint64_t *word, size_t n, struct films_on_device films, uint32_t *count)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        count[i] = votes_of(word, n, i, films, NULL);
}

__global__ void __launch_bounds__(THREADS)
    write_votes(const uint64_t *word, size_t n, struct films_on_device films, const uint64_t *first,
                uint64_t *vote)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        votes_of(word, n, i, films, vote + first[i]);
}

/* Device memory of a call. */
struct memory {
    uint64_t *word, *sorted, *first, *vote;
    uint32_t *count, *base;
    void *scratch;
};

static void free_memory(struct memory *m)
{
    cudaFree(m->word);
    cudaFree(m->sorted);
    cudaFree(m->first);
    cudaFree(m->vote);
    cudaFree(m->count);
    cudaFree(m->base);
    cudaFree(m->scratch);
}

template <typename T> static bool allocate(T **memory, size_t count, struct err *e)
{
    return cuda_check(cudaMalloc((void **)memory, (count + 1) * sizeof(T)), what, e);
}

/* Sorts in[n] to out[n]. */
static bool sort(struct memory *m, const uint64_t *in, uint64_t *out, size_t n, struct err *e)
{
    size_t bytes = 0;
    cudaFree(m->scratch);
    m->scratch = NULL;
    return cuda_check(shared_sort(NULL, &bytes, in, out, n), what, e) &&
           cuda_check(cudaMalloc(&m->scratch, bytes + 1), what, e) &&
           cuda_check(shared_sort(m->scratch, &bytes, in, out, n), what, e);
}

/* Sums up m->count[n] to m->first[n + 1], of which the last is *sum. */
static bool sum_counts(struct memory *m, size_t n, uint64_t *sum, struct err *e)
{
    size_t bytes = 0;
    cudaFree(m->scratch);
    m->scratch = NULL;
    return cuda_check(shared_sum(NULL, &bytes, m->count, m->first, n + 1), what, e) &&
           cuda_check(cudaMalloc(&m->scratch, bytes + 1), what, e) &&
           cuda_check(shared_sum(m->scratch, &bytes, m->count, m->first, n + 1), what, e) &&
           cuda_check(cudaMemcpy(sum, m->first + n, sizeof *sum, cudaMemcpyDeviceToHost), what, e);
}

/* Allocates what does not depend on the number of votes, and copies the words and the films. */
static bool upload(struct memory *m, const uint64_t *word, size_t n,
                   const struct shared_films *films, struct err *e)
{
    size_t bases = (size_t)films->films + 1;
    if (!allocate(&m->word, n, e) || !allocate(&m->sorted, n, e) ||
        !allocate(&m->first, n + 1, e) || !allocate(&m->count, n + 1, e) ||
        !allocate(&m->base, bases, e))
        return false;
    cudaError_t status = cudaMemcpy(m->word, word, n * sizeof *word, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status =
            cudaMemcpy(m->base, films->base, bases * sizeof *films->base, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status = cudaMemset(m->count, 0, (n + 1) * sizeof *m->count);
    return cuda_check(status, what, e);
}

static bool find_votes(struct memory *m, const uint64_t *word, size_t n,
                       const struct shared_films *films, size_t most, size_t *votes, struct err *e)
{
    dim3 grid((unsigned)((n + THREADS - 1) / THREADS)), block(THREADS);
    uint64_t sum = 0;
    if (!upload(m, word, n, films, e) || !sort(m, m->word, m->sorted, n, e))
        return false;
    struct films_on_device f = {m->base, films->films};
    LAUNCH(count_votes, grid, block, 0, NULL, m->sorted, n, f, m->count);
    if (!cuda_check(cudaGetLastError(), what, e) || !sum_counts(m, n, &sum, e))
        return false;
    if (sum > most)
        return err_set(e, ERR_FAILED, "the films share more than can be counted");
    cudaFree(m->word);
    m->word = NULL;
    *votes = (size_t)sum;
    if (!allocate(&m->vote, (size_t)sum, e))
        return false;
    LAUNCH(write_votes, grid, block, 0, NULL, m->sorted, n, f, m->first, m->vote);
    /* the sorted votes take the words' place */
    cudaFree(m->count);
    m->count = NULL;
    return cuda_check(cudaGetLastError(), what, e) && allocate(&m->word, (size_t)sum, e) &&
           (sum == 0 || sort(m, m->vote, m->word, (size_t)sum, e));
}

bool shared_votes_device(const uint64_t *word, size_t n, const struct shared_films *films,
                         size_t most, uint64_t **vote, size_t *votes, struct err *e)
{
    struct memory m = {};
    *vote = NULL;
    *votes = 0;
    if (n / THREADS >= INT32_MAX)
        return err_set(e, ERR_ENGINE, "cannot %s with %zu words on the GPU", what, n);
    bool ok = n == 0 || find_votes(&m, word, n, films, most, votes, e);
    if (ok) {
        *vote = (uint64_t *)err_calloc(*votes + 1, sizeof **vote, e);
        ok = *vote != NULL;
    }
    if (ok && *votes > 0)
        ok = cuda_check(cudaMemcpy(*vote, m.word, *votes * sizeof **vote, cudaMemcpyDeviceToHost),
                        what, e);
    free_memory(&m);
    if (!ok) {
        free(*vote);
        *vote = NULL;
    }
    return ok;
}

/* The emulator has functions of its own in their place. */
#ifndef BARCODE_EMULATED
cudaError_t shared_sort(void *scratch, size_t *bytes, const uint64_t *in, uint64_t *out,
                        size_t count)
{
    return cub::DeviceRadixSort::SortKeys(scratch, *bytes, in, out, count);
}

/* Sums have 64 bits because the first value has. */
cudaError_t shared_sum(void *scratch, size_t *bytes, const uint32_t *in, uint64_t *out,
                       size_t count)
{
    return cub::DeviceScan::ExclusiveScan(scratch, *bytes, in, out, cuda::std::plus<>{},
                                          uint64_t{0}, count);
}
#endif
