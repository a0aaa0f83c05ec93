/* shrink against the definitions in shrink.h and light.h, pixel by pixel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "barcode/engine/colour.h"
#include "barcode/engine/light.h"
#include "barcode/engine/shrink.h"
#include "chance.h"
#include "under_tsan.h"

enum { GUARD = 64, POISON = 0xA5 };

/* The memory of one picture. */
struct picture {
    struct frame_view view;
    uint8_t *memory[3];
    size_t size[3];
};

/* A block of its own size exactly, so that AddressSanitizer sees one byte too far; `upside` gives a
 * negative pitch. */
static void add_block(struct picture *p, int block, int row_bytes, int rows, bool upside,
                      const uint8_t **data, ptrdiff_t *pitch)
{
    int extra = (int)(chance() % 3) * 2;
    *pitch = row_bytes + extra;
    p->size[block] = (size_t)*pitch * (size_t)(rows - 1) + (size_t)row_bytes;
    p->memory[block] = malloc(p->size[block]);
    assert_non_null(p->memory[block]);
    *data = p->memory[block];
    if (upside) {
        *data += *pitch * (rows - 1);
        *pitch = -*pitch;
    }
}

static void fill(struct picture *p)
{
    const struct frame_view *v = &p->view;
    uint32_t most = (1u << v->bits) - 1;
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; k < p->size[i]; k++)
            p->memory[i][k] = (uint8_t)chance();
    if (v->bits <= 8)
        return;
    /* Words: samples of `bits` bits, now and then all ones; under the shift, dirt that must not
     * count. */
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; k + 1 < p->size[i]; k += 2) {
            uint32_t sample = chance() % 4 ? chance() & most : most;
            uint16_t w = (uint16_t)(sample << v->shift | (chance() & ((1u << v->shift) - 1)));
            memcpy(p->memory[i] + k, &w, 2);
        }
}

static void fill_white(struct picture *p)
{
    for (int i = 0; i < 3; i++)
        if (p->memory[i])
            memset(p->memory[i], 0xFF, p->size[i]);
}

static void free_picture(struct picture *p)
{
    for (int i = 0; i < 3; i++)
        free(p->memory[i]);
}

enum layout { PLANAR, SEMIPLANAR, PACKED3, PACKED4, GREY, LAYOUTS };

static void make_planes(struct picture *p, enum layout layout, int cw, int ch)
{
    struct frame_view *v = &p->view;
    int word = v->bits > 8 ? 2 : 1, w = v->width, h = v->height;
    bool upside = chance() % 4 == 0;
    const uint8_t *data;
    ptrdiff_t pitch;
    if (layout == PACKED3 || layout == PACKED4) {
        int step = (layout == PACKED3 ? 3 : 4) * word, first = layout == PACKED4 && chance() % 2,
            back = chance() % 2;
        add_block(p, 0, w * step, h, upside, &data, &pitch);
        for (int i = 0; i < 3; i++)
            v->plane[i] =
                (struct plane){data + (first + (back ? 2 - i : i)) * word, pitch, step, w, h};
        return;
    }
    add_block(p, 0, w * word, h, upside, &data, &pitch);
    v->plane[0] = (struct plane){data, pitch, word, w, h};
    if (layout == GREY)
        return;
    if (layout == SEMIPLANAR) {
        int swap = chance() % 2;
        add_block(p, 1, cw * 2 * word, ch, upside, &data, &pitch);
        v->plane[1] = (struct plane){data + swap * word, pitch, 2 * word, cw, ch};
        v->plane[2] = (struct plane){data + !swap * word, pitch, 2 * word, cw, ch};
        return;
    }
    for (int i = 1; i < 3; i++) {
        add_block(p, i, cw * word, ch, upside, &data, &pitch);
        v->plane[i] = (struct plane){data, pitch, word, cw, ch};
    }
}

