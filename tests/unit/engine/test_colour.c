/* colour against the formulas of H.273 in floating point, and the row against the single pixel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "chance.h"
#include "barcode/engine/colour.h"

static void weights(enum matrix m, double *kr, double *kb)
{
    static const double k[][2] = {[MATRIX_BT601] = {.299, .114},
                                  [MATRIX_BT709] = {.2126, .0722},
                                  [MATRIX_BT2020] = {.2627, .0593},
                                  [MATRIX_SMPTE240M] = {.212, .087},
                                  [MATRIX_FCC] = {.30, .11}};
    *kr = k[m][0];
    *kb = k[m][1];
}

/* R'G'B' 0..1 to samples of `bits` bits, not rounded. */
static void encode(enum matrix m, enum range range, int bits, const double rgb[3], double out[3])
{
    double y, cb, cr;
    if (m == MATRIX_YCGCO) {
        y = .25 * rgb[0] + .5 * rgb[1] + .25 * rgb[2];
        cb = -.25 * rgb[0] + .5 * rgb[1] - .25 * rgb[2];
        cr = .5 * rgb[0] - .5 * rgb[2];
    } else {
        double kr, kb;
        weights(m, &kr, &kb);
        y = kr * rgb[0] + (1 - kr - kb) * rgb[1] + kb * rgb[2];
        cb = (rgb[2] - y) / (2 * (1 - kb));
        cr = (rgb[0] - y) / (2 * (1 - kr));
    }
    double unit = pow(2, bits - 8), full = pow(2, bits) - 1;
    out[0] = range == RANGE_FULL ? full * y : unit * (219 * y + 16);
    out[1] = range == RANGE_FULL ? full * cb + pow(2, bits - 1) : unit * (224 * cb + 128);
    out[2] = range == RANGE_FULL ? full * cr + pow(2, bits - 1) : unit * (224 * cr + 128);
}

/* Colours survive the way there and back: to the sample grid the error is the grid's, in fix16 it
 * is below one level. */
static void check_colour(enum matrix m, enum range range, int bits, const double rgb[3])
{
    struct colour_transform t;
    colour_transform_init(&t, MODEL_YCBCR, m, range, bits);
    double code[3];
    encode(m, range, bits, rgb, code);
    uint16_t in[3];
    for (int i = 0; i < 3; i++) {
        double v = floor(code[i] * pow(2, 16 - bits) + .5);
        in[i] = (uint16_t)(v > 65535 ? 65535 : v);
    }
    uint8_t out[3];
    colour_apply(&t, in, out);
    for (int i = 0; i < 3; i++)
        if (fabs(out[i] - 255 * rgb[i]) > .52)
            fail_msg("%s %s %d bits: component %d is %d and not %.3f", colour_matrix_name(m),
                     colour_range_name(range), bits, i, out[i], 255 * rgb[i]);
}

TEST(known_colours)
{
    for (int m = MATRIX_BT601; m <= MATRIX_YCGCO; m++)
        for (int range = RANGE_LIMITED; range <= RANGE_FULL; range++)
            for (int bits = 8; bits <= 16; bits++) {
                for (int c = 0; c < 8; c++) {
                    const double rgb[3] = {c & 1, c >> 1 & 1, c >> 2};
                    check_colour((enum matrix)m, (enum range)range, bits, rgb);
                }
                for (int i = 0; i < 500; i++) {
                    const double rgb[3] = {chance() % 1001 / 1000., chance() % 1001 / 1000.,
                                           chance() % 1001 / 1000.};
                    check_colour((enum matrix)m, (enum range)range, bits, rgb);
                }
            }
}

/* From whole 8, 10 and 12 bit codes, as a film has them, within a level of the formula. */
TEST(whole_codes)
{
    for (int bits = 8; bits <= 12; bits += 2)
        for (int range = RANGE_LIMITED; range <= RANGE_FULL; range++)
            for (int m = MATRIX_BT601; m <= MATRIX_FCC; m++)
                for (int i = 0; i < 300; i++) {
                    double kr, kb, unit = pow(2, bits - 8), full = pow(2, bits) - 1;
                    uint32_t c[3] = {chance() >> (32 - bits), chance() >> (32 - bits),
                                     chance() >> (32 - bits)};
                    weights((enum matrix)m, &kr, &kb);
                    bool f = range == RANGE_FULL;
                    double y = f ? c[0] / full : (c[0] / unit - 16) / 219;
                    double b = f ? (c[1] - pow(2, bits - 1)) / full : (c[1] / unit - 128) / 224;
                    double r = f ? (c[2] - pow(2, bits - 1)) / full : (c[2] / unit - 128) / 224;
                    double want[3] = {y + 2 * (1 - kr) * r, 0, y + 2 * (1 - kb) * b};
                    want[1] = (y - kr * want[0] - kb * want[2]) / (1 - kr - kb);
                    struct colour_transform t;
                    colour_transform_init(&t, MODEL_YCBCR, (enum matrix)m, (enum range)range, bits);
                    uint16_t in[3];
                    uint8_t out[3];
                    for (int k = 0; k < 3; k++)
                        in[k] = (uint16_t)(c[k] << (16 - bits));
                    colour_apply(&t, in, out);
                    for (int k = 0; k < 3; k++)
                        assert_true(fabs(out[k] - 255 * fmin(1, fmax(0, want[k]))) < .52);
                }
}

