#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "output/modes/band_order.h"

enum { COLUMNS_MOST = 200, K = 64 };

static struct column column[COLUMNS_MOST];
static struct cluster cluster[COLUMNS_MOST][K];
static uint8_t order[COLUMNS_MOST * K];

static const struct column *ask(const void *user, uint64_t i)
{
    (void)user;
    return column[i].clusters > 0 ? &column[i] : NULL;
}

static void set(int i, int clusters, const struct cluster *list)
{
    memcpy(cluster[i], list, (size_t)clusters * sizeof *list);
    column[i] = (struct column){.clusters = (uint8_t)clusters, .cluster = cluster[i]};
}

static void follow(int columns)
{
    struct err e = ERR_INIT;
    memset(order, 0xff, sizeof order);
    assert_true(band_follow(ask, NULL, (uint64_t)columns, order, K, &e));
}

/* Writes the order by lightness. */
static void sort(int i, uint8_t *to)
{
    strip_order(ORDER_LIGHTNESS, cluster[i], column[i].clusters, to);
}

/* Returns whether the bands of column i are by lightness. */
static bool is_sorted(int i)
{
    uint8_t by_light[K];
    sort(i, by_light);
    return memcmp(order + i * K, by_light, column[i].clusters) == 0;
}

/* Returns whether all columns have the order of the first. */
static bool is_steady(int columns)
{
    for (int i = 1; i < columns; i++)
        if (memcmp(order + i * K, order, column[0].clusters) != 0)
            return false;
    return true;
}

/* Fills columns with k random colours, each a little off those of the column before. */
static void walk(int columns, int k, int step)
{
    struct cluster c[K];
    for (int j = 0; j < k; j++)
        c[j] = (struct cluster){{(uint8_t)rand(), (uint8_t)rand(), (uint8_t)rand()}, 500};
    for (int i = 0; i < columns; i++) {
        for (int j = 0; j < k; j++) {
            for (int n = 0; n < 3; n++) {
                int v = c[j].rgb[n] + rand() % (2 * step + 1) - step;
                c[j].rgb[n] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
            }
            c[j].count = (uint32_t)(rand() % 1000);
        }
        c[0].count++;
        set(i, k, c);
    }
}

/* Gold and grey of nearly one lightness, which swap places if each column is sorted alone, as in
 * the trailer of Sintel at 0:40. */
TEST(near_ones_keep_their_places)
{
    int swaps = 0;
    for (int i = 0; i < 60; i++) {
        uint8_t shade = (uint8_t)(rand() % 5 - 2);
        uint32_t more = (uint32_t)rand() % 9;
        set(i, 4,
            (const struct cluster[]){{{(uint8_t)(190 + shade), 152, 80}, 300 + more},
                                     {{157, 159, (uint8_t)(153 - shade)}, 290},
                                     {{20, 18, 16}, 150},
                                     {{240, 235, 230}, 100}});
        uint8_t by_light[2][K];
        sort(i > 0 ? i - 1 : 0, by_light[0]);
        sort(i, by_light[1]);
        swaps += memcmp(by_light[0], by_light[1], 4) != 0;
    }
    assert_in_range(swaps, 10, 60);
    follow(60);
    assert_true(is_steady(60));
    assert_int_equal(order[0], 3);
    assert_int_equal(order[3], 2);
}

/* One rises past another: they change places once. */
TEST(far_ones_do_not)
{
    int swaps = 0;
    for (int i = 0; i < 100; i++)
        set(i, 2,
            (const struct cluster[]){{{(uint8_t)(60 + i), (uint8_t)(60 + i), 40}, 10},
                                     {{90, 90, (uint8_t)(200 - i / 2)}, 10}});
    follow(100);
    for (int i = 1; i < 100; i++)
        swaps += order[i * K] != order[(i - 1) * K];
    assert_int_equal(swaps, 1);
    assert_true(is_sorted(0) && is_sorted(99));
    /* those too far from each other, at once */
    for (int i = 0; i < 40; i++)
        set(i, 2,
            (const struct cluster[]){{{i % 2 ? 250 : 60, i % 2 ? 250 : 60, 60}, 10},
                                     {{i % 2 ? 60 : 160, i % 2 ? 60 : 160, 200}, 10}});
    follow(40);
    for (int i = 0; i < 40; i++)
        assert_true(is_sorted(i));
}

/* A missing column changes nothing, and the columns of one frame are alike. */
TEST(gaps_and_copies)
{
    static uint8_t whole[COLUMNS_MOST * K];
    srand(8);
    walk(30, 8, 9);
    follow(30);
    memcpy(whole, order, sizeof whole);
    for (int i = 29; i >= 0; i--) {
        column[3 * i + 2] = column[3 * i + 1] = column[i];
        column[3 * i] = (struct column){.clusters = 0};
    }
    follow(90);
    for (int i = 0; i < 90; i++)
        if (i % 3 > 0)
            assert_memory_equal(order + i * K, whole + i / 3 * K, 8);
    /* without any pixel */
    set(0, 2, (const struct cluster[]){{{1, 2, 3}, 0}, {{9, 9, 9}, 0}});
    set(1, 2, (const struct cluster[]){{{9, 9, 9}, 0}, {{1, 2, 3}, 0}});
    follow(2);
    assert_true(is_sorted(0));
}
