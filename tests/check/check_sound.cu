/*
 * check_sound - the maximum filter and the spectrogram of the GPU against those of src/sound, byte
 * for byte; and the time of two hours of sound.
 *
 *   check_sound [--quick]     --quick: what the emulator can do in a few seconds
 */
#include "barcode/base/clock.h"
#include "barcode/sound/peaks.h"
#include "barcode/sound/spectrogram.h"
#include "check.h"
#include "sound/film_sound.h"
#include "gpu.h"

enum { BLOCK = 1024 };
enum content { RANDOM, PLATEAUS, LOWEST, CONTENTS };

static std::vector<int16_t> draw(size_t n, content c, rng &r)
{
    std::vector<int16_t> values(n);
    for (auto &v : values)
        v = (int16_t)(c == RANDOM ? r.next() >> 40 : c == PLATEAUS ? r.below(4) : INT16_MIN);
    return values;
}

static struct sound_device *device;

/* An array with poison before and after the values that the device writes. */
struct guarded {
    std::vector<int16_t> all;
    explicit guarded(size_t n) : all(n + 2 * GUARD, 0x5a5a) {}
    int16_t *data() { return all.data() + GUARD; }
    bool equals(const std::vector<int16_t> &right)
    {
        bool same = memcmp(data(), right.data(), right.size() * 2) == 0;
        for (size_t i = 0; i < GUARD; i++)
            same &= all[i] == 0x5a5a && all[all.size() - 1 - i] == 0x5a5a;
        return same;
    }
};

static void compare_filter(size_t rows, size_t columns, int radius, content c, rng &r)
{
    struct err e = ERR_INIT;
    std::vector<int16_t> values = draw(rows * columns, c, r), right(rows * columns);
    guarded out(right.size());
    bool ok = max_filter_run(values.data(), rows, columns, radius, right.data(), &e) &&
              device->max_filter(device, values.data(), rows, columns, radius, out.data(), &e);
    check(ok && out.equals(right), "filter of %zu x %zu, radius %d, content %d %s", rows, columns,
          radius, (int)c, e.text);
}

static void compare_spectrogram(size_t samples, size_t frames, int loudness, rng &r)
{
    struct err e = ERR_INIT;
    std::vector<int16_t> sound(samples), right(frames * SPECTROGRAM_BINS);
    for (auto &s : sound)
        s = (int16_t)(loudness > 15 ? (r.below(2) ? INT16_MAX : INT16_MIN)
                                    : r.below(2 << loudness) - (1 << loudness));
    struct spectrogram *cpu = spectrogram_open(ISA_BASE, &e);
    spectrogram_run(cpu, sound.data(), samples, frames, right.data());
    spectrogram_free(&cpu);
    guarded out(right.size());
    bool ok = device->spectrogram(device, sound.data(), samples, frames, out.data(), &e);
    check(ok && out.equals(right), "spectrogram of %zu samples, %zu frames, 2^%d %s", samples,
          frames, loudness, e.text);
}

/* Appends the film's sound as bytes, and returns the seconds that it took. */
static double analyse(struct sound_device *d, const std::vector<int16_t> &sound,
                      std::vector<uint8_t> *bytes)
{
    struct err e = ERR_INIT;
    struct film_sound out = {};
    enum isa isa = ISA_BASE;
    uint8_t *written = NULL;
    size_t count = 0;
    int64_t started = clock_ns();
    bool ok = isa_choose(&isa, &e);
    struct sound_maker *m = ok ? sound_maker_open(isa, d, NULL, NULL, &e) : NULL;
    for (size_t at = 0; m && ok && at < sound.size(); at += BLOCK) {
        size_t left = sound.size() - at, n = left < BLOCK ? left : (size_t)BLOCK;
        struct sound_block b = {sound.data() + at, n, 1, SPECTROGRAM_RATE, 0, INT64_MIN};
        ok = sound_maker_push(m, &b, &e);
    }
    ok = m && ok && sound_maker_finish(m, &out, &e);
    double seconds = clock_since(started);
    sound_maker_free(&m);
    ok = ok && film_sound_write(&out, &written, &count, &e);
    check(ok, "sound of a film: %s", e.text);
    bytes->assign(written, written + count);
    free(written);
    film_sound_free(&out);
    return seconds;
}

/* A film's sound by the processor and by the device, at the rate that needs no resampling. */
static void compare_film(size_t seconds, rng &r)
{
    std::vector<int16_t> sound(seconds * SPECTROGRAM_RATE);
    for (size_t i = 0; i < sound.size(); i++) /* noise of all loudnesses, and silence */
        sound[i] = (int16_t)((int16_t)(r.next() >> 48) >> (i / 7000 % 17));
    std::vector<uint8_t> cpu, gpu;
    double by_cpu = analyse(NULL, sound, &cpu), by_gpu = analyse(device, sound, &gpu);
    check(cpu == gpu, "%zu s of sound: the device gives other bytes", seconds);
    printf("%zu s of sound, all of it: %.3f s by the CPU, %.3f s with the device\n", seconds,
           by_cpu, by_gpu);
}

int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    need_device("check_sound");
    struct err e = ERR_INIT;
    device = sound_gpu_open(0, &e);
    if (!check(device, "%s", e.text))
        return done();
    rng r{20261126};
    static const size_t size[][2] = {{1, 1},   {1, 70},   {70, 1},  {5, 60},  {64, 64},
                                     {65, 63}, {33, 129}, {97, 40}, {2, 201}, {130, 66}};
    for (int radius = 1; radius <= 64; radius += quick && radius > 2 ? 6 : 1)
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
    compare_film(quick ? 10 : 7200, r);
    device->close(&device);
    return done();
}
