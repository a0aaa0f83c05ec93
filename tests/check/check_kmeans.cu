/*
 * check_kmeans - the k-means of the CUDA engine against kmeans_run: whole results by memcmp.
 *
 *   check_kmeans [--tiny | --quick | --large] [FILE W H K N_INIT]...
 *
 * FILE: raw RGB24 frames (barcode --dump). --quick leaves out what takes long under the emulator or
 * memcheck, --tiny what takes long under racecheck, --large adds frames of more than 2^24 pixels.
 */
#include <thread>

#include "barcode/base/isa.h"
#include "barcode/kmeans/seed.h"
#include "check.h"
#include "gpu.h"
#include "warp.cuh"

static enum isa isa;

enum picture {
    RANDOM,
    BLACK,
    WHITE,
    TWO_COLOURS,
    GRADIENT,
    LETTERBOX,
    BLOBS,
    DISTINCT,
    NEARLY_FLAT,
    NINE_COLOURS,
    PICTURES
};
static const char *const picture_name[] = {"random",      "black",       "white", "two colours",
                                           "gradient",    "letterbox",   "blobs", "distinct",
                                           "nearly flat", "nine colours"};

static uint32_t next(uint32_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 17;
    *x ^= *x << 5;
    return *x;
}

static uint8_t channel(enum picture kind, size_t i, size_t pixels, uint32_t c, uint32_t r,
                       uint32_t seed)
{
    size_t row = i / 100, rows = pixels / 100 + 1;
    uint32_t mixed = (uint32_t)(i + seed) * 0x9e3779b1u;
    switch (kind) {
    case BLACK: return 0;
    case WHITE: return 255;
    case TWO_COLOURS: return i % 7 < 3 ? 255 : 0;
    case GRADIENT: return (uint8_t)(i * (c + 1) * 255 / (pixels * 3));
    case LETTERBOX: return row < rows / 8 || row >= rows - rows / 8 ? 0 : (uint8_t)(r >> 24);
    case BLOBS:
        return (uint8_t)((row * 5 / rows * 37 + i % 100 / 25 * 61 + c * 53) % 200 + (r >> 16) % 28);
    case DISTINCT: return (uint8_t)(mixed >> (8 * c));
    case NEARLY_FLAT: return (uint8_t)(100 + (r >> 24) % 3);
    case NINE_COLOURS: return (uint8_t)((mixed >> 20) % 9 * (20 + 3 * c));
    default: return (uint8_t)(r >> 24);
    }
}

static void paint(uint8_t *rgb, size_t pixels, enum picture kind, uint32_t seed)
{
    uint32_t x = seed * 2654435761u + 1;
    for (size_t i = 0; i < pixels; i++)
        for (uint32_t c = 0; c < 3; c++)
            rgb[3 * i + c] = channel(kind, i, pixels, c, next(&x), seed);
}

/* What the CPU says, frame after frame on several threads. */
static std::vector<gpu_column> expect(const kmeans_params &params, const uint8_t *rgb,
                                      size_t pixels, const std::vector<uint64_t> &frame)
{
    std::vector<gpu_column> want(frame.size());
    size_t most = pixels > 4000000 ? 4 : 16, threads = frame.size() < most ? frame.size() : most;
    std::vector<std::thread> workers;
    for (size_t t = 0; t < threads; t++)
        workers.emplace_back([&, t] {
            struct err e = ERR_INIT;
            struct kmeans *km = kmeans_open(&params, pixels, isa, &e);
            for (size_t i = t; i < frame.size() && km; i += threads) {
                memset(&want[i], 0, sizeof want[i]);
                struct cluster c[CLUSTERS_MAX];
                want[i].clusters =
                    kmeans_run(km, rgb + 3 * pixels * i, pixels, frame[i], c, &want[i].inertia);
                for (int j = 0; j < want[i].clusters; j++) {
                    memcpy(want[i].cluster[j].rgb, c[j].rgb, 3);
                    want[i].cluster[j].count = c[j].count;
                }
            }
            kmeans_free(&km);
        });
    for (std::thread &t : workers)
        t.join();
    return want;
}

