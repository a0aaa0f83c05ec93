#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "output/poster/poster.h"
#include "output/writer.h"
#include "strips.h"

static struct film film;
static struct report report;

static void scene(uint64_t count, char *path)
{
    struct err e = ERR_INIT;
    struct columns *c = columns_open(2, 3, &e);
    for (uint64_t i = 0; i < count; i++) {
        struct column *column = columns_at(c, i, &e);
        if (i % 7 == 6)
            continue;
        column->status = COLUMN_OK;
        column->clusters = 2;
        column->cluster[0] = (struct cluster){{(uint8_t)(i * 7), 20, 30}, 60};
        column->cluster[1] = (struct cluster){{(uint8_t)(i * 3), 120, 30}, 40};
        memset(column->row, (int)(i & 255), 9);
    }
    film = (struct film){.path = path};
    report = (struct report){
        .film = &film,
        .picture.height = 11,
        .analysis.kmeans = {8, 20, 300, INIT_SCALABLE, 5, false},
        .columns = c,
        .count = count,
        .analysis.width = 320,
        .analysis.height = 3,
        .missing = count / 7,
        .analysis.selection = {
            .kind = SELECT_EVERY, .every = 24, .start_us = 1500000, .end_us = INT64_MAX}};
}

struct reading {
    const char *at;
    size_t left;
};

static void read_bytes(png_structp png, png_bytep out, size_t size)
{
    struct reading *r = png_get_io_ptr(png);
    assert_true(size <= r->left);
    memcpy(out, r->at, size);
    r->at += size;
    r->left -= size;
}

static const char *text_of(png_structp png, png_infop info, const char *key)
{
    png_textp text;
    int count = png_get_text(png, info, &text, NULL);
    for (int i = 0; i < count; i++)
        if (strcmp(text[i].key, key) == 0)
            return text[i].text;
    return NULL;
}

/* Reads a picture back and compares its pixels with the painter's; then `look` at its chunks. */
static void check(struct strips strips, void (*look)(png_structp png, png_infop info))
{
    size_t size;
    char *bytes = written("png", &report, strips, &size);
    struct reading reading = {bytes, size};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_read_fn(png, &reading, read_bytes);
    png_read_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
    assert_int_equal(reading.left, 0);

    struct err e = ERR_INIT;
    struct painter *p = painter_open(&report, strips, &e);
    assert_int_equal(png_get_image_width(png, info), painter_width(p));
    assert_int_equal(png_get_image_height(png, info), painter_height(p));
    assert_int_equal(png_get_color_type(png, info), PNG_COLOR_TYPE_RGB);
    assert_int_equal(png_get_bit_depth(png, info), 8);
    size_t line = (size_t)painter_width(p) * 3;
    uint8_t *row = malloc(line);
    for (int y = 0; y < painter_height(p); y++) {
        assert_true(painter_row(p, y, row, NULL));
        assert_memory_equal(row, png_get_rows(png, info)[y], line);
    }
    free(row);
    painter_free(&p);

    int intent = -1;
    assert_int_equal(png_get_sRGB(png, info, &intent), PNG_INFO_sRGB);
    assert_int_equal(intent, PNG_sRGB_INTENT_PERCEPTUAL);
    assert_false(png_get_valid(png, info, PNG_INFO_tIME));
    if (look)
        look(png, info);
    png_destroy_read_struct(&png, &info, NULL);
    free(bytes);
}

