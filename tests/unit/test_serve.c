#include "test.h"
#include "live/serve.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "barcode/base/log.h"

enum { HEIGHT = 4, PERIOD = 1000000 };

static struct live_feed *feed;
static struct server *server;

static int open_all(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    const struct serve_address address = {.host = "127.0.0.1", .given = true};
    log_set_level(LOG_ERROR);
    feed = live_feed_open(16, HEIGHT, PERIOD, &e);
    server = feed && serve_is_built() ? serve_open(&address, feed, "made", &e) : NULL;
    return feed && (server || !serve_is_built()) ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
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

/* Reads until `word` came, or to the end if it is NULL. Returns the text, of a static buffer. */
static const char *read_until(int fd, const char *word)
{
    static char text[1 << 16];
    size_t count = 0;
    memset(text, 0, sizeof text);
    while (!word || !strstr(text, word)) {
        ssize_t n = read(fd, text + count, sizeof text - 1 - count);
        assert_true(n > 0 || (n == 0 && !word));
        if (n == 0)
            break;
        count += (size_t)n;
    }
    return text;
}

static void answers(const char *path, const char *host, const char *want)
{
    int fd = ask(path, host);
    const char *text = read_until(fd, NULL);
    if (!strstr(text, want))
        fail_msg("%s of %s has no '%s': %.200s", path, host, want, text);
    close(fd);
}

TEST_WITH(answers_are_for_its_own_name, open_all, close_all)
{
    if (!server)
        skip();
    put(1, false);
    answers("/", "localhost", "HTTP/1.1 200 OK");
    answers("/live.js", "127.0.0.1", "EventSource");
    answers("/columns", "localhost", "application/octet-stream");
    answers("/strip.png", "localhost", "\r\n\r\n\x89PNG");
    answers("/nothing", "localhost", "404 Not Found");
    answers("/", "evil.example", "403 Forbidden");
}

TEST_WITH(events_come_while_columns_are_put, open_all, close_all)
{
    if (!server)
        skip();
    int fd = ask("/events", "localhost"), gone = ask("/events", "localhost");
    read_until(fd, "event: feed");
    close(gone);
    for (int n = 1; n < 200; n++) {
        put(n, true);
        put(n, false);
    }
    assert_non_null(strstr(read_until(fd, "id: 199\n"), "\"number\":199,"));
    put(200, false);
    read_until(fd, "id: 200\n");
    serve_close(&server); /* while it is read */
    assert_null(server);
    close(fd);
}

TEST_MAIN(NULL, NULL)
