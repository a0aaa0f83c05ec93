#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "chance.h"
#include "barcode/engine/crop.h"

enum { W = 320, H = 180, PICTURES = 12 };

static uint8_t luma[H][W], chroma[2][H / 2][W / 2];
static uint32_t room[W + H];

/* 4:2:0 of 8 bits and limited range. */
static struct frame_view view_of_it(void)
{
    return (struct frame_view){.model = MODEL_YCBCR,
                               .matrix = MATRIX_BT709,
                               .range = RANGE_LIMITED,
                               .bits = 8,
                               .width = W,
                               .height = H,
                               .plane = {{luma[0], W, 1, W, H},
                                         {chroma[0][0], W / 2, 1, W / 2, H / 2},
                                         {chroma[1][0], W / 2, 1, W / 2, H / 2}}};
}

static uint8_t a_little(uint8_t from, uint8_t range) { return (uint8_t)(from + chance() % range); }

/* A textured picture of that brightness inside of the rectangle, black with noise up to 24 around
 * it. */
static void draw(struct crop_rect r, uint8_t from, uint8_t range)
{
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            bool in = x >= r.x && x < r.x + r.width && y >= r.y && y < r.y + r.height;
            luma[y][x] = in ? a_little(from, range) : a_little(16, 9);
        }
}

static struct crop_seen look(void)
{
    struct frame_view v = view_of_it();
    return crop_sample_frame(&v, room);
}

static const struct crop_rect whole = {0, 0, W, H}, scope = {0, 23, W, 134},
                              pillar = {40, 0, 240, H}, window = {40, 22, 240, 136};

static void assert_rect(const struct crop *t, int i, struct crop_rect r)
{
    assert_true(i < t->count);
    assert_memory_equal(&t->rect[i], &r, sizeof r);
}

/* A wide film in a frame for a telephone that is held upright, and in a square one: the bars are
 * wider than the picture is high. */
TEST(in_upright_frames)
{
    enum { WIDE = 180, HIGH = 320 };
    static const struct {
        int height, picture;
    } frame[] = {{HIGH, 101}, {HIGH, 76}, {WIDE, 76}, {WIDE, 65}};
    static uint8_t pixels[HIGH][WIDE];
    for (size_t f = 0; f < sizeof frame / sizeof *frame; f++) {
        int height = frame[f].height, top = (height - frame[f].picture) / 2;
        struct frame_view view = {.model = MODEL_GREY,
                                  .range = RANGE_LIMITED,
                                  .bits = 8,
                                  .width = WIDE,
                                  .height = height,
                                  .plane = {{pixels[0], WIDE, 1, WIDE, height}}};
        struct crop_seen seen[PICTURES];
        for (int i = 0; i < PICTURES; i++) {
            for (int y = 0; y < height; y++)
                for (int x = 0; x < WIDE; x++)
                    pixels[y][x] = y >= top && y < top + frame[f].picture ? a_little(60, 150)
                                                                          : a_little(16, 9);
            seen[i] = crop_sample_frame(&view, room);
        }
        struct crop t = crop_find(seen, PICTURES, WIDE, height);
        assert_rect(&t, 0, (struct crop_rect){0, top, WIDE, frame[f].picture});
    }
}

/* Every shape, bright in most pictures; the rest is a night, a fade to black, and titles. */
TEST(shapes)
{
    const struct crop_rect shape[] = {scope, pillar, window};
    for (size_t s = 0; s < 3; s++) {
        struct crop_seen seen[PICTURES];
        for (int i = 0; i < PICTURES; i++) {
            draw(shape[s], i == 3 ? 16 : 60, i == 3 ? 20 : 150);
            if (i == 5)
                draw((struct crop_rect){0, 0, 0, 0}, 16, 1);
            if (i == 7)
                draw((struct crop_rect){120, 80, 60, 20}, 235, 1);
            seen[i] = look();
        }
        struct crop t = crop_find(seen, PICTURES, W, H);
        assert_int_equal(t.count, 1);
        assert_rect(&t, 0, shape[s]);
        assert_false(t.forced);
    }
}