static void make_blank(struct picture *p, enum layout layout, int width, int height, int bits,
                       int shift)
{
    static const int sub[][2] = {{1, 1}, {1, 0}, {0, 0}, {2, 0}, {2, 2}, {0, 1}};
    const int *s = sub[chance() % 6];
    memset(p, 0, sizeof *p);
    p->view = (struct frame_view){.bits = bits, .shift = shift, .width = width, .height = height};
    p->view.matrix = (enum matrix)between(MATRIX_BT601, MATRIX_YCGCO);
    p->view.range = (enum range)between(RANGE_LIMITED, RANGE_FULL);
    p->view.orientation = (struct orientation){between(0, 3), chance() % 2};
    p->view.model = layout == GREY ? MODEL_GREY : layout >= PACKED3 ? MODEL_RGB : MODEL_YCBCR;
    make_planes(p, layout, (width + (1 << s[0]) - 1) >> s[0], (height + (1 << s[1]) - 1) >> s[1]);
}

static void make_picture(struct picture *p, enum layout layout, int width, int height, int bits,
                         int shift)
{
    make_blank(p, layout, width, height, bits, shift);
    fill(p);
}

static uint32_t sample(const struct frame_view *v, int plane, int x, int y)
{
    const struct plane *p = &v->plane[plane];
    const uint8_t *at = p->data + y * p->pitch + x * p->step;
    if (v->bits <= 8)
        return *at;
    uint16_t w;
    memcpy(&w, at, 2);
    return (uint32_t)w >> v->shift;
}

/* Overlap of [i*in, (i+1)*in) and [k*out, (k+1)*out), in units of 1/out of a sample. */
static uint64_t overlap(int64_t i, int64_t k, int64_t in, int64_t out)
{
    int64_t low = i * in > k * out ? i * in : k * out;
    int64_t high = (i + 1) * in < (k + 1) * out ? (i + 1) * in : (k + 1) * out;
    return high > low ? (uint64_t)(high - low) : 0;
}

/* The definition, with nothing reduced and nothing clever. Coordinates before orientation. */
static uint16_t naive_mean(const struct frame_view *v, int plane, int x, int y, int w, int h)
{
    int pw = v->plane[plane].width, ph = v->plane[plane].height;
    int x0 = (int)((int64_t)x * pw / w), y0 = (int)((int64_t)y * ph / h);
    uint64_t sum = 0, weights = 0;
    for (int k = y0; k < ph && (int64_t)k * h < (int64_t)(y + 1) * ph; k++)
        for (int i = x0; i < pw && (int64_t)i * w < (int64_t)(x + 1) * pw; i++) {
            uint64_t weight = overlap(x, i, pw, w) * overlap(y, k, ph, h);
            sum += weight * sample(v, plane, i, k);
            weights += weight;
        }
    assert_true(weights == (uint64_t)pw * (uint64_t)ph);
    uint64_t mean = ((sum << (16 - v->bits)) + weights / 2) / weights;
    return mean > 65535 ? 65535 : (uint16_t)mean;
}

/* The same of pictures that become light first, a sample at a time. */
static void naive_light(struct light *l, const struct frame_view *v,
                        const struct colour_transform *m, int x, int y, int w, int h,
                        uint8_t rgb[3])
{
    struct err e = ERR_INIT;
    const struct light_table *t = light_table(l, v->transfer, &e);
    const struct light_gamut gamut = light_gamut(l, v->transfer, v->primaries);
    const int pw = v->plane[0].width, ph = v->plane[0].height;
    uint64_t sum[3] = {0};
    for (int i = 0; i < pw * ph; i++) {
        uint64_t weight = overlap(x, i % pw, pw, w) * overlap(y, i / pw, ph, h);
        uint32_t code[3], lit[3];
        for (int c = 0; c < 3 && weight; c++) {
            int32_t part = 0;
            for (int j = 0; j < (v->model == MODEL_GREY ? 1 : 3); j++) {
                const struct plane *p = &v->plane[j];
                uint32_t at = sample(v, j, i % pw * p->width / pw, i / pw * p->height / ph);
                part += m->m[c][j] * ((int32_t)(at << (16 - v->bits)) - m->offset[j]);
            }
            code[c] = light_code_of(part);
        }
        if (!weight)
            continue;
        light_apply(t, t->transfer, t->linear, &gamut, code, lit);
        for (int c = 0; c < 3; c++)
            sum[c] += lit[c] * weight;
    }
    for (int c = 0; c < 3; c++)
        rgb[c] = light_mean(t, t->linear, sum[c], (uint64_t)pw * (uint64_t)ph);
}

/* Where frame.h puts (x, y) of a w x h picture: mirrored first, then turned clockwise a quarter at
 * a time. */
