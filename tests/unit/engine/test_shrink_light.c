/* The shrink of pictures that become light first, against light.h's points a sample at a time, on
 * every instruction set. */
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "barcode/engine/light.h"
#include "barcode/engine/shrink.h"

static uint64_t random_state = 5;

static uint32_t rnd(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 32);
}

static int between(int low, int high) { return low + (int)(rnd() % (uint32_t)(high - low + 1)); }

/* A block of one plane, or of several among each other: exactly as large as its samples. */
static uint8_t *block(int width, int height, int step, ptrdiff_t *pitch, int bits, int shift)
{
    *pitch = (ptrdiff_t)width * step;
    size_t size = (size_t)*pitch * (size_t)height;
    uint8_t *memory = malloc(size);
    assert_non_null(memory);
    for (size_t i = 0; i < size; i++)
        memory[i] = (uint8_t)rnd();
    for (size_t i = 0; bits > 8 && i + 1 < size; i += 2) {
        uint16_t word = (uint16_t)((rnd() & ((1u << bits) - 1)) << shift);
        memcpy(memory + i, &word, 2);
    }
    return memory;
}

enum layout { PLANAR, SEMI, PACKED_RGB, ONE_GREY, LAYOUTS };

static struct frame_view picture(enum layout layout, int width, int height, uint8_t *memory[3])
{
    struct frame_view v = {.model = layout == PACKED_RGB ? MODEL_RGB
                                    : layout == ONE_GREY ? MODEL_GREY
                                                         : MODEL_YCBCR,
                           .matrix = (enum matrix)between(MATRIX_BT601, MATRIX_BT2020),
                           .range = (enum range)between(RANGE_LIMITED, RANGE_FULL),
                           .transfer = (enum transfer)between(TRANSFER_SDR, TRANSFER_HLG),
                           .primaries = (enum primaries)between(PRIMARIES_BT709, PRIMARIES_P3_DCI),
                           .orientation = {between(0, 3), rnd() & 1},
                           .width = width,
                           .height = height};
    static const int depth[] = {8, 10, 12, 16};
    v.bits = depth[between(0, 3)];
    int word = v.bits > 8 ? 2 : 1, across = between(0, 1), down = across ? between(0, 1) : 0;
    v.shift = word == 2 && layout == SEMI ? 16 - v.bits : 0;
    int cw = (width + across) >> across, ch = (height + down) >> down;
    ptrdiff_t pitch;
    int step = layout == PACKED_RGB ? 3 * word : word;
    memory[0] = block(width, height, step, &pitch, v.bits, v.shift);
    v.plane[0] = (struct plane){memory[0], pitch, step, width, height};
    for (int i = 1; i < 3 && layout == PACKED_RGB; i++)
        v.plane[i] = (struct plane){memory[0] + i * word, pitch, step, width, height};
    for (int i = 1; i < 3 && layout == PLANAR; i++) {
        memory[i] = block(cw, ch, word, &pitch, v.bits, v.shift);
        v.plane[i] = (struct plane){memory[i], pitch, word, cw, ch};
    }
    if (layout == SEMI) {
        memory[1] = block(cw, ch, 2 * word, &pitch, v.bits, v.shift);
        v.plane[1] = (struct plane){memory[1], pitch, 2 * word, cw, ch};
        v.plane[2] = (struct plane){memory[1] + word, pitch, 2 * word, cw, ch};
    }
    return v;
}

static int32_t fix16(const struct frame_view *v, int plane, int x, int y)
{
    const struct plane *p = &v->plane[plane];
    const uint8_t *at = p->data + (ptrdiff_t)(y * p->height / v->plane[0].height) * p->pitch +
                        (ptrdiff_t)(x * p->width / v->plane[0].width) * p->step;
    if (v->bits == 8)
        return *at * 256;
    uint16_t word;
    memcpy(&word, at, 2);
    return (word >> v->shift) << (16 - v->bits);
}

static void light_at(const struct light_table *t, const struct light_gamut *gamut,
                     const struct frame_view *v, int x, int y, uint32_t out[3])
{
    struct colour_transform m;
    light_matrix(&m, v);
    uint32_t code[3];
    for (int i = 0; i < 3; i++) {
        int32_t sum = 0;
        for (int j = 0; j < (v->model == MODEL_GREY ? 1 : 3); j++)
            sum += m.m[i][j] * (fix16(v, j, x, y) - m.offset[j]);
        code[i] = light_code_of(sum);
    }
    light_apply(t, t->transfer, t->linear, gamut, code, out);
}

static uint64_t overlap(int sample, int samples, int pixel, int pixels)
{
    int64_t from = (int64_t)sample * pixels > (int64_t)pixel * samples ? (int64_t)sample * pixels
                                                                       : (int64_t)pixel * samples;
    int64_t to = (int64_t)(sample + 1) * pixels < (int64_t)(pixel + 1) * samples
                     ? (int64_t)(sample + 1) * pixels
                     : (int64_t)(pixel + 1) * samples;
    return to > from ? (uint64_t)(to - from) : 0;
}

