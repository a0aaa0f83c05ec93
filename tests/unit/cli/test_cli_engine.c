#include <stdio.h>
#include <string.h>

#include "test.h"
#include "cli/cli.h"
#include "barcode/engine/engine.h"

static struct options o;
static struct err e;

static bool engine(const char *text)
{
    err_clear(&e);
    o = (struct options){.engine.devices = {.count = 9}};
    return cli_parse_engine(text, &o, &e);
}

TEST(engines_by_name)
{
    assert_true(engine("auto"));
    assert_int_equal(o.engine.choice, ENGINE_AUTO);
    assert_true(engine("cpu"));
    assert_int_equal(o.engine.choice, ENGINE_CPU);
    static const char *const bad[] = {"",
                                      "gpu",
                                      "CPU",
                                      "cud",
                                      "cuda:",
                                      "cuda:x",
                                      "cuda:1x",
                                      "cuda:123",
                                      "cuda1",
                                      "cuda:-1",
                                      "cuda,1",
                                      "cuda:0,",
                                      "cuda:,0",
                                      "cuda:0,,1",
                                      "cuda:0:1",
                                      "cuda:0, 1",
                                      "cuda:0,100",
                                      "cuda:0;1",
                                      "cuda:99999999999999999999",
                                      "cuda: 1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(engine(bad[i]));
        assert_int_equal(e.code, ERR_USAGE);
        assert_non_null(strstr(e.text, "is not auto, cpu or cuda[:N,...]"));
    }
}

TEST(cuda_where_it_is_built)
{
    static const struct {
        const char *text;
        struct engine_devices devices;
    } good[] = {
        {"cuda", {.count = 0}},
        {"cuda:0", {.count = 1, .number = {0}}},
        {"cuda:7", {.count = 1, .number = {7}}},
        {"cuda:12", {.count = 1, .number = {12}}},
        {"cuda:0,2", {.count = 2, .number = {0, 2}}},
        {"cuda:0,0", {.count = 2, .number = {0, 0}}},
        {"cuda:3,1,02,99", {.count = 4, .number = {3, 1, 2, 99}}},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        bool ok = engine(good[i].text);
        assert_int_equal(ok, engine_built("cuda"));
        if (!ok)
            assert_int_equal(e.code, ERR_ENGINE);
        assert_int_equal(o.engine.choice, ENGINE_CUDA);
        assert_int_equal(o.engine.devices.count, good[i].devices.count);
        for (int k = 0; k < good[i].devices.count; k++)
            assert_int_equal(o.engine.devices.number[k], good[i].devices.number[k]);
    }
}

/* As many as a list may have, and not one more. */
TEST(many_numbers)
{
    char text[200] = "cuda:0";
    for (int i = 1; i < ENGINE_DEVICES_MOST; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ",%d", i);
    assert_int_equal(engine(text), engine_built("cuda"));
    assert_int_equal(o.engine.devices.count, ENGINE_DEVICES_MOST);
    assert_int_equal(o.engine.devices.number[ENGINE_DEVICES_MOST - 1], ENGINE_DEVICES_MOST - 1);
    snprintf(text + strlen(text), sizeof text - strlen(text), ",0");
    assert_false(engine(text));
    assert_int_equal(e.code, ERR_USAGE);
}

TEST(decoders_by_name)
{
    static const char *const name[] = {"auto", "cpu", "nvdec"};
    for (int i = DECODE_AUTO; i <= DECODE_NVDEC; i++) {
        assert_true(cli_parse_decode(name[i], &o, &e));
        assert_int_equal(o.film.decode, i);
    }
    err_clear(&e);
    assert_false(cli_parse_decode("gpu", &o, &e));
    assert_int_equal(e.code, ERR_USAGE);
    assert_string_equal(e.text, "--decode: 'gpu' is not auto, cpu or nvdec");
}

TEST(memory_by_size)
{
    static const char *const bad[] = {"", "lots", "-1G", "255M", "1", "2X", "1e30"};
    const uint64_t mib = (uint64_t)1 << 20;
    assert_true(cli_parse_memory("256M", &o, &e) && o.process.memory == 256 * mib);
    assert_true(cli_parse_memory("1.5GiB", &o, &e) && o.process.memory == 1536 * mib);
    assert_true(cli_parse_memory("268435457", &o, &e) && o.process.memory == 256 * mib + 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err_clear(&e);
        assert_false(cli_parse_memory(bad[i], &o, &e));
        assert_int_equal(e.code, ERR_USAGE);
        assert_non_null(strstr(e.text, "is not a size such as 500M or 2G (at least 256M)"));
    }
}
