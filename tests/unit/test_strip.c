#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "barcode/cli.h"

/* The names are used three times: on the command line, in file names and in the PNG. They must be the same word. */
static void every_name_is_a_mode(void **state)
{
    (void)state;
    for (enum mode m = 0; m < MODE_COUNT; m++) {
        struct options o = {0};
        struct err e = ERR_INIT;
        assert_true(cli_parse_modes(mode_name(m), &o, &e));
        for (enum mode other = 0; other < MODE_COUNT; other++)
            assert_int_equal(o.mode[other], other == m);
        assert_null(strpbrk(mode_name(m), "/ ."));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_name_is_a_mode)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