static void look_kmeans(png_structp png, png_infop info)
{
    assert_string_equal(text_of(png, info, "Software"), "barcode 0.1.0");
    assert_string_equal(text_of(png, info, "Title"), "Am\xc3\xa9lie \xef\xbf\xbd?.mkv");
    assert_string_equal(text_of(png, info, "Description"),
                        "k-means (largest of 8 clusters) of 'Am\xc3\xa9lie \xef\xbf\xbd?.mkv': "
                        "every 24th frame, from 1.5 s on, 20 columns");
    assert_string_equal(text_of(png, info, "barcode:mode"), "kmeans");
    assert_string_equal(text_of(png, info, "barcode:every"), "24");
    assert_string_equal(text_of(png, info, "barcode:columns"), "20");
    assert_string_equal(text_of(png, info, "barcode:start"), "1.5");
    assert_null(text_of(png, info, "barcode:end"));
    assert_string_equal(text_of(png, info, "barcode:size"), "320x3");
    assert_string_equal(text_of(png, info, "barcode:missing"), "2");
    assert_string_equal(text_of(png, info, "barcode:k"), "8");
    assert_string_equal(text_of(png, info, "barcode:n_init"), "20");
    assert_string_equal(text_of(png, info, "barcode:race"), "no");
    assert_string_equal(text_of(png, info, "barcode:init"), "scalable");
    assert_string_equal(text_of(png, info, "barcode:max_iter"), "300");
    assert_string_equal(text_of(png, info, "barcode:seed"), "5");
}

static void look_average(png_structp png, png_infop info)
{
    assert_string_equal(text_of(png, info, "barcode:mode"), "average");
    assert_null(text_of(png, info, "barcode:k"));
}

static void look_stacked(png_structp png, png_infop info)
{
    assert_string_equal(text_of(png, info, "barcode:mode"), "all");
    assert_string_equal(
        text_of(png, info, "Description"),
        "k-means, dominant, palette, average and squeeze of 'Am\xc3\xa9lie \xef\xbf\xbd?.mkv': "
        "every 24th frame, from 1.5 s on, 20 columns");
    assert_string_equal(text_of(png, info, "barcode:k"), "8");
}

TEST(test_read_back)
{
    static char path[] = "/films/Am\xc3\xa9lie \xff\n.mkv";
    scene(20, path);
    check(alone("kmeans"), look_kmeans);
    check(alone("palette"), NULL);
    check(alone("average"), look_average);
    check(alone("squeeze"), NULL);
    check(stacked(), look_stacked);
    report.picture.width = 7;
    check(stacked(), NULL);
    free_columns(&report);
}

/* What changes the pixels is told, where it does. */
static const struct told {
    const char *mode; /* NULL: all */
    int steady;
    enum palette_order order;
    const char *says_steady, *says_order, *says_k;
} table[] =
    {
        {"kmeans", 0, ORDER_LIGHTNESS, NULL, NULL, "8"},
        {"kmeans", 10, ORDER_SHARE, "10", NULL, "8"},
        {NULL, 10, ORDER_LIGHTNESS, "10", "lightness", "8"},
        {"dominant", 10, ORDER_LIGHTNESS, "10", NULL, NULL},
        {"palette", 10, ORDER_LIGHTNESS, NULL, "lightness", "8"},
        {"palette", 10, ORDER_SHARE, NULL, "share", "8"},
        {"average", 10, ORDER_SHARE, NULL, NULL, NULL},
},
  *told;

static void expect_text(png_structp png, png_infop info, const char *key, const char *want)
{
    const char *text = text_of(png, info, key);
    if (text ? !want || strcmp(text, want) != 0 : want != NULL)
        fail_msg("row %td: %s is %s", told - table, key, text ? text : "missing");
}

static void look_told(png_structp png, png_infop info)
{
    expect_text(png, info, "barcode:steady", told->says_steady);
    expect_text(png, info, "barcode:order", told->says_order);
    expect_text(png, info, "barcode:k", told->says_k);
    expect_text(png, info, "barcode:light", "linear");
}

TEST(test_options_of_strips)
{
    static char path[] = "x";
    scene(9, path);
    report.analysis.light.linear = true;
    for (told = table; told < table + sizeof table / sizeof *table; told++) {
        report.picture.steady = told->steady;
        report.picture.order = told->order;
        check(told->mode ? alone(told->mode) : stacked(), look_told);
    }
    free_columns(&report);
}

/* libpng stops at a million unless told otherwise. */
TEST(test_wide)
{
    static char path[] = "x.mkv";
    scene(10, path);
    report.picture.width = 1000003;
    report.picture.height = 1;
    check(alone("kmeans"), NULL);
    free_columns(&report);
}