static bool same(const std::vector<gpu_column> &got, const std::vector<gpu_column> &want,
                 const char *what)
{
    for (size_t i = 0; i < want.size(); i++) {
        if (memcmp(&got[i], &want[i], sizeof want[i]) == 0)
            continue;
        printf("  %s: frame %zu: %d clusters, inertia %llu; wanted %d, %llu\n", what, i,
               got[i].clusters, (unsigned long long)got[i].inertia, want[i].clusters,
               (unsigned long long)want[i].inertia);
        return false;
    }
    return true;
}

/* Runs all frames twice through one workspace made for `room` frames; `warps` 0: its own choice. */
static void compare(const kmeans_params &params, const uint8_t *rgb, size_t pixels, size_t frames,
                    int room, int warps, const char *what)
{
    struct err e = ERR_INIT;
    std::vector<uint64_t> frame(frames);
    for (size_t i = 0; i < frames; i++)
        frame[i] = 7 * i + 3 + (i % 3 == 1 ? UINT64_C(1) << 33 : 0);
    device_buffer d_rgb(3 * pixels * frames), d_frame(8 * frames),
        d_out(frames * sizeof(gpu_column));
    d_rgb.put(rgb, 3 * pixels * frames);
    d_frame.put(frame.data(), 8 * frames);
    struct kmeans_gpu *km = kmeans_gpu_open(&params, (int)pixels, room, &e);
    bool good = km && (!warps || kmeans_gpu_warps(km, warps, 17 - warps));
    std::vector<gpu_column> want = expect(params, rgb, pixels, frame), got(frames);
    for (int round = 0; round < 2 && good; round++) {
        d_out.poison();
        for (size_t at = 0; at < frames && good; at += (size_t)room) {
            int n = (int)(frames - at < (size_t)room ? frames - at : (size_t)room);
            good =
                kmeans_gpu_run(km, d_rgb.data() + 3 * pixels * at, (uint64_t *)d_frame.data() + at,
                               n, NULL, (gpu_column *)d_out.data() + at, &e);
        }
        must(cudaDeviceSynchronize(), what);
        memcpy(got.data(), d_out.get().data(), frames * sizeof(gpu_column));
        good = good && same(got, want, what);
    }
    kmeans_gpu_free(&km);
    check(good && !km && d_rgb.guards_whole() && d_frame.guards_whole() && d_out.guards_whole(),
          "%s %s", what, e.text);
}

static kmeans_params params_of(int k, int n_init, int init)
{
    kmeans_params p = {};
    p.k = k;
    p.n_init = n_init;
    p.max_iter = 300;
    p.init = (enum kmeans_init)init;
    p.seed = UINT64_C(0x123456789abcdef) * (uint64_t)k + (uint64_t)n_init;
    p.race = true; /* from five starts on */
    return p;
}

static void painted(enum picture kind, size_t w, size_t h, size_t frames, const kmeans_params &p,
                    int room, int warps)
{
    char what[200];
    std::vector<uint8_t> rgb(3 * w * h * frames);
    for (size_t i = 0; i < frames; i++)
        paint(rgb.data() + 3 * w * h * i, w * h, kind, (uint32_t)(i + w));
    snprintf(what, sizeof what,
             "%s %zux%zu k %d n_init %d%s %s max_iter %d, %zu frames, room %d, warps %d",
             picture_name[kind], w, h, p.k, p.n_init, p.race ? "" : " without a race",
             kmeans_init_name(p.init), p.max_iter, frames, room, warps);
    compare(p, rgb.data(), w * h, frames, room, warps, what);
}

