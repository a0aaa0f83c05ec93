#include <string.h>

#include "test.h"
#include "output/modes/render_line.h"

/* Shares of the frame, rounded down; the part multiplies them. */
TEST(weights)
{
    uint64_t weight[CLUSTERS_MAX];
    struct cluster cluster[3] = {{{1, 2, 3}, 600}, {{4, 5, 6}, 300}, {{7, 8, 9}, 100}};
    struct column c = {.clusters = 3, .cluster = cluster};
    assert_int_equal(pool_weigh(&c, 10, weight), 10 * (39321 + 19660 + 6553));
    assert_int_equal(weight[0], 393210);
    assert_int_equal(weight[1], 196600);
    assert_int_equal(weight[2], 65530);
    for (int j = 0; j < 3; j++)
        cluster[j].count = 0;
    /* as pictures show it: the first, from top to bottom */
    assert_int_equal(pool_weigh(&c, 10, weight), 10 * POOL_SHARE);
    assert_int_equal(weight[0], 10 * POOL_SHARE);
    assert_int_equal(weight[1] + weight[2], 0);
}

/* Each colour's pixels lie between its bounds, and the frame is full at the end. */
TEST(pixels)
{
    enum { PIXELS = 1000, COLOURS = 200 };
    uint8_t rgb[PIXELS][3];
    uint64_t weight[COLOURS], total = 0, sum = 0;
    for (uint64_t i = 0; i < COLOURS; i++)
        total += weight[i] = i % 5 == 3 ? 0 : (i * 7919 % 101) * (i == 50 ? 1000 : 1);
    memset(rgb, 255, sizeof rgb);
    struct pool p = {.rgb = rgb[0], .pixels = PIXELS, .total = total};
    for (uint64_t i = 0; i < COLOURS; i++)
        pool_put(&p, (const uint8_t[]){(uint8_t)i, 0, 7}, weight[i]);
    assert_int_equal(p.at, PIXELS);
    for (uint64_t i = 0; i < COLOURS; i++) {
        uint64_t from = PIXELS * sum / total, to = PIXELS * (sum += weight[i]) / total;
        for (; from < to; from++)
            assert_memory_equal(rgb[from], ((const uint8_t[]){(uint8_t)i, 0, 7}), 3);
    }
}

/* The greatest weights and images that pool_put may get (render_line.h). */
TEST(great_weights)
{
    static uint8_t rgb[1 << 14][3];
    struct pool p = {.rgb = rgb[0], .pixels = 1 << 14, .total = UINT64_C(1) << 48};
    pool_put(&p, (const uint8_t[]){1, 1, 1}, UINT64_C(1) << 47);
    assert_int_equal(p.at, 1 << 13);
    pool_put(&p, (const uint8_t[]){2, 2, 2}, UINT64_C(1) << 47);
    assert_int_equal(p.at, 1 << 14);
    assert_int_equal(rgb[(1 << 13) - 1][0], 1);
    assert_int_equal(rgb[1 << 13][0], 2);
}

TEST(no_weight)
{
    uint8_t rgb[3] = {9, 9, 9};
    struct pool p = {.rgb = rgb, .pixels = 1};
    pool_put(&p, (const uint8_t[]){1, 1, 1}, 0);
    assert_int_equal(p.at, 0);
    assert_int_equal(rgb[0], 9);
}
