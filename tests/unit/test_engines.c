#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "barcode/engines.h"
#include "barcode/log.h"

static void seconds_of_work(void **state)
{
    (void)state;
    struct engine_work w = {.frames = 334, .width = 1000, .height = 1000};
    assert_float_equal(engine_work_seconds(&w, 1), 1.0, 1e-9);
    assert_float_equal(engine_work_seconds(&w, 4), 240.0 / 334, 1e-9);      /* 1.4 groups of pictures */
    w.frames = 3340;
    assert_float_equal(engine_work_seconds(&w, 4), 2.5, 1e-9);
    w = (struct engine_work){.columns = 69, .staged_width = 1000, .staged_height = 100};
    assert_float_equal(engine_work_seconds(&w, 1), 1.0, 1e-9);
    assert_float_equal(engine_work_seconds(&w, 4), 0.25, 1e-9);
}

/* As measured: half a minute of 1080p keeps 16 cores busy for longer than a GPU needs, of 480p it does not. */
static void worth_it(void **state)
{
    (void)state;
    struct engine_work full = {.frames = 720, .width = 1920, .height = 1080}, small = {.frames = 720, .width = 854, .height = 480};
    assert_true(engine_worth_a_gpu(&full, 16));
    assert_false(engine_worth_a_gpu(&small, 16));
    for (full.frames = 200; full.frames < 5000; full.frames++)               /* more work never means less of a reason */
        assert_true(engine_worth_a_gpu(&full, 16));
    assert_true(engine_worth_a_gpu(&(struct engine_work){0}, 16));      /* nobody knows: a stream, say */
}

static void cpu_is_opened_once(void **state)
{
    (void)state;
    struct engines g = {.choice = ENGINE_CPU, .config = {.threads = 2}};
    struct engine_work huge = {.frames = 1000000, .width = 3840, .height = 2160};
    struct err e = ERR_INIT;
    struct engine *first = engines_for(&g, &huge, &e);
    assert_non_null(first);
    assert_string_equal(first->ops->name, "cpu");
    assert_ptr_equal(engines_for(&g, &huge, &e), first);
    assert_false(engines_give_up_cuda(&g));
    engines_close(&g);
    assert_null(g.cpu);
}

/* A small film of a second never waits for a GPU to start; a long one gets what there is, and an answer in any case. */
static void automatic(void **state)
{
    (void)state;
    log_set_level(LOG_ERROR);
    struct engines g = {.choice = ENGINE_AUTO, .config = {.threads = 2}};
    struct engine_work small = {.frames = 25, .width = 320, .height = 180}, huge = {.frames = 1000000, .width = 3840, .height = 2160};
    struct err e = ERR_INIT;
    assert_string_equal(engines_for(&g, &small, &e)->ops->name, "cpu");
    assert_null(g.cuda);
    struct engine *for_huge = engines_for(&g, &huge, &e);
    assert_non_null(for_huge);
    bool cuda = strcmp(for_huge->ops->name, "cuda") == 0;
    assert_int_equal(engines_give_up_cuda(&g), cuda);
    assert_string_equal(engines_for(&g, &huge, &e)->ops->name, "cpu");
    engines_close(&g);
}

static void a_demanded_gpu_that_is_not_there(void **state)
{
    (void)state;
    struct engines g = {.choice = ENGINE_CUDA, .config = {.threads = 2, .device = 99}};
    struct engine_work any = {.frames = 1, .width = 1, .height = 1};
    struct err e = ERR_INIT;
    assert_null(engines_for(&g, &any, &e));
    assert_int_equal(e.code, ERR_ENGINE);
    assert_false(engines_give_up_cuda(&g));
    engines_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_of_work), cmocka_unit_test(worth_it), cmocka_unit_test(cpu_is_opened_once), cmocka_unit_test(automatic),
        cmocka_unit_test(a_demanded_gpu_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
