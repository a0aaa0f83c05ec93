#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/sound/spectrogram.h"
#include "sound/resample.h"
#include "test.h"

/* Common rates, some that have more places than the filter has rows, and the ends. */
static const int rates[] = {8000,  11025, 12000, 16000, 22050, 24000,  32000,  44099,
                            44100, 48000, 47999, 88200, 96000, 176400, 192000, 768000};
enum { RATES = sizeof rates / sizeof *rates };

struct heard {
    int16_t *sample;
    size_t count, room;
};

static bool hear(void *user, const int16_t *samples, size_t count, struct err *e)
{
    struct heard *h = user;
    assert_true(err_reserve(&h->sample, h->count + count, &h->room, sizeof *h->sample, e));
    memcpy(h->sample + h->count, samples, count * sizeof *samples);
    h->count += count;
    return true;
}

/* Resamples in[count], in blocks of `block` samples; the caller frees the result's samples. */
static struct heard resample(enum isa isa, int rate, const int16_t *in, size_t count, size_t block)
{
    struct err e = ERR_INIT;
    struct heard h = {0};
    struct resampler *r = resampler_open(isa, hear, &h, &e);
    assert_non_null(r);
    assert_true(resampler_begin(r, rate, &e));
    for (size_t at = 0; at < count; at += block)
        assert_true(resampler_push(r, in + at, count - at < block ? count - at : block, &e));
    assert_true(resampler_end(r, &e));
    resampler_free(&r);
    return h;
}

static int16_t *sine(int rate, double hz, double amplitude, size_t count)
{
    int16_t *in = malloc(count * sizeof *in + 1);
    assert_non_null(in);
    for (size_t i = 0; i < count; i++)
        in[i] = (int16_t)lrint(amplitude * sin(2 * M_PI * hz * (double)i / rate));
    return in;
}

/* Returns how far the output is from the sine at `level` of its height, in dB of the sine. */
static double error_of(int rate, double hz, double level)
{
    size_t count = (size_t)rate / 4;
    int16_t *in = sine(rate, hz, 20000, count);
    struct heard h = resample(ISA_BASE, rate, in, count, 4096);
    double sum = 0;
    size_t from = 1000, to = h.count - 1000;
    for (size_t n = from; n < to; n++) {
        double want = level * 20000 * sin(2 * M_PI * hz * (double)n / SPECTROGRAM_RATE);
        sum += (h.sample[n] - want) * (h.sample[n] - want);
    }
    free(in);
    free(h.sample);
    return 10 * log10(sum / (double)(to - from) / (20000.0 * 20000 / 2));
}

/* Level and time of what passes are right: the sine itself comes out. */
TEST(passes_tones_in_time)
{
    for (int i = 0; i < RATES; i++) {
        double half = (rates[i] < SPECTROGRAM_RATE ? rates[i] : SPECTROGRAM_RATE) / 2.0;
        for (int step = 1; step <= 16; step++) {
            double hz = half * 0.8 * step / 16, error = error_of(rates[i], hz, 1);
            if (error > (rates[i] > 192000 ? -50 : -55))
                fail_msg("%d Hz, a tone of %.0f Hz: %.1f dB", rates[i], hz, error);
        }
    }
}

TEST(stops_what_would_alias)
{
    for (int i = 0; i < RATES; i++) {
        double half = SPECTROGRAM_RATE / 2.0, end = rates[i] / 2.0;
        for (int step = 0; step <= 40 && end > half; step++) {
            double hz = half + (end - half) * step / 40 * 0.999, error = error_of(rates[i], hz, 0);
            if (error > (rates[i] > 192000 ? -55 : -60))
                fail_msg("%d Hz, a tone of %.0f Hz: %.1f dB", rates[i], hz, error);
        }
    }
}

TEST(rows_add_up)
{
    for (int i = 0; i < RATES; i++) {
        struct resample_filter f = {0};
        assert_true(resample_filter_set(&f, rates[i], NULL));
        assert_int_equal(f.taps % FIR_STEP, 0);
        for (uint32_t row = 0; row <= f.phases; row++) {
            int sum = 0, size = 0;
            for (size_t k = 0; k < f.taps; k++) {
                sum += f.coef[row * f.taps + k];
                size += abs(f.coef[row * f.taps + k]);
            }
            assert_int_equal(sum, 1 << FIR_BITS);
            assert_true(size < 1 << 16);
        }
        resample_filter_free(&f);
    }
}

