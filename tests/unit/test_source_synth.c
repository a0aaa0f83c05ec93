#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "barcode/interrupt.h"
#include "barcode/source.h"
#include "stage/synth.h"

static struct source *open_synth(const char *spec)
{
    struct err e = ERR_INIT;
    struct source *s = source_synth_open(spec, &e);
    if (!s)
        fail_msg("%s", e.text);
    return s;
}

static const struct selection each = {.kind = SELECT_EVERY, .every = 1, .end_us = INT64_MAX};

/* Stages at w x h with k clusters into fresh columns. */
static struct columns *stage(struct source *s, int w, int h, int k, const struct selection *selection, struct stage_counts *counts)
{
    struct err e = ERR_INIT;
    struct engine_config config = {.threads = 2};
    struct engine *g = engine_open("cpu", &config, &e);
    struct columns *c = columns_open(k, h, &e);
    assert_true(g && c);
    struct engine_job job = {.width = w, .height = h, .cluster = k > 0, .rows = true, .ports = 1, .columns = c,
                             .kmeans = {.k = k, .n_init = 2, .max_iter = 50}};
    struct stage_job what = {.selection = *selection, .threads = 1, .engine = g, .columns = c};
    struct stage_times times = {0};
    struct engine_times engine_times;
    assert_true(engine_begin(g, &job, &e));
    if (!source_stage(s, &what, counts, &times, &e))
        fail_msg("%s", e.text);
    assert_true(engine_finish(g, &engine_times, &e));
    engine_close(&g);
    return c;
}

/* Rounded half up, of a row with `split` of `width` pixels in the major colour. */
static void mixed(uint64_t frame, int split, int width, uint8_t rgb[3])
{
    uint8_t major[3], minor[3];
    source_synth_major(frame, major);
    source_synth_minor(frame, minor);
    for (int c = 0; c < 3; c++)
        rgb[c] = (uint8_t)((2 * (major[c] * split + minor[c] * (width - split)) + width) / (2 * width));
}

static void check_column(const struct column *c, uint64_t frame, int w, int h)
{
    uint8_t major[3], minor[3], mean[3];
    int split = source_synth_split(w);
    source_synth_major(frame, major);
    source_synth_minor(frame, minor);
    mixed(frame, split, w, mean);
    assert_int_equal(c->frame, frame);
    assert_int_equal(c->status, COLUMN_OK);
    assert_memory_equal(c->average, mean, 3);
    for (int y = 0; y < h; y++)
        assert_memory_equal(c->row + 3 * y, mean, 3);
    assert_int_equal(c->clusters, split < w ? 2 : 1);
    assert_memory_equal(c->cluster[0].rgb, major, 3);
    assert_int_equal(c->cluster[0].count, split * h);
    if (split < w) {
        assert_memory_equal(c->cluster[1].rgb, minor, 3);
        assert_int_equal(c->cluster[1].count, (w - split) * h);
    }
}

static void golden_columns(void **state)
{
    (void)state;
    static const int sizes[][2] = {{16, 9}, {1, 1}, {1, 7}, {7, 1}, {33, 5}, {64, 36}};
    for (int i = 0; i < 6; i++) {
        char spec[64];
        struct stage_counts counts;
        snprintf(spec, sizeof spec, "synth:%dx%d,300", sizes[i][0], sizes[i][1]);
        struct source *s = open_synth(spec);
        struct columns *c = stage(s, sizes[i][0], sizes[i][1], 2 + i, &each, &counts);
        assert_int_equal(columns_count(c), 300);
        assert_int_equal(counts.displayed, 300);
        for (uint64_t n = 0; n < 300; n++)
            check_column(columns_get(c, n), n, sizes[i][0], sizes[i][1]);
        assert_int_equal(columns_get(c, 48)->time_us, 2000000);
        columns_free(&c);
        source_close(&s);
        assert_null(s);
    }
}

/* Shrunk to half: the border between the colours lies between two pixels, so the colours stay. */
static void golden_at_half_size(void **state)
{
    (void)state;
    struct stage_counts counts;
    struct source *s = open_synth("synth:32x18,50");
    struct columns *c = stage(s, 16, 9, 4, &each, &counts);
    for (uint64_t n = 0; n < 50; n++)
        check_column(columns_get(c, n), n, 16, 9);
    columns_free(&c);
    c = stage(s, 1, 1, 4, &each, &counts);      /* to one pixel: the mean; and a film can be staged again */
    for (uint64_t n = 0; n < 50; n++) {
        uint8_t mean[3];
        mixed(n, 20, 32, mean);
        for (int k = 0; k < 3; k++)
            assert_in_range(columns_get(c, n)->average[k], mean[k] - (mean[k] > 0), mean[k] + 1);
    }
    columns_free(&c);
    source_close(&s);
}

