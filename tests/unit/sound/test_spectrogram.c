#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/sound/spectrogram.h"
#include "test.h"
#include "chance.h"

enum { BINS = SPECTROGRAM_BINS, WINDOW = SPECTROGRAM_WINDOW, HOP = SPECTROGRAM_HOP, MOST = 9000 };
static const long double pi = 3.14159265358979323846264338327950288L;
static struct stft_tables tables;
static int16_t sound[MOST], got[24][BINS], want[24][BINS];

static int random_sample(void) { return between(-32768, 32767); }

FIXTURE(fill_tables)
{
    stft_tables_init(&tables);
    return 0;
}

/* Within half a unit, and what long double itself is off. */
static void check_near(int64_t value, long double exact)
{
    assert_true(fabsl((long double)value - exact) <= 0.5L + 1e-8L);
}

TEST(twiddles_and_window)
{
    for (int k = 0; k < BINS; k++) {
        long double angle = 2 * pi * k / 1024;
        check_near(tables.twiddle[k].minus_cos, -cosl(angle) * 2147483648.0L);
        check_near(tables.twiddle[k].minus_sin, -sinl(angle) * 2147483648.0L);
    }
    uint32_t sum = 0;
    for (int n = 0; n < WINDOW; n++) {
        check_near(tables.window[n], (1 - cosl(2 * pi * n / 1024)) * 16384);
        sum += tables.window[n];
    }
    assert_int_equal(sum, 512 * 32768);
}

/* Squared, the largest sums of neighbouring weights: the header's bound of |Z|. */
TEST(window_keeps_sums_small)
{
    long double sum = 0;
    for (int n = 0; n < WINDOW; n += 2)
        sum += sqrtl((long double)tables.window[n] * tables.window[n] +
                     (long double)tables.window[n + 1] * tables.window[n + 1]);
    assert_true(sum * 32768 / 512 + 9 < 1073741824.0L);
}

TEST(thresholds_are_logarithms)
{
    for (int i = 0; i < 256; i++) {
        long double exact = 63 + (2 * i + 1) / 512.0L;
        /* the derivative of log2: a unit of the threshold is below 2^-63 */
        assert_true(fabsl(log2l((long double)tables.threshold[i]) - exact) < 1e-17L);
        assert_true(i == 0 || tables.threshold[i] > tables.threshold[i - 1]);
    }
}

static int16_t value_of(int32_t re, int32_t im)
{
    return stft_value(&tables, (struct stft_complex){re, im});
}

static int16_t exact_value(int32_t re, int32_t im)
{
    long double power = (long double)re * re + (long double)im * im + 1;
    return (int16_t)floorl(256 * log2l(power) + 0.5L);
}

TEST(value_is_rounded_exactly)
{
    assert_int_equal(value_of(0, 0), 0);
    assert_int_equal(value_of(1, 0), 256);
    assert_int_equal(value_of(0, -1), 256);
    assert_int_equal(value_of(536870912, 0), 14848);
    assert_int_equal(value_of(1 << 30, -(1 << 30)), SPECTROGRAM_VALUE_MOST);
    for (int32_t re = 0; re < 3000; re++)
        for (int32_t im = 0; im < 3; im++)
            assert_int_equal(value_of(re, -im), exact_value(re, im));
    for (int i = 0; i < 300000; i++) {
        int shift = i % 16;
        int32_t re = random_sample() * 32768 >> shift, im = random_sample() >> shift / 2;
        assert_int_equal(value_of(re, im), exact_value(re, im));
    }
}

