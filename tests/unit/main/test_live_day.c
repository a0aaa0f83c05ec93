/* Days: which columns they have, in UTC and in zones with summer time; and their files. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test.h"
#include "folder.h"
#include "cli/cli.h"
#include "live/day/day.h"
#include "output/poster/layout.h"
#include "set_option.h"

static struct options o;
static const int64_t step = 10000000;

static void zone(const char *name)
{
    setenv("TZ", name, 1);
    tzset();
}

static void rule(const char *text)
{
    struct err e = ERR_INIT;
    assert_ok(set_option(&o, "day", text, &e), &e);
}

/* The day of a second of UTC. */
static struct live_day day_at(int64_t second)
{
    struct live_day d = live_day_of(&o.live.day, second * 1000000 / step, step);
    assert_true(d.first <= second / 10 && second / 10 < d.end);
    return d;
}

static const int64_t midnight = 1795651200; /* 2026-11-26 0:00 UTC */

TEST(numbers_and_starts)
{
    assert_int_equal(live_number(0, step), 0);
    assert_int_equal(live_number(9999999, step), 0);
    assert_int_equal(live_number(10000000, step), 1);
    assert_int_equal(live_number(-1, step), -1);
    assert_int_equal(live_number(-10000000, step), -1);
    assert_int_equal(live_number(-10000001, step), -2);
    assert_int_equal(live_number(INT64_C(1795694400000000), step), 179569440);
    for (int64_t n = -3; n <= 3; n++) {
        assert_int_equal(live_number(live_start_us(n, step), step), n);
        assert_int_equal(live_number(live_start_us(n, step) - 1, step), n - 1);
    }
}

TEST(utc)
{
    rule("utc");
    struct live_day d = day_at(midnight);
    assert_string_equal(d.name, "2026-11-26");
    assert_true(d.first == midnight / 10 && d.end == midnight / 10 + 8640);
    assert_string_equal(day_at(midnight - 10).name, "2026-11-25");
    assert_string_equal(day_at(midnight + 86399).name, "2026-11-26");
    d = live_day_of(&o.live.day, -1, step);
    assert_string_equal(d.name, "1969-12-31");
    assert_true(d.first == -8640 && d.end == 0);
}

TEST(nights)
{
    zone("Europe/Berlin");
    rule("12:00");
    assert_string_equal(day_at(midnight).name, "2026-11-25"); /* one o'clock at night */
    assert_string_equal(day_at(midnight + 11 * 3600 - 10).name, "2026-11-25");
    struct live_day d = day_at(midnight + 11 * 3600);
    assert_string_equal(d.name, "2026-11-26");
    assert_true(d.first == (midnight + 11 * 3600) / 10 && d.end - d.first == 8640);
}

TEST(summer_time)
{
    static const struct {
        const char *zone, *rule;
        int64_t second; /* of UTC */
        const char *name;
        int columns;
    } table[] = {
        {"Europe/Berlin", "local", 1774738800, "2026-03-29", 82800 / 10}, /* begins at 0:00 */
        {"Europe/Berlin", "local", 1792879200, "2026-10-25", 90000 / 10},
        {"Europe/Berlin", "12:00", 1774695600, "2026-03-28", 82800 / 10},
        {"Europe/Berlin", "local", 1774821600, "2026-03-30", 8640},
        {"Asia/Kathmandu", "local", 1795630500, "2026-11-26", 8640}, /* 5:45 */
        {"America/New_York", "local", 1772946000, "2026-03-08", 82800 / 10},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        zone(table[i].zone);
        rule(table[i].rule);
        struct live_day d = day_at(table[i].second);
        assert_string_equal(d.name, table[i].name);
        assert_int_equal(d.end - d.first, table[i].columns);
        assert_string_not_equal(day_at(table[i].second - 10).name, d.name);
    }
}

/* Every column has one day, also where the day's beginning does not exist or comes twice. */
TEST(no_column_is_lost)
{
    static const char *const zones[] = {"Europe/Berlin", "America/Sao_Paulo", "Africa/Cairo",
                                        "Australia/Lord_Howe", "Asia/Kathmandu"};
    static const char *const rules[] = {"utc", "local", "02:30", "12:00", "23:59"};
    static const int64_t steps[] = {10000000, 3600000000, 86400000000};
    for (size_t z = 0; z < 5; z++)
        for (size_t k = 0; k < 5; k++)
            for (size_t s = 0; s < 3; s++) {
                zone(zones[z]);
                rule(rules[k]);
                /* two years from 2017: Sao Paulo's days began at 1:00 then */
                int64_t number = INT64_C(1483228800000000) / steps[s];
                struct live_day d = live_day_of(&o.live.day, number, steps[s]);
                for (int i = 0; i < 730; i++) {
                    struct live_day next = live_day_of(&o.live.day, d.end, steps[s]);
                    assert_true(d.first < d.end && next.first == d.end);
                    assert_true(strcmp(d.name, next.name) < 0);
                    assert_string_equal(live_day_of(&o.live.day, d.end - 1, steps[s]).name, d.name);
                    assert_true(live_day_of(&o.live.day, d.end - 1, steps[s]).first == d.first);
                    d = next;
                }
            }
}

