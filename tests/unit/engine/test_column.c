#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "barcode/engine/column.h"

static struct column *put(struct columns *c, uint64_t index, uint32_t repeat, uint8_t shade)
{
    struct err e = ERR_INIT;
    struct column *column = columns_at(c, index, &e);
    assert_non_null(column);
    column->frame = index * 24;
    column->time_us = (int64_t)index * 1000000;
    column->repeat = repeat;
    column->status = COLUMN_OK;
    memset(column->average, shade, 3);
    if (column->cluster) {
        column->clusters = 1;
        column->cluster[0] = (struct cluster){{shade, shade, shade}, 7};
    }
    return column;
}

TEST(test_pointers_stay)
{
    struct err e = ERR_INIT;
    struct columns *c = columns_open(4, 3, &e);
    struct column *first = put(c, 0, 1, 10);
    assert_non_null(first->row);
    for (uint64_t i = 1; i < 100000; i += 7)
        assert_non_null(columns_at(c, i, &e));
    assert_ptr_equal(columns_at(c, 0, &e), first);
    assert_ptr_equal(columns_get(c, 0), first);
    assert_int_equal(first->cluster[0].count, 7);
    columns_free(&c);
    assert_null(c);
    columns_free(&c);
}

TEST(test_storage_does_not_overlap)
{
    struct err e = ERR_INIT;
    struct columns *c = columns_open(64, 5, &e);
    for (uint64_t i = 0; i < 2100; i++) {
        struct column *column = columns_at(c, i, &e);
        for (int j = 0; j < 64; j++)
            column->cluster[j].count = (uint32_t)(i * 64) + (uint32_t)j;
        memset(column->row, (int)(i % 251), 15);
    }
    for (uint64_t i = 0; i < 2100; i++) {
        const struct column *column = columns_get(c, i);
        assert_int_equal(column->cluster[0].count, i * 64);
        assert_int_equal(column->cluster[63].count, i * 64 + 63);
        assert_int_equal(column->row[0], i % 251);
        assert_int_equal(column->row[14], i % 251);
    }
    columns_free(&c);
}

TEST(test_fill)
{
    struct err e = ERR_INIT;
    struct columns *c = columns_open(0, 3, &e);
    struct column *column = columns_at(c, 5, &e);
    const struct frame_tag tag = {
        .column = 5, .repeat = 2, .frame = 77, .time_us = -3, .damaged = true};
    /* Two pixels a row: halves go up. */
    const uint32_t row_sum[3][3] = {{0, 1, 510}, {1, 3, 509}, {2, 0, 508}};
    /* 0.5, 0.67, 254.5 */
    const uint8_t rows[3][3] = {{0, 1, 255}, {1, 2, 255}, {1, 0, 254}}, average[3] = {1, 1, 255};
    column_fill(column, &tag, row_sum[0], 2, 3, true, NULL);
    assert_int_equal(column->frame, 77);
    assert_int_equal(column->time_us, -3);
    assert_int_equal(column->repeat, 2);
    assert_int_equal(column->status, COLUMN_DAMAGED);
    assert_int_equal(column->clusters, 0);
    assert_memory_equal(column->row, rows, sizeof rows);
    assert_memory_equal(column->average, average, sizeof average);
    columns_free(&c);
}

/* The largest frame there is, all white but for one pixel: 2^28 pixels overflow nothing. */
TEST(test_fill_the_largest)
{
    enum { SIDE = 16384 };
    struct column column = {0};
    const struct frame_tag tag = {.repeat = 1};
    uint32_t *row_sum = malloc(SIDE * 3 * sizeof *row_sum);
    assert_non_null(row_sum);
    for (int i = 0; i < SIDE * 3; i++)
        row_sum[i] = 255 * SIDE;
    row_sum[0] -= 255;
    column_fill(&column, &tag, row_sum, SIDE, SIDE, false, NULL);
    const uint8_t white[3] = {255, 255, 255};
    assert_memory_equal(column.average, white, sizeof white);
    assert_int_equal(column.status, COLUMN_OK);
    assert_null(column.row);
    free(row_sum);
}

/* --light linear: means are those of BT.1886's light, and a flat row stays as it is. */
TEST(test_fill_light)
{
    struct err e = ERR_INIT;
    const struct light_rule rule = {TONE_BT2390, 1000, true};
    struct light *light = light_open(&rule, 0, &e);
    const struct light_table *sdr = light ? light_table(light, TRANSFER_SDR, &e) : NULL;
    assert_non_null(sdr);
    struct columns *c = columns_open(0, 2, &e);
    struct column *column = columns_at(c, 0, &e);
    const struct frame_tag tag = {.repeat = 1};
    const uint8_t pixel[2][2][3] = {{{0, 200, 7}, {255, 200, 7}}, {{0, 100, 7}, {0, 100, 7}}};
    uint32_t row[2][3];
    for (int y = 0; y < 2; y++)
        column_row_light(sdr, pixel[y][0], 2, row[y]);
    column_fill(column, &tag, row[0], 2, 2, true, sdr);
    /* 255 * 0.5^(1/2.4), 255 * 0.25^(1/2.4), ((200^2.4 + 100^2.4) / 2)^(1/2.4) */
    const uint8_t rows[2][3] = {{191, 200, 7}, {0, 100, 7}}, average[3] = {143, 161, 7};
    assert_memory_equal(column->row, rows, sizeof rows);
    assert_memory_equal(column->average, average, sizeof average);
    columns_free(&c);
    light_close(&light);
}

