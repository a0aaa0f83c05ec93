#include <stdlib.h>

#include "test.h"
#include "live/live_record.h"
#include "live/live_bench.h"
#include "barcode/engine/column.h"

enum { WIDTH = 37, HEIGHT = 23, PIXELS = WIDTH * HEIGHT };

static void make(uint8_t rgb[PIXELS * 3], unsigned seed)
{
    for (size_t i = 0; i < PIXELS * 3; i++)
        rgb[i] = (uint8_t)((seed = seed * 1103515245u + 12345u) >> 16);
}

/* Of one frame it is what column_fill computes, of code values and of light. */
TEST(one_frame)
{
    struct err e = ERR_INIT;
    const struct light_rule rule = {.linear = true};
    struct light *light = light_open(&rule, 0, &e);
    const struct light_table *table = light_table(light, TRANSFER_SDR, &e);
    assert_non_null(table);
    for (unsigned seed = 0; seed < 40; seed++) {
        const struct light_table *means = seed % 2 ? table : NULL;
        uint8_t rgb[PIXELS * 3], mean[3];
        uint32_t rows[HEIGHT * 3] = {0};
        struct column column = {.status = COLUMN_MISSING};
        const struct frame_tag tag = {.repeat = 1};
        struct live_average a = {.count = 0};
        make(rgb, seed);
        for (size_t i = 0; i < PIXELS * 3 && !means; i++)
            rows[i / 3 / WIDTH * 3 + i % 3] += rgb[i];
        for (size_t y = 0; y < HEIGHT && means; y++)
            column_row_light(means, rgb + y * WIDTH * 3, WIDTH, rows + y * 3);
        column_fill(&column, &tag, rows, WIDTH, HEIGHT, false, means);
        live_average_frame(&a, rgb, WIDTH, HEIGHT, means);
        live_average_colour(&a, means, mean);
        assert_memory_equal(mean, column.average, 3);
    }
    light_close(&light);
}

/* The mean of all pixels of many frames, rounded once. */
TEST(many_frames)
{
    struct live_average all = {.count = 0};
    uint64_t sum[3] = {0}, count = 0;
    for (unsigned seed = 0; seed < 100; seed++) {
        uint8_t rgb[PIXELS * 3], mean[3];
        struct live_average one = {.count = 0};
        make(rgb, seed);
        for (size_t i = 0; i < PIXELS * 3; i++)
            sum[i % 3] += rgb[i];
        count += PIXELS;
        live_average_frame(&one, rgb, WIDTH, HEIGHT, NULL);
        live_average_add(&all, &one);
        live_average_colour(&all, NULL, mean);
        for (int c = 0; c < 3; c++)
            assert_int_equal(mean[c], (2 * sum[c] + count) / (2 * count));
    }
}

TEST(percentiles)
{
    static struct live_bench b;
    assert_int_equal(live_bench_percentile(&b, 99), 0);
    for (int i = 1; i <= 1000; i++)
        live_bench_add(&b, i * 100 - 50); /* 0.05, 0.15 ... 99.95 ms */
    assert_int_equal(b.frames, 1000);
    assert_int_equal(live_bench_percentile(&b, 50), 50000);
    assert_int_equal(live_bench_percentile(&b, 99), 99000);
    assert_int_equal(live_bench_percentile(&b, 100), 99950);
    live_bench_add(&b, INT64_C(5000000));
    assert_int_equal(live_bench_percentile(&b, 99), 99100);
    assert_int_equal(live_bench_percentile(&b, 100), 1000100);
    live_bench_add(&b, -5);
    assert_int_equal(b.frames, 1002);
}
