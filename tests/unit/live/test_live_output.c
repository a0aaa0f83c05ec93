#include "test.h"
#include "live/serve/serve.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "barcode/base/clock.h"
#include "base/log.h"

enum { HEIGHT = 100, PERIOD = 1000000, COLUMN = HEIGHT * 3 };

static struct live_feed *feed;
static int pipes[2];

FIXTURE(open_all)
{
    log_set_level(LOG_ERROR);
    signal(SIGPIPE, SIG_IGN);
    feed = live_feed_open(64, HEIGHT, PERIOD, NULL);
    return feed && pipe(pipes) == 0 ? 0 : -1;
}

FIXTURE(close_all)
{
    close(pipes[0]);
    close(pipes[1]);
    live_feed_free(&feed);
    return 0;
}

static void put(int64_t number, bool open)
{
    uint8_t rgb[COLUMN];
    memset(rgb, (int)number, sizeof rgb);
    struct live_column c = {.number = number,
                            .time_us = number * PERIOD,
                            .open = open,
                            .missing = number % 5 == 4,
                            .average = {1, 2, 3}};
    live_feed_put(feed, &c, rgb);
}

/* Writes what there is, and reads exactly `bytes`. */
static void read_bytes(struct live_output *o, uint8_t *to, size_t bytes)
{
    while (bytes > 0) {
        assert_true(live_output_write(o));
        ssize_t n = read(pipes[0], to, bytes);
        assert_true(n > 0);
        to += n;
        bytes -= (size_t)n;
    }
}

static bool is_empty(struct live_output *o)
{
    struct pollfd p = {.fd = pipes[0], .events = POLLIN};
    assert_true(live_output_write(o));
    return poll(&p, 1, 0) == 0;
}

TEST_WITH(pixels_come_when_a_column_is_complete, open_all, close_all)
{
    uint8_t got[COLUMN];
    put(1, false); /* before its time */
    struct live_output *o = live_output_open(pipes[1], LIVE_FORMAT_RGB, feed, NULL);
    assert_non_null(o);
    put(2, true);
    assert_true(is_empty(o));
    assert_int_equal(live_output_poll(o).events, 0);
    for (int n = 2; n < 6; n++) {
        put(n, false);
        read_bytes(o, got, sizeof got);
        for (int i = 0; i < COLUMN; i++)
            assert_int_equal(got[i], n == 4 ? 0 : n);
    }
    put(8, false); /* 6 and 7 are missing */
    for (int n = 6; n < 9; n++) {
        read_bytes(o, got, sizeof got);
        assert_int_equal(got[0], n == 8 ? 8 : 0);
    }
    assert_true(is_empty(o));
    assert_true(live_output_close(&o, NULL));
    assert_null(o);
    assert_true(live_output_close(&o, NULL));
}

TEST_WITH(lines_of_json, open_all, close_all)
{
    static const char want[] =
        "{\"number\":3,\"time\":\"1970-01-01T00:00:03.000Z\",\"missing\":false,"
        "\"average\":\"#010203\",\"dominant\":\"#000000\"}\n"
        "{\"number\":4,\"time\":\"1970-01-01T00:00:04.000Z\",\"missing\":true,"
        "\"average\":null,\"dominant\":null}\n";
    uint8_t got[sizeof want - 1];
    struct live_output *o = live_output_open(pipes[1], LIVE_FORMAT_JSONL, feed, NULL);
    put(3, false);
    put(4, false);
    read_bytes(o, got, sizeof got);
    assert_memory_equal(got, want, sizeof got);
    assert_true(live_output_close(&o, NULL));
}

TEST_WITH(a_slow_reader_delays_nothing, open_all, close_all)
{
    struct live_output *o = live_output_open(pipes[1], LIVE_FORMAT_RGB, feed, NULL);
    uint8_t got[4096];
    put(0, false);
    read_bytes(o, got, COLUMN);
    const int64_t began = clock_ns();
    for (int n = 1; n <= 5000; n++) {
        put(n, false);
        assert_true(live_output_write(o));
    }
    assert_true(clock_since(began) < 2);
    assert_int_equal(live_output_poll(o).events, POLLOUT);
    /* It reads on: what was in the pipe, and what is kept. */
    fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    uint64_t bytes = 0;
    uint8_t last = 0;
    for (ssize_t n; (n = read(pipes[0], got, sizeof got)) > 0; bytes += (uint64_t)n) {
        last = got[n - 1];
        assert_true(live_output_write(o));
    }
    assert_int_equal(bytes % COLUMN, 0);
    assert_true(bytes / COLUMN >= 64);
    assert_true(bytes / COLUMN < 5000);
    assert_int_equal(last, (uint8_t)5000);
    assert_true(live_output_close(&o, NULL));
}

TEST_WITH(a_reader_that_is_stuck_does_not_keep_the_end, open_all, close_all)
{
    struct live_output *o = live_output_open(pipes[1], LIVE_FORMAT_RGB, feed, NULL);
    for (int n = 0; n < 1000; n++) {
        put(n, false);
        assert_true(live_output_write(o));
    }
    const int64_t began = clock_ns();
    assert_true(live_output_close(&o, NULL));
    assert_true(clock_since(began) < 4);
}

/* A service's stdout is a socket. The end of neither is an error. */
TEST_WITH(a_closed_reader_is_noticed_without_a_column, open_all, close_all)
{
    for (int kind = 0; kind < 2; kind++) {
        int ends[2];
        assert_int_equal(kind ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends), 0);
        struct live_output *o = live_output_open(ends[1], LIVE_FORMAT_RGB, feed, NULL);
        struct err e = ERR_INIT;
        put(2 * kind + 1, false);
        assert_true(live_output_write(o));
        close(ends[0]);
        struct pollfd p = live_output_poll(o);
        assert_int_equal(poll(&p, 1, 5000), 1);
        assert_false(live_output_write(o));
        put(2 * kind + 2, false);
        assert_false(live_output_write(o));
        assert_true(live_output_close(&o, &e));
        close(ends[1]);
    }
}

TEST_WITH(a_full_disk_is_an_error, open_all, close_all)
{
    int fd = open("/dev/full", O_WRONLY);
    struct live_output *o = live_output_open(fd, LIVE_FORMAT_JSONL, feed, NULL);
    struct err e = ERR_INIT;
    put(1, false);
    assert_false(live_output_write(o));
    assert_false(live_output_close(&o, &e));
    assert_string_equal(e.text, "cannot write 'standard output': No space left on device");
    close(fd);
}
