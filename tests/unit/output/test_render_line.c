#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "output/modes/render_line.h"
#include "output/modes/render_line.h"
#include "strips.h"

enum { COUNT_MAX = 40, ROWS_MAX = 40 };

/*
 * The area mean by its definition, cell by cell: how long the overlap of output cell i of `out`
 * with input cell j of `in` is, in units of 1 / (in * out) of the line.
 */
static uint8_t mean(const uint8_t *in_cells, size_t stride, uint64_t in, uint64_t out, uint64_t i)
{
    uint64_t sum = 0;
    for (uint64_t j = 0; j < in; j++) {
        uint64_t low = i * in > j * out ? i * in : j * out;
        uint64_t high = (i + 1) * in < (j + 1) * out ? (i + 1) * in : (j + 1) * out;
        if (low < high)
            sum += (high - low) * in_cells[j * stride];
    }
    return (uint8_t)((2 * sum + in) / (2 * in));
}

/* Downsample at random sizes, in both directions at once, against the definition. */
TEST(test_area_mean)
{
    srand(11);
    for (int round = 0; round < 200; round++) {
        uint64_t count = 1 + (uint64_t)rand() % COUNT_MAX;
        int rows = 1 + rand() % ROWS_MAX, width = 1 + rand() % 60, height = 1 + rand() % 60;
        struct err e = ERR_INIT;
        struct columns *columns = columns_open(0, rows, &e);
        for (uint64_t i = 0; i < count; i++) {
            struct column *c = columns_at(columns, i, &e);
            c->status = COLUMN_OK;
            for (int j = 0; j < rows * 3; j++)
                c->row[j] = (uint8_t)rand();
        }
        struct report report = {
            .columns = columns, .count = count, .analysis.width = 1, .analysis.height = rows};
        struct strip *s = strip_open(&report, alone("squeeze").kind[0], width, height, &e);
        assert_non_null(s);
        for (int y = 0; y < height; y++) {
            uint8_t line[COUNT_MAX], rgb[60 * 3];
            for (uint64_t i = 0; i < count; i++)
                line[i] = mean(columns_get(columns, i)->row + 1, 3, (uint64_t)rows,
                               (uint64_t)height, (uint64_t)y);
            strip_row(s, y, rgb);
            for (int x = 0; x < width; x++)
                assert_int_equal(rgb[x * 3 + 1],
                                 mean(line, 1, count, (uint64_t)width, (uint64_t)x));
        }
        strip_free(&s);
        assert_null(s);
        columns_free(&columns);
    }
}

enum { MOST = 60 };

static uint64_t overlap(uint64_t x, uint64_t i, uint64_t count, uint64_t width)
{
    uint64_t low = x * count > i * width ? x * count : i * width;
    uint64_t high = (x + 1) * count < (i + 1) * width ? (x + 1) * count : (i + 1) * width;
    return low < high ? high - low : 0;
}

/* The weighted medoid by its definition: every column against every other. */
TEST(test_medoid)
{
    srand(12);
    for (int round = 0; round < 2000; round++) {
        uint64_t count = 1 + (uint64_t)rand() % MOST, width = 1 + (uint64_t)rand() % MOST;
        int shades = 2 + rand() % 200;
        uint8_t line[MOST][3], rgb[MOST][3];
        for (uint64_t i = 0; i < count * 3; i++)
            line[i / 3][i % 3] = (uint8_t)(rand() % shades);
        strip_fit_medoid(line[0], count, rgb[0], width);
        for (uint64_t x = 0; x < width; x++) {
            uint64_t least = UINT64_MAX, found = 0;
            for (uint64_t i = 0; i < count; i++) {
                uint64_t sum = 0;
                for (uint64_t j = 0; j < count; j++)
                    sum +=
                        overlap(x, j, count, width) * (uint64_t)(2 * abs(line[i][0] - line[j][0]) +
                                                                 4 * abs(line[i][1] - line[j][1]) +
                                                                 3 * abs(line[i][2] - line[j][2]));
                if (overlap(x, i, count, width) > 0 && sum < least) {
                    least = sum;
                    found = i;
                }
            }
            assert_memory_equal(rgb[x], line[found], 3);
        }
    }
}

