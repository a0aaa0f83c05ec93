/*
 * test_shrink_alpha.c - frames with transparent samples, compared with shrink_frame where nothing
 * is transparent, and with a straightforward reference elsewhere.
 */
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "chance.h"
#include "barcode/engine/shrink.h"
#include "engine/shrink_sum.h"
#include "staged.h"

enum { SIDE = 40 };

/* Three colour planes and alpha, of words or bytes. */
struct picture {
    struct frame_view view;
    uint16_t sample[4][SIDE * SIDE];
};

static struct plane plane_at(const uint16_t *sample, int bits, int width, int height)
{
    int step = bits > 8 ? 2 : 1;
    return (struct plane){(const uint8_t *)sample, (ptrdiff_t)width * step, step, width, height};
}

/* Noise in every plane; `half`: 4:2:0. */
static void draw(struct picture *p, enum colour_model model, int bits, int width, int height,
                 bool half)
{
    p->view = (struct frame_view){.model = model,
                                  .matrix = model == MODEL_RGB ? MATRIX_RGB : MATRIX_BT709,
                                  .range = model == MODEL_RGB ? RANGE_FULL : RANGE_LIMITED,
                                  .bits = bits,
                                  .width = width,
                                  .height = height};
    for (int i = 0; i < 4; i++) {
        bool chroma = half && (i == 1 || i == 2);
        struct plane plane = plane_at(p->sample[i], bits, chroma ? (width + 1) / 2 : width,
                                      chroma ? (height + 1) / 2 : height);
        *(i < 3 ? &p->view.plane[i] : &p->view.alpha) = plane;
        for (int j = 0; j < SIDE * SIDE; j++)
            p->sample[i][j] =
                bits > 8 ? (uint16_t)(chance() & ((1u << bits) - 1)) : (uint16_t)chance();
    }
}

static void set(struct picture *p, int plane, int at, unsigned value)
{
    if (p->view.bits > 8)
        p->sample[plane][at] = (uint16_t)value;
    else
        ((uint8_t *)p->sample[plane])[at] = (uint8_t)value;
}

static unsigned get(const struct picture *p, int plane, int at)
{
    return p->view.bits > 8 ? p->sample[plane][at] : ((const uint8_t *)p->sample[plane])[at];
}

static void set_alpha(struct picture *p, unsigned value)
{
    for (int i = 0; i < p->view.width * p->view.height; i++)
        set(p, 3, i, value);
}

/* Returns false if nothing is visible. */
static bool shrink(const struct picture *p, int width, int height, struct light *light,
                   uint8_t *rgb)
{
    struct err e = ERR_INIT;
    const uint8_t *got;
    struct shrink_alpha *s = shrink_alpha_open(width, height, light, &e);
    assert_non_null(s);
    assert_ok(shrink_alpha_frame(s, &p->view, &got, &e), &e);
    bool visible = got != NULL;
    if (visible)
        memcpy(rgb, got, (size_t)width * (size_t)height * 3);
    shrink_alpha_free(&s);
    assert_null(s);
    return visible;
}

static void shrink_plain(const struct picture *p, int width, int height, struct light *light,
                         uint8_t *rgb)
{
    struct err e = ERR_INIT;
    struct shrink *s = shrink_open(width, height, &e);
    assert_non_null(s);
    shrink_use_light(s, light);
    assert_true(shrink_frame(s, &p->view, rgb, &e));
    shrink_free(&s);
}

static const int sizes[][2] = {{1, 1}, {7, 5}, {20, 18}, {40, 36}, {61, 50}};
enum { SIZES = sizeof sizes / sizeof *sizes, LARGEST = 61 * 50 * 3 };

