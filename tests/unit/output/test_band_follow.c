#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "barcode/engine/oklab.h"
#include "barcode/engine/srgb.h"
#include "output/modes/band_order.h"

enum { COLUMNS_MOST = 200, K = 64, HEIGHTS = 1 << 16 };

static struct column column[COLUMNS_MOST];
static struct cluster cluster[COLUMNS_MOST][K];
static uint8_t order[COLUMNS_MOST * K];
static uint16_t root[OKLAB_ROOTS];

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

static int lightness(const struct cluster *c) { return root[srgb_luminance(c->rgb) / 10000] / 16; }

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

/* Returns the cluster at each height. */
static void paint(int i, const uint8_t *bands, uint8_t *at)
{
    uint64_t total = 0, y = 0;
    for (int j = 0; j < column[i].clusters; j++)
        total += cluster[i][j].count;
    memset(at, 0xff, HEIGHTS);
    for (int b = 0; b < column[i].clusters; b++)
        for (uint64_t n = cluster[i][bands[b]].count * UINT64_C(65536) / total; n > 0; n--)
            at[y++] = bands[b];
}

/* The sum that the definition keeps small, height by height. */
static int64_t value_of(int columns, const uint8_t *bands)
{
    static uint8_t at[2][HEIGHTS];
    int64_t sum = 0;
    for (int i = 0; i < columns; i++) {
        paint(i, bands + i * K, at[i & 1]);
        int64_t count[K] = {0};
        for (int y = 0; y < HEIGHTS && at[i & 1][y] != 0xff; y++) {
            count[at[i & 1][y]]++;
            if (i == 0 || at[1 - (i & 1)][y] == 0xff)
                continue;
            struct oklab a = oklab_of(srgb_linear, root, cluster[i][at[i & 1][y]].rgb),
                         b = oklab_of(srgb_linear, root, cluster[i - 1][at[1 - (i & 1)][y]].rgb);
            sum += abs(a.l - b.l) + 2 * abs(a.a - b.a) + 2 * abs(a.b - b.b);
        }
        for (int b = 0; b < column[i].clusters; b++)
            for (int c = b + 1; c < column[i].clusters; c++) {
                int p = bands[i * K + b], q = bands[i * K + c],
                    rise = lightness(&cluster[i][q]) - lightness(&cluster[i][p]);
                sum += rise > 0 ? count[p] * count[q] * rise >> 17 : 0;
            }
    }
    return sum;
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

/* Every order has each cluster once, falls from light to dark by the definition, and the choice is
 * not worse than to sort each column alone. */
TEST(what_the_definition_says)
{
    srand(3);
    for (int round = 0; round < 24; round++) {
        int k = (const int[]){1, 2, 5, 8, 13, 64}[round % 6], columns = k > 13 ? 12 : 40;
        static uint8_t by_light[COLUMNS_MOST * K];
        walk(columns, k, 1 + rand() % 24);
        follow(columns);
        for (int i = 0; i < columns; i++) {
            bool found[K] = {false};
            int darkest = 1024;
            for (int b = 0; b < k; b++) {
                int j = order[i * K + b], light = lightness(&cluster[i][j]);
                assert_in_range(j, 0, k - 1);
                assert_false(found[j]);
                found[j] = true;
                assert_true(light - darkest <= 819 / (k > 8 ? k : 8));
                darkest = light < darkest ? light : darkest;
            }
            sort(i, by_light + i * K);
        }
        assert_true(value_of(columns, order) <= value_of(columns, by_light));
        follow(1);
        assert_true(is_sorted(0));
    }
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

static int begin(void **state)
{
    (void)state;
    oklab_roots(root);
    return 0;
}

TEST_FIXTURE(begin, NULL)
