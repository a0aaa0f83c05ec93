#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "output/palette/film_palette.h"
#include "barcode/engine/srgb.h"

static const struct kmeans_params usual = {
    .k = 3, .n_init = 5, .max_iter = 100, .init = INIT_SCALABLE, .seed = 0, .race = true};

static struct report report_of(const struct columns *columns, uint64_t count)
{
    return (struct report){
        .columns = columns, .count = count, .needs = STRIP_CLUSTERS, .kmeans = usual};
}

static struct film_palette make(const struct report *r, int colours)
{
    struct film_palette p;
    struct err e = ERR_INIT;
    if (!film_palette_make(r, colours, &p, &e))
        fail_msg("%s", e.text);
    return p;
}

static void give(struct columns *columns, uint64_t i, int j, uint8_t r, uint8_t g, uint8_t b,
                 uint32_t count)
{
    struct err e = ERR_INIT;
    struct column *c = columns_at(columns, i, &e);
    c->status = COLUMN_OK;
    c->clusters = (uint8_t)(j + 1);
    c->cluster[j] = (struct cluster){{r, g, b}, count};
}

static void expect_colour(const struct film_palette *p, int i, uint8_t r, uint8_t g, uint8_t b,
                          double share)
{
    assert_in_range(i, 0, p->count - 1);
    assert_int_equal(p->colour[i].rgb[0], r);
    assert_int_equal(p->colour[i].rgb[1], g);
    assert_int_equal(p->colour[i].rgb[2], b);
    double off = (double)p->colour[i].share / FILM_PALETTE_PIXELS - share;
    assert_true(off > -0.0001 && off < 0.0001);
}

/* A cluster weighs its share of its frame, whatever the frame's size; the lightest comes first. */
TEST(shares)
{
    struct err e = ERR_INIT;
    struct columns *columns = columns_open(3, 0, &e);
    give(columns, 0, 0, 10, 10, 10, 750);
    give(columns, 0, 1, 200, 30, 30, 250);
    give(columns, 1, 0, 200, 30, 30, 6);
    give(columns, 1, 1, 240, 240, 250, 4);
    struct report r = report_of(columns, 2);
    struct film_palette p = make(&r, 8);
    assert_int_equal(p.count, 3);
    expect_colour(&p, 0, 240, 240, 250, 0.2);
    expect_colour(&p, 1, 200, 30, 30, 0.425);
    expect_colour(&p, 2, 10, 10, 10, 0.375);
    columns_free(&columns);
}

/* A column that is missing counts as the one that is painted for it. */
TEST(missing)
{
    struct err e = ERR_INIT;
    struct columns *columns = columns_open(3, 0, &e);
    give(columns, 2, 0, 0, 0, 255, 5); /* painted for 0, 1 and 3, too */
    give(columns, 4, 0, 255, 255, 0, 9);
    columns_at(columns, 4, &e)->status = COLUMN_DAMAGED;
    struct report r = report_of(columns, 5);
    struct film_palette p = make(&r, 8);
    assert_int_equal(p.count, 2);
    expect_colour(&p, 0, 255, 255, 0, 0.2);
    expect_colour(&p, 1, 0, 0, 255, 0.8);
    columns_free(&columns);
}

TEST(without_clusters)
{
    struct err e = ERR_INIT;
    struct columns *columns = columns_open(0, 0, &e);
    for (uint64_t i = 0; i < 4; i++) {
        struct column *c = columns_at(columns, i, &e);
        c->status = COLUMN_OK;
        memset(c->average, i < 1 ? 50 : 150, 3);
        memset(c->dominant, i < 2 ? 20 : 250, 3);
    }
    struct report r = report_of(columns, 4);
    r.needs = 0;
    struct film_palette p = make(&r, 8);
    assert_int_equal(p.count, 2);
    expect_colour(&p, 0, 150, 150, 150, 0.75);
    expect_colour(&p, 1, 50, 50, 50, 0.25);
    r.needs = STRIP_DOMINANT;
    p = make(&r, 8);
    expect_colour(&p, 0, 250, 250, 250, 0.5);
    expect_colour(&p, 1, 20, 20, 20, 0.5);
    columns_free(&columns);
}

/* Columns of random colours: at most so many colours, in order, all of the film, and twice the
 * same. */
TEST(of_many)
{
    enum { COLUMNS = 3000, K = 8 };
    struct err e = ERR_INIT;
    struct columns *columns = columns_open(K, 0, &e);
    srand(7);
    for (uint64_t i = 0; i < COLUMNS; i++)
        for (int j = 0; j < K; j++)
            give(columns, i, j, (uint8_t)rand(), (uint8_t)rand(), (uint8_t)(i / 12),
                 (uint32_t)(1 + rand() % 1000));
    struct report r = report_of(columns, COLUMNS);
    for (int colours = 1; colours <= CLUSTERS_MAX; colours += 21) {
        struct film_palette p = make(&r, colours), again = make(&r, colours);
        uint64_t sum = 0;
        assert_int_equal(p.count, colours);
        assert_int_equal(again.count, colours);
        assert_memory_equal(p.colour, again.colour, (size_t)colours * sizeof *p.colour);
        for (int i = 0; i < p.count; i++) {
            sum += p.colour[i].share;
            assert_true(i == 0 ||
                        srgb_luminance(p.colour[i - 1].rgb) >= srgb_luminance(p.colour[i].rgb));
        }
        assert_int_equal(sum, FILM_PALETTE_PIXELS);
    }
    columns_free(&columns);
}

TEST(of_nothing)
{
    struct film_palette p;
    struct err e = ERR_INIT;
    struct columns *columns = columns_open(3, 0, &e);
    columns_at(columns, 3, &e);
    struct report r = report_of(columns, 4);
    assert_false(film_palette_make(&r, 8, &p, &e));
    assert_string_equal(e.text, "no column has a frame for the film's palette");
    columns_free(&columns);
}

TEST_MAIN(NULL, NULL)
