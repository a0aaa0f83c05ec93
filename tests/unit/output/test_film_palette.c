#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "barcode/engine/colour.h"
#include "output/modes/film_palette.h"

enum { WIDTH = 40, HEIGHT = 25, PIXELS = WIDTH * HEIGHT };

struct frame {
    uint8_t rgb[PIXELS][3];
    int filled;
};

static const struct frame_tag once = {.repeat = 1};

static struct colour_histogram *open_histogram(int width, int height)
{
    struct err e = ERR_INIT;
    struct colour_histogram *h = colour_histogram_open(width, height, &e);
    assert_non_null(h);
    return h;
}

/* Appends n pixels. */
static void fill(struct frame *f, int n, uint8_t r, uint8_t g, uint8_t b)
{
    for (; n > 0 && f->filled < PIXELS; n--)
        memcpy(f->rgb[f->filled++], (uint8_t[]){r, g, b}, 3);
}

static struct film_palette make(const struct colour_histogram *h, int colours)
{
    struct film_palette p;
    struct err e = ERR_INIT;
    assert_ok(film_palette_make(h, colours, &p, &e), &e);
    return p;
}

/* The palette of a film of one frame. */
static struct film_palette palette_of(const struct frame *f, int colours)
{
    struct colour_histogram *h = open_histogram(WIDTH, HEIGHT);
    colour_histogram_put(h, &once, f->rgb[0]);
    struct film_palette p = make(h, colours);
    colour_histogram_free(&h);
    return p;
}

static int find(const struct film_palette *p, uint8_t r, uint8_t g, uint8_t b)
{
    for (int i = 0; i < p->count; i++)
        if (memcmp(p->colour[i].rgb, (uint8_t[]){r, g, b}, 3) == 0)
            return i;
    return -1;
}

static void expect_colour(const struct film_palette *p, int i, uint8_t r, uint8_t g, uint8_t b,
                          double share)
{
    assert_int_equal(find(p, r, g, b), i);
    double off = (double)p->colour[i].share / FILM_PALETTE_PIXELS - share;
    assert_true(off > -0.0001 && off < 0.0001);
}

/* Exact colours and shares; the lightest comes first; no more colours than the film has. */
TEST(flat_colours)
{
    struct frame f = {.filled = 0};
    fill(&f, 375, 9, 10, 11);
    fill(&f, 425, 200, 30, 30);
    fill(&f, 200, 240, 240, 250);
    struct film_palette p = palette_of(&f, 8);
    assert_int_equal(p.count, 3);
    expect_colour(&p, 0, 240, 240, 250, 0.2);
    expect_colour(&p, 1, 200, 30, 30, 0.425);
    expect_colour(&p, 2, 9, 10, 11, 0.375);
    p = palette_of(&f, 2);
    assert_int_equal(p.count, 2);
}

/* Four accents of 1 % each between many colours take places, and the rest is shared. */
TEST(several_accents)
{
    static const uint8_t accent[4][3] = {{255, 0, 0}, {0, 60, 255}, {0, 220, 60}, {255, 225, 0}};
    struct frame f = {.filled = 0};
    for (int i = 0; i < 4; i++)
        fill(&f, 10, accent[i][0], accent[i][1], accent[i][2]);
    for (int i = 0; i < 960; i++)
        fill(&f, 1, (uint8_t)(i / 4), (uint8_t)(i / 4 + i % 12), (uint8_t)(i / 4));
    struct film_palette p = palette_of(&f, 8);
    assert_int_equal(p.count, 8);
    for (int i = 0; i < 4; i++)
        assert_true(find(&p, accent[i][0], accent[i][1], accent[i][2]) >= 0);
}