/* Ten million columns in one pixel, all of the greatest distance, stay inside the integers. */
TEST(test_medoid_of_very_many)
{
    const uint64_t count = 10000001;
    uint8_t *line = calloc(count, 3), rgb[3];
    assert_non_null(line);
    memset(line, 255, count / 2 * 3 + 3);
    strip_fit_medoid(line, count, rgb, 1);
    assert_int_equal(rgb[0] + rgb[1] + rgb[2], 3 * 255);
    free(line);
}

enum { POOLED = 12, POOL_K = 3 };

/* Columns of POOL_K grey clusters; every fourth is missing, the first two too. */
static struct columns *pool_scene(void)
{
    struct err e = ERR_INIT;
    struct columns *columns = columns_open(POOL_K, 0, &e);
    for (uint64_t i = 0; i < POOLED; i++) {
        struct column *c = columns_at(columns, i, &e);
        if (i < 2 || i % 4 == 3)
            continue;
        c->status = COLUMN_OK;
        c->clusters = POOL_K;
        for (int j = 0; j < POOL_K; j++) {
            memset(c->cluster[j].rgb, (int)(20 + 100 * (uint64_t)j + i % 3), 3);
            c->cluster[j].count = (uint32_t)(600 - 200 * (uint64_t)j);
        }
    }
    return columns;
}

static struct report pool_report(const struct columns *columns)
{
    return (struct report){.columns = columns,
                           .count = POOLED,
                           .analysis.width = 40,
                           .analysis.height = 30,
                           .analysis.kmeans = {POOL_K, 5, 100, INIT_SCALABLE, 0, false}};
}

/*
 * Three far groups of colours are the pool's clusters: each has its group's share, and for its
 * colour the group's mean over the columns as they are painted.
 */
TEST(test_pool)
{
    /* whose clusters stand where */
    static const int shown[POOLED] = {2, 2, 2, 2, 4, 5, 6, 6, 8, 9, 10, 10};
    struct columns *columns = pool_scene();
    struct report report = pool_report(columns);
    for (int width = 1; width < POOLED; width++) {
        struct err e = ERR_INIT;
        struct strip *s = strip_open(&report, alone("palette").kind[0], width, 100, &e);
        assert_non_null(s);
        assert_int_equal(s->count, width);
        for (uint64_t x = 0; x < (uint64_t)width; x++) {
            const struct column *c = columns_get(s->columns, x);
            uint64_t sum = 0;
            for (uint64_t i = 0; i < POOLED; i++)
                sum += overlap(x, i, POOLED, (uint64_t)width) * (uint64_t)(shown[i] % 3);
            assert_int_equal(c->clusters, POOL_K);
            for (int j = 0; j < POOL_K; j++) {
                int share = (int)c->cluster[j].count * 1200 - 16384 * (600 - 200 * j);
                assert_in_range(share + 12000, 0, 24000); /* ten pixels of 16384 */
                double mean = 20 + 100.0 * j + (double)sum / POOLED;
                assert_true(c->cluster[j].rgb[0] > mean - 0.51 &&
                            c->cluster[j].rgb[0] < mean + 0.51);
            }
        }
        strip_free(&s);
    }
    columns_free(&columns);
}

enum { LONG = 700 };

/* Columns of POOL_K clusters each; `filled`: those that are missing otherwise show what they are
 * painted as. */