/* A filter that changes gives other sound: increase SOUND_VERSION then. */
TEST(golden_filter)
{
    struct resample_filter f = {0};
    uint64_t sum = 0;
    for (int i = 0; i < RATES; i++) {
        assert_true(resample_filter_set(&f, rates[i], NULL));
        for (size_t k = 0; k < (f.phases + 1) * f.taps; k++)
            sum = sum * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)f.coef[k];
    }
    resample_filter_free(&f);
    assert_true(sum == UINT64_C(0x79e8885c15054e60));
}

TEST(counts)
{
    static const int odd[] = {1, 7, 15999, 16000, 16001, 44100, 48000, 767999, 768000};
    static int16_t in[5000];
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (size_t count = 0; count < 5000; count = count * 3 + 1) {
            if (odd[i] < 100 && count > 40)
                continue;
            struct heard h = resample(ISA_BASE, odd[i], in, count, 64);
            uint64_t rate = (uint64_t)odd[i];
            assert_int_equal(h.count, (count * SPECTROGRAM_RATE + rate - 1) / rate);
            free(h.sample);
        }
}

static bool same(const struct heard *a, const struct heard *b)
{
    return a->count == b->count && memcmp(a->sample, b->sample, a->count * sizeof *a->sample) == 0;
}

TEST(same_bytes_in_any_parts_on_any_processor)
{
    enum { COUNT = 30011 };
    static int16_t in[COUNT];
    for (int i = 0; i < COUNT; i++)
        in[i] = (int16_t)(rand() % 5 == 0 ? INT16_MIN : rand() % 4 == 0 ? INT16_MAX : rand());
    for (int i = 0; i < RATES; i++) {
        struct heard whole = resample(ISA_BASE, rates[i], in, COUNT, COUNT);
        static const size_t block[] = {1, 7, 1024, 20000};
        for (size_t k = 0; k < 4; k++)
            for (enum isa isa = ISA_BASE; isa <= ISA_AVX2 && isa_supported(isa); isa++) {
                struct heard part = resample(isa, rates[i], in, COUNT, block[k]);
                assert_true(same(&whole, &part));
                free(part.sample);
            }
        free(whole.sample);
    }
}

/* The worst that samples can do to a sum: each has the sign of its coefficient. */
TEST(loudest_sums_are_cut_off)
{
    struct resample_filter f = {0};
    for (int i = 0; i < RATES; i++) {
        assert_true(resample_filter_set(&f, rates[i], NULL));
        int16_t *in = malloc(f.taps * sizeof *in), out[FIR_BATCH];
        for (int sign = 0; sign < 2; sign++) {
            for (size_t k = 0; k < f.taps; k++)
                in[k] = (f.coef[k] < 0) == sign ? INT16_MAX : INT16_MIN;
            const int16_t *all[FIR_BATCH] = {in, in, in, in};
            const int16_t *coef[FIR_BATCH] = {f.coef, f.coef, f.coef, f.coef};
            for (enum isa isa = ISA_BASE; isa <= ISA_AVX2 && isa_supported(isa); isa++) {
                ISA_PICK(fir, isa)->run(all, coef, f.taps, out);
                assert_int_equal(out[0], sign ? INT16_MIN : INT16_MAX);
                assert_int_equal(out[3], out[0]);
            }
        }
        free(in);
    }
    resample_filter_free(&f);
}

TEST(constant_stays)
{
    static int16_t in[48000];
    for (int i = 0; i < 48000; i++)
        in[i] = -12345;
    for (int i = 0; i < RATES; i++) {
        struct heard h = resample(ISA_BASE, rates[i], in, (size_t)rates[i] / 16, 999);
        for (size_t n = 100; n + 100 < h.count; n++)
            assert_int_equal(h.sample[n], -12345);
        assert_true(h.count > 300);
        free(h.sample);
    }
}
