#include "test.h"
#include "live/serve_host.h"

#include <stdio.h>
#include <unistd.h>

static const struct {
    const char *host, *served;
    bool ours;
} hosts[] = {
    {"127.0.0.1:8080", "127.0.0.1", true},
    {"127.0.0.1", "127.0.0.1", true},
    {"LocalHost:9000", "127.0.0.1", true}, /* ssh -L 9000:localhost:8080 */
    {"[::1]:8080", "127.0.0.1", true},
    {"[::1]:8080", "::1", true},
    {"[0:0:0:0:0:0:0:1]", "::1", true},
    {"192.168.1.5:8080", "192.168.1.5", true},
    {"192.168.1.5:8080", "127.0.0.1", false},
    {"192.168.1.5:8080", "0.0.0.0", true},
    {"[fe80::1]:8080", "::", true},
    {"sky.example:8080", "sky.example", true},
    {"SKY.example", "sky.example", true},
    {"evil.example:8080", "127.0.0.1", false},
    {"evil.example:8080", "0.0.0.0", false},
    {"evil.example", "::", false},
    {"localhost.evil.example", "127.0.0.1", false},
    {"127.0.0.1.evil.example", "0.0.0.0", false},
    {"127.0.0.1@evil.example", "0.0.0.0", false},
    {"127.0.0.1:evil.example", "127.0.0.1", false},
    {"127.0.0.1:80:80", "127.0.0.1", false},
    {"[::1", "::1", false},
    {"[::1]x", "::1", false},
    {"", "127.0.0.1", false},
    {":8080", "127.0.0.1", false},
    {NULL, "127.0.0.1", false},
};

TEST(host_is_the_served_address)
{
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (serve_host_is_ours(hosts[i].host, hosts[i].served) != hosts[i].ours)
            fail_msg("%s of %s", hosts[i].host ? hosts[i].host : "none", hosts[i].served);
}

TEST(host_is_this_machine_where_all_addresses_are_served)
{
    char name[256], local[300];
    assert_int_equal(gethostname(name, sizeof name), 0);
    snprintf(local, sizeof local, "%s.local:8080", name);
    assert_true(serve_host_is_ours(local, "0.0.0.0"));
    assert_true(serve_host_is_ours(name, "::"));
    assert_false(serve_host_is_ours(local, "127.0.0.1"));
}

TEST(origin_is_the_same_page)
{
    assert_true(serve_origin_is_ours(NULL, "127.0.0.1:8080"));
    assert_true(serve_origin_is_ours("http://127.0.0.1:8080", "127.0.0.1:8080"));
    assert_false(serve_origin_is_ours("http://127.0.0.1:9999", "127.0.0.1:8080"));
    assert_false(serve_origin_is_ours("http://evil.example", "127.0.0.1:8080"));
    assert_false(serve_origin_is_ours("null", "127.0.0.1:8080"));
    assert_false(serve_origin_is_ours("http://127.0.0.1:8080", NULL));
}
