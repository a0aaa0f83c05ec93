#include "test.h"
#include "cli/cli.h"

#include <string.h>

TEST(columns_that_divide_a_day)
{
    static const char *const good[] = {"0.04", "0.1", "0.2", "10", "50", "60", "86400"},
                             *const bad[] = {"0.039", "7", "0", "172800", "-10", "x", ""};
    struct options o = {.picture.width = 0};
    assert_true(cli_parse_live(NULL, &o, NULL) && o.live.column_us == 10000000);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(cli_parse_live(good[i], &o, NULL));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(cli_parse_live(bad[i], &o, NULL));
}

TEST(addresses)
{
    static const struct {
        const char *text, *host;
        int port;
    } good[] = {{"8080", "127.0.0.1", 8080},
                {"0", "127.0.0.1", 0},
                {"0.0.0.0:80", "0.0.0.0", 80},
                {"[::1]:8080", "::1", 8080},
                {"[::]:65535", "::", 65535},
                {"sky.local:1", "sky.local", 1},
                {"[fe80::1%eth0]:1", "fe80::1%eth0", 1}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct options o = {.picture.width = 0};
        assert_true(cli_parse_serve(good[i].text, &o, NULL));
        assert_string_equal(o.live.serve.host, good[i].host);
        assert_int_equal(o.live.serve.port, good[i].port);
        assert_true(o.live.serve.given);
    }
    static const char *const bad[] = {
        "",      ":",   "8080x",  "-1",     "65536",    ":8080",     "a:",        "[]:1",
        "[::1]", "::1", "[::1:1", "::1:80", "[::1]x:1", "127.0.0.1", "localhost", "[:1]:"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct options o = {.picture.width = 0};
        struct err e = ERR_INIT;
        if (cli_parse_serve(bad[i], &o, &e))
            fail_msg("'%s' is taken as '%s' %d", bad[i], o.live.serve.host, o.live.serve.port);
        assert_int_equal(e.code, ERR_USAGE);
    }
    char longest[400];
    memset(longest, 'a', sizeof longest);
    strcpy(longest + 300, ":80");
    struct options o = {.picture.width = 0};
    assert_false(cli_parse_serve(longest, &o, NULL));
}

TEST(formats)
{
    struct options o = {.picture.width = 0};
    assert_true(cli_parse_live_format("rgb", &o, NULL) && o.live.format == LIVE_FORMAT_RGB);
    assert_true(cli_parse_live_format("jsonl", &o, NULL) && o.live.format == LIVE_FORMAT_JSONL);
    assert_false(cli_parse_live_format("RGB", &o, NULL));
    assert_false(cli_parse_live_format("", &o, NULL));
}
