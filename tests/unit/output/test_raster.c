#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "output/report.h"
#include "output/poster/poster.h"
#include "strips.h"

/* A report over columns that a test fills. */
struct scene {
    struct film film;
    struct report report;
    struct columns *columns;
};

static char film_path[] = "/films/a film.mkv";

static void scene_open(struct scene *s, uint64_t count, int k, int rows)
{
    struct err e = ERR_INIT;
    memset(s, 0, sizeof *s);
    s->columns = columns_open(k, rows, &e);
    for (uint64_t i = 0; i < count; i++)
        assert_non_null(columns_at(s->columns, i, &e));
    s->film.path = film_path;
    s->report = (struct report){
        .film = &s->film,
        .analysis.kmeans = {k, 5, 100, INIT_SCALABLE, 0, false},
        .picture.height = 4,
        .analysis.width = 16,
        .analysis.height = rows,
        .columns = s->columns,
        .count = count,
        .analysis.selection = {.kind = SELECT_EVERY, .every = 24, .end_us = INT64_MAX}};
}

/* Column i becomes OK, with `clusters` of the given shades and counts (grey), and that average; the
 * first shade is its mode too. */
static void set(struct scene *s, uint64_t i, int clusters, const uint8_t *shade,
                const uint32_t *count, uint8_t average)
{
    struct column *c = columns_at(s->columns, i, NULL);
    c->status = COLUMN_OK;
    c->repeat = 1;
    c->clusters = (uint8_t)clusters;
    memset(c->average, average, 3);
    memset(c->dominant, shade[0], 3);
    for (int j = 0; j < clusters; j++)
        c->cluster[j] = (struct cluster){{shade[j], shade[j], (uint8_t)(255 - shade[j])}, count[j]};
}

static void set_flat(struct scene *s, uint64_t i, uint8_t shade)
{
    uint32_t count = 100;
    set(s, i, 1, &shade, &count, shade);
}

/* The whole picture; *width and *height get its size. */
static uint8_t *paint(const struct scene *s, struct strips strips, int *width, int *height)
{
    struct err e = ERR_INIT;
    struct painter *p = painter_open(&s->report, strips, &e);
    assert_string_equal(e.text, "");
    assert_non_null(p);
    *width = painter_width(p);
    *height = painter_height(p);
    size_t line = (size_t)*width * 3;
    uint8_t *rgb = malloc(line * (size_t)*height);
    for (int y = 0; y < *height; y++)
        assert_true(painter_row(p, y, rgb + line * (size_t)y, NULL));
    painter_free(&p);
    assert_null(p);
    return rgb;
}

/* The red channel of a picture, row after row. */
static void expect(const struct scene *s, struct strips strips, int width, int height,
                   const uint8_t *red)
{
    int w, h;
    uint8_t *rgb = paint(s, strips, &w, &h);
    assert_int_equal(w, width);
    assert_int_equal(h, height);
    for (int i = 0; i < w * h; i++)
        assert_int_equal(rgb[i * 3], red[i]);
    free(rgb);
}

/* The palette of several columns is that of all their clusters together: 10, 20 and 100 are one of
 * two then. */
TEST(test_palette_narrower)
{
    struct scene s;
    scene_open(&s, 2, 2, 0);
    set(&s, 0, 2, (const uint8_t[]){10, 100}, (const uint32_t[]){3, 1}, 0);
    set(&s, 1, 2, (const uint8_t[]){20, 200}, (const uint32_t[]){2, 2}, 0);
    s.report.picture.width = 1;
    s.report.picture.order = ORDER_SHARE;
    expect(&s, alone("palette"), 1, 4, (const uint8_t[]){28, 28, 28, 200});
    s.report.picture.order = ORDER_LIGHTNESS;
    expect(&s, alone("palette"), 1, 4, (const uint8_t[]){200, 28, 28, 28});
    columns_free(&s.columns);
}