static void oriented(struct orientation o, int *x, int *y, int w, int h)
{
    if (o.mirror)
        *x = w - 1 - *x;
    for (int i = 0; i < o.quarter_turns; i++) {
        int right = h - 1 - *y;
        *y = *x;
        *x = right;
        int swap = w;
        w = h;
        h = swap;
    }
}

/* `light` is NULL if the frame is not converted to light. */
static void check_pixels(const struct frame_view *v, struct light *light, const uint8_t *rgb,
                         int width, int height)
{
    struct colour_transform t;
    colour_transform_init(&t, v->model, v->matrix, v->range, v->bits);
    if (light)
        light_matrix(&t, v);
    bool turned = v->orientation.quarter_turns % 2;
    int w = turned ? height : width, h = turned ? width : height;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            uint16_t in[3] = {0, 0, 0};
            uint8_t expected[3];
            for (int i = 0; i < (v->model == MODEL_GREY ? 1 : 3); i++)
                in[i] = naive_mean(v, i, x, y, w, h);
            if (light)
                naive_light(light, v, &t, x, y, w, h, expected);
            else
                colour_apply(&t, in, expected);
            int ox = x, oy = y;
            oriented(v->orientation, &ox, &oy, w, h);
            const uint8_t *got = rgb + 3 * ((size_t)oy * (size_t)width + (size_t)ox);
            if (memcmp(got, expected, 3) != 0)
                fail_msg(
                    "%dx%d (%d bits, model %d) to %dx%d: pixel %d,%d is %d,%d,%d and not %d,%d,%d",
                    v->width, v->height, v->bits, (int)v->model, width, height, ox, oy, got[0],
                    got[1], got[2], expected[0], expected[1], expected[2]);
        }
}

static void run(struct shrink *s, const struct frame_view *v, struct light *light, int width,
                int height)
{
    size_t size = 3 * (size_t)width * (size_t)height;
    uint8_t *memory = malloc(size + 2 * GUARD);
    assert_non_null(memory);
    memset(memory, POISON, size + 2 * GUARD);
    struct err e = ERR_INIT;
    assert_true(shrink_frame(s, v, memory + GUARD, &e));
    for (size_t i = 0; i < GUARD; i++) {
        assert_int_equal(memory[i], POISON);
        assert_int_equal(memory[GUARD + size + i], POISON);
    }
    check_pixels(v, light, memory + GUARD, width, height);
    free(memory);
}

static void check_case(enum layout layout, int w, int h, int out_w, int out_h, int bits, int shift)
{
    struct err e = ERR_INIT;
    struct picture p;
    make_picture(&p, layout, w, h, bits, shift);
    struct shrink *s = shrink_open(out_w, out_h, &e);
    assert_non_null(s);
    run(s, &p.view, NULL, out_w, out_h);
    shrink_free(&s);
    assert_null(s);
    free_picture(&p);
}

TEST(random_pictures)
{
    static const int depth[][2] = {{8, 0},  {8, 0},  {8, 0},  {9, 0},  {10, 0},
                                   {10, 6}, {12, 0}, {12, 4}, {14, 1}, {16, 0}};
    for (int i = 0; i < 1500; i++) {
        int w = between(1, 70), h = between(1, 70);
        int out_w = between(1, i % 5 ? w : 90), out_h = between(1, i % 5 ? h : 90);
        const int *d = depth[chance() % 10];
        check_case((enum layout)(i % LAYOUTS), w, h, out_w, out_h, d[0], d[1]);
    }
}

TEST(common_ratios)
{
    static const int ratio[] = {1, 2, 3, 4, 5, 6, 8, 9, 12, 16};
    for (size_t i = 0; i < sizeof ratio / sizeof *ratio; i++)
        for (int layout = 0; layout < LAYOUTS; layout++) {
            check_case((enum layout)layout, 17 * ratio[i], 5 * ratio[i], 17, 5, 8, 0);
            check_case((enum layout)layout, 17 * ratio[i], 5 * ratio[i], 5, 5, 10, 6);
        }
}

/* More rows than add up in 16 bits, sums beyond 32 bits, rows longer than a block of the colour
 * loop. */