static void one(enum colour_model model, enum range range, int bits, const int code[3],
                const int rgb[3])
{
    struct colour_transform t;
    colour_transform_init(&t, model, MATRIX_RGB, range, bits);
    uint16_t in[3];
    uint8_t out[3];
    for (int i = 0; i < 3; i++)
        in[i] = (uint16_t)(code[i] << (16 - bits));
    colour_apply(&t, in, out);
    for (int i = 0; i < 3; i++)
        assert_int_equal(out[i], rgb[i]);
}

TEST(rgb_and_grey)
{
    one(MODEL_RGB, RANGE_FULL, 8, (int[]){0, 127, 255}, (int[]){0, 127, 255});
    one(MODEL_YCBCR, RANGE_FULL, 8, (int[]){1, 2, 254}, (int[]){1, 2, 254});
    one(MODEL_RGB, RANGE_FULL, 10, (int[]){0, 1023, 512}, (int[]){0, 255, 128});
    one(MODEL_RGB, RANGE_FULL, 16, (int[]){0, 65535, 32768}, (int[]){0, 255, 128});
    one(MODEL_RGB, RANGE_LIMITED, 8, (int[]){16, 235, 255}, (int[]){0, 255, 255});
    one(MODEL_GREY, RANGE_FULL, 8, (int[]){77, 3, 200}, (int[]){77, 77, 77});
    one(MODEL_GREY, RANGE_FULL, 12, (int[]){4095, 0, 0}, (int[]){255, 255, 255});
    one(MODEL_GREY, RANGE_LIMITED, 8, (int[]){235, 0, 0}, (int[]){255, 255, 255});
    one(MODEL_GREY, RANGE_LIMITED, 8, (int[]){3, 0, 0}, (int[]){0, 0, 0});
    /* 110 * 255 / 219 = 128.08 */
    one(MODEL_GREY, RANGE_LIMITED, 8, (int[]){126, 0, 0}, (int[]){128, 128, 128});
    one(MODEL_GREY, RANGE_LIMITED, 10, (int[]){64, 0, 0}, (int[]){0, 0, 0});
}

/* Every 8-bit full-range RGB value comes out as it went in. */
TEST(identity)
{
    for (int v = 0; v < 256; v++)
        one(MODEL_RGB, RANGE_FULL, 8, (int[]){v, 255 - v, v}, (int[]){v, 255 - v, v});
}

TEST(matrix_bounds)
{
    struct colour_transform t;
    for (int m = MATRIX_UNSPECIFIED; m <= MATRIX_RGB; m++)
        for (int range = RANGE_LIMITED; range <= RANGE_FULL; range++)
            for (int bits = 8; bits <= 16; bits++)
                for (int model = MODEL_YCBCR; model <= MODEL_RGB; model++) {
                    colour_transform_init(&t, (enum colour_model)model, (enum matrix)m,
                                          (enum range)range, bits);
                    for (int i = 0; i < 9; i++)
                        assert_true(abs(t.m[i / 3][i % 3]) < 1 << 18);
                }
    /* The numbers that every book has, 255/219 and the BT.709 ones, times 2^16. */
    colour_transform_init(&t, MODEL_YCBCR, MATRIX_BT709, RANGE_LIMITED, 8);
    assert_int_equal(t.m[0][0], 76309);
    assert_int_equal(t.m[0][1], 0);
    assert_int_equal(t.m[0][2], 117489);
    assert_int_equal(t.m[1][1], -13975);
    assert_int_equal(t.m[1][2], -34925);
    assert_int_equal(t.m[2][1], 138438);
    assert_int_equal(t.offset[0], 4096);
    assert_int_equal(t.offset[1], 32768);
}

TEST(row_is_the_pixel)
{
    enum { N = 777 };
    static uint16_t in[3][N];
    static uint8_t rgb[6 * N + 6];
    for (int round = 0; round < 200; round++) {
        struct colour_transform t;
        colour_transform_init(&t, (enum colour_model)(chance() % 3), (enum matrix)(chance() % 8),
                              (enum range)(1 + chance() % 2), 8 + (int)(chance() % 9));
        for (int i = 0; i < 3 * N; i++)
            in[i / N][i % N] = chance() % 5 ? (uint16_t)chance() : chance() % 2 ? 65535 : 0;
        int n = 1 + (int)(chance() % N), step = chance() % 2 ? 3 : -6;
        uint8_t *first = step > 0 ? rgb + 3 : rgb + 6 * (n - 1) + 3;
        memset(rgb, 0x5A, sizeof rgb);
        colour_apply_row(&t, (const uint16_t *const[]){in[0], in[1], in[2]}, n, first, step);
        for (int i = 0; i < n; i++) {
            uint8_t want[3];
            colour_apply(&t, (uint16_t[]){in[0][i], in[1][i], in[2][i]}, want);
            assert_memory_equal(first + i * step, want, 3);
        }
        assert_int_equal(rgb[2], 0x5A);
        assert_int_equal(rgb[(step > 0 ? 3 * n : 6 * n - 3) + 3], 0x5A);
    }
}

TEST(names_and_guess)
{
    assert_string_equal(colour_matrix_name(MATRIX_BT601), "bt601");
    assert_string_equal(colour_matrix_name(MATRIX_BT2020), "bt2020nc");
    assert_string_equal(colour_matrix_name(MATRIX_UNSPECIFIED), "unknown");
    assert_string_equal(colour_range_name(RANGE_LIMITED), "limited");
    assert_string_equal(colour_range_name(RANGE_FULL), "full");
    assert_int_equal(colour_guess_matrix(720, 576), MATRIX_BT601);
    assert_int_equal(colour_guess_matrix(1280, 544), MATRIX_BT709);
    assert_int_equal(colour_guess_matrix(1024, 577), MATRIX_BT709);
}
