#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "chance.h"
#include "barcode/engine/dominant.h"
#include "barcode/engine/colour.h"

enum { MOST = 4096 };

static uint16_t root[OKLAB_ROOTS];

FIXTURE(fill)
{
    oklab_roots(root);
    return 0;
}

/* ------------------------------------------------------------------ the definition, word by word
 */

struct pixel {
    int64_t p[3], rgb[3];
};

static int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

static void cell_of(const int64_t p[3], int64_t cell[3])
{
    for (int c = 0; c < 3; c++)
        cell[c] = p[c] / 26;
}

/* Straight from the pixels: no histogram, no passes. */
static int64_t density(const struct pixel *q, size_t n, const int64_t at[3])
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t cell[3], weight = 1;
        cell_of(q[i].p, cell);
        for (int c = 0; c < 3; c++) {
            int64_t off = llabs(cell[c] - at[c]);
            weight *= off > 2 ? 0 : 3 - off;
        }
        sum += weight;
    }
    return sum;
}

struct peak {
    int64_t at[3], density;
};

static bool goes_before(const struct peak *a, const struct peak *b)
{
    return a->density != b->density ? a->density > b->density
                                    : memcmp(a->at, b->at, sizeof a->at) != 0 &&
                                          (a->at[0] != b->at[0]   ? a->at[0] < b->at[0]
                                           : a->at[1] != b->at[1] ? a->at[1] < b->at[1]
                                                                  : a->at[2] < b->at[2]);
}

/* True when no neighbour goes before it. */
static bool is_peak(const struct pixel *q, size_t n, const struct peak *p)
{
    static const int64_t count[3] = {40, 21, 21};
    bool peak = p->density > 0;
    for (int step = 0; step < 27 && peak; step++) {
        struct peak other = {
            {p->at[0] + step / 9 - 1, p->at[1] + step / 3 % 3 - 1, p->at[2] + step % 3 - 1}, 0};
        bool there = true;
        for (int c = 0; c < 3; c++)
            there = there && other.at[c] >= 0 && other.at[c] < count[c];
        if (!there || step == 13)
            continue;
        other.density = density(q, n, other.at);
        peak = !goes_before(&other, p);
    }
    return peak;
}

/* The first 8 peaks; returns how many. */
static int peaks(const struct pixel *q, size_t n, struct peak list[8])
{
    int found = 0;
    struct peak p;
    for (p.at[0] = 0; p.at[0] < 40; p.at[0]++)
        for (p.at[1] = 0; p.at[1] < 21; p.at[1]++)
            for (p.at[2] = 0; p.at[2] < 21; p.at[2]++) {
                p.density = density(q, n, p.at);
                if (p.density == 0 || !is_peak(q, n, &p))
                    continue;
                int at = 0;
                while (at < found && goes_before(&list[at], &p))
                    at++;
                for (int i = found < 8 ? found++ : 7; i > at; i--)
                    list[i] = list[i - 1];
                if (at < 8)
                    list[at] = p;
            }
    return found;
}

static void weighed(const struct pixel *q, size_t n, const int64_t m[3], bool colours,
                    int64_t to[3])
{
    int64_t weight = 0, sum[3] = {0};
    for (size_t i = 0; i < n; i++) {
        int64_t far = 0;
        for (int c = 0; c < 3; c++)
            far += (q[i].p[c] - m[c]) * (q[i].p[c] - m[c]);
        int64_t w = far < 102 * 102 ? 102 * 102 - far : 0;
        weight += w;
        for (int c = 0; c < 3; c++)
            sum[c] += w * (colours ? q[i].rgb[c] : q[i].p[c]);
    }
    assert_true(weight > 0);
    for (int c = 0; c < 3; c++)
        to[c] = floor_div(2 * sum[c] + weight, 2 * weight);
}

static int by_definition(const uint8_t *rgb, size_t n, struct cluster mode[8])
{
    static struct pixel q[MOST];
    for (size_t i = 0; i < n; i++) {
        struct oklab lab = oklab_of(srgb_linear, root, rgb + 3 * i);
        q[i] = (struct pixel){{lab.l + 13, lab.a + 13 + 26 * 9, lab.b + 13 + 26 * 12},
                              {rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]}};
    }
    struct peak list[8];
    int found = peaks(q, n, list);
    for (int i = 0; i < found; i++) {
        int64_t m[3], next[3];
        for (int c = 0; c < 3; c++)
            m[c] = 26 * list[i].at[c] + 13;
        for (int round = 0; round < 3; round++) {
            weighed(q, n, m, false, next);
            memcpy(m, next, sizeof m);
        }
        weighed(q, n, m, true, next);
        mode[i] = (struct cluster){{(uint8_t)next[0], (uint8_t)next[1], (uint8_t)next[2]},
                                   (uint32_t)(list[i].density / 27)};
    }
    return found;
}

/* ------------------------------------------------------------------ tests */

static void run(const uint8_t *rgb, size_t n, uint8_t colour[3])
{
    struct err e = ERR_INIT;
    struct dominant *d = dominant_open(n, &e);
    struct cluster mode;
    assert_non_null(d);
    assert_int_equal(dominant_modes(d, rgb, n, 1, &mode), 1);
    memcpy(colour, mode.rgb, sizeof mode.rgb);
    dominant_free(&d);
    assert_null(d);
}

static void expect(const uint8_t *rgb, size_t n, uint8_t r, uint8_t g, uint8_t b)
{
    const uint8_t right[3] = {r, g, b};
    uint8_t colour[3];
    run(rgb, n, colour);
    assert_memory_equal(colour, right, 3);
}