TEST(large_pictures)
{
    check_case(PLANAR, 7, 2000, 3, 3, 8, 0);
    check_case(PLANAR, 5, 1029, 5, 2, 8, 0);
    check_case(PLANAR, 1283, 721, 97, 41, 8, 0);
    check_case(SEMIPLANAR, 1283, 721, 1, 1, 16, 0);
    check_case(PLANAR, 1031, 3, 1029, 3, 12, 0);
    check_case(PLANAR, 640, 360, 640, 360, 8, 0);
    check_case(GREY, 3, 2, 700, 3, 8, 0);
}

TEST(brightest_and_largest)
{
    enum { MOST = UNDER_TSAN ? 2048 : 16384 };
    struct err e = ERR_INIT;
    for (int bits = 8; bits <= 16; bits += 8) {
        struct picture p;
        make_blank(&p, GREY, MOST, MOST, bits, 0);
        p.view.range = RANGE_FULL;
        p.view.orientation = (struct orientation){0, false};
        fill_white(&p);
        static const int size[][2] = {{1, 1}, {3, 7}, {MOST - 1, 1}, {1, MOST - 1}};
        for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
            size_t bytes = 3 * (size_t)size[i][0] * (size_t)size[i][1];
            uint8_t *rgb = calloc(1, bytes);
            struct shrink *s = shrink_open(size[i][0], size[i][1], &e);
            assert_non_null(rgb);
            assert_true(s && shrink_frame(s, &p.view, rgb, &e));
            for (size_t k = 0; k < bytes; k++)
                if (rgb[k] != 255)
                    fail_msg("%d bits, byte %zu is %d", bits, k, rgb[k]);
            shrink_free(&s);
            free(rgb);
        }
        free_picture(&p);
    }
}

/* Samples above 2^bits - 1, which no decoder gives: clamped, no overflow. */
TEST(samples_out_of_range)
{
    struct picture p;
    struct err e = ERR_INIT;
    make_picture(&p, PLANAR, 61, 47, 10, 0);
    fill_white(&p);
    struct shrink *s = shrink_open(13, 11, &e);
    run(s, &p.view, NULL, 13, 11);
    shrink_free(&s);
    s = shrink_open(61, 47, &e);
    p.view.orientation = (struct orientation){0, false};
    run(s, &p.view, NULL, 61, 47);
    shrink_free(&s);
    free_picture(&p);
}

/* One workspace, picture after picture of another kind: nothing of the last one is left. */
TEST(workspace_changes_geometry)
{
    struct err e = ERR_INIT;
    struct shrink *s = shrink_open(19, 11, &e);
    assert_non_null(s);
    for (int i = 0; i < 100; i++) {
        struct picture p;
        int bits = i % 3 == 0 ? 10 : 8;
        make_picture(&p, (enum layout)between(0, LAYOUTS - 1), between(1, 90), between(1, 90), bits,
                     0);
        run(s, &p.view, NULL, 19, 11);
        run(s, &p.view, NULL, 19, 11);
        free_picture(&p);
    }
    shrink_free(&s);
    shrink_free(&s);
}

TEST(what_cannot_be)
{
    struct err e = ERR_INIT;
    assert_null(shrink_open(0, 1, &e));
    err_clear(&e);
    assert_null(shrink_open(1, 16385, &e));
    err_clear(&e);
    struct shrink *s = shrink_open(1, 1, &e);
    uint8_t byte[2] = {0};
    struct frame_view good = {.model = MODEL_GREY,
                              .matrix = MATRIX_BT709,
                              .range = RANGE_FULL,
                              .bits = 8,
                              .width = 1,
                              .height = 1,
                              .plane = {{byte, 1, 1, 1, 1}}};
    uint8_t rgb[3];
    assert_true(shrink_frame(s, &good, rgb, &e));
    static const struct {
        int width, height, bits, shift, step;
    } bad[] = {{16385, 1, 8, 0, 1}, {1, 0, 8, 0, 1},  {1, 1, 17, 0, 1},
               {1, 1, 8, 1, 1},     {1, 1, 10, 0, 1}, {1, 1, 10, 0, 3}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct frame_view v = good;
        v.width = bad[i].width;
        v.plane[0].height = bad[i].height;
        v.bits = bad[i].bits;
        v.shift = bad[i].shift;
        v.plane[0].step = bad[i].step;
        err_clear(&e);
        assert_false(shrink_frame(s, &v, rgb, &e));
        assert_int_equal(e.code, ERR_FAILED);
    }
    shrink_free(&s);
}

