/*
 * check_sound - the maximum filter and the spectrogram of the GPU against those of src/sound, byte
 * for byte; and the time of two hours of sound.
 *
 *   check_sound [--quick]     --quick: what the emulator can do in a few seconds
 */
#include "barcode/sound/max_filter.h"
#include "barcode/sound/spectrogram.h"
#include "check.h"
#include "sound_gpu.h"

enum content { RANDOM, PLATEAUS, LOWEST, CONTENTS };

static std::vector<int16_t> draw(size_t n, content c, rng &r)
{
    std::vector<int16_t> values(n);
    for (auto &v : values)
        v = (int16_t)(c == RANDOM ? r.next() >> 40 : c == PLATEAUS ? r.below(4) : INT16_MIN);
    return values;
}

static bool same(device_buffer &got, const std::vector<int16_t> &right)
{
    return memcmp(got.get().data(), right.data(), right.size() * 2) == 0 && got.guards_whole();
}

static void compare_filter(size_t rows, size_t columns, int radius, content c, rng &r)
{
    struct err e = ERR_INIT;
    std::vector<int16_t> values = draw(rows * columns, c, r), right(rows * columns);
    struct max_filter *cpu = max_filter_open(radius, &e);
    max_filter_run(cpu, values.data(), rows, columns, right.data());
    max_filter_free(&cpu);
    size_t bytes = rows * columns * 2;
    device_buffer in(bytes), scratch(bytes), out(bytes);
    in.put(values.data(), bytes);
    bool ok = max_filter_gpu((int16_t *)in.data(), rows, columns, radius,
                             radius > MAX_FILTER_GPU_REACH ? (int16_t *)scratch.data() : NULL,
                             (int16_t *)out.data(), 0, &e);
    must(cudaDeviceSynchronize(), "filter");
    check(ok && same(out, right) && same(in, values) && scratch.guards_whole(),
          "filter of %zu x %zu, radius %d, content %d %s", rows, columns, radius, (int)c, e.text);
}

static void compare_spectrogram(size_t samples, size_t frames, int loudness, rng &r)
{
    struct err e = ERR_INIT;
    std::vector<int16_t> sound(samples), right(frames * SPECTROGRAM_BINS);
    for (auto &s : sound)
        s = (int16_t)(loudness > 15 ? (r.below(2) ? INT16_MAX : INT16_MIN)
                                    : r.below(2 << loudness) - (1 << loudness));
    struct spectrogram *cpu = spectrogram_open(ISA_C, &e);
    spectrogram_run(cpu, sound.data(), samples, frames, right.data());
    spectrogram_free(&cpu);
    struct stft_tables *tables = spectrogram_gpu_tables(&e);
    device_buffer in(samples * 2), out(right.size() * 2);
    in.put(sound.data(), samples * 2);
    bool ok = tables && spectrogram_gpu(tables, (int16_t *)in.data(), samples, frames,
                                        (int16_t *)out.data(), 0, &e);
    must(cudaDeviceSynchronize(), "spectrogram");
    cudaFree(tables);
    check(ok && same(out, right) && same(in, sound),
          "spectrogram of %zu samples, %zu frames, 2^%d %s", samples, frames, loudness, e.text);
}

#ifndef BARCODE_EMULATED
/* Returns the best of ten times of `work`, in seconds. */
template <typename F> static double seconds(F work)
{
    cudaEvent_t from, to;
    must(cudaEventCreate(&from), "event");
    must(cudaEventCreate(&to), "event");
    float best = 1e9f;
    for (int i = 0; i < 10; i++) {
        float ms;
        must(cudaEventRecord(from), "event");
        work();
        must(cudaEventRecord(to), "event");
        must(cudaEventSynchronize(to), "event");
        must(cudaEventElapsedTime(&ms, from, to), "event");
        best = ms < best ? ms : best;
    }
    cudaEventDestroy(from);
    cudaEventDestroy(to);
    return best / 1e3;
}

static void time_filter(size_t rows, size_t columns, int radius)
{
    struct err e = ERR_INIT;
    size_t bytes = rows * columns * 2;
    device_buffer in(bytes), out(bytes);
    double s = seconds([&] {
        max_filter_gpu((int16_t *)in.data(), rows, columns, radius, NULL, (int16_t *)out.data(), 0,
                       &e);
    });
    printf("filter, %zu x %zu, radius %d: %.3f ms, %.0f GB/s read and written\n", rows, columns,
           radius, s * 1e3, 2 * (double)bytes / s / 1e9);
}

static void time_spectrogram(size_t frames)
{
    struct err e = ERR_INIT;
    size_t samples = frames * SPECTROGRAM_HOP, bytes = frames * SPECTROGRAM_BINS * 2;
    struct stft_tables *tables = spectrogram_gpu_tables(&e);
    device_buffer in(samples * 2), out(bytes);
    double s = seconds([&] {
        spectrogram_gpu(tables, (int16_t *)in.data(), samples, frames, (int16_t *)out.data(), 0,
                        &e);
    });
    cudaFree(tables);
    printf("spectrogram, %zu frames: %.3f ms, %.0f GB/s read and written\n", frames, s * 1e3,
           2 * (double)bytes / s / 1e9);
}

static void print_times()
{
    time_filter(2049, 586, 20); /* 1,200,714 points */
    time_filter(225000, SPECTROGRAM_BINS, 10);
    time_filter(225000, SPECTROGRAM_BINS, 20);
    time_spectrogram(225000);
}
#else
static void print_times() {}
#endif

int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    need_device("check_sound");
    rng r{20261126};
    static const size_t size[][2] = {{1, 1},   {1, 70},   {70, 1},  {5, 60},  {64, 64},
                                     {65, 63}, {33, 129}, {97, 40}, {2, 201}, {130, 66}};
    for (int radius = 0; radius <= 64; radius += quick && radius > 2 ? 6 : 1)
        for (auto &s : size)
            if (!quick || r.below(3) == 0)
                compare_filter(s[0], s[1], radius, (content)r.below(CONTENTS), r);
    compare_filter(40, 30, quick ? 130 : MAX_FILTER_RADIUS_MOST, RANDOM, r);
    if (!quick)
        for (int radius : {1, 10, 20, 31})
            compare_filter(2049, 586, radius, RANDOM, r);
    for (int loudness = 0; loudness <= 16; loudness += quick ? 4 : 1) {
        compare_spectrogram(511, 1, loudness, r);
        compare_spectrogram(5000, 11, loudness, r); /* the last frame is silence */
        if (!quick)
            compare_spectrogram(1000000, spectrogram_frames(1000000), loudness, r);
    }
    if (!quick)
        print_times();
    return done();
}
