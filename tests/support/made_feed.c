/*
 * made_feed.c - a feed of made columns, shown by the server and on stdout as a live barcode is; for
 * tests/live.sh.
 *
 *     made_feed [ADDR:]PORT|- PERIOD_MS [rgb|jsonl] [HEIGHT] [FIRST] [COUNT]
 *
 * Column n begins at n PERIOD_MS of UTC, as --live has it, and is open until it ends; with a period
 * of 10 s or more it is put only once before. FIRST: how many earlier columns there are at the
 * start, as after a restart. Every tenth is missing. COUNT: ends after that many, made without
 * waiting. Ends on SIGTERM.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "live/serve/serve.h"
#include "base/log.h"

static volatile sig_atomic_t ended;

static void on_signal(int number)
{
    (void)number;
    ended = 1;
}

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* A sky of a day: the number alone decides every pixel, so that tests can check them. */
static void put(struct live_feed *f, int64_t n, bool open, uint8_t *rgb)
{
    const int height = live_feed_height(f);
    struct live_column c = {.number = n,
                            .time_us = n * live_feed_period_us(f),
                            .missing = n % 10 == 9,
                            .open = open,
                            .average = {(uint8_t)n, (uint8_t)(n >> 8), 128},
                            .dominant = {(uint8_t)(n * 7), 64, (uint8_t)(255 - n % 200)}};
    for (int y = 0; y < height; y++) {
        rgb[3 * y] = (uint8_t)(n * 7 % 160 + 40);
        rgb[3 * y + 1] = (uint8_t)(y * 255 / height);
        rgb[3 * y + 2] = (uint8_t)(n % 97 * 2 + 30);
    }
    live_feed_put(f, &c, c.missing ? NULL : rgb);
}

/* Waits for 20 ms at most. Returns false if nobody reads stdout any more. */
static bool show(struct server *s, struct live_output *out)
{
    enum { MOMENT_MS = 20 };
    struct pollfd p[2] = {{.fd = s ? serve_descriptor(s) : -1, .events = POLLIN}, {.fd = -1}};
    bool read = !out || live_output_write(out);
    if (out && read)
        p[1] = live_output_poll(out);
    int ms = s ? serve_run(s) : -1;
    (void)poll(p, 2, ms >= 0 && ms < MOMENT_MS ? ms : MOMENT_MS);
    return read;
}

static void run(struct live_feed *f, struct server *s, struct live_output *out, int64_t before,
                uint8_t *rgb)
{
    const int64_t period = live_feed_period_us(f);
    int64_t n = now_us() / period - before, opened = -1;
    for (const int64_t end = now_us() / period; n < end; n++)
        put(f, n, false, rgb);
    while (!ended && show(s, out)) {
        for (int64_t now = now_us() / period; n < now; n++)
            put(f, n, false, rgb);
        if (n != opened || period < 10000000)
            put(f, n, true, rgb);
        opened = n;
    }
}

int main(int argc, char **argv)
{
    struct options o = {.live.serve = {.port = 0}};
    struct err e = ERR_INIT;
    if (argc < 3 || (strcmp(argv[1], "-") != 0 && !cli_parse_serve(argv[1], &o, &e)) ||
        (argc > 3 && argv[3][0] && !cli_parse_live_format(argv[3], &o, &e)))
        return log_error(&e);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    const int height = argc > 4 ? atoi(argv[4]) : 200;
    struct live_feed *f = live_feed_open(8640, height, atoll(argv[2]) * 1000, &e);
    uint8_t *rgb = malloc((size_t)height * 3);
    struct server *s = NULL;
    struct live_output *out = NULL;
    const int64_t count = argc > 6 ? atoll(argv[6]) : 0;
    bool good = f && rgb;
    if (good && o.live.format)
        good = (out = live_output_open(STDOUT_FILENO, o.live.format, f, &e));
    if (good && o.live.serve.given)
        good = (s = serve_open(&o.live.serve, f, "made \"columns\" <b>&", &e));
    for (int64_t n = 0; good && n < count; n++)
        put(f, n, false, rgb);
    if (good && count == 0)
        run(f, s, out, argc > 5 ? atoll(argv[5]) : 0, rgb);
    good = live_output_close(&out, &e) && good;
    serve_close(&s);
    live_feed_free(&f);
    free(rgb);
    return good ? 0 : log_error(&e);
}
