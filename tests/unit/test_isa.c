#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "barcode/isa.h"

static void names(void **state)
{
    (void)state;
    assert_string_equal(isa_name(ISA_C), "c");
    assert_string_equal(isa_name(ISA_AVX2), "avx2");
    assert_string_equal(isa_name(ISA_AVX512), "avx512");
    assert_string_equal(isa_name(ISA_VNNI), "vnni");
}

/* What a better one needs, the worse ones need too. */
static void each_implies_the_one_below(void **state)
{
    (void)state;
    assert_true(isa_supported(ISA_C));
    for (int i = ISA_VNNI; i > ISA_C; i--)
        assert_true(!isa_supported((enum isa)i) || isa_supported((enum isa)(i - 1)));
}

static void best_is_chosen(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    enum isa isa = ISA_C;
    unsetenv("BARCODE_ISA");
    assert_true(isa_choose(&isa, &e));
    assert_true(isa_supported(isa));
    for (int i = (int)isa + 1; i <= ISA_VNNI; i++)
        assert_false(isa_supported((enum isa)i));
    setenv("BARCODE_ISA", "", 1);
    enum isa again = ISA_C;
    assert_true(isa_choose(&again, &e));
    assert_int_equal(again, isa);
}

static void environment_forces(void **state)
{
    (void)state;
    for (int i = ISA_C; i <= ISA_VNNI; i++) {
        struct err e = ERR_INIT;
        enum isa isa = ISA_C;
        setenv("BARCODE_ISA", isa_name((enum isa)i), 1);
        bool had = isa_choose(&isa, &e);
        assert_int_equal(had, isa_supported((enum isa)i));
        assert_int_equal(had ? (int)isa : (int)e.code, had ? i : (int)ERR_USAGE);
    }
    struct err e = ERR_INIT;
    enum isa isa;
    setenv("BARCODE_ISA", "sse9", 1);
    assert_false(isa_choose(&isa, &e));
    assert_int_equal(e.code, ERR_USAGE);
    assert_non_null(strstr(e.text, "'sse9'"));
    unsetenv("BARCODE_ISA");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(each_implies_the_one_below),
        cmocka_unit_test(best_is_chosen),
        cmocka_unit_test(environment_forces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
