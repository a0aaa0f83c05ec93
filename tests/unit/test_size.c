/* size_resolve: the four rules, never larger than the film. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "barcode/options.h"

static void resolves(struct size_rule rule, int width, int height, int want_width, int want_height)
{
    int w = -1, h = -1;
    size_resolve(&rule, width, height, &w, &h);
    assert_int_equal(w, want_width);
    assert_int_equal(h, want_height);
}

static void side(void **unused)
{
    (void)unused;
    resolves((struct size_rule){.kind = SIZE_SIDE, .side = 320}, 1920, 1080, 320, 180);
    resolves((struct size_rule){.kind = SIZE_SIDE, .side = 320}, 100, 80, 100, 80);
}

static void exact(void **unused)
{
    (void)unused;
    struct size_rule rule = {.kind = SIZE_EXACT, .width = 64, .height = 48};
    resolves(rule, 1920, 1080, 64, 48);
    resolves(rule, 50, 1080, 50, 48);
    resolves(rule, 1920, 20, 64, 20);
    resolves((struct size_rule){.kind = SIZE_EXACT}, 10, 10, 1, 1);
}

static void divide(void **unused)
{
    (void)unused;
    resolves((struct size_rule){.kind = SIZE_DIVIDE, .divisor = 4}, 1920, 1080, 480, 270);
    resolves((struct size_rule){.kind = SIZE_DIVIDE, .divisor = 4}, 1918, 1081, 480, 270);  /* 479.5, 270.25 */
    resolves((struct size_rule){.kind = SIZE_DIVIDE, .divisor = 1}, 1921, 1, 1921, 1);
    resolves((struct size_rule){.kind = SIZE_DIVIDE, .divisor = 100}, 30, 49, 1, 1);
    resolves((struct size_rule){.kind = SIZE_DIVIDE, .divisor = 0}, 30, 49, 30, 49);
    resolves((struct size_rule){.kind = SIZE_DIVIDE, .divisor = INT32_MAX}, 30, 49, 1, 1);
}

static void full(void **unused)
{
    (void)unused;
    resolves((struct size_rule){.kind = SIZE_FULL}, 1919, 1079, 1919, 1079);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(side), cmocka_unit_test(exact), cmocka_unit_test(divide),
                                       cmocka_unit_test(full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