TEST(test_missing)
{
    struct scene s;
    scene_open(&s, 6, 1, 1);
    set_flat(&s, 2, 50);
    set_flat(&s, 4, 60);
    memset(columns_at(s.columns, 2, NULL)->row, 50, 3);
    memset(columns_at(s.columns, 4, NULL)->row, 60, 3);
    s.report.picture.height = 1;
    for (size_t m = 0; m < strips_all().count; m++)
        expect(&s, alone(strip_table[m]->name), 6, 1, (const uint8_t[]){50, 50, 50, 50, 60, 60});
    columns_free(&s.columns);
}

TEST(test_nothing_to_paint)
{
    struct scene s;
    scene_open(&s, 3, 1, 0);
    struct err e = ERR_INIT;
    assert_null(painter_open(&s.report, alone("kmeans"), &e));
    assert_non_null(strstr(e.text, "no column has a frame"));
    err_clear(&e);
    set_flat(&s, 1, 9);
    assert_null(painter_open(&s.report, alone("squeeze"), &e)); /* no row means were kept */
    assert_non_null(strstr(e.text, "'squeeze'"));
    err_clear(&e);
    assert_null(painter_open(&s.report, stacked(), &e));
    err_clear(&e);
    s.report.count = 0;
    assert_null(painter_open(&s.report, alone("kmeans"), &e));
    err_clear(&e);
    s.report.count = UINT64_C(1) << 31;
    assert_null(painter_open(&s.report, alone("kmeans"), &e));
    assert_non_null(strstr(e.text, "--width"));
    err_clear(&e);
    s.report.count = 3;
    s.report.picture.height = 0;
    assert_null(painter_open(&s.report, alone("kmeans"), &e));
    columns_free(&s.columns);
}

/* The bands of any counts are the definition's, by share the largest first, and fill the height
 * exactly. */
TEST(test_palette_random)
{
    srand(5);
    for (int round = 0; round < 400; round++) {
        struct scene s;
        scene_open(&s, 1, 64, 0);
        int k = 1 + rand() % 64, height = 1 + rand() % 700;
        uint32_t count[64], left = 1u << (6 + rand() % 22);
        uint8_t shade[64];
        uint64_t total = 0;
        for (int j = 0; j < k; j++) {
            count[j] = 1 + (uint32_t)rand() % left;
            left = count[j];
            total += count[j];
            shade[j] = (uint8_t)(j * 3 + 1);
        }
        set(&s, 0, k, shade, count, 0);
        s.report.picture.height = height;
        s.report.picture.order = ORDER_SHARE;
        int w, h, y = 0;
        uint8_t *rgb = paint(&s, alone("palette"), &w, &h);
        uint64_t below = 0;
        for (int j = 0; j < k; j++) {
            below += count[j];
            int end = (int)(((uint64_t)height * below + total / 2) / total);
            for (; y < end; y++)
                assert_int_equal(rgb[y * 3], shade[j]);
        }
        assert_int_equal(y, height);
        free(rgb);
        columns_free(&s.columns);
    }
}

/* A short film's comparison is drawn wide enough for its labels, in whole pixels a column. */
TEST(test_stacked_short_film)
{
    struct scene s;
    scene_open(&s, 7, 1, 1);
    for (uint64_t i = 0; i < 7; i++)
        set_flat(&s, i, (uint8_t)(30 * i));
    int w, h;
    uint8_t *rgb = paint(&s, stacked(), &w, &h);
    assert_int_equal(w, 721);
    int strip = s.report.picture.height, n = (int)strips_all().count,
        bar = (h - n * strip) / (n + 2), place = 0;
    while (strip_table[place] != alone("average").kind[0])
        place++;
    /* its last row */
    const uint8_t *average = rgb + (size_t)((place + 1) * (bar + strip) + bar - 1) * 721 * 3;
    for (int x = 0; x < w; x++)
        assert_int_equal(average[x * 3], 30 * (x / 103));
    free(rgb);
    columns_free(&s.columns);
}