TEST(rounds_to_nearest_ties_to_even)
{
    static const struct {
        int64_t t;
        int32_t want;
    } row[] = {{0, 0},
               {INT64_C(1) << 31, 0},
               {-(INT64_C(1) << 31), 0},
               {(INT64_C(1) << 31) + 1, 1},
               {-(INT64_C(1) << 31) - 1, -1},
               {INT64_C(3) << 31, 2},
               {-(INT64_C(3) << 31), -2},
               {(INT64_C(3) << 31) - 1, 1},
               {INT64_C(5) << 31, 2},
               {INT64_C(7) << 32, 7}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_int_equal(stft_round(row[i].t), row[i].want);
}

static void spectrum(enum isa isa, size_t samples, size_t frames, int16_t (*out)[BINS])
{
    struct err e = ERR_INIT;
    struct spectrogram *s = spectrogram_open(isa, &e);
    assert_non_null(s);
    spectrogram_run(s, sound, samples, frames, out[0]);
    spectrogram_free(&s);
    assert_null(s);
}

/* The definition: the transform itself, in long double. A value may be of an |X| that is off by 4.
 */
static void check_frame(size_t samples, size_t frame)
{
    static long double cosine[WINDOW];
    for (int n = 0; n < WINDOW; n++)
        cosine[n] = cosl(2 * pi * n / WINDOW);
    for (size_t k = 0; k < BINS; k++) {
        long double re = 0, im = 0;
        for (size_t n = 0; n < WINDOW; n++) {
            size_t at = frame * HOP + n;
            long double a = at < samples ? (long double)sound[at] * tables.window[n] / 512 : 0;
            re += a * cosine[k * n % WINDOW];
            im += a * cosine[(k * n + WINDOW / 4) % WINDOW];
        }
        long double size = sqrtl(re * re + im * im), low = size > 4 ? size - 4 : 0;
        assert_true(got[frame][k] >= 256 * log2l(low * low + 1) - 0.51L);
        assert_true(got[frame][k] <= 256 * log2l((size + 4) * (size + 4) + 1) + 0.51L);
    }
}

enum content { NOISE, QUIET, SINE, CLICK, LOUDEST, ALTERNATING, SQUARE, CONTENTS };

/* QUIET becomes louder: ties are where sums are small and even. */
static void draw(enum content c)
{
    for (int i = 0; i < MOST; i++)
        sound[i] = (int16_t)(c == NOISE         ? random_sample()
                             : c == QUIET       ? random_sample() % (2 + i / 2250)
                             : c == SINE        ? lrint(32767 * sin(i * 0.3))
                             : c == CLICK       ? (i == 700 ? -32768 : 0)
                             : c == LOUDEST     ? (random_sample() < 0 ? -32768 : 32767)
                             : c == ALTERNATING ? (i / 2 % 2 ? -32768 : 32767)
                                                : (cos(i * 0.3) < 0 ? -32768 : 32767));
}

TEST(is_the_transform)
{
    for (enum content c = NOISE; c < CONTENTS; c++) {
        draw(c);
        spectrum(ISA_BASE, 2500, spectrogram_frames(2500), got);
        for (size_t t = 0; t < 5; t++)
            check_frame(2500, t);
    }
}

/* The header's steps for one frame, by its own functions. */
static void run_steps(const int16_t *in, int16_t *out)
{
    struct stft_complex z[BINS];
    for (size_t n = 0; n < BINS; n++)
        z[tables.place[n]] = (struct stft_complex){in[2 * n] * tables.window[2 * n],
                                                   in[2 * n + 1] * tables.window[2 * n + 1]};
    for (size_t half = 1; half < BINS; half *= 2)
        for (size_t i = 0; i < BINS / 2; i++) {
            size_t j = i % half, a = 2 * (i - j) + j, k = j * (BINS / half);
            stft_butterfly(z + a, z + a + half, tables.twiddle[k].minus_cos,
                           tables.twiddle[k].minus_sin);
        }
    for (size_t k = 0; k <= BINS / 2; k++) {
        struct stft_complex x = z[k], y = z[(BINS - k) % BINS];
        stft_even_odd(&x, &y);
        stft_butterfly(&x, &y, tables.twiddle[k].minus_cos, tables.twiddle[k].minus_sin);
        out[(BINS - k) % BINS] = stft_value(&tables, y);
        out[k] = stft_value(&tables, x);
    }
}

TEST(steps_are_exact)
{
    for (enum content c = NOISE; c < CONTENTS; c++) {
        draw(c);
        spectrum(ISA_BASE, MOST, 16, got);
        for (size_t t = 0; t < 16; t++) {
            run_steps(sound + t * HOP, want[0]);
            assert_memory_equal(got[t], want[0], sizeof *got);
        }
    }
}

/* A full-scale sine of bin 64; what leaks into others is the window and the samples' rounding. */
TEST(full_scale_sine)
{
    for (int i = 0; i < MOST; i++)
        sound[i] = (int16_t)lrint(32767 * sin(2 * 3.14159265358979 * i / 16));
    spectrum(ISA_BASE, 2048, 2, got);
    assert_int_equal(got[1][64], 14848);
    assert_int_equal(got[1][63], 14848 - 512);
    assert_in_range(got[1][67], 0, 8000);
}

TEST(every_instruction_set)
{
    for (enum content c = NOISE; c < CONTENTS; c++) {
        draw(c);
        for (size_t samples = 511; samples < MOST; samples += 1061) {
            size_t frames = spectrogram_frames(samples);
            spectrum(ISA_BASE, samples, frames, want);
            for (enum isa isa = ISA_AVX2; isa <= ISA_VNNI && isa_supported(isa); isa++) {
                memset(got, 0x5a, sizeof got);
                spectrum(isa, samples, frames, got);
                assert_memory_equal(got, want, frames * sizeof *got);
                assert_int_equal(got[frames][0], 0x5a5a);
            }
        }
    }
}

TEST(ends_with_silence)
{
    assert_int_equal(spectrogram_frames(0), 0);
    assert_int_equal(spectrogram_frames(1), 1);
    assert_int_equal(spectrogram_frames(512), 1);
    assert_int_equal(spectrogram_frames(513), 2);
    assert_true(spectrogram_frames(SIZE_MAX) == SIZE_MAX / 512 + 1);
    draw(NOISE);
    spectrum(ISA_BASE, 1300, 3, got);
    memset(sound + 1300, 0, sizeof sound - 1300 * sizeof *sound);
    spectrum(ISA_BASE, MOST, 3, want);
    assert_memory_equal(got, want, 3 * sizeof *got);
}

TEST(in_parts)
{
    struct err e = ERR_INIT;
    struct spectrogram *s = spectrogram_open(ISA_BASE, &e);
    draw(NOISE);
    spectrogram_run(s, sound, MOST, 17, want[0]);
    for (size_t t = 0; t < 17; t += 3) {
        size_t frames = t + 3 > 17 ? 17 - t : 3, last = (t + frames) * HOP + (WINDOW - HOP);
        spectrogram_run(s, sound + t * HOP, (last < MOST ? last : MOST) - t * HOP, frames, got[t]);
    }
    assert_memory_equal(got, want, 17 * sizeof *got);
    spectrogram_free(&s);
    spectrogram_free(&s);
}

TEST_FIXTURE(fill_tables, NULL)
