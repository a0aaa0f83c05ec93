#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "barcode/cli.h"
#include "barcode/engine.h"

static struct options o;
static struct err e;

static bool engine(const char *text)
{
    err_clear(&e);
    o = (struct options){.device = 99};
    return cli_parse_engine(text, &o, &e);
}

static void engines_by_name(void **state)
{
    (void)state;
    assert_true(engine("auto"));
    assert_int_equal(o.engine, ENGINE_AUTO);
    assert_true(engine("cpu"));
    assert_int_equal(o.engine, ENGINE_CPU);
    static const char *const bad[] = {"", "gpu", "CPU", "cud", "cuda:", "cuda:x", "cuda:1x", "cuda:123", "cuda1", "cuda:-1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(engine(bad[i]));
        assert_int_equal(e.code, ERR_USAGE);
        assert_non_null(strstr(e.text, "is not auto, cpu or cuda[:N]"));
    }
}

static void cuda_where_it_is_built(void **state)
{
    (void)state;
    static const struct { const char *text; int device; } good[] = {{"cuda", 0}, {"cuda:0", 0}, {"cuda:7", 7}, {"cuda:12", 12}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        bool fine = engine(good[i].text);
        assert_int_equal(fine, engine_built("cuda"));
        if (!fine)
            assert_int_equal(e.code, ERR_ENGINE);
        assert_int_equal(o.engine, ENGINE_CUDA);
        assert_int_equal(o.device, good[i].device);
    }
}

static void decoders_by_name(void **state)
{
    (void)state;
    static const char *const name[] = {"auto", "cpu", "nvdec"};
    for (int i = DECODE_AUTO; i <= DECODE_NVDEC; i++) {
        assert_true(cli_parse_decode(name[i], &o, &e));
        assert_int_equal(o.decode, i);
    }
    err_clear(&e);
    assert_false(cli_parse_decode("gpu", &o, &e));
    assert_int_equal(e.code, ERR_USAGE);
    assert_string_equal(e.text, "--decode: 'gpu' is not auto, cpu or nvdec");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_by_name), cmocka_unit_test(cuda_where_it_is_built), cmocka_unit_test(decoders_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