static void file_frames(const char *path, size_t w, size_t h, int k, int n_init)
{
    char what[300];
    FILE *f = fopen(path, "rb");
    std::vector<uint8_t> rgb;
    size_t frame = 3 * w * h, n = 0;
    for (rgb.resize(frame); f && fread(rgb.data() + n * frame, frame, 1, f) == 1;
         rgb.resize((n + 1) * frame))
        n++;
    if (f)
        fclose(f);
    for (int init = INIT_SCALABLE; init <= INIT_RANDOM && n; init++) {
        kmeans_params p = params_of(k, n_init, init);
        snprintf(what, sizeof what, "%s %zux%zu k %d n_init %d %s", path, w, h, k, n_init,
                 kmeans_init_name(p.init));
        compare(p, rgb.data(), w * h, n, (int)n, 0, what);
    }
    check(n > 0, "%s has frames", path);
}

/* cuRAND's words by the plain function (what the kernels call) and by its generator. */
__global__ void words_kernel(uint64_t seed, unsigned long long *plain,
                             unsigned long long *generator)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, restart = i * 7 % 1000,
             frame = i * 0x9e3779b1u, stage = i % 4;
    plain[i] = random_u64(seed, i, restart, frame, stage);
#ifdef BARCODE_EMULATED
    generator[i] = plain[i];
#else
    curandStatePhilox4_32_10_t state;
    curand_init(seed, frame | (unsigned long long)stage << 32,
                4 * (i | (unsigned long long)restart << 32), &state);
    uint4 w = curand4(&state);
    generator[i] = w.x | (unsigned long long)w.y << 32;
#endif
}

static void random_words()
{
    enum { WORDS = 4096 };
    static const uint64_t seeds[] = {0, 1, UINT64_C(0xfedcba9876543210), UINT64_MAX};
    for (uint64_t seed : seeds) {
        device_buffer plain(WORDS * 8), generator(WORDS * 8);
        unsigned long long *a = (unsigned long long *)plain.data(),
                           *b = (unsigned long long *)generator.data();
        LAUNCH(words_kernel, WORDS / 128, 128, 0, (cudaStream_t)0, seed, a, b);
        must(cudaDeviceSynchronize(), "words_kernel");
#include "barcode/kmeans/seed.h"
#include "check.h"
#include "gpu.h"
    }
}

static void small_sizes()
{
    static const size_t sizes[][2] = {{1, 1}, {1, 7}, {16, 9}, {31, 33}};
    static const int ks[] = {1, 2, 3, 5, 8, 16, 33, 64};
    for (int k = 1; k <= CLUSTERS_MAX; k++)
        painted(BLOBS, 40, 30, 2, params_of(k, 1 + k % 3, k % 3), 2, 0);
    for (int kind = 0; kind < PICTURES; kind++)
        for (auto &s : sizes)
            for (int k : ks)
                for (int init = 0; init < 3; init++)
                    painted((enum picture)kind, s[0], s[1], 2, params_of(k, 2, init), 3, 0);
}

static void odd_parameters()
{
    for (int warps = 1; warps <= 16; warps++)
        painted(BLOBS, 60, 50, 2, params_of(1 + warps * 4 % 64, 2, warps % 3), 2, warps);
    for (int max_iter = 1; max_iter <= 3; max_iter++)
        for (int init = 0; init < 3; init++) {
            kmeans_params p = params_of(6, 3, init);
            p.max_iter = max_iter;
            painted(BLOBS, 33, 31, 3, p, 3, 0);
        }
    painted(RANDOM, 16, 9, 1, params_of(8, 1000, INIT_SCALABLE), 1, 0);
    painted(BLOBS, 16, 9, 300, params_of(4, 1, INIT_SCALABLE), 300, 0);
    painted(BLOBS, 5, 3, 700, params_of(3, 2, INIT_PLUSPLUS), 290, 0);
}

