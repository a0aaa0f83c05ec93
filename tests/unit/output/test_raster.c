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

TEST(test_modes)
{
    struct scene s;
    scene_open(&s, 2, 3, 2);
    set(&s, 0, 3, (const uint8_t[]){10, 20, 30}, (const uint32_t[]){50, 26, 24}, 77);
    set(&s, 1, 1, (const uint8_t[]){200}, (const uint32_t[]){100}, 88);
    const uint8_t top_and_bottom[6] = {40, 40, 40, 60, 60, 60};
    memcpy(columns_at(s.columns, 0, NULL)->row, top_and_bottom, 6);
    memset(columns_at(s.columns, 1, NULL)->row, 5, 6);
    columns_at(s.columns, 1, NULL)->dominant[0] = 99;

    expect(&s, alone("kmeans"), 2, 4, (const uint8_t[]){10, 200, 10, 200, 10, 200, 10, 200});
    expect(&s, alone("dominant"), 2, 4, (const uint8_t[]){10, 99, 10, 99, 10, 99, 10, 99});
    expect(&s, alone("average"), 2, 4, (const uint8_t[]){77, 88, 77, 88, 77, 88, 77, 88});
    expect(&s, alone("palette"), 2, 4, (const uint8_t[]){10, 200, 10, 200, 20, 200, 30, 200});
    expect(&s, alone("squeeze"), 2, 4, (const uint8_t[]){40, 5, 40, 5, 60, 5, 60, 5});
    s.report.picture.height = 3;
    expect(&s, alone("squeeze"), 2, 3, (const uint8_t[]){40, 5, 50, 5, 60, 5});
    s.report.picture.height = 1;
    expect(&s, alone("squeeze"), 2, 1, (const uint8_t[]){50, 5});
    expect(&s, alone("palette"), 2, 1, (const uint8_t[]){10, 200});
    columns_free(&s.columns);
}

/* A dominant colour is the chosen cluster's; the palette has them all, whichever is chosen. */
TEST(test_chosen)
{
    struct scene s;
    scene_open(&s, 2, 3, 0);
    for (uint64_t i = 0; i < 2; i++)
        set(&s, i, 3, (const uint8_t[]){10, 20, 30}, (const uint32_t[]){50, 26, 24}, 77);
    columns_at(s.columns, 1, NULL)->chosen = 2;
    s.report.picture.height = 1;
    expect(&s, alone("kmeans"), 2, 1, (const uint8_t[]){10, 30});
    int w, h;
    uint8_t *rgb = paint(&s, alone("palette"), &w, &h);
    assert_int_equal(rgb[0], rgb[3]);
    free(rgb);
    columns_free(&s.columns);
}

