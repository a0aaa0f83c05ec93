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

static const struct engine_work any_work = {.frames = 1, .width = 1, .height = 1};
static const struct engine_work huge_work = {.frames = 1000000, .width = 3840, .height = 2160};

static void lists(void **state)
{
    (void)state;
    struct engines g;
    engines_init(&g, ENGINE_CPU, 7, 3);
    assert_int_equal(g.count, 1);
    assert_int_equal(g.threads, 3);
    assert_string_equal(g.slot[0].kind, "cpu");
    engines_init(&g, ENGINE_CUDA, 7, 3);
    assert_int_equal(g.count, 1);
    assert_string_equal(g.slot[0].kind, "cuda");
    assert_int_equal(g.slot[0].device, 7);
    assert_null(g.slot[0].opened);
    engines_init(&g, ENGINE_AUTO, 0, 3);
    assert_int_equal(g.count, engine_built("cuda") ? 2 : 1);
    assert_string_equal(g.slot[g.count - 1].kind, "cpu");
    engines_close(&g);
}

static void cpu_is_opened_once(void **state)
{
    (void)state;
    struct engines g;
    struct err e = ERR_INIT;
    engines_init(&g, ENGINE_CPU, 0, 2);
    struct engine *first = engines_for(&g, &huge_work, &e);
    assert_non_null(first);
    assert_string_equal(first->ops->name, "cpu");
    assert_ptr_equal(engines_for(&g, &huge_work, &e), first);
    assert_null(engines_give_up(&g, first));
    assert_ptr_equal(g.slot[0].opened, first);
    engines_close(&g);
    assert_null(g.slot[0].opened);
}

/* A small film of a second never waits for a GPU to start; a long one gets what there is, and an answer in any case. */
static void automatic(void **state)
{
    (void)state;
    log_set_level(LOG_ERROR);
    struct engines g;
    struct engine_work small = {.frames = 25, .width = 320, .height = 180};
    struct err e = ERR_INIT;
    engines_init(&g, ENGINE_AUTO, 0, 2);
    assert_string_equal(engines_for(&g, &small, &e)->ops->name, "cpu");
    for (int i = 0; i < g.count - 1; i++)
        assert_true(!g.slot[i].opened && !g.slot[i].failed);
    struct engine *for_huge = engines_for(&g, &huge_work, &e);
    assert_non_null(for_huge);
    bool cuda = strcmp(for_huge->ops->name, "cuda") == 0;
    assert_true(!cuda || engines_for(&g, &small, &e) == for_huge);              /* once it is open every film has it */
    const char *next = engines_give_up(&g, for_huge);
    assert_string_equal(next ? next : "", cuda ? "the CPU" : "");
    assert_string_equal(engines_for(&g, &huge_work, &e)->ops->name, "cpu");
    assert_int_equal(e.code, ERR_NONE);
    engines_close(&g);
}

static void a_demanded_gpu_that_is_not_there(void **state)
{
    (void)state;
    struct engines g;
    engines_init(&g, ENGINE_CUDA, 99, 2);
    for (int film = 0; film < 2; film++) {
        struct err e = ERR_INIT;
        assert_null(engines_for(&g, &any_work, &e));
        assert_int_equal(e.code, ERR_ENGINE);
    }
    assert_null(engines_give_up(&g, NULL));
    engines_close(&g);
}

/* GPUs that are not there stand before the CPU: each is tried once, none for a film that is not worth it. */
static void a_longer_list(void **state)
{
    (void)state;
    log_set_level(LOG_ERROR);
    struct engines g = {.slot = {{.kind = "cuda", .device = 98}, {.kind = "cuda", .device = 99}, {.kind = "cpu"}},
                        .count = 3, .threads = 2};
    struct err e = ERR_INIT;
    struct engine *cpu = engines_for(&g, &any_work, &e);
    assert_non_null(cpu);
    assert_false(g.slot[0].failed || g.slot[1].failed);
    assert_ptr_equal(engines_for(&g, &huge_work, &e), cpu);
    assert_true(g.slot[0].failed && g.slot[1].failed);
    assert_ptr_equal(g.slot[2].opened, cpu);
    assert_int_equal(e.code, ERR_NONE);
    assert_null(engines_give_up(&g, cpu));
    assert_null(engines_give_up(&g, NULL));
    engines_close(&g);
}

/* Without the CPU in the list every GPU is demanded, and a small film is a reason too; the last one's sentence is told. */
static void demanded_gpus(void **state)
{
    (void)state;
    log_set_level(LOG_ERROR);
    struct engines g = {.slot = {{.kind = "cuda", .device = 98}, {.kind = "cuda", .device = 99}}, .count = 2, .threads = 2};
    struct err e = ERR_INIT;
    assert_null(engines_for(&g, &any_work, &e));
    assert_int_equal(e.code, ERR_ENGINE);
    assert_true(g.slot[0].failed && g.slot[1].failed);
    engines_close(&g);
}

/* What was given up is closed, and the next one takes over. */
static void the_next_takes_over(void **state)
{
    (void)state;
    struct engines g = {.slot = {{.kind = "cpu"}, {.kind = "cpu", .device = 1}}, .count = 2, .threads = 2};
    struct err e = ERR_INIT;
    struct engine *first = engines_for(&g, &huge_work, &e);
    assert_non_null(first);
    assert_ptr_equal(engines_for(&g, &huge_work, &e), first);
    assert_string_equal(engines_give_up(&g, first), "the CPU");
    assert_null(g.slot[0].opened);
    assert_true(g.slot[0].failed);
    struct engine *second = engines_for(&g, &huge_work, &e);
    assert_ptr_equal(second, g.slot[1].opened);
    assert_non_null(second);
    assert_null(engines_give_up(&g, second));
    engines_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_of_work), cmocka_unit_test(worth_it), cmocka_unit_test(lists), cmocka_unit_test(cpu_is_opened_once),
        cmocka_unit_test(automatic), cmocka_unit_test(a_demanded_gpu_that_is_not_there), cmocka_unit_test(a_longer_list),
        cmocka_unit_test(demanded_gpus), cmocka_unit_test(the_next_takes_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