/* Of CIE L*, by its definition in floating point. */
static double lightness_of(const uint8_t rgb[3])
{
    static const double part[3] = {0.2126, 0.7152, 0.0722};
    double y = 0;
    for (int i = 0; i < 3; i++) {
        double v = rgb[i] / 255.0;
        y += part[i] * (v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
    }
    return y > 216.0 / 24389 ? 116 * cbrt(y) - 16 : y * 24389 / 27;
}

static int count_light(const struct film_palette *p)
{
    int n = 0;
    for (int i = 0; i < p->count; i++)
        n += lightness_of(p->colour[i].rgb) > 20;
    return n;
}

/* Of a film that is 80 % dark, in many colours, at least five of eight swatches are lighter. A film
 * with two lighter colours has these and dark ones. */
TEST(few_dark_swatches)
{
    struct frame f = {.filled = 0};
    for (int i = 0; i < 800; i++) /* dark red, green, blue and grey */
        fill(&f, 1, i % 4 == 0 || i % 4 == 3 ? (uint8_t)(i / 16) : 0,
             i % 4 == 1 || i % 4 == 3 ? (uint8_t)(i / 24) : 0, i % 4 >= 2 ? (uint8_t)(i / 14) : 0);
    struct frame two = f;
    for (int i = 0; i < 200; i++)
        fill(&f, 1, (uint8_t)(120 + i / 2), (uint8_t)(200 - i / 2), (uint8_t)(80 + i % 40));
    fill(&two, 120, 180, 90, 60);
    fill(&two, 80, 90, 150, 220);
    struct film_palette p = palette_of(&f, 8);
    assert_int_equal(p.count, 8);
    assert_in_range(count_light(&p), 5, 7);
    p = palette_of(&two, 8);
    assert_in_range(p.count, 4, 8);
    assert_int_equal(count_light(&p), 2);
    assert_true(find(&p, 180, 90, 60) >= 0 && find(&p, 90, 150, 220) >= 0);
    p = palette_of(&two, 2);
    assert_int_equal(count_light(&p), 1);
}

/* A colour in one frame of a hundred; and a frame that fills several columns counts in each. */
TEST(frames)
{
    struct colour_histogram *h = open_histogram(WIDTH, HEIGHT);
    struct frame grey = {.filled = 0}, green = {.filled = 0};
    fill(&grey, PIXELS, 110, 110, 110);
    fill(&green, PIXELS, 20, 190, 60);
    for (uint64_t i = 0; i < 98; i++)
        colour_histogram_put(h, &(struct frame_tag){.column = i, .repeat = 1}, grey.rgb[0]);
    colour_histogram_put(h, &(struct frame_tag){.column = 98, .repeat = 2}, green.rgb[0]);
    struct film_palette p = make(h, 8);
    colour_histogram_free(&h);
    assert_int_equal(p.count, 2);
    expect_colour(&p, 0, 20, 190, 60, 0.02);
    expect_colour(&p, 1, 110, 110, 110, 0.98);
}

/* In a large frame, every pixel of a still image counts in turn, and equally often. */
TEST(every_pixel_in_turn)
{
    enum { W = 320, H = 180, STEP = 7 };
    static uint8_t rgb[H][W][3];
    struct colour_histogram *h = open_histogram(W, H);
    for (int i = 0; i < W * H; i++)
        memcpy(&rgb[0][0][0] + (size_t)3 * (size_t)i,
               (uint8_t[]){(uint8_t)(i % 251), (uint8_t)(i % 256), (uint8_t)(i / 256)}, 3);
    for (uint64_t i = 0; i < 2 * STEP; i++)
        colour_histogram_put(h, &(struct frame_tag){.column = i, .repeat = 1}, rgb[0][0]);
    const struct histogram_bin *bin = colour_histogram_bins(h);
    uint64_t count = 0, sum = 0, want = 0;
    for (int i = 0; i < W * H; i++)
        want += 2 * (uint64_t)(i % 251);
    for (int i = 0; i < HISTOGRAM_BINS; i++) {
        count += bin[i].count;
        sum += bin[i].sum[0];
    }
    assert_int_equal(count, 2 * W * H);
    assert_int_equal(sum, want);
    colour_histogram_free(&h);
}

/* Random colours: as many as wanted, in order, shares of the whole, and in any order of frames the
 * same. */
TEST(of_many)
{
    enum { FRAMES = 60 };
    static struct frame f[FRAMES];
    srand(7);
    for (int i = 0; i < FRAMES; i++)
        for (f[i].filled = 0; f[i].filled < PIXELS;)
            fill(&f[i], 1 + rand() % 9, (uint8_t)rand(), (uint8_t)rand(), (uint8_t)rand());
    struct colour_histogram *h = open_histogram(WIDTH, HEIGHT),
                            *back = open_histogram(WIDTH, HEIGHT);
    for (int i = 0; i < FRAMES; i++) {
        colour_histogram_put(h, &once, f[i].rgb[0]);
        colour_histogram_put(back, &once, f[FRAMES - 1 - i].rgb[0]);
    }
    for (int colours = FILM_PALETTE_LEAST; colours <= FILM_PALETTE_MOST; colours += 10) {
        struct film_palette p = make(h, colours), again = make(back, colours);
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
    colour_histogram_free(&h);
    colour_histogram_free(&back);
}

TEST(of_nothing)
{
    struct colour_histogram *h = open_histogram(3, 2);
    struct film_palette p = make(h, 8);
    assert_int_equal(p.count, 0);
    colour_histogram_free(&h);
}