/* Where nothing is transparent, the coverage weighted mean is the mean. */
TEST(opaque_is_as_without_alpha)
{
    static const struct {
        enum colour_model model;
        int bits;
        bool half;
    } kinds[] = {{MODEL_RGB, 8, false},  {MODEL_RGB, 16, false},   {MODEL_YCBCR, 8, true},
                 {MODEL_GREY, 8, false}, {MODEL_YCBCR, 10, false}, {MODEL_YCBCR, 12, true}};
    static const struct light_rule rules[] = {{.linear = true}, {.map = TONE_HABLE}};
    static struct picture p;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t j = 0; j < SIZES; j++)
            for (int turns = 0; turns < 4; turns++) {
                uint8_t a[LARGEST], b[LARGEST];
                size_t bytes = (size_t)sizes[j][0] * (size_t)sizes[j][1] * 3;
                draw(&p, kinds[i].model, kinds[i].bits, 40, 36, kinds[i].half);
                p.view.orientation = (struct orientation){turns, turns > 1};
                p.view.transfer = turns == 3 ? TRANSFER_PQ : TRANSFER_SDR;
                set_alpha(&p, (1u << kinds[i].bits) - 1);
                assert_true(shrink_alpha_is_opaque(&p.view));
                struct light *light = turns > 1 ? light_open(&rules[turns - 2], 0, NULL) : NULL;
                assert_true(shrink(&p, sizes[j][0], sizes[j][1], light, a));
                shrink_plain(&p, sizes[j][0], sizes[j][1], light, b);
                assert_memory_equal(a, b, bytes);
                light_close(&light);
            }
}

/* A colour under transparent samples has no effect, whatever it is. */
TEST(hidden_colours_do_not_show)
{
    static struct picture p;
    for (int kind = 0; kind < 4; kind++)
        for (size_t j = 0; j < SIZES; j++) {
            uint8_t a[LARGEST], b[LARGEST];
            size_t bytes = (size_t)sizes[j][0] * (size_t)sizes[j][1] * 3;
            draw(&p, kind & 1 ? MODEL_YCBCR : MODEL_RGB, kind & 2 ? 10 : 8, 40, 36, false);
            for (int i = 0; i < 40 * 36; i++)
                if (get(&p, 3, i) >> (p.view.bits - 8) < 160)
                    set(&p, 3, i, 0);
            assert_false(shrink_alpha_is_opaque(&p.view));
            assert_true(shrink(&p, sizes[j][0], sizes[j][1], NULL, a));
            for (int plane = 0; plane < 3; plane++)
                for (int i = 0; i < 40 * 36; i++)
                    if (get(&p, 3, i) == 0)
                        set(&p, plane, i, chance() & ((1u << p.view.bits) - 1));
            assert_true(shrink(&p, sizes[j][0], sizes[j][1], NULL, b));
            assert_memory_equal(a, b, bytes);
        }
}

/* Weights by coverage: 3 samples with coverage 1, 1/3 and 0 in one pixel. */
TEST(edges_are_weighted)
{
    static struct picture p;
    uint8_t rgb[6];
    draw(&p, MODEL_RGB, 8, 6, 1, false);
    static const uint8_t red[] = {200, 100, 9, 40, 40, 40}, alpha[] = {255, 85, 0, 1, 0, 0};
    for (int i = 0; i < 6; i++) {
        for (int plane = 0; plane < 3; plane++)
            set(&p, plane, i, plane == 0 ? red[i] : 0);
        set(&p, 3, i, alpha[i]);
    }
    assert_true(shrink(&p, 2, 1, NULL, rgb));
    assert_int_equal(rgb[0], (200 * 255 + 100 * 85) / 340);
    /* the second pixel has 1 of 114 shares: the first gets both */
    assert_memory_equal(rgb + 3, rgb, 3);
    for (int i = 3; i < 6; i++)
        set(&p, 3, i, 140);
    assert_true(shrink(&p, 2, 1, NULL, rgb));
    assert_int_equal(rgb[0], 175);
    assert_int_equal(rgb[3], 40);
}

