#include "test.h"
#include "live/serve/serve.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"

enum { HEIGHT = 4, PERIOD = 1000000 };

static struct live_feed *feed;
static struct server *server;

FIXTURE(open_all)
{
    struct err e = ERR_INIT;
    const struct serve_address address = {.host = "127.0.0.1", .given = true};
    log_set_level(LOG_ERROR);
    feed = live_feed_open(16, HEIGHT, PERIOD, &e);
    server = feed ? serve_open(&address, feed, "made", &e) : NULL;
    return server || e.code == ERR_USAGE ? 0 : -1; /* this build may have no server */
}

FIXTURE(close_all)
{
    serve_close(&server);
    live_feed_free(&feed);
    return 0;
}

static void put(int64_t number, bool open)
{
    const uint8_t rgb[HEIGHT][3] = {{(uint8_t)number}};
    struct live_column c = {.number = number, .time_us = number * PERIOD, .open = open};
    live_feed_put(feed, &c, rgb[0]);
}

/* Returns a connection that has sent a request. */
static int ask(const char *path, const char *host)
{
    char request[256];
    const struct timeval patience = {.tv_sec = 10};
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)serve_port(server)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    int length = snprintf(request, sizeof request,
                          "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, host);
    assert_int_equal(write(fd, request, (size_t)length), length);
    return fd;
}

/* Reads to the end, while the server runs. Returns the number of bytes, of a static buffer. */
static size_t read_all(int fd, const char **text)
{
    static char buffer[1 << 16];
    struct pollfd p[2] = {{.fd = fd, .events = POLLIN},
                          {.fd = serve_descriptor(server), .events = POLLIN}};
    size_t count = 0;
    for (ssize_t n = 1; n > 0; count += (size_t)n) {
        do
            (void)serve_run(server);
        while (poll(p, 2, 5000) > 0 && !p[0].revents);
        n = read(fd, buffer + count, sizeof buffer - 1 - count);
        assert_true(n >= 0);
    }
    buffer[count] = 0;
    *text = buffer;
    return count;
}

/* Asks, and returns the length of the answer's body. */
static size_t answers(const char *path, const char *host, const char *want)
{
    const char *text;
    int fd = ask(path, host);
    size_t count = read_all(fd, &text);
    const char *body = strstr(text, "\r\n\r\n");
    if (!body || !strstr(text, want))
        fail_msg("%s of %s has no '%s': %.200s", path, host, want, text);
    close(fd);
    return count - (size_t)(body + 4 - text);
}

TEST_WITH(answers_are_for_its_own_name, open_all, close_all)
{
    if (!server)
        skip();
    answers("/strip.png", "localhost", "404 Not Found");
    put(1, false);
    answers("/", "localhost", "HTTP/1.1 200 OK");
    answers("/live.js", "127.0.0.1", "columns?since=");
    answers("/title", "127.0.0.1", "made");
    answers("/strip.png", "localhost", "\r\n\r\n\x89PNG");
    answers("/nothing", "localhost", "404 Not Found");
    answers("/", "evil.example", "403 Forbidden");
}

TEST_WITH(columns_after_a_number, open_all, close_all)
{
    enum { HEAD = 32, RECORD = 24 + HEIGHT * 3 };
    if (!server)
        skip();
    assert_int_equal(answers("/columns", "localhost", "application/octet-stream"), HEAD);
    for (int n = 1; n <= 20; n++)
        put(n, n == 20);
    static const struct {
        const char *path;
        int columns;
    } want[] = {{"/columns", 16},          {"/columns?since=0", 16},
                {"/columns?since=x", 16},  {"/columns?since=-9223372036854775808", 16},
                {"/columns?since=10", 10}, {"/columns?since=19", 1},
                {"/columns?since=20", 0},  {"/columns?since=9223372036854775807", 0}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_int_equal(answers(want[i].path, "localhost", "200 OK"),
                         HEAD + want[i].columns * RECORD);
}

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
        if (serve_is_own_host(hosts[i].host, hosts[i].served) != hosts[i].ours)
            fail_msg("%s of %s", hosts[i].host ? hosts[i].host : "none", hosts[i].served);
}

TEST(host_is_this_machine_where_all_addresses_are_served)
{
    char name[256], local[300];
    assert_int_equal(gethostname(name, sizeof name), 0);
    snprintf(local, sizeof local, "%s.local:8080", name);
    assert_true(serve_is_own_host(local, "0.0.0.0"));
    assert_true(serve_is_own_host(name, "::"));
    assert_false(serve_is_own_host(local, "127.0.0.1"));
}

TEST(origin_is_the_same_page)
{
    assert_true(serve_is_own_origin(NULL, "127.0.0.1:8080"));
    assert_true(serve_is_own_origin("http://127.0.0.1:8080", "127.0.0.1:8080"));
    assert_false(serve_is_own_origin("http://127.0.0.1:9999", "127.0.0.1:8080"));
    assert_false(serve_is_own_origin("http://evil.example", "127.0.0.1:8080"));
    assert_false(serve_is_own_origin("null", "127.0.0.1:8080"));
    assert_false(serve_is_own_origin("http://127.0.0.1:8080", NULL));
}
