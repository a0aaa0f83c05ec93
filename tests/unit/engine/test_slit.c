#include <math.h>

#include "test.h"
#include "barcode/engine/slit.h"

TEST(every_angle)
{
    const long double one = 1 << 20, unit = acosl(-1) / (SLIT_TURN / 2);
    for (int angle = 0; angle < SLIT_TURN; angle++) {
        int32_t c, s;
        slit_rotation(angle, &c, &s);
        assert_int_equal(c, lroundl(one * cosl(unit * angle)));
        assert_int_equal(s, lroundl(one * sinl(unit * angle)));
    }
}

TEST(largest_frame)
{
    const struct slit slit = {5000, 4500};
    struct slit_line *line = slit_line_open(&slit, 16384, 16384, NULL);
    assert_non_null(line);
    assert_in_range(line->length, 23160, 23172);
    for (int i = 0; i < line->length; i++)
        assert_true(line->offset[i] <= UINT32_C(16384) * 16384 * 3 - 3);
    slit_line_free(&line);
}

/* A rotated frame's corners: the column there may hold no pixel's centre. */
TEST(misses)
{
    int missed = 0;
    for (int angle = 100; angle < 9000; angle += 100) {
        struct err e = ERR_INIT;
        struct slit slit = {0, angle};
        struct slit_line *line = slit_line_open(&slit, 64, 48, &e);
        missed += !line;
        assert_true(line ? line->length > 0 : e.code == ERR_USAGE);
        slit_line_free(&line);
    }
    assert_true(missed > 0 && missed < 89);
}
