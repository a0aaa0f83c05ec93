#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "chance.h"
#include "barcode/kmeans/points.h"

static uint32_t morton(const uint8_t rgb[3])
{
    uint32_t key = 0;
    for (int i = 0; i < 8; i++)
        for (int c = 0; c < 3; c++)
            key |= (uint32_t)(rgb[c] >> i & 1) << (3 * i + 2 - c);
    return key;
}

static uint32_t key_at(const struct points *p, size_t i)
{
    uint32_t c = p->colour[i];
    return morton((const uint8_t[3]){(uint8_t)colour_red(c), (uint8_t)colour_green(c),
                                     (uint8_t)colour_blue(c)});
}

/* Checks everything that points.h says of p against a table of counts of the pixels. */
static void check(const struct points *p, const uint8_t *rgb, size_t pixels)
{
    uint32_t *count = calloc(1 << 24, sizeof *count);
    assert_non_null(count);
    uint64_t square = 0, sum = 0;
    for (size_t i = 0; i < pixels; i++) {
        count[morton(rgb + 3 * i)]++;
        for (int c = 0; c < 3; c++)
            square += (uint64_t)rgb[3 * i + c] * rgb[3 * i + c];
    }
    for (size_t i = 0; i < p->n; i++) {
        uint32_t key = key_at(p, i);
        assert_true(i == 0 || key > key_at(p, i - 1));
        assert_int_equal(p->weight[i], count[key]);
        assert_int_equal(p->colour[i] >> 24, 1);
        sum += p->weight[i];
        assert_int_equal(p->prefix[i], sum);
    }
    assert_int_equal(sum, pixels);
    assert_true(p->pixels == pixels && p->square == square);
    assert_true(p->padded % POINTS_STEP == 0 && p->padded >= p->n &&
                p->padded < p->n + POINTS_STEP);
    for (size_t i = p->n; i < p->padded; i++)
        assert_true(p->weight[i] == 0 && p->colour[i] == p->colour[p->n - 1]);
    free(count);
}

/* The box and the sums of the points in [first, end): padding too. `square` may be NULL. */
static void check_box(const struct boxes *b, const uint64_t got[4], const uint64_t *square,
                      size_t at, const struct points *p, size_t first, size_t end)
{
    int low[3] = {255, 255, 255}, high[3] = {0, 0, 0};
    uint64_t sum[4] = {0};
    uint64_t squares = 0;
    assert_true(end <= p->padded);
    for (size_t i = first; i < end; i++) {
        const int c[3] = {colour_red(p->colour[i]), colour_green(p->colour[i]),
                          colour_blue(p->colour[i])};
        for (int j = 0; j < 3; j++) {
            low[j] = c[j] < low[j] ? c[j] : low[j];
            high[j] = c[j] > high[j] ? c[j] : high[j];
            sum[j] += (uint64_t)p->weight[i] * (uint32_t)c[j];
            squares += (uint64_t)p->weight[i] * (uint64_t)(c[j] * c[j]);
        }
        sum[3] += p->weight[i];
    }
    assert_int_equal(b->low_rb[at], low[0] | low[2] << 16);
    assert_int_equal(b->low_g[at], low[1]);
    assert_int_equal(b->high_rb[at], high[0] | high[2] << 16);
    assert_int_equal(b->high_g[at], high[1]);
    assert_memory_equal(sum, got, sizeof sum);
    if (square)
        assert_true(*square == squares);
}

static void check_boxes(struct points *p, enum isa isa)
{
    points_box(p, isa);
    size_t each = isa <= ISA_AVX2 ? 16 : 32;
    assert_int_equal(p->each, each);
    assert_int_equal(p->blocks, (p->n + 16 * each - 1) / (16 * each));
    assert_int_equal(p->groups, 16 * p->blocks);
    for (size_t g = 0; g < p->groups; g++)
        check_box(&p->group, p->group_sum[g], &p->group_square[g], g, p, g * each, (g + 1) * each);
    for (size_t b = 0; b < p->blocks; b++)
        check_box(&p->block, p->block_sum[b], NULL, b, p, b * 16 * each, (b + 1) * 16 * each);
}

/* Twice, because a workspace serves frame after frame. */
static void with_isa(const uint8_t *rgb, size_t pixels, size_t room, enum isa isa)
{
    struct err e = ERR_INIT;
    struct points p;
    struct points_maker *m = points_maker_open(room, isa, &e);
    assert_non_null(m);
    assert_true(points_open(&p, points_most(room), &e));
    for (int i = 0; i < 2; i++) {
        points_make(m, &p, rgb, pixels);
        check(&p, rgb, pixels);
    }
    check_boxes(&p, isa);
    points_close(&p);
    points_maker_close(&m);
    assert_null(m);
}

static void with(const uint8_t *rgb, size_t pixels, size_t room)
{
    for (int i = ISA_BASE; i <= ISA_VNNI; i++)
        if (isa_supported((enum isa)i))
            with_isa(rgb, pixels, room, (enum isa)i);
}

TEST(every_shape)
{
    static const size_t sizes[] = {1, 2, 15, 16, 17, 255, 256, 257, 1000, 30000};
    uint8_t *rgb = malloc(3 * 30000);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (size_t i = 0; i < 3 * sizes[s]; i++)
            rgb[i] = (uint8_t)(chance() >> 8);
        with(rgb, sizes[s], sizes[s]);
    }
    for (size_t i = 0; i < 3 * 30000; i++)
        rgb[i] = (uint8_t)(chance() % 5 * 63);
    with(rgb, 30000, 30000);
    memset(rgb, 0, 3 * 30000);
    with(rgb, 30000, 30000);
    memset(rgb, 255, 3 * 30000);
    with(rgb, 30000, 30000);
    free(rgb);
}

/* Runs of equal neighbours of every length up to and beyond what one word of the sort holds, some
 * of the same colour. */
TEST(runs_of_every_length)
{
    enum { MOST = 560, PIXELS = MOST * (MOST + 1) / 2 };
    uint8_t *rgb = malloc((size_t)3 * PIXELS), *to = rgb;
    assert_non_null(rgb);
    for (int length = 1; length <= MOST; length++)
        for (int i = 0; i < length; i++, to += 3)
            memcpy(to, (const uint8_t[3]){(uint8_t)(length * 37), 7, (uint8_t)(length % 3 * 100)},
                   3);
    for (size_t less = 0; less < 40; less++)
        with(rgb + 3 * less, PIXELS - 2 * less, PIXELS);
    free(rgb);
}

/* A workspace beyond 2^22 pixels counts in a table instead of sorting. */
TEST(table_gives_the_same)
{
    uint8_t rgb[3 * 5000];
    for (size_t i = 0; i < sizeof rgb; i++)
        rgb[i] = (uint8_t)(chance() % 11 * 25);
    with(rgb, 5000, (1 << 22) + 1);
}