static struct columns *long_scene(bool filled)
{
    struct err e = ERR_INIT;
    struct columns *columns = columns_open(POOL_K, 0, &e);
    int first = -1, last = -1;
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < LONG; i++) {
            struct column *c = columns_at(columns, (uint64_t)i, &e);
            bool missing = i < 30 || i % 7 == 3 || (i > 300 && i < 500);
            first = first < 0 && !missing ? i : first;
            last = !missing ? i : i < first ? first : last;
            if (missing && !filled)
                continue;
            c->status = COLUMN_OK;
            c->clusters = POOL_K;
            for (int j = 0; j < POOL_K; j++)
                c->cluster[j] =
                    (struct cluster){{(uint8_t)(last * 37), (uint8_t)(j * 90), (uint8_t)(last / 3)},
                                     (uint32_t)(50 + last % 9 - j)};
        }
    return columns;
}

/* Any number of threads gives the same columns, and a column that is missing counts as the one that
 * is painted for it. */
TEST(test_pool_on_threads)
{
    static const int widths[] = {1, 7, 8, 9, 100, 450, LONG - 1};
    struct columns *columns = long_scene(false), *filled = long_scene(true);
    struct report report = {.columns = filled,
                            .count = LONG,
                            .analysis.width = 40,
                            .analysis.height = 30,
                            .run.threads = 1,
                            .analysis.kmeans = {POOL_K, 5, 100, INIT_SCALABLE, 0, true}};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        struct err e = ERR_INIT;
        report.columns = filled;
        report.run.threads = 1;
        struct strip *want = strip_open(&report, alone("palette").kind[0], widths[i], 4, &e);
        report.columns = columns;
        for (report.run.threads = 0; report.run.threads < 100;
             report.run.threads = 3 * report.run.threads + 1) {
            struct strip *got = strip_open(&report, alone("palette").kind[0], widths[i], 4, &e);
            assert_true(want && got && got->count == (uint64_t)widths[i]);
            for (uint64_t x = 0; x < got->count; x++) {
                const struct column *a = columns_get(want->columns, x),
                                    *b = columns_get(got->columns, x);
                assert_int_equal(a->clusters, b->clusters);
                assert_memory_equal(a->cluster, b->cluster, a->clusters * sizeof *a->cluster);
            }
            strip_free(&got);
        }
        strip_free(&want);
    }
    columns_free(&columns);
    columns_free(&filled);
}

/* With as many pixels as columns, and with more, nothing is pooled. */
TEST(test_no_pool)
{
    struct columns *columns = pool_scene();
    struct report report = pool_report(columns);
    for (int width = POOLED; width < 3 * POOLED; width++) {
        struct err e = ERR_INIT;
        struct strip *s = strip_open(&report, alone("palette").kind[0], width, 4, &e);
        assert_ptr_equal(s->columns, columns);
        uint8_t rgb[3 * POOLED * 3];
        for (int y = 0; y < 4; y++)
            strip_row(s, y, rgb);
        assert_int_equal(rgb[0], 22);
        strip_free(&s);
    }
    columns_free(&columns);
}

/* Clusters that hold no pixel make no band, and a column without any pixel is still painted. */
TEST(test_empty_clusters)
{
    struct err e = ERR_INIT;
    struct columns *columns = columns_open(3, 0, &e);
    for (uint64_t i = 0; i < 2; i++) {
        struct column *c = columns_at(columns, i, &e);
        c->status = COLUMN_OK;
        c->clusters = 3;
        for (int j = 0; j < 3; j++)
            c->cluster[j] = (struct cluster){{(uint8_t)(j + 1), 0, 0}, i == 0 && j != 1 ? 5 : 0};
    }
    struct report report = {.columns = columns,
                            .count = 2,
                            .analysis.width = 1,
                            .analysis.height = 1,
                            .picture.order = ORDER_SHARE};
    struct strip *s = strip_open(&report, alone("palette").kind[0], 2, 4, &e);
    const uint8_t expected[4] = {1, 1, 3, 3};
    for (int y = 0; y < 4; y++) {
        uint8_t rgb[6];
        strip_row(s, y, rgb);
        assert_int_equal(rgb[0], expected[y]);
        assert_int_equal(rgb[3], 1);
    }
    strip_free(&s);
    strip_free(&s);
    columns_free(&columns);
}