TEST(spans_cover_what_they_should)
{
    for (unsigned in = 1; in <= 24; in++)
        for (unsigned out = 1; out <= 24; out++)
            for (unsigned i = 0; i < out; i++) {
                struct shrink_span s = shrink_span(i, in, out);
                assert_true(s.head < in && s.tail < in && s.begin <= s.end && s.end <= in);
                for (unsigned j = 0; j < in; j++)
                    assert_int_equal((j == s.head) * s.head_weight +
                                         (j >= s.begin && j < s.end) * out +
                                         (j == s.tail) * s.tail_weight,
                                     overlap(i, j, in, out));
            }
    /* as wide as a picture can be */
    struct shrink_span far = shrink_span(INT32_MAX - 1, INT32_MAX, INT32_MAX);
    assert_true(far.begin == INT32_MAX - 1 && far.end == INT32_MAX &&
                far.head_weight + far.tail_weight == 0);
}

/* ------------------------------------------------------------------ pictures that become light */

static void light_by_the_definition(const char *isa)
{
    static const int depth[][2] = {{8, 0}, {10, 0}, {10, 6}, {12, 0}, {12, 4}, {16, 0}};
    struct err e = ERR_INIT;
    setenv("BARCODE_ISA", isa, 1);
    for (int round = 0; round < 120; round++) {
        struct light_rule rule = {(enum tone_map)between(TONE_BT2390, TONE_OFF),
                                  between(100, 10000), round & 1};
        struct light *light = light_open(&rule, 0, &e);
        int width = between(1, 24), height = between(1, 24);
        struct shrink *s = shrink_open(width, height, &e);
        struct picture p;
        assert_true(light && s);
        shrink_use_light(s, light);
        const int *d = depth[chance() % 6];
        make_picture(&p, (enum layout)(round % LAYOUTS), between(1, 61), between(1, 23), d[0],
                     d[1]);
        p.view.transfer = (enum transfer)between(TRANSFER_SDR, TRANSFER_HLG);
        p.view.primaries = (enum primaries)between(PRIMARIES_BT709, PRIMARIES_P3_DCI);
        for (int again = 0; again < 2 && light_wanted(light, &p.view); again++) {
            run(s, &p.view, light, width, height);
            fill(&p);
        }
        shrink_free(&s);
        free_picture(&p);
        light_close(&light);
    }
    unsetenv("BARCODE_ISA");
}

TEST(light_at_the_base_line) { light_by_the_definition("base"); }

TEST(light_with_avx2)
{
    if (isa_supported(ISA_AVX2))
        light_by_the_definition("avx2");
}

/* SDR of BT.709 without --light linear is averaged as ever, and so is grey; and what differs in
 * chroma's sizes is refused. */
TEST(what_becomes_no_light)
{
    struct err e = ERR_INIT;
    struct light_rule rule = {TONE_BT2390, 1000, false};
    struct light *light = light_open(&rule, 0, &e);
    struct shrink *plain = shrink_open(5, 4, &e), *with = shrink_open(5, 4, &e);
    struct picture p;
    assert_true(light && plain && with);
    shrink_use_light(with, light);
    make_picture(&p, PLANAR, 33, 17, 8, 0);
    static const struct {
        enum primaries primaries;
        enum colour_model model;
        bool same;
    } row[] = {{PRIMARIES_BT709, MODEL_YCBCR, true},
               {PRIMARIES_BT2020, MODEL_GREY, true},
               {PRIMARIES_BT2020, MODEL_YCBCR, false}};
    uint8_t one[60], two[60];
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        p.view.primaries = row[i].primaries;
        p.view.model = row[i].model;
        assert_true(shrink_frame(plain, &p.view, one, &e) && shrink_frame(with, &p.view, two, &e));
        assert_int_equal(memcmp(one, two, sizeof one) == 0, row[i].same);
    }
    p.view.transfer = TRANSFER_PQ;
    p.view.plane[2].width--;
    assert_false(shrink_frame(with, &p.view, two, &e));
    assert_non_null(strstr(e.text, "chroma"));
    shrink_free(&plain);
    shrink_free(&with);
    light_close(&light);
    free_picture(&p);
}