/* Every place is in one of the cells, whose number is the one that the definition gives. */
TEST(every_colour_has_a_cell)
{
    struct dominant_place low = {9999, 9999, 9999}, high = {0};
    for (uint32_t colour = 0; colour < 1u << 24; colour++) {
        const uint8_t rgb[3] = {(uint8_t)(colour >> 16), (uint8_t)(colour >> 8), (uint8_t)colour};
        struct dominant_place p = dominant_place_of(srgb_linear, root, rgb);
        low = (struct dominant_place){p.l < low.l ? p.l : low.l, p.a < low.a ? p.a : low.a,
                                      p.b < low.b ? p.b : low.b};
        high = (struct dominant_place){p.l > high.l ? p.l : high.l, p.a > high.a ? p.a : high.a,
                                       p.b > high.b ? p.b : high.b};
    }
    assert_true(low.l == 13 && low.a == 8 && low.b == 6 && high.l == 1037 && high.a == 530 &&
                high.b == 528);
    assert_int_equal(high.l / 26, DOMINANT_L - 1);
    assert_int_equal(high.a / 26, DOMINANT_A - 1);
    assert_int_equal(high.b / 26, DOMINANT_B - 1);
    for (uint32_t cell = 0; cell < DOMINANT_CELLS; cell++)
        assert_int_equal(dominant_cell_of(dominant_centre(cell)), cell);
}

/* Black is cell 0 along L; the other cells are numbered beyond it. */
TEST(ties_go_to_the_lowest_cell)
{
    const uint8_t two[] = {255, 255, 255, 0, 0, 0}, back[] = {0, 0, 0, 255, 255, 255},
                  three[] = {255, 255, 255, 0, 0, 0, 255, 255, 255};
    expect(two, 2, 0, 0, 0);
    expect(back, 2, 0, 0, 0);
    expect(three, 3, 255, 255, 255);
    /* Of red and blue, equally light or not, the one with the lower L: blue. */
    const uint8_t red_blue[] = {255, 0, 0, 0, 0, 255};
    expect(red_blue, 2, 0, 0, 255);
}

/* Frames of few colours, of many, of smooth ramps, of one hue. */
static void draw(uint8_t *rgb, size_t n, int kind)
{
    uint8_t base[8][3];
    for (int i = 0; i < 24; i++)
        base[i / 3][i % 3] = (uint8_t)(chance() % 256);
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            uint32_t any = chance() % 256, near = chance() % 20, which = chance() % 8;
            int ramp = (int)(i * 255 / n), v = kind == 0   ? (int)any
                                               : kind == 1 ? base[i % 8][c]
                                               : kind == 2 ? (ramp + base[0][c]) / 2
                                                           : base[which % 2][c] + (int)near;
            rgb[3 * i + (size_t)c] = (uint8_t)(v > 255 ? 255 : v);
        }
}

static void expect_modes(struct dominant *d, const uint8_t *rgb, size_t n,
                         const struct cluster *right, int modes)
{
    for (int most = 1; most <= 8; most++) {
        struct cluster got[8];
        int found = dominant_modes(d, rgb, n, most, got);
        assert_int_equal(found, modes < most ? modes : most);
        for (int i = 0; i < found; i++) {
            assert_memory_equal(got[i].rgb, right[i].rgb, 3);
            assert_int_equal(got[i].count, right[i].count);
        }
    }
    struct cluster first;
    assert_int_equal(dominant_modes(d, rgb, n, 1, &first), 1);
    assert_memory_equal(first.rgb, right[0].rgb, 3);
}

TEST(frames_give_what_the_definition_gives)
{
    static uint8_t rgb[3 * MOST];
    static const size_t sizes[] = {1, 2, 3, 20, 127, 128, 129, 300};
    struct err e = ERR_INIT;
    /* one workspace for all: nothing of a frame is left for the next */
    struct dominant *d = dominant_open(MOST, &e);
    int several = 0;
    for (int round = 0; round < 32; round++) {
        size_t n = sizes[round / 4];
        struct cluster right[8];
        draw(rgb, n, round % 4);
        int modes = by_definition(rgb, n, right);
        several += modes > 1;
        expect_modes(d, rgb, n, right, modes);
        for (size_t i = n - 1; i > 0; i--) { /* the same pixels in another order */
            uint32_t j = chance() % ((uint32_t)i + 1);
            for (size_t c = 0; c < 3; c++) {
                uint8_t t = rgb[3 * i + c];
                rgb[3 * i + c] = rgb[3 * j + c];
                rgb[3 * j + c] = t;
            }
        }
        expect_modes(d, rgb, n, right, modes);
    }
    assert_true(several > 10);
    dominant_free(&d);
}

/* So many pixels of one kind that their weights' sum does not fit 32 bits. */
TEST(a_large_frame)
{
    size_t n = (size_t)1 << 24;
    uint8_t *rgb = malloc(3 * n), colour[3];
    assert_non_null(rgb);
    for (size_t i = 0; i < n; i++) {
        rgb[3 * i] = i % 16 ? 200 : 10;
        rgb[3 * i + 1] = i % 16 ? 180 : 10;
        rgb[3 * i + 2] = i % 16 ? 30 : 10;
    }
    run(rgb, n, colour);
    assert_true(colour[0] == 200 && colour[1] == 180 && colour[2] == 30);
    free(rgb);
}

TEST_FIXTURE(fill, NULL)
