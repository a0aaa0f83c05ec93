/*
 * check.h - what the check programs share: counting, random numbers, device memory between guard
 * bands.
 *
 * A check compares an engine's bytes on the GPU with the CPU engine's, by memcmp. Outputs are
 * poisoned before, and the bytes around every device buffer must be untouched afterwards.
 */
#ifndef BARCODE_TESTS_CHECK_H
#define BARCODE_TESTS_CHECK_H

#include <cuda_runtime.h>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

enum { GUARD = 4096, SKIPPED = 77 };
static int passed, failed;

/* Counts a check; says which failed. */
__attribute__((format(printf, 2, 3))) static inline bool check(bool ok, const char *format, ...)
{
    (ok ? passed : failed)++;
    if (!ok) {
        va_list args;
        va_start(args, format);
        printf("FAIL  ");
        vprintf(format, args);
        printf("\n");
        va_end(args);
    }
    return ok;
}

static inline void must(cudaError_t code, const char *what)
{
    if (code == cudaSuccess)
        return;
    printf("FAIL  %s: %s\n%d passed, %d failed\n", what, cudaGetErrorString(code), passed,
           failed + 1);
    exit(1);
}

/* Exit status 77 where there is nothing to check on. */
static inline void need_device(const char *program)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0)
        return;
    printf("SKIP: %s needs a CUDA device, and there is none\n", program);
    exit(SKIPPED);
}

static inline int done()
{
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}

/* xorshift64*: the same numbers everywhere. */
struct rng {
    uint64_t state;
    uint64_t next()
    {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return state * UINT64_C(2685821657736338717);
    }
    int below(int n) { return (int)(next() >> 33) % n; }
};

/* Device memory with guard bands, filled with poison. */
struct device_buffer {
    uint8_t *base = nullptr;
    size_t bytes = 0;
    explicit device_buffer(size_t n) : bytes(n)
    {
        must(cudaMalloc(&base, n + 2 * GUARD), "cudaMalloc");
        must(cudaMemset(base, 0xa5, n + 2 * GUARD), "cudaMemset");
    }
    ~device_buffer() { cudaFree(base); }
    device_buffer(const device_buffer &) = delete;
    device_buffer &operator=(const device_buffer &) = delete;
    uint8_t *data() { return base + GUARD; }
    void poison() { must(cudaMemset(data(), 0xa5, bytes), "cudaMemset"); }
    /* From pageable memory cudaMemcpy may return before the last bytes have landed, and a port's
     * stream waits for nobody. */
    void put(const void *from, size_t n)
    {
        must(cudaMemcpy(data(), from, n, cudaMemcpyHostToDevice), "upload");
        must(cudaDeviceSynchronize(), "upload");
    }
    std::vector<uint8_t> get()
    {
        std::vector<uint8_t> out(bytes);
        must(cudaMemcpy(out.data(), data(), bytes, cudaMemcpyDeviceToHost), "download");
        return out;
    }
    bool guards_whole()
    {
        uint8_t band[2][GUARD];
        must(cudaMemcpy(band[0], base, GUARD, cudaMemcpyDeviceToHost), "download");
        must(cudaMemcpy(band[1], data() + bytes, GUARD, cudaMemcpyDeviceToHost), "download");
        for (int i = 0; i < GUARD; i++)
            if (band[0][i] != 0xa5 || band[1][i] != 0xa5)
                return false;
        return true;
    }
};

#endif