/* What lies in a bar does not undo it: subtitles in most pictures, a logo in all. */
TEST(what_is_drawn_in_bars)
{
    struct crop_seen seen[PICTURES];
    for (int i = 0; i < PICTURES; i++) {
        draw(scope, 60, 150);
        for (int y = 6; y < 16; y++)
            memset(&luma[y][270], 235, 20);
        for (int y = 162; y < 172 && i != 2; y++)
            for (int x = 80; x < 240; x += 5)
                luma[y][x] = luma[y][x + 1] = luma[y][x + 2] = 235;
        seen[i] = look();
    }
    struct crop t = crop_find(seen, PICTURES, W, H);
    assert_int_equal(t.count, 1);
    assert_rect(&t, 0, scope);
    struct frame_view v = view_of_it(), rows = crop_rows(&v);
    crop_view(&t, &rows, &v);
    assert_int_equal(v.height, 132); /* whole chroma samples */
}

/* A dark edge at one end is a scene's own, in however many pictures; so are thin ones, and what two
 * pictures alone have. */
TEST(what_is_no_bar)
{
    static const struct {
        struct crop_rect rect;
        uint8_t from, range;
    } row[] = {{{0, 0, W, H}, 40, 150},     /* bright from end to end */
               {{0, 0, W, H}, 16, 22},      /* at a tenth of its brightness */
               {{60, 70, 200, 30}, 235, 1}, /* titles */
               {{0, 0, 0, 0}, 16, 1},       /* black */
               {{0, 0, W, 150}, 60, 150},    {{60, 0, W - 60, H}, 60, 150},
               {{0, 5, W, H - 10}, 60, 150}, {{0, 30, W, 90}, 60, 150}};
    struct crop_seen seen[PICTURES];
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        for (int i = 0; i < PICTURES; i++) {
            draw(row[k].rect, row[k].from, row[k].range);
            seen[i] = look();
        }
        assert_int_equal(crop_find(seen, PICTURES, W, H).count, 0);
    }
    for (int dark = 2; dark <= 3; dark++) {
        for (int i = 0; i < PICTURES; i++) {
            draw(i < dark ? pillar : whole, 60, 150);
            seen[i] = look();
        }
        assert_int_equal(crop_find(seen, PICTURES, W, H).count, dark == 3);
    }
    /* a night sky that brightens towards the horizon */
    for (int i = 0; i < PICTURES; i++) {
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                luma[y][x] = (uint8_t)(16 + y / 3 + a_little(0, 20));
        seen[i] = look();
    }
    assert_int_equal(crop_find(seen, PICTURES, W, H).count, 0);
    assert_int_equal(crop_find(seen, 0, W, H).count, 0);
}

/* A dark scene with a lamp outside of the rectangle is left whole, unless it is so small that it
 * may be a logo. */
TEST(a_lamp_in_the_dark)
{
    const struct crop t = {W, H, 1, false, {{40, 0, 240, H}}};
    for (int height = 8; height <= 40; height += 32) {
        draw(whole, 16, 9);
        for (int y = 60; y < 60 + height; y++)
            memset(&luma[y][10], 235, 12);
        struct frame_view v = view_of_it(), rows = crop_rows(&v);
        crop_view(&t, &rows, &v);
        assert_int_equal(v.width, height == 8 ? 240 : W);
    }
}