static void races()
{
    static const int ks[] = {2, 8, 9, 40}, inits[] = {4, 5, 6, 20, 33},
                     max_iter[] = {4, 5, 6, 12, 13, 300};
    for (int n_init : inits)
        for (int k : ks) {
            kmeans_params p = params_of(k, n_init, (n_init + k) % 3);
            painted(BLOBS, 60, 40, 2, p, 2, 0);
            painted(RANDOM, 33, 31, 2, p, 1, 0);
            p.race = false;
            painted(BLOBS, 60, 40, 2, p, 2, 0);
        }
    for (int iterations : max_iter) {
        kmeans_params p = params_of(8, 20, INIT_RANDOM);
        p.max_iter = iterations;
        painted(RANDOM, 40, 30, 3, p, 3, 4);
    }
    for (int kind = 0; kind < PICTURES; kind++)
        painted((enum picture)kind, 40, 30, 3, params_of(6, 7, kind % 3), 3, 0);
    painted(BLOBS, 40, 30, 9, params_of(8, 10, INIT_PLUSPLUS), 4, 0);
}

static void usual_sizes()
{
    static const size_t sizes[][2] = {{160, 90}, {320, 180}, {319, 181}};
    static const int ks[] = {2, 8, 20, 64};
    for (int kind = 0; kind < PICTURES; kind++)
        for (auto &s : sizes)
            for (int k : ks)
                painted((enum picture)kind, s[0], s[1], 2, params_of(k, 3, k % 3), 2, 0);
}

static void large_sizes()
{
    static const enum picture kinds[] = {RANDOM, BLACK, GRADIENT, BLOBS, DISTINCT, NEARLY_FLAT};
    for (enum picture kind : kinds)
        for (int init = 0; init < 3; init++)
            painted(kind, 1920, 1080, 1, params_of(8, 2, init), 1, 0);
    painted(DISTINCT, 3840, 2160, 1, params_of(8, 1, INIT_SCALABLE), 1, 0);
    painted(LETTERBOX, 3840, 2160, 1, params_of(5, 2, INIT_SCALABLE), 1, 0);
}

static void tiny()
{
    static const int ks[] = {1, 2, 8, 9, 33};
    for (int k : ks)
        for (int init = 0; init < 3; init++)
            painted(BLOBS, 40, 30, 2, params_of(k, 2, init), 2, 0);
    painted(RANDOM, 160, 90, 1, params_of(8, 2, INIT_SCALABLE), 1, 4);
    painted(BLACK, 16, 9, 1, params_of(8, 2, INIT_SCALABLE), 1, 0);
    painted(BLOBS, 40, 30, 2, params_of(8, 6, INIT_SCALABLE), 2, 0);
    painted(BLACK, 16, 9, 2, params_of(8, 6, INIT_SCALABLE), 2, 0);
}

static void everything(bool quick, bool large)
{
    random_words();
    small_sizes();
    odd_parameters();
    races();
    if (!quick) {
        usual_sizes();
        large_sizes();
    }
    if (large) {
        kmeans_params p = params_of(8, 1, INIT_SCALABLE);
        p.max_iter = 5; /* the CPU takes a second for each */
        painted(RANDOM, 4099, 4099, 1, p, 1, 0);
        painted(LETTERBOX, 4099, 4099, 1, p, 1, 0);
    }
}

int main(int argc, char **argv)
{
    struct err e = ERR_INIT;
    const char *mode = argc > 1 && argv[1][0] == '-' ? argv[1] : "";
    need_device("check_kmeans");
    if (!check(isa_choose(&isa, &e), "%s", e.text))
        return done();
    if (strcmp(mode, "--tiny") == 0)
        tiny();
    else
        everything(strcmp(mode, "--quick") == 0, strcmp(mode, "--large") == 0);
    for (int at = 1 + (*mode != 0); at + 4 < argc; at += 5)
        file_frames(argv[at], strtoul(argv[at + 1], NULL, 10), strtoul(argv[at + 2], NULL, 10),
                    atoi(argv[at + 3]), atoi(argv[at + 4]));
    return done();
}
