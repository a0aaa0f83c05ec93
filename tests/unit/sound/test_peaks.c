#include <stdlib.h>
#include <string.h>

#include "barcode/sound/peaks.h"
#include "barcode/sound/spectrogram.h"
#include "test.h"
#include "chance.h"

enum { BINS = SPECTROGRAM_BINS, FRAMES = 600, WANTED = FRAMES * BINS };
static int16_t value[FRAMES][BINS];
static struct peak want[WANTED];

enum content { RANDOM, PLATEAUS, SPARSE, LINES, RISING, FALLING, EQUAL, CONTENTS };

/* Bins that are far from each other, with a value every 20 frames: the wide diamond's ends. */
static int16_t spaced(enum content c, int t, int f)
{
    if (f % 25 != 12 || t % 20 != f / 25 % 20)
        return 0;
    return (int16_t)(c == RISING ? 8000 + t : c == FALLING ? 9000 - t : 8000);
}

static void draw(enum content c)
{
    for (int t = 0; t < FRAMES; t++)
        for (int f = 0; f < BINS; f++) {
            uint32_t r = chance();
            value[t][f] = (int16_t)(c == RANDOM     ? 5000 + (int)(r % 9000)
                                    : c == PLATEAUS ? 7000 + (int)(r % 3) * 100
                                    : c == SPARSE   ? (r % 200 ? 0 : 7000 + (int)(r % 7) * 100)
                                    : c == LINES    ? (f % 32 ? 7200 : 7300 + t / 100)
                                                    : spaced(c, t, f));
        }
}

/* The definition, point by point. */
static bool is_peak(int frames, int t, int f, int radius)
{
    for (int u = t - radius; u <= t + radius; u++) {
        int reach = radius - abs(u - t);
        for (int g = f - reach; u >= 0 && u < frames && g <= f + reach; g++) {
            if (g < 0 || g >= BINS)
                continue;
            bool before = u < t || (u == t && g < f);
            if (value[u][g] > value[t][f] || (before && value[u][g] == value[t][f]))
                return false;
        }
    }
    return true;
}

static size_t find_naively(int frames, int16_t floor)
{
    size_t n = 0;
    for (int t = 0; t < frames; t++)
        for (int f = PEAK_BIN_LEAST; f < BINS; f++)
            if (value[t][f] >= floor && is_peak(frames, t, f, 10))
                want[n++] = (struct peak){(uint32_t)t, (uint16_t)f, is_peak(frames, t, f, 20)};
    return n;
}

/* step 0: parts of random sizes. */
static void check_parts(size_t frames, int16_t floor, size_t step, size_t n)
{
    struct err e = ERR_INIT;
    struct peaks *p = peaks_open(floor, NULL, &e);
    assert_non_null(p);
    for (size_t t = 0, part; t < frames; t += part) {
        part = step ? step : chance() % 60;
        part = part < frames - t ? part : frames - t;
        assert_true(peaks_push(p, value[t], part, &e));
    }
    assert_true(peaks_finish(p, &e));
    size_t found;
    const struct peak *list = peaks_list(p, &found);
    assert_int_equal(found, n);
    if (n)
        assert_memory_equal(list, want, n * sizeof *want);
    peaks_free(&p);
    assert_null(p);
    peaks_free(&p);
}

TEST(definition_in_parts_of_every_size)
{
    for (enum content c = RANDOM; c < CONTENTS; c++) {
        draw(c);
        size_t n = find_naively(FRAMES, PEAK_FLOOR);
        assert_true(n > 0);
        assert_true(n <= (size_t)FRAMES * BINS / 61 * 2);
        static const size_t step[] = {1, 7, 216, 255, 256, 257, FRAMES, 0};
        for (size_t i = 0; i < sizeof step / sizeof *step; i++)
            check_parts(FRAMES, PEAK_FLOOR, step[i], n);
    }
}

TEST(short_spectrograms)
{
    draw(RANDOM);
    for (int frames = 0; frames < 50; frames++)
        check_parts((size_t)frames, -1, 0, find_naively(frames, -1));
}

TEST(floor_and_least_bin)
{
    memset(value, 0, sizeof value);
    value[3][PEAK_BIN_LEAST - 1] = 9000;
    value[40][PEAK_BIN_LEAST] = PEAK_FLOOR;
    value[80][9] = PEAK_FLOOR - 1;
    value[120][BINS - 1] = INT16_MAX;
    value[135][BINS - 1] = 9000; /* within 20 of a larger one, not within 10 */
    want[0] = (struct peak){40, PEAK_BIN_LEAST, 1};
    want[1] = (struct peak){120, BINS - 1, 1};
    want[2] = (struct peak){135, BINS - 1, 0};
    check_parts(FRAMES, PEAK_FLOOR, 0, 3);
}