/* By the definition, before orientation: rgb[height][width][3]. */
static void slowly(struct light *l, const struct frame_view *v, int width, int height, uint8_t *rgb)
{
    struct err e = ERR_INIT;
    const struct light_table *t = light_table(l, v->transfer, &e);
    struct light_gamut gamut = light_gamut(l, v->transfer, v->primaries);
    assert_non_null(t);
    int w = v->plane[0].width, h = v->plane[0].height;
    for (int j = 0; j < height; j++)
        for (int i = 0; i < width; i++) {
            uint64_t sum[3] = {0};
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w && overlap(y, h, j, height); x++) {
                    uint64_t weight = overlap(y, h, j, height) * overlap(x, w, i, width);
                    uint32_t lit[3];
                    if (!weight)
                        continue;
                    light_at(t, &gamut, v, x, y, lit);
                    for (int c = 0; c < 3; c++)
                        sum[c] += lit[c] * weight;
                }
            for (int c = 0; c < 3; c++)
                rgb[3 * (j * width + i) + c] =
                    light_mean(t, t->linear, sum[c], (uint64_t)w * (uint64_t)h);
        }
}

static void compare(struct light *light, const struct frame_view *v, int width, int height)
{
    struct err e = ERR_INIT;
    bool turned = v->orientation.quarter_turns & 1;
    int w = turned ? height : width, h = turned ? width : height;
    size_t bytes = 3 * (size_t)width * (size_t)height;
    uint8_t *right = malloc(bytes), *got = malloc(bytes);
    assert_true(right && got);
    slowly(light, v, w, h, right);
    struct shrink *s = shrink_open(width, height, &e);
    assert_non_null(s);
    shrink_use_light(s, light);
    for (int again = 0; again < 2; again++) {
        memset(got, 0xa5, bytes);
        assert_true(shrink_frame(s, v, got, &e));
        struct shrink_placing to = shrink_place(v->orientation, w, h);
        for (int j = 0; j < h; j++)
            for (int i = 0; i < w; i++)
                assert_memory_equal(got + 3 * (to.start + i * to.right + j * to.down),
                                    right + 3 * (j * w + i), 3);
    }
    shrink_free(&s);
    free(right);
    free(got);
}

static void by_the_definition(const char *isa)
{
    struct err e = ERR_INIT;
    setenv("BARCODE_ISA", isa, 1);
    for (int round = 0; round < 120; round++) {
        struct light_rule rule = {(enum tone_map)between(TONE_BT2390, TONE_OFF),
                                  between(100, 10000), round & 1};
        struct light *light = light_open(&rule, 0, &e);
        assert_non_null(light);
        uint8_t *memory[3] = {NULL};
        struct frame_view v =
            picture((enum layout)(round % LAYOUTS), between(1, 61), between(1, 23), memory);
        if (light_wanted(light, &v))
            compare(light, &v, between(1, 24), between(1, 24));
        for (int i = 0; i < 3; i++)
            free(memory[i]);
        light_close(&light);
    }
    unsetenv("BARCODE_ISA");
}

TEST(in_c) { by_the_definition("c"); }

TEST(with_avx2)
{
    if (isa_supported(ISA_AVX2))
        by_the_definition("avx2");
}

/* SDR of BT.709 without --light linear is averaged as ever, and so is grey; and what differs in
 * chroma's sizes is refused. */
TEST(others_are_left_alone)
{
    struct err e = ERR_INIT;
    struct light_rule rule = {TONE_BT2390, 1000, false};
    struct light *light = light_open(&rule, 0, &e);
    struct shrink *plain = shrink_open(5, 4, &e), *with = shrink_open(5, 4, &e);
    assert_true(light && plain && with);
    shrink_use_light(with, light);
    uint8_t *memory[3] = {NULL}, one[60], two[60];
    struct frame_view v = picture(PLANAR, 33, 17, memory);
    v.transfer = TRANSFER_SDR;
    v.primaries = PRIMARIES_BT709;
    assert_true(shrink_frame(plain, &v, one, &e) && shrink_frame(with, &v, two, &e));
    assert_memory_equal(one, two, sizeof one);
    v.primaries = PRIMARIES_BT2020;
    v.model = MODEL_GREY;
    assert_true(shrink_frame(plain, &v, one, &e) && shrink_frame(with, &v, two, &e));
    assert_memory_equal(one, two, sizeof one);
    v.model = MODEL_YCBCR;
    assert_true(shrink_frame(plain, &v, one, &e) && shrink_frame(with, &v, two, &e));
    assert_memory_not_equal(one, two, sizeof one);
    v.transfer = TRANSFER_PQ;
    v.plane[2].width = v.plane[1].width > 1 ? v.plane[1].width - 1 : 1;
    v.plane[1].width = v.plane[2].width + 1;
    assert_false(shrink_frame(with, &v, two, &e));
    assert_non_null(strstr(e.text, "chroma"));
    shrink_free(&plain);
    shrink_free(&with);
    light_close(&light);
    for (int i = 0; i < 3; i++)
        free(memory[i]);
}
