/*
 * made_feed.c - a feed of made columns, shown by the server as a live barcode is; for
 * tests/live.sh.
 *
 *     made_feed [ADDR:]PORT PERIOD_MS [HEIGHT] [FIRST]
 *
 * Column n begins at n PERIOD_MS of UTC, as --live has it, and is open until it ends; with a period
 * of 10 s or more it is put only once before. FIRST: how many earlier columns there are at the
 * start, as after a restart. Every tenth is missing. Ends on SIGTERM.
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
#include "../unit/set_option.h"
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

static void run(struct live_feed *f, struct server *s, int64_t before, uint8_t *rgb)
{
    enum { MOMENT_MS = 20 };
    const int64_t period = live_feed_period_us(f);
    int64_t n = now_us() / period - before, opened = -1;
    while (!ended) {
        for (int64_t now = now_us() / period; n < now; n++)
            put(f, n, false, rgb);
        if (n != opened || period < 10000000)
            put(f, n, true, rgb);
        opened = n;
        struct pollfd p = {.fd = serve_descriptor(s), .events = POLLIN};
        int ms = serve_run(s);
        (void)poll(&p, 1, ms >= 0 && ms < MOMENT_MS ? ms : MOMENT_MS);
    }
}

int main(int argc, char **argv)
{
    struct options o = {.live.serve = {.port = 0}};
    struct err e = ERR_INIT;
    if (argc < 3 || !set_option(&o, "serve", argv[1], &e))
        return log_error(&e);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTERM, on_signal);
    const int height = argc > 3 ? atoi(argv[3]) : 200;
    struct live_feed *f = live_feed_open(8640, height, atoll(argv[2]) * 1000, &e);
    uint8_t *rgb = malloc((size_t)height * 3);
    struct server *s = f ? serve_open(&o.live.serve, f, "made \"columns\" <b>&", &e) : NULL;
    if (s && rgb)
        run(f, s, argc > 4 ? atoll(argv[4]) : 0, rgb);
    serve_close(&s);
    live_feed_free(&f);
    free(rgb);
    return e.code == ERR_NONE ? 0 : log_error(&e);
}
