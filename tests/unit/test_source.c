#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/source.h"

/* A source that only notes how it was called. */
struct noting {
    struct source base;
    const struct stage_job *job;
    int calls;
};

static bool note_stage(struct source *s, const struct stage_job *job, struct stage_counts *counts, struct stage_times *times,
                       struct err *e)
{
    ((struct noting *)s)->job = job;
    counts->packets = 3;
    times->demux = 4;
    return err_set(e, ERR_FAILED, "noted");
}

static void note_progress(struct source *s, struct stage_progress *p)
{
    ((struct noting *)s)->calls++;
    p->frames = 5;
}

static bool note_measure(struct source *s, struct err *e)
{
    (void)e;
    s->film.frames = 6;
    return true;
}

static void note_close(struct source **s)
{
    free(*s);
    *s = NULL;
}

static const struct source_ops noting_ops = {
    .name = "noting", .stage = note_stage, .progress = note_progress, .measure = note_measure, .close = note_close,
};

static void calls_go_through_the_table(void **state)
{
    (void)state;
    struct noting *n = calloc(1, sizeof *n);
    assert_non_null(n);
    n->base.ops = &noting_ops;
    struct source *s = &n->base;
    struct stage_job job = {.threads = 1};
    struct stage_counts counts = {0};
    struct stage_times times = {0};
    struct stage_progress p;
    struct err e = ERR_INIT;
    assert_false(source_stage(s, &job, &counts, &times, &e));
    assert_string_equal(e.text, "noted");
    assert_ptr_equal(n->job, &job);
    assert_int_equal(counts.packets, 3);
    assert_true(times.demux == 4);
    source_progress(s, &p);
    assert_int_equal(p.frames, 5);
    assert_true(source_measure(s, &e));
    assert_int_equal(s->film.frames, 6);
    source_close(&s);
    assert_null(s);
    source_close(&s);
}

/* All that is asked for, and nothing that this one source lacks. */
static void abilities(void **state)
{
    (void)state;
    static const struct source_ops able = {.name = "able", .can = SOURCE_CACHEABLE | SOURCE_SPARING | SOURCE_CAREFUL};
    struct source s = {.ops = &able};
    assert_true(source_can(&s, SOURCE_CACHEABLE) && source_can(&s, SOURCE_CACHEABLE | SOURCE_CAREFUL) && source_can(&s, 0));
    assert_false(source_can(&s, SOURCE_RESTARTABLE) || source_can(&s, SOURCE_CACHEABLE | SOURCE_TIMETABLED));
    s.lacks = SOURCE_CACHEABLE | SOURCE_RESTARTABLE;
    assert_true(source_can(&s, SOURCE_SPARING | SOURCE_CAREFUL));
    assert_false(source_can(&s, SOURCE_CACHEABLE) || source_can(&s, SOURCE_CACHEABLE | SOURCE_SPARING));
}

static void names_decide(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    struct source *s = source_open("synth:8x8,2", &e);
    assert_non_null(s);
    assert_string_equal(s->ops->name, "synth");
    source_close(&s);
    assert_null(source_open("synth:nonsense", &e));
    assert_int_equal(e.code, ERR_INPUT);
    err_clear(&e);
    assert_null(source_open("/nowhere/film.mkv", &e));
    assert_int_equal(e.code, ERR_INPUT);
    assert_non_null(strstr(e.text, "/nowhere/film.mkv"));
    err_clear(&e);
    assert_null(source_open("Synth:8x8,2", &e));      /* a file's name, then */
    assert_int_equal(e.code, ERR_INPUT);
    assert_non_null(strstr(e.text, "cannot open"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_go_through_the_table), cmocka_unit_test(abilities),
                                       cmocka_unit_test(names_decide)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