TEST(test_width)
{
    struct scene s;
    scene_open(&s, 3, 1, 0);
    set_flat(&s, 0, 10);
    set_flat(&s, 1, 20);
    set_flat(&s, 2, 41);
    s.report.picture.height = 1;
    s.report.picture.width = 6;
    for (size_t m = 0; m < 3; m++)
        expect(&s, alone((const char *[]){"kmeans", "average", "palette"}[m]), 6, 1,
               (const uint8_t[]){10, 10, 20, 20, 41, 41});
    s.report.picture.width = 2; /* (2*10 + 20) / 3, (20 + 2*41) / 3 */
    expect(&s, alone("average"), 2, 1, (const uint8_t[]){13, 34});
    expect(&s, alone("kmeans"), 2, 1, (const uint8_t[]){10, 41});
    /* one cluster: the mean of the pooled */
    expect(&s, alone("palette"), 2, 1, (const uint8_t[]){13, 34});
    s.report.picture.width = 1; /* 71 / 3 = 23.67 */
    expect(&s, alone("palette"), 1, 1, (const uint8_t[]){24});
    expect(&s, alone("average"), 1, 1, (const uint8_t[]){24});
    expect(&s, alone("kmeans"), 1, 1, (const uint8_t[]){20});
    s.report.picture.width = 4; /* (10 + 2*20) / 3, (2*20 + 41) / 3 */
    expect(&s, alone("average"), 4, 1, (const uint8_t[]){10, 17, 27, 41});
    expect(&s, alone("kmeans"), 4, 1, (const uint8_t[]){10, 20, 20, 41});
    expect(&s, alone("palette"), 4, 1, (const uint8_t[]){10, 20, 20, 41});
    s.report.picture.width = 3;
    expect(&s, alone("kmeans"), 3, 1, (const uint8_t[]){10, 20, 41});
    columns_free(&s.columns);

    scene_open(&s, 2, 1, 0); /* exactly half: up */
    set_flat(&s, 0, 10);
    set_flat(&s, 1, 11);
    s.report.picture.height = 1;
    s.report.picture.width = 1;
    expect(&s, alone("average"), 1, 1, (const uint8_t[]){11});
    expect(&s, alone("kmeans"), 1, 1, (const uint8_t[]){10});
    columns_free(&s.columns);
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

/* By lightness the rows fall from light to dark, each colour has the rows that its share comes to,
 * and equal ones go by share. */
TEST(test_palette_by_lightness)
{
    struct scene s;
    scene_open(&s, 2, 5, 0);
    static const struct cluster film_colours[2][5] = {
        {{{0, 0, 255}, 40},
         {{255, 0, 0}, 30},
         {{0, 255, 0}, 20},
         {{255, 255, 255}, 7},
         {{0, 0, 0}, 3}},
        {{{90, 90, 90}, 60}, {{200, 200, 200}, 20}, {{90, 90, 90}, 20}}};
    for (uint64_t i = 0; i < 2; i++) {
        struct column *c = columns_at(s.columns, i, NULL);
        c->status = COLUMN_OK;
        c->clusters = i == 0 ? 5 : 3;
        memcpy(c->cluster, film_colours[i], sizeof film_colours[i]);
    }
    s.report.picture.height = 100;
    int w, h;
    uint8_t *rgb = paint(&s, alone("palette"), &w, &h);
    static const int order[2][5] = {{3, 2, 1, 0, 4}, {1, 0, 2}};
    for (int i = 0, y; i < 2; i++) {
        y = 0;
        for (int j = 0; j < (i == 0 ? 5 : 3); j++)
            for (uint32_t n = 0; n < film_colours[i][order[i][j]].count; n++, y++)
                assert_memory_equal(rgb + (y * 2 + i) * 3, film_colours[i][order[i][j]].rgb, 3);
        assert_int_equal(y, 100);
    }
    free(rgb);
    columns_free(&s.columns);
}

/* Gold and grey swap lightness in column 1, but not their places; also with fewer pixels than
 * columns. By share the larger one is at the top. */
TEST(test_palette_follows)
{
    static const struct cluster gold_first[2] = {{{190, 152, 80}, 50}, {{157, 157, 150}, 50}},
                                grey_first[2] = {{{157, 159, 155}, 50}, {{190, 152, 80}, 50}};
    for (int order = ORDER_LIGHTNESS; order <= ORDER_SHARE; order++) {
        struct scene s;
        scene_open(&s, 4, 2, 0);
        s.report.picture.order = (enum palette_order)order;
        for (uint64_t i = 0; i < 4; i++) {
            struct column *c = columns_at(s.columns, i, NULL);
            c->status = i == 2 ? COLUMN_MISSING : COLUMN_OK;
            c->clusters = 2;
            memcpy(c->cluster, i == 1 ? grey_first : gold_first, sizeof gold_first);
        }
        uint8_t odd = order == ORDER_SHARE ? 157 : 190, other = odd == 190 ? 157 : 190;
        s.report.picture.height = 2;
        expect(&s, alone("palette"), 4, 2,
               (const uint8_t[]){190, odd, odd, 190, 157, other, other, 157});
        s.report.picture.width = 3;
        int w, h;
        uint8_t *rgb = paint(&s, alone("palette"), &w, &h);
        for (int x = 0; x < 3 && order == ORDER_LIGHTNESS; x++)
            assert_true(rgb[x * 3] == 190 && rgb[(x + 3) * 3] == 157);
        free(rgb);
        columns_free(&s.columns);
    }
}

/* Rows may be asked for in any order. */
TEST(test_any_order)
{
    struct scene s;
    scene_open(&s, 30, 4, 7);
    for (uint64_t i = 0; i < 30; i++) {
        set(&s, i, 4, (const uint8_t[]){10, 20, 30, 40},
            (const uint32_t[]){50, (uint32_t)i + 1, 5, 1}, (uint8_t)i);
        for (int y = 0; y < 21; y++)
            columns_at(s.columns, i, NULL)->row[y] = (uint8_t)(y * 9 + (int)i);
    }
    s.report.picture.height = 40;
    s.report.picture.width = 17;
    int w, h;
    uint8_t *rgb = paint(&s, stacked(), &w, &h), row[17 * 3];
    struct err e = ERR_INIT;
    struct painter *p = painter_open(&s.report, stacked(), &e);
    for (int y = h - 1; y >= 0; y--) {
        assert_true(painter_row(p, y, row, NULL));
        assert_memory_equal(row, rgb + y * w * 3, (size_t)w * 3);
    }
    painter_free(&p);
    free(rgb);
    columns_free(&s.columns);
}

/* The strips of the stacked picture are those of the modes alone, in order, each below its label.
 */
TEST(test_stacked)
{
    struct scene s;
    scene_open(&s, 300, 2, 3);
    for (uint64_t i = 0; i < 300; i++) {
        set(&s, i, 2, (const uint8_t[]){(uint8_t)i, 200}, (const uint32_t[]){9, 7},
            (uint8_t)(i / 2));
        memset(columns_at(s.columns, i, NULL)->row, (int)i & 0xff, 9);
    }
    s.report.picture.height = 50;
    s.report.picture.width = 300;
    int w, h, w1, h1, n = (int)strips_all().count;
    uint8_t *all = paint(&s, stacked(), &w, &h);
    assert_int_equal(w, 300);
    int bar = (h - n * 50) / (n + 2); /* the title's, the labels' and the axis's */
    assert_int_equal(h, n * 50 + (n + 2) * bar);
    for (int m = 0; m < n; m++) {
        uint8_t *one = paint(&s, alone(strip_table[m]->name), &w1, &h1);
        assert_memory_equal(all + (size_t)(bar + m * (bar + 50) + bar) * 900, one, 50 * 900);
        free(one);
    }
    for (int b = 0; b <= n + 1; b++) { /* there is text, and it leaves the bar's edges alone */
        const uint8_t *label = all + (size_t)(b == 0   ? 0
                                              : b <= n ? bar + (b - 1) * (bar + 50)
                                                       : h - bar) *
                                         900;
        bool text = false;
        for (int i = 0; i < bar * 300; i++) {
            bool ink = label[i * 3] > 0x60;
            text |= ink;
            assert_true(!ink || b > n ||
                        (i / 300 >= 3 && i / 300 < bar - 3 && i % 300 >= 5 && i % 300 < 295));
        }
        assert_true(text);
    }
    free(all);
    columns_free(&s.columns);
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

/* Labels of any width stay inside the row (the sanitizer looks on). */
TEST(test_stacked_narrow)
{
    char name[400];
    memset(name, 'W', sizeof name - 1);
    name[sizeof name - 1] = 0;
    for (int width = 1; width < 420; width += width < 60 ? 1 : 13) {
        struct scene s;
        scene_open(&s, 5, 1, 1);
        for (uint64_t i = 0; i < 5; i++)
            set_flat(&s, i, 3);
        s.film.path = width % 2 ? name : NULL;
        s.report.picture.width = width;
        s.report.picture.height = width * 3;
        int w, h;
        uint8_t *rgb = paint(&s, stacked(), &w, &h);
        assert_int_equal(w, width);
        free(rgb);
        columns_free(&s.columns);
    }
}

TEST(test_wide)
{
    struct scene s;
    scene_open(&s, 2, 1, 0);
    set_flat(&s, 0, 1);
    set_flat(&s, 1, 2);
    s.report.picture.width = 1500000;
    s.report.picture.height = 1;
    int w, h;
    uint8_t *rgb = paint(&s, alone("palette"), &w, &h);
    assert_int_equal(rgb[749999 * 3], 1);
    assert_int_equal(rgb[750000 * 3], 2);
    free(rgb);
    columns_free(&s.columns);
}
