#include <stdlib.h>
#include <string.h>

#include "barcode/sound/peaks.h"
#include "test.h"
#include "chance.h"

enum { MOST = 70 * 1200 };
static int16_t in[MOST + 2], out[MOST + 2], want[MOST];

enum content { RANDOM, PLATEAUS, LOWEST, FALLING, ONE_POINT, CONTENTS };

static void draw(int rows, int columns, enum content c)
{
    int spot = (int)(chance() % (uint32_t)(rows * columns));
    for (int i = 0; i < rows * columns; i++)
        in[i] = (int16_t)(c == RANDOM     ? (int)(chance() & 0xffff) - 32768
                          : c == PLATEAUS ? (int)(chance() % 4)
                          : c == LOWEST   ? INT16_MIN
                          : c == FALLING  ? 30000 - i % 60000
                                          : (i == spot ? 7 : -9));
}

/* The definition, point by point. */
static void filter_naively(int rows, int columns, int radius)
{
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++) {
            int16_t most = INT16_MIN;
            for (int v = y - radius < 0 ? 0 : y - radius; v < rows && v <= y + radius; v++) {
                int reach = radius - abs(v - y);
                int last = x + reach >= columns ? columns - 1 : x + reach;
                for (int u = x - reach < 0 ? 0 : x - reach; u <= last; u++)
                    most = in[v * columns + u] > most ? in[v * columns + u] : most;
            }
            want[y * columns + x] = most;
        }
}

static void check_sizes(int radius, const int (*size)[2], size_t sizes)
{
    struct err e = ERR_INIT;
    for (size_t i = 0; i < sizes; i++) {
        int rows = size[i][0], columns = size[i][1];
        size_t n = (size_t)(rows * columns);
        draw(rows, columns, (enum content)(chance() % CONTENTS));
        filter_naively(rows, columns, radius);
        memset(out, 0x5a, sizeof out);
        assert_true(max_filter_run(in, (size_t)rows, (size_t)columns, radius, out + 1, &e));
        assert_memory_equal(out + 1, want, n * sizeof *want);
        assert_int_equal(out[0], 0x5a5a);
        assert_int_equal(out[n + 1], 0x5a5a);
    }
}

TEST(every_radius_and_small_size)
{
    static const int size[][2] = {{1, 1},  {1, 2},   {2, 1},   {3, 3},   {1, 90}, {90, 1},
                                  {5, 60}, {60, 5},  {20, 41}, {41, 20}, {7, 64}, {33, 17},
                                  {2, 65}, {40, 40}, {66, 3},  {16, 128}};
    for (int radius = 1; radius <= 70; radius++)
        check_sizes(radius, size, sizeof size / sizeof *size);
}

/* More rows than a band has, and a width that no vector divides. */
TEST(several_bands)
{
    static const int size[][2] = {{70, 1200}, {9, 8191}, {129, 651}, {1000, 84}, {1, 40000}};
    static const int radius[] = {1, 2, 19, 20, 31, 64, 200};
    for (size_t i = 0; i < sizeof radius / sizeof *radius; i++)
        check_sizes(radius[i], size, sizeof size / sizeof *size);
}

TEST(random_sizes)
{
    for (int i = 0; i < 300; i++) {
        int size[1][2] = {{1 + (int)(chance() % 70), 1 + (int)(chance() % 90)}};
        check_sizes(1 + (int)(chance() % 32), (const int(*)[2])size, 1);
    }
}

TEST(larger_than_the_array)
{
    static const int size[][2] = {{1, 1}, {3, 5}, {40, 2}};
    check_sizes(MAX_FILTER_RADIUS_MOST, size, 3);
}

TEST(empty)
{
    struct err e = ERR_INIT;
    out[0] = 77;
    assert_true(max_filter_run(in, 0, 5, 3, out, &e));
    assert_true(max_filter_run(in, 5, 0, 3, out, &e));
    assert_int_equal(out[0], 77);
}
