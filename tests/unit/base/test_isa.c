#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "barcode/base/isa.h"

TEST(names)
{
    assert_string_equal(isa_name(ISA_BASE), "base");
    assert_string_equal(isa_name(ISA_AVX2), "avx2");
    assert_string_equal(isa_name(ISA_VNNI), "vnni");
}

/* What a better one needs, the worse ones need too. */
TEST(each_implies_the_one_below)
{
    assert_true(isa_supported(ISA_BASE));
    for (int i = ISA_VNNI; i > ISA_BASE; i--)
        assert_true(!isa_supported((enum isa)i) || isa_supported((enum isa)(i - 1)));
}

TEST(best_is_chosen)
{
    struct err e = ERR_INIT;
    enum isa isa = ISA_BASE;
    unsetenv("BARCODE_ISA");
    assert_true(isa_choose(&isa, &e));
    assert_true(isa_supported(isa));
    for (int i = (int)isa + 1; i <= ISA_VNNI; i++)
        assert_false(isa_supported((enum isa)i));
    setenv("BARCODE_ISA", "", 1);
    enum isa again = ISA_BASE;
    assert_true(isa_choose(&again, &e));
    assert_int_equal(again, isa);
}

TEST(environment_forces)
{
    for (int i = ISA_BASE; i <= ISA_VNNI; i++) {
        struct err e = ERR_INIT;
        enum isa isa = ISA_BASE;
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
