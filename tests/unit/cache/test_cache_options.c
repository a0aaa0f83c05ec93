#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "cache/cache_options.h"

TEST(sizes)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"0", 0},          {"500", 500},     {"500B", 500},
                {"64K", 65536},    {"64k", 65536},   {"3.5G", UINT64_C(3758096384)},
                {"1MiB", 1 << 20}, {"1MB", 1 << 20}, {"2T", UINT64_C(2) << 40},
                {".5K", 512}};
    static const char *const bad[] = {"",    "G",    "-1",    "+1",        " 1",  "1 G",
                                      "1X",  "1iB",  "1KiBB", "inf",       "nan", "0x10",
                                      "1e3", "1..2", ".",     "99999999T", "1Gi", "2 "};
    uint64_t bytes;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(option_read_bytes(good[i].text, &bytes));
        assert_true(bytes == good[i].bytes);
    }
    bytes = 77;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(option_read_bytes(bad[i], &bytes));
    assert_true(bytes == 77);
}

TEST(default_limit)
{
    const uint64_t gib = UINT64_C(1) << 30;
    assert_true(cache_limit_default(1000 * gib, 0) == 10 * gib);
    assert_true(cache_limit_default(UINT64_MAX, UINT64_MAX) == 10 * gib);
    assert_true(cache_limit_default(50 * gib, 0) == 5 * gib);
    /* The cache has filled the disk: the limit is what it was when the cache was empty. */
    assert_true(cache_limit_default(45 * gib, 5 * gib) == 5 * gib);
    assert_true(cache_limit_default(0, 50 * gib) == 5 * gib);
    assert_true(cache_limit_default(0, 0) == 0);
}

static void expect_folder(const struct cache_options *o, const char *want)
{
    char folder[64];
    bool some = cache_options_folder(o, folder, sizeof folder);
    assert_int_equal(some, want != NULL);
    if (want)
        assert_string_equal(folder, want);
}

TEST(folders)
{
    struct cache_options o = cache_options_default;
    unsetenv("BARCODE_CACHE");
    setenv("XDG_CACHE_HOME", "/xdg", 1);
    setenv("HOME", "/home/me", 1);
    expect_folder(&o, "/xdg/barcode");
    setenv("XDG_CACHE_HOME", "relative", 1);
    expect_folder(&o, "/home/me/.cache/barcode");
    setenv("XDG_CACHE_HOME", "", 1);
    expect_folder(&o, "/home/me/.cache/barcode");
    setenv("HOME", "/a/home/whose/name/is/far/too/long/for/the/room/that/is/given/here", 1);
    expect_folder(&o, NULL);
    setenv("BARCODE_CACHE", "here", 1);
    expect_folder(&o, "here");
    setenv("BARCODE_CACHE", "-", 1);
    expect_folder(&o, NULL);
    o.folder = "there";
    expect_folder(&o, "there");
    o.folder = "-";
    expect_folder(&o, NULL);
}
