#include <stdlib.h>

#include "test.h"
#include "output/modes/time_axis.h"

enum { S = 1000000 };

/* Columns at these times, the caller's. */
static struct columns *at(const int64_t *time, uint64_t count)
{
    struct err e = ERR_INIT;
    struct columns *c = columns_open(0, 0, &e);
    for (uint64_t i = 0; i < count; i++)
        columns_at(c, i, &e)->time_us = time[i];
    return c;
}

static void expect_edges(const int64_t *time, uint64_t count, int64_t film_us, const int64_t *right)
{
    struct columns *c = at(time, count);
    const struct film film = {.length.duration_us = film_us};
    const struct report r = {.film = &film, .columns = c, .count = count};
    struct err e = ERR_INIT;
    int64_t *edge = axis_edges(&r, &e);
    for (uint64_t i = 0; i <= count; i++)
        assert_int_equal(edge[i], right[i]);
    free(edge);
    columns_free(&c);
}

TEST(edges)
{
    expect_edges((const int64_t[]){0, 10, 20}, 3, -1, (const int64_t[]){0, 10, 20, 30});
    /* the film ends */
    expect_edges((const int64_t[]){0, 10, 20}, 3, 26, (const int64_t[]){0, 10, 20, 26});
    expect_edges((const int64_t[]){5}, 1, 50, (const int64_t[]){5, 50});
    expect_edges((const int64_t[]){5}, 1, -1, (const int64_t[]){5, 5 + S});
    /* one frame in three columns */
    expect_edges((const int64_t[]){0, 0, 0, 30}, 4, 90, (const int64_t[]){0, 10, 20, 30, 40});
    /* a time that falls back */
    expect_edges((const int64_t[]){0, 20, 10, 40}, 4, -1, (const int64_t[]){0, 20, 30, 40, 53});
    /* a length that is wrong */
    expect_edges((const int64_t[]){7, 7}, 2, 3, (const int64_t[]){7, 7 + S / 2, 7 + S});
}

TEST(steps)
{
    static const struct {
        int64_t from, to;
        int most;
        size_t ticks;
        const char *first, *last, *end;
    } table[] = {{0, 90 * (int64_t)S, 10, 9, "0:00", "1:20", "1:30"},
                 {0, 90 * (int64_t)S, 6, 6, "0:00", "1:15", "1:30"},
                 {0, 90 * (int64_t)S, 1, 1, "0:00", "0:00", "1:30"},
                 {0, 7200 * (int64_t)S, 8, 8, "0", "1:45", "2 h"},
                 {0, 7201 * (int64_t)S, 9, 9, "0", "2 h", "2 h"},
                 {0, 7510 * (int64_t)S, 5, 5, "0", "2 h", "2:05 h"},
                 {3600 * (int64_t)S, 3630 * (int64_t)S, 4, 3, "1:00:00", "1:00:20", "1:00:30"},
                 {0, 3600 * (int64_t)S, 12, 12, "0:00", "55:00", "60:00"},
                 {61 * (int64_t)S, 75 * (int64_t)S, 5, 2, "1:05", "1:10", "1:15"},
                 {0, S, 5, 5, "0:00.0", "0:00.8", "0:01.0"},
                 {0, S / 20, 5, 1, "0:00.0", "0:00.0", "0:00.1"},
                 {0, 864000 * (int64_t)S, 4, 4, "0", "216 h", "240 h"},
                 {3 * (int64_t)S, 4 * (int64_t)S, 1, 1, "0:03", "0:03", "0:04"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int64_t edge[2] = {table[i].from, table[i].to};
        struct axis a = axis_make(edge, 1, table[i].most);
        if (a.ticks != table[i].ticks)
            fail_msg("%zu: %zu ticks", i, a.ticks);
        assert_string_equal(a.tick[0].label, table[i].first);
        assert_string_equal(a.tick[a.ticks - 1].label, table[i].last);
        assert_string_equal(a.end, table[i].end);
        for (size_t k = 0; k < a.ticks; k++)
            assert_true(a.tick[k].place >= 0 && a.tick[k].place < 1 &&
                        (k == 0 || a.tick[k].place > a.tick[k - 1].place));
    }
}

/* A tick lies where its time is shown, whatever the columns' times. */
TEST(places)
{
    /* the middle one lasts ten times as long */
    const int64_t edge[] = {0, S, 11 * (int64_t)S, 12 * (int64_t)S};
    struct axis a = axis_make(edge, 3, 4);
    assert_int_equal(a.ticks, 3);
    assert_string_equal(a.tick[1].label, "0:05");
    assert_true(a.tick[1].place > 0.4666 && a.tick[1].place < 0.4667); /* (1 + 0.4) / 3 */
    const int64_t none[] = {5, 5};
    assert_int_equal(axis_make(none, 1, 5).ticks, 0);
}

TEST(lengths)
{
    char text[40];
    axis_length(45400000, text, sizeof text);
    assert_string_equal(text, "45 s");
    axis_length(59600000, text, sizeof text);
    assert_string_equal(text, "1:00 min");
    axis_length(INT64_C(7510) * S, text, sizeof text);
    assert_string_equal(text, "2:05:10 h");
}
