/* film_fit: the longer side, proportions, rounding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "barcode/film.h"

static void fits(int width, int height, int side, int want_width, int want_height)
{
    int w = -1, h = -1;
    film_fit(width, height, side, &w, &h);
    assert_int_equal(w, want_width);
    assert_int_equal(h, want_height);
}

static void sizes(void **unused)
{
    (void)unused;
    fits(1920, 1080, 320, 320, 180);
    fits(1080, 1920, 320, 180, 320);
    fits(1920, 800, 320, 320, 133);     /* 133.33  */
    fits(1918, 802, 320, 320, 134);     /* 133.81  */
    fits(640, 3, 320, 320, 2);          /* 1.5, up */
    fits(500, 500, 320, 320, 320);
    fits(10000, 1, 320, 320, 1);
    fits(1, 10000, 320, 1, 320);
}

static void never_larger(void **unused)
{
    (void)unused;
    fits(300, 200, 320, 300, 200);
    fits(320, 180, 320, 320, 180);
    fits(1, 1, 320, 1, 1);
    fits(16384, 16384, 16384, 16384, 16384);
    fits(100, 50, 1, 1, 1);
    fits(100, 50, 0, 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes), cmocka_unit_test(never_larger)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