TEST(bad_rules)
{
    static const char *const no[] = {"",      "UTC",      "24:00", "12",   "1:00",
                                     "12:60", "12:00:00", "noon",  "-1:00"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        struct err e = ERR_INIT;
        assert_false(set_option(&o, "day", no[i], &e));
        assert_int_equal(e.code, ERR_USAGE);
    }
}

/* ------------------------------------------------------------------ files */

enum { COUNT = 12, HEIGHT = 9 };

/* Columns 2 and 5 of 12 have a slit of two pixels. */
static struct columns *make_columns(void)
{
    struct err e = ERR_INIT;
    struct columns *columns = columns_open(0, 0, &e);
    columns_keep_slit(columns, 2);
    for (uint64_t i = 2; i <= 5; i += 3) {
        struct column *c = columns_at(columns, i, &e);
        c->status = COLUMN_OK;
        memset(c->slit, (int)i * 40, 6);
        memset(c->average, (int)i * 40, 3);
    }
    return columns;
}

static char *read_file(const char *name)
{
    static char text[1 << 14];
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

TEST(files_of_a_day)
{
    struct err e = ERR_INIT;
    struct columns *columns = make_columns();
    static char path[] = "cam";
    struct film film = {.path = path, .rate_den = 1};
    struct report r = {.film = &film,
                       .analysis.needs = STRIP_SLIT,
                       .analysis.width = 1,
                       .analysis.height = 2,
                       .analysis.slit_length = 2,
                       .picture.height = HEIGHT,
                       .analysis.selection = {.kind = SELECT_INTERVAL, .interval_us = step}};
    const struct strip_kind *const slit[] = {strip_find("slit", 4)};
    const struct strips strips = {slit, 1};
    o = (struct options){.live.day.local = false};
    struct live_day day = live_day_of(&o.live.day, midnight / 10, step);
    for (int end = 0; end < 2; end++) {
        assert_ok(live_day_write(strips, &day, folder, "cam", &r, columns, COUNT, end, &e), &e);
        assert_memory_equal(read_file("cam-2026-11-26.png"), "\x89PNG", 4);
        const char *csv = read_file("cam-2026-11-26.csv");
        assert_memory_equal(csv, "clock,column,frame,time,status,", 31);
        assert_non_null(strstr(csv, "\r\n2026-11-26T00:00:10Z,1,1,10.000000,missing,"));
        assert_non_null(strstr(csv, "\r\n2026-11-26T00:00:50Z,5,5,50.000000,ok,#c8c8c8"));
    }
    const struct strip_kind *const two[] = {strip_find("slit", 4), strip_find("average", 7)};
    assert_ok(
        live_day_write((struct strips){two, 2}, &day, folder, "cam", &r, columns, COUNT, true, &e),
        &e);
    assert_memory_equal(read_file("cam-2026-11-26-slit.png"), "\x89PNG", 4);
    assert_memory_equal(read_file("cam-2026-11-26-average.png"), "\x89PNG", 4);
    /* What is in the picture. */
    r.columns = columns;
    r.count = COUNT;
    r.gaps = true;
    struct painter *p = painter_open(&r, strips, &e);
    assert_int_equal(painter_width(p), COUNT);
    for (int y = 0; y < HEIGHT; y++) {
        uint8_t rgb[COUNT * 3];
        assert_true(painter_row(p, y, rgb, NULL));
        for (int x = 0; x < COUNT; x++)
            assert_int_equal(rgb[3 * x], x == 2        ? 80
                                         : x == 5      ? 200
                                         : (x + y) & 4 ? STRIP_GAP_LIGHT
                                                       : STRIP_GAP_DARK);
    }
    painter_free(&p);
    /* A mode of equal rows is hatched, too. */
    p = painter_open(
        &r, (struct strips){(const struct strip_kind *[]){strip_find("average", 7)}, 1}, &e);
    uint8_t first[COUNT * 3], fifth[COUNT * 3];
    assert_true(painter_row(p, 0, first, NULL));
    assert_true(painter_row(p, 4, fifth, NULL));
    assert_int_equal(first[6], 80);
    assert_int_equal(fifth[6], 80);
    assert_int_equal(first[0] + fifth[0], STRIP_GAP_LIGHT + STRIP_GAP_DARK);
    painter_free(&p);
    columns_free(&columns);
}

/* The axis of a day has the time of day, also where a night is longer by an hour. */
TEST(axis_of_a_day)
{
    struct err e = ERR_INIT;
    struct columns *columns = columns_open(0, 0, &e);
    for (uint64_t i = 0; i < 25; i++)
        columns_at(columns, i, &e)->time_us = (int64_t)i * 3600000000;
    struct film film = {.rate_den = 1};
    struct report r = {.film = &film,
                       .columns = columns,
                       .count = 25,
                       .clock_us = INT64_C(1792836000000000), /* 2026-10-24 12:00 in Berlin */
                       .analysis.selection = {.kind = SELECT_INTERVAL, .interval_us = 3600000000}};
    const struct layout layout = {.report = &r};
    struct axis axis;
    zone("Europe/Berlin");
    assert_true(layout_axis(&layout, 5, &axis, &e));
    assert_int_equal(axis.ticks, 5);
    static const char *const labels[] = {"12:00", "18:00", "00:00", "05:00", "11:00"};
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(axis.tick[i].label, labels[i]);
    assert_string_equal(axis.end, "12:00");
    r.clock_us = 0;
    assert_true(layout_axis(&layout, 5, &axis, &e));
    assert_string_equal(axis.tick[1].label, "6 h");
    columns_free(&columns);
}

static bool ignore(void *user, int64_t number, const struct column *c, struct err *e)
{
    (void)user, (void)number, (void)c, (void)e;
    return true;
}

static void log_columns(const char *name, int64_t last)
{
    char path[200];
    struct err e = ERR_INIT;
    struct live_shape shape = {.step_us = step, .width = 1, .height = 2, .slit_length = 2};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    struct live_log *log = live_log_open(path, &shape, ignore, NULL, &e);
    struct columns *columns = make_columns();
    assert_true(live_log_append(log, last, columns_get(columns, 2), &e));
    live_log_close(&log);
    columns_free(&columns);
}

/* The slit is in the log; the newest log says what was there already. */
TEST(since)
{
    const int64_t now = INT64_C(1795651200000000); /* 2026-11-26 */
    assert_true(live_day_since(folder, "sky", now) == 0);
    assert_true(live_day_since("/nowhere", "sky", now) == 0);
    log_columns("sky-2026-11-26.columns", 1000);
    log_columns("sky-2026-11-25.columns", 2000);
    log_columns("sky-2026-11-27.columns.old", 3000);
    log_columns("sky-2-2026-11-28.columns", 4000);
    log_columns("sky-2026-11-28.columns", 5000); /* a picture with a wrong date */
    assert_true(live_day_since(folder, "sky", now) == 1001 * step);
    assert_true(live_day_since(folder, "sky-2", now + 2 * LIVE_DAY_US) == 4001 * step);
}

static bool is_slit(void *user, int64_t number, const struct column *c, struct err *e)
{
    (void)e;
    assert_int_equal(number, 1000);
    for (int i = 0; i < 6; i++)
        assert_int_equal(c->slit[i], 80);
    ++*(int *)user;
    return true;
}

TEST(logged_slits)
{
    char path[200];
    struct err e = ERR_INIT;
    struct live_shape shape = {.step_us = step, .width = 1, .height = 2, .slit_length = 2};
    int seen = 0;
    snprintf(path, sizeof path, "%s/sky-2026-11-26.columns", folder);
    struct live_log *log = live_log_open(path, &shape, is_slit, &seen, &e);
    assert_non_null(log);
    assert_int_equal(seen, 1);
    live_log_close(&log);
    shape.slit.angle = 100; /* another line */
    assert_null(live_log_open(path, &shape, is_slit, &seen, &e));
}

/* ------------------------------------------------------------------ names */

TEST(labels_and_stems)
{
    static const struct {
        const char *name, *label, *stem;
    } cases[] = {
        {"-", "-", "stdin"},
        {"rtsp://h/a", "rtsp://h/a", "h-a"},
        {"rtsp://user:word@h:554/a/b?key=word#word", "rtsp://h:554/a/b", "h-554-a-b"},
        {"rtsp://u:p@ss@h/a", "rtsp://h/a", "h-a"},
        {"http://h?user=a@b", "http://h", "h"},
        {"udp://@:5000", "udp://:5000", "5000"},
        {"udp://[::1]:5000", "udp://[::1]:5000", "1-5000"},
        {"/dev/video0", "/dev/video0", "video0"},
        {"sky/", "sky/", "sky"},
        {"a/b c", "a/b c", "b-c"},
        {"rtsp://../../etc", "rtsp://../../etc", "etc"},
        {"rtsp://", "rtsp://", "live"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char label[STREAM_NAME], stem[STREAM_NAME];
        stream_name_show(cases[i].name, label);
        live_stem(cases[i].name, stem);
        assert_string_equal(label, cases[i].label);
        assert_null(strchr(stem, '/'));
        assert_true(stem[0] && stem[0] != '.');
        if (strcmp(cases[i].stem, "etc") != 0)
            assert_string_equal(stem, cases[i].stem);
    }
    char longer[1000], stem[STREAM_NAME], label[STREAM_NAME];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    live_stem(longer, stem);
    stream_name_show(longer, label);
    assert_int_equal(strlen(stem), STREAM_NAME - 1);
}

TEST_FIXTURE(enter, leave)
