/* --size: its values, and the size of analysis frames, never larger than the film. */

#include "test.h"
#include "set_option.h"

static void resolves(struct size_rule rule, int width, int height, int want_width, int want_height)
{
    int w = -1, h = -1;
    size_resolve(&rule, width, height, &w, &h);
    assert_int_equal(w, want_width);
    assert_int_equal(h, want_height);
}

/* By the longer side. */
static void fits(int width, int height, int longer, int want_width, int want_height)
{
    resolves((struct size_rule){.kind = SIZE_SIDE, .side = longer}, width, height, want_width,
             want_height);
}

TEST(sizes)
{
    fits(1920, 1080, 320, 320, 180);
    fits(1080, 1920, 320, 180, 320);
    fits(1920, 800, 320, 320, 133); /* 133.33 */
    fits(1918, 802, 320, 320, 134); /* 133.81 */
    fits(640, 3, 320, 320, 2);      /* 1.5, up */
    fits(500, 500, 320, 320, 320);
    fits(10000, 1, 320, 320, 1);
    fits(1, 10000, 320, 1, 320);
}

TEST(never_larger)
{
    fits(300, 200, 320, 300, 200);
    fits(320, 180, 320, 320, 180);
    fits(1, 1, 320, 1, 1);
    fits(16384, 16384, 16384, 16384, 16384);
    fits(100, 50, 1, 1, 1);
    fits(100, 50, 0, 1, 1);
}

TEST(side)
{
    resolves((struct size_rule){.kind = SIZE_SIDE, .side = 320}, 1920, 1080, 320, 180);
    resolves((struct size_rule){.kind = SIZE_SIDE, .side = 320}, 100, 80, 100, 80);
}

TEST(rows)
{
    resolves((struct size_rule){.kind = SIZE_ROWS, .side = 800}, 1920, 1080, 1422, 800);
    resolves((struct size_rule){.kind = SIZE_ROWS, .side = 800}, 640, 480, 640, 480);
    resolves((struct size_rule){.kind = SIZE_ROWS, .side = 800}, 3, 1600, 2, 800); /* 1.5, up */
    resolves((struct size_rule){.kind = SIZE_ROWS, .side = 1}, 16384, 16384, 1, 1);
    resolves((struct size_rule){.kind = SIZE_ROWS, .side = 65535}, 16384, 7, 16384, 7);
}

TEST(exact)
{
    struct size_rule rule = {.kind = SIZE_EXACT, .width = 64, .height = 48};
    resolves(rule, 1920, 1080, 64, 48);
    resolves(rule, 50, 1080, 50, 48);
    resolves(rule, 1920, 20, 64, 20);
    resolves((struct size_rule){.kind = SIZE_EXACT}, 10, 10, 1, 1);
}

TEST(divide)
{
    resolves((struct size_rule){.kind = SIZE_DIVIDE, .divisor = 4}, 1920, 1080, 480, 270);
    /* 479.5, 270.25 */
    resolves((struct size_rule){.kind = SIZE_DIVIDE, .divisor = 4}, 1918, 1081, 480, 270);
    resolves((struct size_rule){.kind = SIZE_DIVIDE, .divisor = 1}, 1921, 1, 1921, 1);
    resolves((struct size_rule){.kind = SIZE_DIVIDE, .divisor = 100}, 30, 49, 1, 1);
    resolves((struct size_rule){.kind = SIZE_DIVIDE, .divisor = 0}, 30, 49, 30, 49);
    resolves((struct size_rule){.kind = SIZE_DIVIDE, .divisor = INT32_MAX}, 30, 49, 1, 1);
}

TEST(full) { resolves((struct size_rule){.kind = SIZE_FULL}, 1919, 1079, 1919, 1079); }

TEST(values)
{
    struct film_options o = {.stream = 0};
    struct err e = ERR_INIT;
    const struct size_rule *r = &o.size;
    assert_true(set_in_room(&film_options, &o, "size", "320x180", &e));
    assert_true(r->kind == SIZE_EXACT && r->width == 320 && r->height == 180);
    assert_true(set_in_room(&film_options, &o, "size", "16384", &e));
    assert_true(r->kind == SIZE_SIDE && r->side == 16384);
    assert_true(set_in_room(&film_options, &o, "size", "1", &e));
    assert_true(r->kind == SIZE_SIDE && r->side == 1);
    assert_true(set_in_room(&film_options, &o, "size", "1/1000", &e));
    assert_true(r->kind == SIZE_DIVIDE && r->divisor == 1000);
    assert_true(set_in_room(&film_options, &o, "size", "full", &e));
    assert_true(r->kind == SIZE_FULL);
    static const char *const no[] = {"",
                                     "0",
                                     "16385",
                                     "320x",
                                     "x180",
                                     "320x0",
                                     "0x1",
                                     "320x180x2",
                                     "1/0",
                                     "1/1001",
                                     "2/3",
                                     "1/",
                                     "Full",
                                     "320X180",
                                     "-3",
                                     "320 x 180",
                                     "99999999999999999999"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(set_in_room(&film_options, &o, "size", no[i], &e));
    assert_int_equal(r->kind, SIZE_FULL);
}
