/* spectrogram_gpu.cu - spectrogram.h on the GPU: a block computes a frame in shared memory. */
#include <cstdlib>

#include "cuda_check.h"
#include "sound_gpu.h"
#include "warp.cuh"

enum { BINS = SPECTROGRAM_BINS, THREADS = BINS / 2 };

static __device__ __forceinline__ int windowed(const struct stft_tables *t, const int16_t *sound,
                                               size_t samples, size_t first, int n)
{
    return first + n < samples ? sound[first + n] * t->window[n] : 0;
}

/* A thread computes one butterfly of each stage. */
static __device__ void transform(const struct stft_tables *t, struct stft_complex *z)
{
    int i = (int)threadIdx.x;
    for (int half = 1; half < BINS; half *= 2) {
        __syncthreads();
        int j = i & (half - 1), a = 2 * (i - j) + j, k = j * (BINS / half);
        stft_butterfly(z + a, z + a + half, t->twiddle[k].minus_cos, t->twiddle[k].minus_sin);
    }
    __syncthreads();
}

/* Steps 4 and 5 for bins k and 512 - k. */
static __device__ void finish_bins(const struct stft_tables *t, const struct stft_complex *z, int k,
                                   int16_t *out)
{
    int mirror = (BINS - k) % BINS;
    struct stft_complex x = z[k], y = z[mirror];
    stft_even_odd(&x, &y);
    stft_butterfly(&x, &y, t->twiddle[k].minus_cos, t->twiddle[k].minus_sin);
    out[k] = stft_value(t, x);
    if (k > 0 && k < BINS / 2)
        out[mirror] = stft_value(t, y);
}

__global__ void __launch_bounds__(THREADS)
    spectrogram_frame(const struct stft_tables *t, const int16_t *sound, size_t samples,
                      int16_t *out)
{
    __shared__ struct stft_complex z[BINS];
    size_t first = (size_t)blockIdx.x * SPECTROGRAM_HOP;
    for (int n = (int)threadIdx.x; n < BINS; n += THREADS) {
        int even = windowed(t, sound, samples, first, 2 * n);
        int odd = windowed(t, sound, samples, first, 2 * n + 1);
        z[t->place[n]] = {even, odd};
    }
    transform(t, z);
    out += (size_t)blockIdx.x * BINS;
    finish_bins(t, z, (int)threadIdx.x, out);
    if (threadIdx.x == 0)
        finish_bins(t, z, BINS / 2, out);
}

struct stft_tables *spectrogram_gpu_tables(struct err *e)
{
    const char *what = "take memory for a spectrogram's tables";
    struct stft_tables *host = (struct stft_tables *)err_calloc(1, sizeof *host, e), *t = NULL;
    if (!host)
        return NULL;
    stft_tables_init(host);
    /* cudaMemcpy from pageable memory may return early; other streams do not wait for it. */
    bool ok = cuda_check(cudaMalloc(&t, sizeof *t), what, e) &&
              cuda_check(cudaMemcpy(t, host, sizeof *t, cudaMemcpyHostToDevice), what, e) &&
              cuda_check(cudaStreamSynchronize(NULL), what, e);
    free(host);
    if (!ok) {
        cudaFree(t);
        t = NULL;
    }
    return t;
}

bool spectrogram_gpu(const struct stft_tables *tables, const int16_t *sound, size_t samples,
                     size_t frames, int16_t *out, cudaStream_t stream, struct err *e)
{
    const char *what = "compute a spectrogram";
    if (frames > INT32_MAX)
        return err_set(e, ERR_ENGINE, "cannot %s of %zu frames on the GPU", what, frames);
    if (frames > 0)
        LAUNCH(spectrogram_frame, dim3((unsigned)frames), dim3(THREADS), 0, stream, tables, sound,
               samples, out);
    return cuda_check(cudaGetLastError(), what, e);
}
