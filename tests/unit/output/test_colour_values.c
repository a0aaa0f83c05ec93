#include <math.h>

#include "test.h"
#include "output/formats/colour_values.h"

static struct colour_light light;

static void expect(double got, double want, double within)
{
    if (!(fabs(got - want) <= within))
        fail_msg("%.6f is not %.6f within %g", got, want, within);
}

/* CIE L*a*b* of the sRGB primaries and secondaries for D65, as EasyRGB, colormine and others
 * publish them. */
TEST(lab)
{
    static const struct {
        uint8_t rgb[3];
        double l, a, b;
    } want[] = {{{255, 0, 0}, 53.2329, 80.1093, 67.2201},
                {{0, 255, 0}, 87.7370, -86.1846, 83.1812},
                {{0, 0, 255}, 32.3026, 79.1967, -107.8637},
                {{255, 255, 0}, 97.1382, -21.5559, 94.4825},
                {{0, 255, 255}, 91.1165, -48.0796, -14.1381},
                {{255, 0, 255}, 60.3199, 98.2542, -60.8430},
                {{255, 255, 255}, 100, 0, 0},
                {{0, 0, 0}, 0, 0, 0},
                {{119, 119, 119}, 50.0344, 0, 0}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        double v[COLOUR_VALUES];
        colour_values(&light, want[i].rgb, v);
        expect(v[VALUE_LIGHTNESS], want[i].l, 0.002);
        expect(v[VALUE_LAB_A], want[i].a, 0.02);
        expect(v[VALUE_LAB_B], want[i].b, 0.02);
        expect(v[VALUE_CHROMA], hypot(want[i].a, want[i].b), 0.02);
    }
}

/* OKLCh of the primaries, as CSS Color 4 implementations print them (oklch() of red, lime, blue).
 */
TEST(oklab)
{
    static const struct {
        uint8_t rgb[3];
        double l, c, h;
    } want[] = {{{255, 0, 0}, 0.62796, 0.25768, 29.234},
                {{0, 255, 0}, 0.86644, 0.29483, 142.495},
                {{0, 0, 255}, 0.45201, 0.31321, 264.052},
                {{255, 255, 255}, 1, 0, NAN},
                {{0, 0, 0}, 0, 0, NAN}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        double v[COLOUR_VALUES];
        colour_values(&light, want[i].rgb, v);
        expect(v[VALUE_OK_LIGHTNESS], want[i].l, 0.00002);
        expect(v[VALUE_OK_CHROMA], want[i].c, 0.00002);
        if (isnan(want[i].h))
            assert_true(isnan(v[VALUE_OK_HUE]) && isnan(v[VALUE_HUE]));
        else
            expect(v[VALUE_OK_HUE], want[i].h, 0.02);
    }
}

/* Every grey has neither chroma nor hue; lightness and luminance rise. */
TEST(greys)
{
    double before = -1;
    for (int i = 0; i < 256; i++) {
        double v[COLOUR_VALUES];
        colour_values(&light, (const uint8_t[]){(uint8_t)i, (uint8_t)i, (uint8_t)i}, v);
        expect(v[VALUE_CHROMA], 0, 1e-9);
        expect(v[VALUE_OK_CHROMA], 0, 1e-6);
        expect(v[VALUE_SATURATION], 0, 0);
        assert_true(isnan(v[VALUE_HUE]) && v[VALUE_LIGHTNESS] > before);
        before = v[VALUE_LIGHTNESS];
    }
    expect(before, 100, 1e-9);
}

TEST(other_values)
{
    double v[COLOUR_VALUES];
    colour_values(&light, (const uint8_t[]){0, 0, 255}, v);
    expect(v[VALUE_LUMINANCE], 0.0722, 1e-12);
    expect(v[VALUE_SATURATION], 1, 0);
    expect(v[VALUE_HUE], 306.285, 0.01);
    colour_values(&light, (const uint8_t[]){200, 150, 100}, v);
    expect(v[VALUE_SATURATION], 0.5, 0);
    expect(v[VALUE_R] * 65536 + v[VALUE_G] * 256 + v[VALUE_B], 0xc89664, 0);
}

TEST(frames)
{
    /* black and white in equal parts: L* is 0 and 100 */
    const struct cluster half[] = {{{255, 255, 255}, 7}, {{0, 0, 0}, 7}};
    expect(colour_contrast(&light, half, 2), 50, 1e-9);
    expect(colour_contrast(&light, half, 1), 0, 0);
    expect(colourfulness(half, 2), 0, 0);
    /* weights: the mean is 25, the deviation sqrt(3) * 25 */
    const struct cluster quarter[] = {{{255, 255, 255}, 1}, {{0, 0, 0}, 3}};
    expect(colour_contrast(&light, quarter, 2), 25 * sqrt(3), 1e-9);
    /* red and green: rg is 255 and -255, yb 127.5 both */
    const struct cluster two[] = {{{255, 0, 0}, 5}, {{0, 255, 0}, 5}};
    expect(colourfulness(two, 2), 255 + 0.3 * 127.5, 1e-9);
}

FIXTURE(fill)
{
    colour_light_fill(&light);
    return 0;
}

TEST_FIXTURE(fill, NULL)