TEST(test_nothing_asked_for)
{
    struct err e = ERR_INIT;
    struct columns *c = columns_open(0, 0, &e);
    assert_int_equal(columns_count(c), 0);
    struct column *column = put(c, 5000, 1, 1);
    assert_null(column->cluster);
    assert_null(column->row);
    assert_int_equal(columns_count(c), 5001);
    assert_int_equal(columns_get(c, 3)->status, COLUMN_MISSING); /* its segment was never made */
    assert_int_equal(columns_finish(c, NULL), 5000);
    columns_free(&c);
}

TEST(test_limit)
{
    struct err e = ERR_INIT;
    struct columns *c = columns_open(0, 0, &e);
    assert_null(columns_at(c, UINT64_C(1) << 32, &e));
    assert_int_equal(e.code, ERR_FAILED);
    assert_non_null(strstr(e.text, "too many columns"));
    assert_int_equal(columns_count(c), 0);
    columns_free(&c);
}

TEST(test_finish_repeats_and_cuts)
{
    struct err e = ERR_INIT;
    struct columns *c = columns_open(2, 0, &e);
    put(c, 0, 3, 10);
    put(c, 4, 1, 20);
    put(c, 6, 4, 30); /* fills 6..9, the array grows */
    put(c, 7, 1, 40); /* has a picture of its own */
    uint64_t cut = 99;
    assert_int_equal(columns_finish(c, &cut), 2);
    assert_int_equal(cut, 0);
    assert_int_equal(columns_count(c), 10);
    const uint8_t shade[10] = {10, 10, 10, 0, 20, 0, 30, 40, 30, 30};
    for (uint64_t i = 0; i < 10; i++) {
        assert_int_equal(columns_get(c, i)->average[1], shade[i]);
        if (shade[i])
            assert_int_equal(columns_get(c, i)->cluster[0].rgb[2], shade[i]);
    }
    assert_int_equal(columns_get(c, 0)->repeat, 3);
    assert_int_equal(columns_get(c, 2)->repeat, 0);
    assert_int_equal(columns_get(c, 9)->frame, 6 * 24);
    assert_int_equal(columns_get(c, 9)->time_us, 6000000);
    columns_free(&c);
}

/* Transparent columns have no colours, but are neither lost nor beyond the end. */
TEST(test_finish_keeps_transparent)
{
    struct err e = ERR_INIT;
    struct columns *c = columns_open(1, 0, &e);
    put(c, 0, 1, 10);
    assert_non_null(columns_at(c, 1, &e));
    struct frame_tag tag = {.column = 2, .repeat = 3, .frame = 7, .time_us = 8};
    column_fill_transparent(columns_at(c, 2, &e), &tag);
    assert_non_null(columns_at(c, 5, &e));
    uint64_t cut = 0;
    assert_int_equal(columns_finish(c, &cut), 1);
    assert_int_equal(cut, 1);
    assert_int_equal(columns_count(c), 5);
    for (uint64_t i = 1; i < 5; i++) {
        assert_int_equal(columns_get(c, i)->status, COLUMN_MISSING);
        assert_int_equal(columns_get(c, i)->transparent, i > 1);
        assert_int_equal(columns_get(c, i)->frame, i > 1 ? 7 : 0);
    }
    columns_free(&c);
}

TEST(test_finish_cuts_the_end)
{
    struct err e = ERR_INIT;
    struct columns *c = columns_open(1, 0, &e);
    put(c, 1, 1, 10);
    columns_at(c, 3000, &e)->repeat = 2; /* lost, and so is its copy */
    uint64_t cut = 0;
    assert_int_equal(columns_finish(c, &cut), 1);
    assert_int_equal(cut, 3000);
    assert_int_equal(columns_count(c), 2);
    columns_free(&c);

    c = columns_open(1, 0, &e);
    assert_non_null(columns_at(c, 9, &e));
    assert_int_equal(columns_finish(c, &cut), 0);
    assert_int_equal(cut, 10);
    assert_int_equal(columns_count(c), 0);
    columns_free(&c);
}

static struct columns *shared;

static void *write_some(void *from)
{
    for (uint64_t i = (uint64_t)(uintptr_t)from; i < 20000; i += 4)
        columns_at(shared, i, NULL)->frame = i + 1;
    return NULL;
}

TEST(test_threads)
{
    struct err e = ERR_INIT;
    shared = columns_open(3, 2, &e);
    pthread_t thread[4];
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, write_some, (void *)i), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(columns_count(shared), 20000);
    for (uint64_t i = 0; i < 20000; i++)
        assert_int_equal(columns_get(shared, i)->frame, i + 1);
    columns_free(&shared);
}