/* The chroma of a sample is the one at its place: odd sizes too. */
TEST(chroma_belongs_to_its_samples)
{
    static struct picture p;
    uint8_t rgb[3], alone[3];
    draw(&p, MODEL_YCBCR, 8, 7, 5, true);
    set_alpha(&p, 0);
    set(&p, 3, 7 * 3 + 5, 77);
    assert_true(shrink(&p, 1, 1, NULL, rgb));
    const uint16_t in[3] = {(uint16_t)(get(&p, 0, 7 * 3 + 5) << 8),
                            (uint16_t)(get(&p, 1, 4 * 1 + 2) << 8),
                            (uint16_t)(get(&p, 2, 4 * 1 + 2) << 8)};
    /* 3 * 3 / 5 = 1, 5 * 4 / 7 = 2 */
    struct colour_transform m;
    colour_transform_init(&m, MODEL_YCBCR, MATRIX_BT709, RANGE_LIMITED, 8);
    colour_apply(&m, in, alone);
    assert_memory_equal(rgb, alone, 3);
}

TEST(nothing_visible)
{
    static struct picture p;
    uint8_t rgb[LARGEST];
    draw(&p, MODEL_YCBCR, 10, 40, 36, true);
    set_alpha(&p, 3); /* 0 in 8 bits */
    assert_false(shrink_alpha_is_opaque(&p.view));
    assert_false(shrink(&p, 7, 5, NULL, rgb));
    set(&p, 3, 17, 4);
    assert_true(shrink(&p, 7, 5, NULL, rgb));
    for (int i = 1; i < 35; i++)
        assert_memory_equal(rgb + 3 * i, rgb, 3);
}

TEST(invalid_views)
{
    static struct picture p;
    struct err e = ERR_INIT;
    const uint8_t *rgb;
    struct shrink_alpha *s = shrink_alpha_open(4, 4, NULL, &e);
    draw(&p, MODEL_RGB, 10, 8, 8, false);
    p.view.alpha.step = 1;
    assert_false(shrink_alpha_frame(s, &p.view, &rgb, &e));
    assert_int_equal(e.code, ERR_FAILED);
    draw(&p, MODEL_RGB, 10, 8, 8, false);
    p.view.alpha.width--; /* samples of plane 0 would have none */
    err_clear(&e);
    assert_false(shrink_alpha_frame(s, &p.view, &rgb, &e));
    assert_int_equal(e.code, ERR_FAILED);
    shrink_alpha_free(&s);
    shrink_alpha_free(&s);
}

/* Each colour gets its share of the pixels to within one; pixels with a share keep their place. */
TEST(fill_shares)
{
    enum { N = 500 };
    for (int turn = 0; turn < 300; turn++) {
        uint8_t cover[N], rgb[3 * N] = {0};
        unsigned all = 0, count[N] = {0}, kept = 0;
        size_t n = 1 + chance() % N;
        for (size_t i = 0; i < n; i++) {
            bool there = chance() % 8 >= (unsigned)turn % 8 || i == n / 2;
            cover[i] = (uint8_t)(!there ? 0 : turn % 3 ? 255 : 1 + chance() % 255);
            all += cover[i];
            rgb[3 * i] = (uint8_t)i;
            rgb[3 * i + 1] = (uint8_t)(i >> 8);
        }
        shrink_alpha_fill(cover, rgb, n);
        unsigned before = 0;
        for (size_t i = 0; i < n; i++) {
            size_t from = rgb[3 * i] + 256u * rgb[3 * i + 1];
            count[from]++;
            kept += from == i;
            if (from != i) {
                assert_true(from >= before); /* in order */
                before = (unsigned)from;
            }
        }
        for (size_t i = 0; i < n; i++) {
            double share = (double)cover[i] * (double)n / all;
            assert_true(count[i] > share - 1 && count[i] < share + 1);
            kept -= count[i] > 0;
        }
        assert_int_equal(kept, 0);
    }
}
