#include <math.h>
#include <stdlib.h>

#include "test.h"
#include "barcode/engine/colour.h"

/* Ottosson's, of 2021. */
static const double to_lms[3][3] = {{.4122214708, .5363325363, .0514459929},
                                    {.2119034982, .6806995451, .1073969566},
                                    {.0883024619, .2817188376, .6299787005}};
static const double to_lab[3][3] = {{.2104542553, .7936177850, -.0040720468},
                                    {1.9779984951, -2.4285922050, .4505937099},
                                    {.0259040371, .7827717662, -.8086757660}};

static uint16_t root[OKLAB_ROOTS];

FIXTURE(fill)
{
    oklab_roots(root);
    return 0;
}

static void expect_row(const double real[3], const int32_t row[3], int32_t sum)
{
    for (int i = 0; i < 3; i++)
        assert_true(fabs(65536 * real[i] - row[i]) < 1);
    assert_int_equal(row[0] + row[1] + row[2], sum);
}

TEST(the_matrices_are_the_definition)
{
    static const int32_t lms[3][3] = OKLAB_TO_LMS, lab[3][3] = OKLAB_TO_LAB;
    for (int i = 0; i < 3; i++) {
        expect_row(to_lms[i], lms[i], 65536);
        expect_row(to_lab[i], lab[i], i == 0 ? 65536 : 0);
    }
}

/* No root lies so near a half that the double's last bit could matter: x 2^45 / 65535 would have to
 * be an odd number's cube. */
TEST(the_roots_are_the_definition)
{
    for (int x = 0; x < OKLAB_ROOTS; x++) {
        double exact = 16384 * cbrt(x / 65535.0);
        assert_true(fabs(exact - floor(exact) - 0.5) > 1e-9);
        assert_int_equal(root[x], (int)floor(exact + 0.5));
    }
    assert_int_equal(root[0], 0);
    assert_int_equal(root[65535], 16384);
}

static void in_real_numbers(const uint8_t rgb[3], double lab[3])
{
    double light[3], cone[3];
    for (int i = 0; i < 3; i++) {
        double x = rgb[i] / 255.0;
        light[i] = x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
    }
    for (int i = 0; i < 3; i++)
        cone[i] = cbrt(to_lms[i][0] * light[0] + to_lms[i][1] * light[1] + to_lms[i][2] * light[2]);
    for (int i = 0; i < 3; i++)
        lab[i] =
            OKLAB_ONE * (to_lab[i][0] * cone[0] + to_lab[i][1] * cone[1] + to_lab[i][2] * cone[2]);
}

/* Every 7th colour of all. */
TEST(colours_lie_where_the_definition_has_them)
{
    double worst = 0;
    for (uint32_t colour = 0; colour < 1u << 24; colour += 7) {
        const uint8_t rgb[3] = {(uint8_t)(colour >> 16), (uint8_t)(colour >> 8), (uint8_t)colour};
        struct oklab q = oklab_of(srgb_linear, root, rgb);
        double real[3];
        in_real_numbers(rgb, real);
        worst =
            fmax(worst, fmax(fabs(real[0] - q.l), fmax(fabs(real[1] - q.a), fabs(real[2] - q.b))));
    }
    assert_true(worst < 2);
}

TEST(greys_have_no_hue)
{
    int last = -1;
    for (int v = 0; v < 256; v++) {
        const uint8_t rgb[3] = {(uint8_t)v, (uint8_t)v, (uint8_t)v};
        struct oklab q = oklab_of(srgb_linear, root, rgb);
        assert_int_equal(q.a, 0);
        assert_int_equal(q.b, 0);
        assert_true(q.l > last);
        last = q.l;
    }
    assert_int_equal(last, OKLAB_ONE);
}

TEST_FIXTURE(fill, NULL)