/* A film that changes its shape: each picture takes what holds it. */
TEST(two_shapes)
{
    struct crop_seen seen[PICTURES];
    for (int i = 0; i < PICTURES; i++) {
        draw(i % 2 ? scope : window, 60, 150);
        seen[i] = look();
    }
    struct crop t = crop_find(seen, PICTURES, W, H);
    assert_int_equal(t.count, 2);
    assert_rect(&t, 0, window);
    assert_rect(&t, 1, scope);
    const struct crop_rect is[] = {scope, window, whole},
                           becomes[] = {{0, 24, W, 132}, window, whole};
    for (int i = 0; i < 3; i++) {
        draw(is[i], 60, 150);
        struct frame_view v = view_of_it(), rows = crop_rows(&v);
        crop_view(&t, &rows, &v);
        assert_int_equal(v.width, becomes[i].width);
        assert_int_equal(v.height, becomes[i].height);
        assert_ptr_equal(v.plane[0].data, &luma[becomes[i].y][becomes[i].x]);
        assert_ptr_equal(v.plane[2].data, &chroma[1][becomes[i].y / 2][becomes[i].x / 2]);
        assert_int_equal(v.plane[1].height, becomes[i].height / 2);
    }
}

/* Pictures of another size than the film's, and what is forced. */
TEST(which_pictures)
{
    struct crop t = {W, H, 1, false, {{0, 24, W, 132}}};
    draw(scope, 60, 150);
    struct frame_view v = view_of_it(), rows = crop_rows(&v);
    v.height = H - 2;
    crop_view(&t, &rows, &v);
    assert_int_equal(v.height, H - 2);
    draw(whole, 60, 150);
    v = view_of_it();
    crop_view(&t, &rows, &v);
    assert_int_equal(v.height, H);
    t.forced = true;
    crop_view(&t, &rows, &v);
    assert_int_equal(v.height, 132);
}

/* Ten bits in words, as P010 has them, say the same as eight. */
TEST(words)
{
    static uint16_t wide[H][W];
    draw(scope, 60, 150);
    struct crop_seen narrow = look();
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            wide[y][x] = (uint16_t)(luma[y][x] << 8);
    struct frame_view v = view_of_it();
    v.bits = 10;
    v.shift = 6;
    v.plane[0] = (struct plane){(const uint8_t *)wide, W * 2, 2, W, H};
    struct crop_seen same = crop_sample_frame(&v, room);
    assert_true(same.down.known && narrow.down.known);
    assert_int_equal(same.down.low, narrow.down.low);
    assert_int_equal(same.down.high, narrow.down.high);
}

/* Of R'G'B' a sample is dark where all three are: stripes of pure red, green and blue are no bars.
 */
TEST(pure_colours)
{
    static uint8_t rgb[3][H][W];
    memset(rgb, 0, sizeof rgb);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            rgb[x < 50 ? 0 : x < W - 50 ? 1 : 2][y][x] = 200;
    struct frame_view v = {
        .model = MODEL_RGB,
        .matrix = MATRIX_RGB,
        .range = RANGE_FULL,
        .bits = 8,
        .width = W,
        .height = H,
        .plane = {{rgb[0][0], W, 1, W, H}, {rgb[1][0], W, 1, W, H}, {rgb[2][0], W, 1, W, H}}};
    struct crop_seen seen = crop_sample_frame(&v, room);
    assert_true(seen.across.known && seen.down.known);
    assert_int_equal(seen.across.low + seen.across.high + seen.down.low + seen.down.high, 0);
    for (int i = 0; i < 3; i++)
        for (int y = 0; y < 20; y++)
            memset(rgb[i][y], 0, W), memset(rgb[i][H - 1 - y], 0, W);
    seen = crop_sample_frame(&v, room);
    assert_int_equal(seen.down.low, 20);
    assert_int_equal(seen.down.high, 20);
}

