/* --size: its values, and the size of analysis frames, never larger than the film. */

#include "test.h"
#include "set_option.h"

/* A film's size by a rule. */
TEST(sizes)
{
    static const struct {
        struct size_rule rule;
        int width, height, want_width, want_height;
    } cases[] = {
#define SIDE(side) {SIZE_SIDE, side, 0, 0, 0}
#define ROWS(side) \
    { \
        SIZE_ROWS, side, 0, 0, 0 \
    }
#define EXACT(width, height) \
    { \
        SIZE_EXACT, 0, width, height, 0 \
    }
#define DIVIDE(divisor) \
    { \
        SIZE_DIVIDE, 0, 0, 0, divisor \
    }
        {SIDE(320), 1920, 1080, 320, 180},
        {SIDE(320), 1080, 1920, 180, 320},
        {SIDE(320), 1920, 800, 320, 133}, /* 133.33 */
        {SIDE(320), 1918, 802, 320, 134}, /* 133.81 */
        {SIDE(320), 640, 3, 320, 2},      /* 1.5, up */
        {SIDE(320), 500, 500, 320, 320},
        {SIDE(320), 10000, 1, 320, 1},
        {SIDE(320), 1, 10000, 1, 320},
        {SIDE(320), 300, 200, 300, 200}, /* never larger */
        {SIDE(320), 320, 180, 320, 180},
        {SIDE(320), 1, 1, 1, 1},
        {SIDE(16384), 16384, 16384, 16384, 16384},
        {SIDE(1), 100, 50, 1, 1},
        {SIDE(0), 100, 50, 1, 1},
        {ROWS(800), 1920, 1080, 1422, 800},
        {ROWS(800), 640, 480, 640, 480},
        {ROWS(800), 3, 1600, 2, 800}, /* 1.5, up */
        {ROWS(1), 16384, 16384, 1, 1},
        {ROWS(65535), 16384, 7, 16384, 7},
        {EXACT(64, 48), 1920, 1080, 64, 48},
        {EXACT(64, 48), 50, 1080, 50, 48},
        {EXACT(64, 48), 1920, 20, 64, 20},
        {EXACT(0, 0), 10, 10, 1, 1},
        {DIVIDE(4), 1920, 1080, 480, 270},
        {DIVIDE(4), 1918, 1081, 480, 270}, /* 479.5, 270.25 */
        {DIVIDE(1), 1921, 1, 1921, 1},
        {DIVIDE(100), 30, 49, 1, 1},
        {DIVIDE(0), 30, 49, 30, 49},
        {DIVIDE(INT32_MAX), 30, 49, 1, 1},
        {{SIZE_FULL, 0, 0, 0, 0}, 1919, 1079, 1919, 1079},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int w = -1, h = -1;
        size_resolve(&cases[i].rule, cases[i].width, cases[i].height, &w, &h);
        if (w != cases[i].want_width || h != cases[i].want_height)
            fail_msg("case %zu: %dx%d", i, w, h);
    }
}

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
