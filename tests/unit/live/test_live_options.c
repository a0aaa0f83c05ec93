#include <string.h>

#include "test.h"
#include "live/live_options.h"
#include "set_option.h"

static struct live_run_options o;
static struct err e;

static bool set_live(const char *name, const char *value, struct err *why)
{
    return set_in_room(&live_options, &o, name, value, why);
}

TEST(columns_that_divide_a_day)
{
    static const char *const good[] = {"0.04", "0.1", "0.2", "10", "50", "60", "86400"},
                             *const bad[] = {"0.039", "7", "0", "172800", "-10", "x", ""};
    o = (struct live_run_options){.column_us = 0};
    assert_true(set_live("live", NULL, NULL) && o.column_us == 10000000);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(set_live("live", good[i], NULL));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(set_live("live", bad[i], NULL));
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
        o = (struct live_run_options){.column_us = 0};
        assert_true(set_live("serve", good[i].text, NULL));
        assert_string_equal(o.serve.host, good[i].host);
        assert_int_equal(o.serve.port, good[i].port);
        assert_true(o.serve.given);
    }
    static const char *const bad[] = {
        "",      ":",   "8080x",  "-1",     "65536",    ":8080",     "a:",        "[]:1",
        "[::1]", "::1", "[::1:1", "::1:80", "[::1]x:1", "127.0.0.1", "localhost", "[:1]:"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        o = (struct live_run_options){.column_us = 0};
        err_clear(&e);
        if (set_live("serve", bad[i], &e))
            fail_msg("'%s' is taken as '%s' %d", bad[i], o.serve.host, o.serve.port);
        assert_int_equal(e.code, ERR_USAGE);
    }
    char longest[400];
    memset(longest, 'a', sizeof longest);
    strcpy(longest + 300, ":80");
    o = (struct live_run_options){.column_us = 0};
    assert_false(set_live("serve", longest, NULL));
}

TEST(formats)
{
    o = (struct live_run_options){.column_us = 0};
    assert_true(set_live("live-format", "rgb", NULL) && o.format == LIVE_FORMAT_RGB);
    assert_true(set_live("live-format", "jsonl", NULL) && o.format == LIVE_FORMAT_JSONL);
    assert_false(set_live("live-format", "RGB", NULL));
    assert_false(set_live("live-format", "", NULL));
}
