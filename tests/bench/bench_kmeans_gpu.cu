/*
 * bench_kmeans_gpu - frames/s of the k-means on the GPU, the frames already there.
 *
 *   bench_kmeans_gpu [-k K] [-n N_INIT] [-b BATCH] [-r RUNS] FILE W H [options FILE W H]...
 *
 * FILE holds raw RGB24 frames (barcode --dump), repeated until the batch is full, with a number
 * each, so that no two start alike. Timed with events after one warm-up; printed are the median,
 * the slowest and the fastest of RUNS (7), and a hash of the results that depends on nothing but
 * FILE, BATCH, K and N_INIT.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <vector>

#include "gpu.h"

struct settings {
    kmeans_params params;
    int batch, runs;
};

static void must(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "bench_kmeans_gpu: %s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}

static std::vector<uint8_t> load(const char *path, size_t frame)
{
    std::vector<uint8_t> rgb;
    FILE *f = fopen(path, "rb");
    size_t n = 0;
    for (rgb.resize(frame); f && fread(rgb.data() + n * frame, frame, 1, f) == 1;
         rgb.resize((n + 1) * frame))
        n++;
    if (f)
        fclose(f);
    rgb.resize(n * frame);
    return rgb;
}

static int batch_for(size_t pixels)
{
    size_t n = ((size_t)1 << 28) / pixels;
    return (int)(n > 4096 ? 4096 : n < 16 ? 16 : n);
}

static unsigned long long hash_of(const gpu_column *d_out, int n)
{
    std::vector<gpu_column> out((size_t)n);
    unsigned long long hash = 0xcbf29ce484222325ull;
    must(cudaMemcpy(out.data(), d_out, (size_t)n * sizeof *d_out, cudaMemcpyDeviceToHost),
         "cudaMemcpy");
    const unsigned char *at = (const unsigned char *)out.data();
    for (size_t i = 0; i < (size_t)n * sizeof *d_out; i++)
        hash = (hash ^ at[i]) * 0x100000001b3ull;
    return hash;
}

static void measure(const settings &s, const char *path, size_t w, size_t h)
{
    struct err e = ERR_INIT;
    size_t frame = 3 * w * h;
    std::vector<uint8_t> rgb = load(path, frame);
    int n = s.batch ? s.batch : batch_for(w * h);
    size_t given = rgb.size() / frame;
    uint8_t *d_rgb;
    uint64_t *d_frame;
    gpu_column *d_out;
    std::vector<uint64_t> number((size_t)n);
    must(cudaMalloc((void **)&d_rgb, frame * (size_t)n), "cudaMalloc");
    must(cudaMalloc((void **)&d_frame, 8 * (size_t)n), "cudaMalloc");
    must(cudaMalloc((void **)&d_out, (size_t)n * sizeof *d_out), "cudaMalloc");
    for (size_t i = 0; i < (size_t)n && given; i++) {
        number[i] = i;
        must(cudaMemcpy(d_rgb + i * frame, rgb.data() + i % given * frame, frame,
                        cudaMemcpyHostToDevice),
             "cudaMemcpy");
    }
    must(cudaMemcpy(d_frame, number.data(), 8 * (size_t)n, cudaMemcpyHostToDevice), "cudaMemcpy");
    struct kmeans_gpu *km = given ? kmeans_gpu_open(&s.params, (int)(w * h), n, &e) : NULL;
    if (!km) {
        fprintf(stderr, "bench_kmeans_gpu: %s: %s\n", path, given ? e.text : "no frames");
        exit(1);
    }
    cudaEvent_t begun, done;
    must(cudaEventCreate(&begun), "cudaEventCreate");
    must(cudaEventCreate(&done), "cudaEventCreate");
    std::vector<double> rate;
    for (int i = -1; i < s.runs; i++) {
        float ms;
        must(cudaEventRecord(begun), "cudaEventRecord");
        if (!kmeans_gpu_run(km, d_rgb, d_frame, n, NULL, d_out, &e))
            fprintf(stderr, "bench_kmeans_gpu: %s\n", e.text);
        must(cudaEventRecord(done), "cudaEventRecord");
        must(cudaEventSynchronize(done), "cudaEventSynchronize");
        must(cudaEventElapsedTime(&ms, begun, done), "cudaEventElapsedTime");
        if (i >= 0)
            rate.push_back(n / (ms * 1e-3));
    }
    std::sort(rate.begin(), rate.end());
    printf("%4zux%-4zu k %2d n_init %2d batch %4d of %zu frames: %9.0f frames/s (%.0f to %.0f, %d "
           "runs) hash %016llx\n",
           w, h, s.params.k, s.params.n_init, n, given, rate[rate.size() / 2], rate.front(),
           rate.back(), s.runs, hash_of(d_out, n));
    fflush(stdout);
    kmeans_gpu_free(&km);
    cudaFree(d_rgb);
    cudaFree(d_frame);
    cudaFree(d_out);
}

int main(int argc, char **argv)
{
    settings s = {};
    s.params.k = 8;
    s.params.n_init = 20;
    s.params.max_iter = 300;
    s.params.race = true;
    s.runs = 7;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) {
        printf("SKIP: THERE IS NO CUDA DEVICE HERE\n");
        return 77;
    }
    for (int i = 1; i < argc;) {
        bool option = argv[i][0] == '-';
        if (i + (option ? 1 : 2) >= argc) {
            fprintf(stderr, "usage: bench_kmeans_gpu [-k K] [-n N] [-b BATCH] [-r RUNS] FILE W "
                            "H...\n");
            return 2;
        }
        if (!option) {
            measure(s, argv[i], strtoul(argv[i + 1], NULL, 10), strtoul(argv[i + 2], NULL, 10));
            i += 3;
            continue;
        }
        int v = atoi(argv[i + 1]);
        switch (argv[i][1]) {
        case 'k': s.params.k = v; break;
        case 'n': s.params.n_init = v; break;
        case 'b': s.batch = v; break;
        case 'r': s.runs = v; break;
        }
        i += 2;
    }
    return 0;
}