static void selections(void **state)
{
    (void)state;
    struct stage_counts counts;
    struct source *s = open_synth("synth:16x2,250,25");
    struct selection every = {.kind = SELECT_EVERY, .every = 24, .end_us = INT64_MAX};
    struct columns *c = stage(s, 16, 2, 2, &every, &counts);
    assert_int_equal(columns_count(c), 11);
    for (uint64_t n = 0; n < 11; n++)
        check_column(columns_get(c, n), n * 24, 16, 2);
    columns_free(&c);

    struct selection interval = {.kind = SELECT_INTERVAL, .interval_us = 500000, .end_us = INT64_MAX};
    c = stage(s, 16, 2, 2, &interval, &counts);
    assert_int_equal(columns_count(c), 20);
    for (uint64_t n = 0; n < 20; n++)
        check_column(columns_get(c, n), (n * 25 + 1) / 2 - n % 2, 16, 2);
    columns_free(&c);

    struct selection columns = {.kind = SELECT_COLUMNS, .columns = 10, .end_us = 10000000};
    c = stage(s, 16, 2, 2, &columns, &counts);
    assert_int_equal(columns_count(c), 10);
    for (uint64_t n = 0; n < 10; n++)
        check_column(columns_get(c, n), n * 25 + 12, 16, 2);      /* the middle of each second */
    columns_free(&c);

    struct selection many = {.kind = SELECT_COLUMNS, .columns = 1000, .end_us = 10000000};
    c = stage(s, 16, 2, 2, &many, &counts);
    assert_int_equal(columns_count(c), 1000);
    assert_int_equal(columns_get(c, 0)->repeat, 4);
    assert_int_equal(columns_get(c, 996)->repeat, 4);
    columns_free(&c);
    source_close(&s);
}

static void facts(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    struct source *s = open_synth("synth:40x30,1000,50");
    assert_string_equal(s->film.path, "synth:40x30,1000,50");
    assert_int_equal(s->film.width, 40);
    assert_int_equal(s->film.height, 30);
    assert_int_equal(s->film.frames, 1000);
    assert_int_equal(s->film.duration_us, 20000000);
    assert_int_equal(s->film.rate_num, 50);
    assert_true(source_can(s, SOURCE_RESTARTABLE));
    for (unsigned ability = SOURCE_CACHEABLE; ability <= SOURCE_CAREFUL; ability <<= 1)
        assert_false(source_can(s, ability));
    struct probe_request request = {.want = PROBE_LENGTH};
    struct probe_facts facts;
    assert_true(source_probe(s, &request, &facts, &e));      /* there is nothing to find out: all of it is stated */
    assert_int_equal(facts.found, 0);
    assert_false(s->film.duration_guessed);
    assert_int_equal(s->film.frames, 1000);
    struct stage_progress p;
    source_progress(s, &p);
    assert_int_equal(p.frames, 0);
    struct stage_counts counts;
    struct columns *c = stage(s, 8, 6, 0, &each, &counts);
    source_progress(s, &p);
    assert_int_equal(p.frames, 1000);
    assert_int_equal(counts.last_us, 19980000);
    assert_int_equal(counts.decoded, 1000);
    assert_int_equal(counts.lost + counts.damaged + counts.decode_errors, 0);
    columns_free(&c);
    source_close(&s);
}

static void refusals(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "synth:", "synth:16x9", "synth:16x9,", "synth:16x9,0", "synth:0x9,5", "synth:16x0,5", "synth:-1x9,5", "synth:16x9,5,",
        "synth:16x9,5,0", "synth:16x9,5,1001", "synth:16x9,5,24x", "synth:16x9,5 ", "synth:16385x9,5", "synth:16x16385,5",
        "synth:16x9,100000001", "synth:16,9,5", "synth:axb,5", "synth:16x9,-5", "synth:99999999999999999999x9,5", "film.mkv", "",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err e = ERR_INIT;
        struct source *s = source_synth_open(bad[i], &e);
        if (s)
            fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(e.code, ERR_INPUT);
        assert_non_null(strstr(e.text, "is not a synthetic film"));
    }
}

/* The colours themselves: another major in each frame of a round, minor a quarter of it. */
static void colours(void **state)
{
    (void)state;
    uint8_t a[3], b[3];
    for (uint64_t n = 0; n < 600; n++) {
        source_synth_major(n, a);
        source_synth_minor(n, b);
        for (int c = 0; c < 3; c++) {
            assert_true(a[c] >= 40 && a[c] <= 230);
            assert_int_equal(b[c], a[c] / 4);
        }
        source_synth_major(n + 512, b);
        assert_memory_equal(a, b, 3);
    }
    for (int w = 1; w < 100; w++)
        assert_true(source_synth_split(w) * 8 >= 5 * w && (source_synth_split(w) - 1) * 8 < 5 * w);
}

/* Leaves the process interrupted: the last test. */
static void interrupted_film(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    interrupt_install();
    raise(SIGINT);
    struct engine_config config = {.threads = 2};
    struct engine *g = engine_open("cpu", &config, &e);
    struct columns *c = columns_open(0, 0, &e);
    struct engine_job job = {.width = 4, .height = 4, .ports = 1, .columns = c};
    struct stage_job what = {.selection = each, .threads = 1, .engine = g, .columns = c};
    struct stage_counts counts;
    struct stage_times times = {0};
    struct engine_times engine_times;
    struct source *s = open_synth("synth:4x4,100000000");
    assert_true(engine_begin(g, &job, &e));
    assert_false(source_stage(s, &what, &counts, &times, &e));
    assert_int_equal(e.code, ERR_INTERRUPTED);
    assert_true(counts.displayed < 1000);
    err_clear(&e);
    assert_false(engine_finish(g, &engine_times, &e));      /* what it has was not clustered */
    assert_int_equal(e.code, ERR_INTERRUPTED);
    source_close(&s);
    engine_close(&g);
    columns_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_columns), cmocka_unit_test(golden_at_half_size), cmocka_unit_test(selections),
        cmocka_unit_test(facts), cmocka_unit_test(refusals), cmocka_unit_test(colours), cmocka_unit_test(interrupted_film),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
