#include <string.h>

#include "test.h"
#include "output/formats/thumbs.h"

enum { W = 16, H = 8 };

static void expect_height(int width, int height, int num, int den, int preview, int expected)
{
    const struct film film = {
        .width = width, .height = height, .sample_num = num, .sample_den = den};
    assert_int_equal(previews_height(&film, preview), expected);
}

/* Even, and of the shape on the screen. */
TEST(heights)
{
    expect_height(1920, 1080, 0, 0, 320, 180);
    expect_height(1080, 1920, 1, 1, 320, 568);
    expect_height(720, 576, 64, 45, 320, 180);
    expect_height(1920, 800, 1, 1, 320, 134);
    expect_height(240, 180, 0, 0, 320, 240);
    expect_height(16384, 1, 0, 0, 320, 2);
    expect_height(1, 16384, 0, 0, 320, PREVIEWS_WIDTH_MOST);
}

static struct previews *open_set(void)
{
    struct err e = ERR_INIT;
    struct previews *p = previews_open(W, H, W, H, true, true, &e);
    assert_non_null(p);
    return p;
}

/* Offers a frame for `count` previews from `first`; its shade is that of `first`. */
static void put(struct previews *p, uint64_t first, uint32_t count)
{
    uint8_t rgb[W * H * 3];
    struct err e = ERR_INIT;
    memset(rgb, (int)(first * 37 % 251), sizeof rgb);
    assert_true(previews_put(p, &(struct frame_tag){.preview = first, .previews = count}, rgb, &e));
}

static void finish(struct previews *p)
{
    struct err e = ERR_INIT;
    assert_true(previews_finish(p, &e) && previews_finish(p, &e));
}

static void expect_jpeg(const struct jpeg *a, const struct jpeg *b, bool same)
{
    bool equal = a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
    assert_true(equal == same);
}

/* Both sets must have the same previews. */
static void expect_same(struct previews **a, struct previews **b)
{
    size_t sheets, others;
    finish(*a);
    finish(*b);
    assert_int_equal(previews_count(*a), previews_count(*b));
    const struct jpeg *sheet = previews_sheets(*a, &sheets), *other = previews_sheets(*b, &others);
    assert_int_equal(sheets, others);
    assert_int_equal(sheets, (previews_count(*a) + 99) / 100);
    for (size_t i = 0; i < sheets; i++) {
        assert_int_equal(sheet[i].width, 10 * W);
        assert_int_equal(sheet[i].height, 10 * H);
        expect_jpeg(&sheet[i], &other[i], true);
    }
    for (size_t i = 0; i < previews_count(*a); i++)
        expect_jpeg(previews_single(*a, i), previews_single(*b, i), true);
    previews_free(a);
    previews_free(b);
    assert_null(*a);
}

/* A missing preview shows the one before it; the first ones show the one after them. */
TEST(missing)
{
    struct previews *with = open_set(), *without = open_set();
    put(without, 1, 2);
    put(without, 6, 1);
    put(with, 1, 5);
    put(with, 6, 1);
    uint8_t rgb[W * H * 3];
    struct err e = ERR_INIT;
    memset(rgb, 37, sizeof rgb);
    struct frame_tag first = {.preview = 0, .previews = 1};
    assert_true(previews_put(with, &first, rgb, &e));
    expect_same(&with, &without);
}

/* The order in which frames come changes nothing, also from sheet to sheet. */
TEST(any_order)
{
    enum { COUNT = 230 };
    struct previews *up = open_set(), *down = open_set();
    for (uint64_t i = 0; i < COUNT; i++) {
        put(up, i, 1);
        put(down, COUNT - 1 - i, 1);
    }
    finish(up);
    expect_jpeg(previews_single(up, 3), previews_single(up, 4), false);
    size_t sheets;
    const struct jpeg *sheet = previews_sheets(up, &sheets);
    expect_jpeg(&sheet[0], &sheet[1], false);
    expect_same(&up, &down);
}

TEST(refused)
{
    struct err e = ERR_INIT;
    uint8_t rgb[W * H * 3] = {0};
    struct previews *p = open_set();
    struct frame_tag none = {.repeat = 1}, last = {.preview = PREVIEWS_MOST, .previews = 1};
    assert_true(previews_put(p, &none, rgb, &e));
    assert_false(previews_finish(p, &e));
    assert_string_equal(e.text, "no frame for a preview was decoded");
    err_clear(&e);
    assert_false(previews_put(p, &last, rgb, &e));
    assert_non_null(strstr(e.text, "more than 100000 previews"));
    previews_free(&p);
    previews_free(&p);
}
