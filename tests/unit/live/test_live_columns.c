/* test_live_columns.c - columns of wall-clock time. test_live_channel.c has those of frames. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "live/live.h"
#include "live/day/day.h"
#include "output/modes/strip.h"
#include "files.h"

static const int64_t second = 1000000, hour = INT64_C(3600000000),
                     midnight = INT64_C(1795651200000000); /* 2026-11-26 */

static struct plan plan;
static struct live_plan days;
static struct live_feed *feed;

static struct live_columns_setup setup_of(const char *to, bool dated)
{
    plan = (struct plan){
        .picture.strip = {strip_find("average", 7)}, .picture.strips = 1, .picture.height = 2};
    days = live_plan_of(&plan, &(struct live_run_options){.column_us = 10 * second}, NULL);
    return (struct live_columns_setup){.plan = &days,
                                       .folder = to,
                                       .stem = "s",
                                       .label = "s",
                                       .feed = feed,
                                       .now_us = midnight,
                                       .dated = dated};
}

/* The clock alone closes columns, while no frame comes. */
TEST_WITH(the_clock_closes_columns, enter, leave)
{
    struct err e = ERR_INIT;
    feed = live_feed_open(8, 2, 10 * second, &e);
    const struct live_columns_setup s = setup_of(".", false);
    const struct column column = {.status = COLUMN_OK, .average = {1, 2, 3}};
    const struct live_average sum = {{8, 8, 8}, 8};
    const int64_t n = midnight / (10 * second), grace = second / 4,
                  due = midnight + 10 * second + grace;
    const uint8_t *rgb;
    struct live_columns *c = live_columns_open(&s, &e);
    assert_non_null(c);
    assert_true(live_columns_tick(c, midnight, grace) == INT64_MAX);
    assert_true(live_columns_start(c, TRANSFER_SDR, 0, 4, 2, &e));
    assert_true(live_columns_accept(c, n));
    assert_true(live_columns_add(c, n, &column, &sum, &e));
    /* a frame may be on its way, the longer the slower the machine is */
    assert_true(live_columns_tick(c, midnight + 10 * second, grace) == due);
    assert_true(live_columns_tick(c, due, 2 * grace) == due + grace);
    assert_int_equal(live_columns_closed(c), 0);
    assert_true(live_columns_accept(c, n));
    assert_true(live_columns_tick(c, due, grace) == due + 10 * second);
    assert_int_equal(live_columns_closed(c), 1);
    assert_false(live_columns_accept(c, n));
    live_columns_tick(c, midnight + 40 * second, grace);
    assert_int_equal(live_feed_oldest(feed), n);
    assert_int_equal(live_feed_newest(feed), n + 1);
    const struct live_column *shown = live_feed_get(feed, n + 1, &rgb);
    assert_true(shown->missing && !shown->open);
    live_columns_free(&c);
    live_feed_free(&feed);
}

/* Until there is a frame, the newest log is shown. The frame may have another size. */
TEST_WITH(the_next_day_shows_the_last_one, enter, leave)
{
    struct err e = ERR_INIT;
    const struct column column = {.status = COLUMN_OK};
    const struct live_average sum = {{8, 16, 24}, 8};
    const int64_t n = midnight / (10 * second), next = n + 8640;
    const uint8_t *rgb;
    struct live_columns_setup s = setup_of(".", false);
    struct live_columns *c = live_columns_open(&s, &e);
    assert_true(c && live_columns_start(c, TRANSFER_SDR, 0, 4, 2, &e));
    assert_true(live_columns_add(c, n, &column, &sum, &e));
    live_columns_close(c);
    live_columns_free(&c);
    s.feed = feed = live_feed_open(10000, 2, 10 * second, &e);
    s.now_us -= 24 * hour; /* the clock was set back */
    c = live_columns_open(&s, &e);
    assert_non_null(c);
    assert_true(live_feed_newest(feed) == INT64_MIN);
    live_columns_free(&c);
    s.now_us += 48 * hour;
    c = live_columns_open(&s, &e);
    assert_non_null(c);
    assert_int_equal(live_feed_newest(feed), n);
    const struct live_column *shown = live_feed_get(feed, n, &rgb);
    assert_true(!shown->missing && !shown->open && shown->average[2] == 3 && rgb[2] == 3);
    assert_null(live_columns_shape(c));
    assert_true(live_columns_tick(c, s.now_us, 0) == INT64_MAX);
    assert_true(live_columns_start(c, TRANSFER_SDR, 0, 8, 6, &e));
    assert_true(live_columns_add(c, next, &column, &sum, &e));
    assert_int_equal(live_feed_oldest(feed), n);
    assert_int_equal(live_feed_newest(feed), next);
    live_columns_free(&c);
    live_feed_free(&feed);
}

/* Pictures of a folder: a crash empties the open column, and later ones are read again. */
TEST_WITH(a_crash_while_pictures_are_read, enter, leave)
{
    struct err e = ERR_INIT;
    const struct column column = {.status = COLUMN_OK};
    const struct live_average sum = {{8, 8, 8}, 8};
    const int64_t n = midnight / (10 * second);
    const struct live_columns_setup s = setup_of(".", true);
    struct live_columns *c = live_columns_open(&s, &e);
    assert_true(c && live_columns_start(c, TRANSFER_SDR, 0, 4, 2, &e));
    assert_int_equal(live_columns_since(c), 0);
    assert_true(live_columns_accept(c, n) && live_columns_add(c, n, &column, &sum, &e));
    assert_true(live_columns_accept(c, n + 3) && live_columns_add(c, n + 3, &column, &sum, &e));
    live_columns_reset(c);
    assert_int_equal(live_columns_closed(c), 1);
    assert_int_equal(live_columns_since(c), (n + 1) * 10 * second);
    assert_true(live_columns_accept(c, n + 1));
    live_columns_free(&c);
}

/* Dated pictures that come every `every_us`; sets text[200] to what is logged of them. */
static void log_pictures(int64_t step_us, int64_t every_us, char *text)
{
    struct err e = ERR_INIT;
    const struct column column = {.status = COLUMN_OK};
    const struct live_average sum = {{8, 8, 8}, 8};
    const struct live_columns_setup s = setup_of("", true);
    FILE *log = tmpfile();
    int before = dup(STDERR_FILENO);
    days.report.analysis.selection.interval_us = step_us;
    struct live_columns *c = live_columns_open(&s, &e);
    assert_true(log && c && live_columns_start(c, TRANSFER_SDR, 0, 4, 2, &e));
    dup2(fileno(log), STDERR_FILENO);
    for (int i = 0; i < 60; i++)
        live_columns_add(c, (midnight + i * every_us) / step_us, &column, &sum, &e);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(log);
    text[fread(text, 1, 199, log)] = 0;
    fclose(log);
    live_columns_free(&c);
    days.report.analysis.selection.interval_us = 10 * second;
}

TEST_WITH(advice, enter, leave)
{
    char text[200];
    log_pictures(10 * second, 70 * second, text);
    assert_non_null(strstr(text, "every 70 s or so"));
    assert_non_null(strstr(text, "--live=72 "));
    log_pictures(10 * second, 10 * second, text);
    assert_string_equal(text, "");
    log_pictures(24 * hour, 24 * hour, text); /* each day is new */
    assert_string_equal(text, "");
    log_pictures(second / 25, second / 5, text); /* there is no such advice */
    assert_string_equal(text, "");
    log_pictures(hour, 48 * hour, text);
    assert_string_equal(text, "");
}
