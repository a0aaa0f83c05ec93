#include <math.h>

#include "test.h"
#include "barcode/engine/colour.h"

static double linear(int v)
{
    double x = v / 255.0;
    return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
}

/* No entry lies within 0.001 of a half, so that the double's last bit cannot matter. */
TEST(the_table_is_the_definition)
{
    for (int v = 0; v < 256; v++) {
        double exact = 65535 * linear(v);
        assert_true(fabs(exact - floor(exact) - 0.5) > 0.001);
        assert_int_equal(srgb_linear[v], (int)floor(exact + 0.5));
        assert_true(v == 0 || srgb_linear[v] > srgb_linear[v - 1]);
    }
}

static double lightness(const uint8_t rgb[3])
{
    double y = 0.2126 * linear(rgb[0]) + 0.7152 * linear(rgb[1]) + 0.0722 * linear(rgb[2]);
    return 116 * (y > 216.0 / 24389 ? cbrt(y) : (841.0 / 108 * y + 4.0 / 29)) - 16;
}

/* Of two colours that differ by more than the table's rounding, the one of greater L* has the
 * greater luminance. */
TEST(its_order_is_that_of_lightness)
{
    static const uint8_t black[3] = {0, 0, 0}, white[3] = {255, 255, 255};
    assert_int_equal(srgb_luminance(black), 0);
    assert_int_equal(srgb_luminance(white), 655350000);
    uint8_t last[3] = {0, 0, 0};
    for (uint32_t i = 0; i < 1000000; i++) {
        uint32_t x = i * 2654435761u;
        uint8_t rgb[3] = {(uint8_t)(x >> 24), (uint8_t)(x >> 16), (uint8_t)(x >> 8)};
        double difference = lightness(rgb) - lightness(last);
        if (fabs(difference) > 0.02)
            assert_int_equal(srgb_luminance(rgb) > srgb_luminance(last), difference > 0);
        for (int c = 0; c < 3; c++)
            last[c] = rgb[c];
    }
}
