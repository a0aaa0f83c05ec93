#include "test.h"
#include "output/picture_options.h"

/* How wide a picture of few frames is by default: some numbers, then all. */
TEST(widths)
{
    static const uint64_t frames[][2] = {{1, 1280},    {12, 1284},   {100, 1300},  {720, 1440},
                                         {1020, 2040}, {1252, 1252}, {1280, 1280}, {1900, 1900}};
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        assert_int_equal(picture_repeats(frames[i][0]) * frames[i][0], frames[i][1]);
    for (uint64_t n = 1; n <= PICTURE_LONG; n++) {
        uint64_t width = n * picture_repeats(n);
        if (n > PICTURE_LONG / 2 && n < PICTURE_SHORT)
            assert_int_equal(width, n); /* twice as many are too many */
        else
            assert_in_range(width, PICTURE_SHORT, PICTURE_LONG);
    }
}
