#include <stdio.h>
#include <string.h>

#include "test.h"
#include "barcode/output/writer.h"
#include "strips.h"

static size_t written(const struct report *r, struct strips strips, char *to, size_t room)
{
    struct err e = ERR_INIT;
    FILE *f = fmemopen(to, room, "w");
    assert_true(writer_find("csv")->write(r, strips, f, &e));
    long size = ftell(f);
    fclose(f);
    return (size_t)size;
}

/* Five columns: whole, damaged, missing, never announced, of one colour. */
static struct columns *scene(void)
{
    struct err e = ERR_INIT;
    struct columns *columns = columns_open(2, 0, &e);
    for (uint64_t i = 0; i < 5; i++) {
        struct column *c = columns_at(columns, i, &e);
        c->status = i == 1 ? COLUMN_DAMAGED : i == 2 || i == 3 ? COLUMN_MISSING : COLUMN_OK;
        c->frame = i == 3 ? 0 : i * 24;
        c->time_us = i == 3 ? 0 : (int64_t)i * 1000001;
        if (c->status == COLUMN_MISSING)
            continue;
        memcpy(c->average, (const uint8_t[]){1, 2, (uint8_t)i}, 3);
        memcpy(c->dominant, (const uint8_t[]){255, 0, 160}, 3);
        c->clusters = i == 4 ? 1 : 2;
        c->cluster[0] = (struct cluster){{16, 32, 48}, 20};
        c->cluster[1] = (struct cluster){{0, 0, 0}, 10};
    }
    return columns;
}

TEST(rows)
{
    struct columns *columns = scene();
    struct report r = {.columns = columns, .count = 5, .kmeans = {.k = 2}, .film_id = "9-ab"};
    char got[2048], film[FILM_ID_TEXT] = "";
    size_t size = written(&r, stacked(), got, sizeof got);
    assert_string_equal(
        got, "column,frame,time,status,average,dominant,colour_1,share_1,colour_2,share_2,film\r\n"
             "0,0,0.000000,ok,#010200,#ff00a0,#102030,0.666667,#000000,0.333333,9-ab\r\n"
             "1,24,1.000001,damaged,#010201,#ff00a0,#102030,0.666667,#000000,0.333333,9-ab\r\n"
             "2,48,2.000002,missing,,,,,,,9-ab\r\n"
             "3,,,missing,,,,,,,9-ab\r\n"
             "4,96,4.000004,ok,#010204,#ff00a0,#102030,1.000000,,,9-ab\r\n");
    assert_true(writer_find("csv")->recognizes((const uint8_t *)got, size, film));
    assert_string_equal(film, "9-ab");
    assert_true(writer_find("csv")->recognizes((const uint8_t *)got, 90, film));
    assert_false(writer_find("csv")->recognizes((const uint8_t *)got, 40, film));
    assert_false(writer_find("csv")->recognizes(
        (const uint8_t *)"column,frame,time,status,average,other,and more, and more than that\r\n",
        70, film));
    /* What the mode does not need is not there. */
    size = written(&r, alone("average"), got, sizeof got);
    assert_memory_equal(
        got, "column,frame,time,status,average,film\r\n0,0,0.000000,ok,#010200,9-ab\r\n", 69);
    assert_non_null(strstr(got, "\r\n2,48,2.000002,missing,,9-ab\r\n3,,,missing,,9-ab\r\n4"));
    assert_true(writer_find("csv")->recognizes((const uint8_t *)got, size, film));
    written(&r, alone("kmeans"), got, sizeof got);
    assert_memory_equal(got,
                        "column,frame,time,status,average,colour_1,share_1,colour_2,share_2,"
                        "film\r\n0,0,0.000000,ok,#010200,#102030,0.6",
                        108);
    written(&r, alone("dominant"), got, sizeof got);
    assert_memory_equal(got,
                        "column,frame,time,status,average,dominant,film\r\n0,0,0.000000,ok,#010200,"
                        "#ff00a0,9-ab\r\n",
                        86);
    columns_free(&columns);
}

/* A film from a pipe has no id, and of 64 colours the head still fits where `ours` looks. */
TEST(widest)
{
    struct err e = ERR_INIT;
    struct columns *columns = columns_open(CLUSTERS_MAX, 0, &e);
    struct column *c = columns_at(columns, 0, &e);
    c->status = COLUMN_OK;
    c->clusters = CLUSTERS_MAX;
    for (int j = 0; j < CLUSTERS_MAX; j++)
        c->cluster[j] = (struct cluster){{9, 9, 9}, 1};
    struct report r = {.columns = columns,
                       .count = 1,
                       .kmeans = {.k = CLUSTERS_MAX},
                       .film_id = "18446744073709551615-0123456789abcdef0123456789abcdef"};
    char got[2 * WRITER_HEAD], film[FILM_ID_TEXT] = "";
    size_t size = written(&r, stacked(), got, sizeof got);
    assert_in_range(size, 2000, WRITER_HEAD);
    assert_true(writer_find("csv")->recognizes((const uint8_t *)got, size, film));
    assert_string_equal(film, r.film_id);
    r.film_id[0] = 0;
    size = written(&r, stacked(), got, sizeof got);
    assert_true(writer_find("csv")->recognizes((const uint8_t *)got, size, film));
    assert_string_equal(film, "");
    columns_free(&columns);
}

TEST_MAIN(NULL, NULL)
