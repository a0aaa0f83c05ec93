#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "output/strip_paint.h"
#include "strips.h"

enum { COUNT_MAX = 40, ROWS_MAX = 40 };

/*
 * The area mean by its definition, cell by cell: how long the overlap of output cell i of `out` with
 * input cell j of `in` is, in units of 1 / (in * out) of the line.
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
static void test_area_mean(void **state)
{
    (void)state;
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
        struct report report = {.columns = columns, .count = count, .width = 1, .height = rows};
        struct strip *s = strip_open(&report, alone("downsample").kind[0], width, height, &e);
        assert_non_null(s);
        for (int y = 0; y < height; y++) {
            uint8_t line[COUNT_MAX], rgb[60 * 3];
            for (uint64_t i = 0; i < count; i++)
                line[i] = mean(columns_get(columns, i)->row + 1, 3, (uint64_t)rows, (uint64_t)height, (uint64_t)y);
            strip_row(s, y, rgb);
            for (int x = 0; x < width; x++)
                assert_int_equal(rgb[x * 3 + 1], mean(line, 1, count, (uint64_t)width, (uint64_t)x));
        }
        strip_free(&s);
        assert_null(s);
        columns_free(&columns);
    }
}

/* Clusters that hold no pixel make no band, and a column without any pixel is still painted. */
static void test_empty_clusters(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    struct columns *columns = columns_open(3, 0, &e);
    for (uint64_t i = 0; i < 2; i++) {
        struct column *c = columns_at(columns, i, &e);
        c->status = COLUMN_OK;
        c->clusters = 3;
        for (int j = 0; j < 3; j++)
            c->cluster[j] = (struct cluster){{(uint8_t)(j + 1), 0, 0}, i == 0 && j != 1 ? 5 : 0};
    }
    struct report report = {.columns = columns, .count = 2, .width = 1, .height = 1, .order = ORDER_SHARE};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_area_mean),
        cmocka_unit_test(test_empty_clusters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