/* Inwards to whole chroma samples, at an odd picture's own end as it is; never to nothing. */
TEST(crops)
{
    struct frame_view v = view_of_it();
    crop_to_rect(&v, &(struct crop_rect){3, 5, 100, 50});
    assert_int_equal(v.width, 98);
    assert_int_equal(v.height, 48);
    assert_int_equal(v.plane[1].width, 49);
    assert_ptr_equal(v.plane[0].data, &luma[6][4]);
    assert_ptr_equal(v.plane[1].data, &chroma[0][3][2]);
    assert_null(v.alpha.data);
    v = view_of_it();
    v.alpha = v.plane[0];
    crop_to_rect(&v, &(struct crop_rect){3, 5, 100, 50});
    assert_memory_equal(&v.alpha, &v.plane[0], sizeof v.alpha);
    v = view_of_it();
    crop_to_rect(&v, &(struct crop_rect){W - 1, 0, 1, H});
    assert_int_equal(v.width, 1);
    assert_int_equal(v.plane[1].width, 1);
    v = view_of_it();
    crop_to_rect(&v, &(struct crop_rect){W, 0, 5, 5});
    assert_int_equal(v.width, W);
    v = view_of_it();
    crop_to_rect(&v, &(struct crop_rect){-10, -10, 2 * W, 2 * H});
    assert_int_equal(v.width, W);
    assert_int_equal(v.height, H);
}

/* Every orientation and back; a quarter turn clockwise brings the left column to the top. */
TEST(turns)
{
    const struct crop_rect r = {10, 20, 100, 40};
    for (int mirror = 0; mirror < 2; mirror++)
        for (int quarter = 0; quarter < 4; quarter++) {
            struct orientation o = {quarter, mirror};
            struct crop_rect shown = crop_to_shown(r, o, W, H),
                             back = crop_to_decoded(shown, o, W, H);
            assert_memory_equal(&back, &r, sizeof r);
            assert_true(shown.x >= 0 && shown.y >= 0);
            assert_true(shown.x + shown.width <= (quarter % 2 ? H : W) &&
                        shown.y + shown.height <= (quarter % 2 ? W : H));
        }
    struct crop_rect shown = crop_to_shown(r, (struct orientation){1, false}, W, H);
    assert_int_equal(shown.x, H - 20 - 40);
    assert_int_equal(shown.y, 10);
    char text[CROP_TEXT];
    crop_text(&r, text);
    assert_string_equal(text, "100:40:10:20");
}

/* Axes as pictures have them: dark, whole, with bars, and with what looks like one at one end. */
static struct crop_axis an_axis(void)
{
    static const struct crop_axis axis[] = {{false, 0, 0},  {true, 0, 0},   {true, 23, 23},
                                            {true, 24, 21}, {true, 40, 40}, {true, 0, 12}};
    return axis[a_little(0, sizeof axis / sizeof *axis)];
}

/* Who leaves pictures out goes by this: whatever the others show, fewer than CROP_QUORUM that
 * suggest bars make no rectangle. */
TEST(what_suggests_bars)
{
    assert_false(
        crop_suggests(&(struct crop_seen){.across = {.known = true}, .down = {.known = true}}));
    assert_false(crop_suggests(&(struct crop_seen){.across = {.low = 9, .high = 9}}));
    assert_true(crop_suggests(&(struct crop_seen){.across = {.known = true}}));
    assert_true(crop_suggests(&(struct crop_seen){.down = {.known = true}}));
    assert_true(
        crop_suggests(&(struct crop_seen){.across = {.known = true}, .down = {true, 9, 9}}));
    assert_true(
        crop_suggests(&(struct crop_seen){.across = {true, 9, 9}, .down = {.known = true}}));
    int hopeless = 0, found = 0;
    for (int trial = 0; trial < 20000; trial++) {
        struct crop_seen seen[PICTURES];
        size_t count = a_little(1, PICTURES), suggest = 0;
        for (size_t i = 0; i < count; i++) {
            seen[i] = (struct crop_seen){an_axis(), an_axis()};
            suggest += crop_suggests(&seen[i]);
        }
        int rects = crop_find(seen, count, W, H).count;
        hopeless += suggest < CROP_QUORUM;
        found += rects > 0;
        assert_true(rects == 0 || suggest >= CROP_QUORUM);
    }
    assert_true(hopeless > 1000 && found > 1000);
}
