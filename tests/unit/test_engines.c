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
    assert_float_equal(engine_work_seconds(&w, 4), 1 / 2.4, 1e-9);           /* 1.4 groups of pictures, and frame threads */
    w.frames = 3340;
    assert_float_equal(engine_work_seconds(&w, 4), 2.5, 1e-9);
    w = (struct engine_work){.columns = 69, .staged_width = 1000, .staged_height = 100};
    assert_float_equal(engine_work_seconds(&w, 1), 1.0, 1e-9);
    assert_float_equal(engine_work_seconds(&w, 4), 0.25, 1e-9);
}

/* As measured: 16 cores are done with half a minute of 1080p sooner than a GPU, but not with ten such films, and four cores are not. */
static void worth_it(void **state)
{
    (void)state;
    struct engine_work full = {.frames = 720, .width = 1920, .height = 1080}, small = {.frames = 720, .width = 854, .height = 480};
    assert_false(engine_worth_a_gpu(&full, 16, 0));
    assert_false(engine_worth_a_gpu(&full, 16, 1));
    assert_true(engine_worth_a_gpu(&full, 16, 10));
    assert_true(engine_worth_a_gpu(&full, 4, 1));
    assert_false(engine_worth_a_gpu(&small, 16, 1));
    bool worth = false;
    for (full.frames = 200; full.frames < 20000; full.frames++) {            /* more work never means less of a reason */
        assert_true(engine_worth_a_gpu(&full, 16, 1) >= worth);
        worth = engine_worth_a_gpu(&full, 16, 1);
    }
    assert_true(worth);
    assert_true(engine_worth_a_gpu(&(struct engine_work){0}, 16, 1));      /* nobody knows: a stream, say */
}

static void a_second_gpu(void **state)
{
    (void)state;
    struct engine_work w = {.frames = 720, .width = 1920, .height = 1080};
    assert_int_equal(engine_worth_gpus(&w, 8), 1);                           /* half a minute: one starts as fast as it works */
    w.frames = UINT64_C(24) * 3600 * 2;
    assert_int_equal(engine_worth_gpus(&w, 1), 1);
    assert_int_equal(engine_worth_gpus(&w, 2), 2);
    assert_int_equal(engine_worth_gpus(&w, 8), 8);
    assert_int_equal(engine_worth_gpus(&w, ENGINE_PARTS_MOST), ENGINE_PARTS_MOST);
    int before = 1;
    for (w.frames = 1; w.frames < 100000; w.frames += 100) {                 /* more work never means fewer */
        int gpus = engine_worth_gpus(&w, 4);
        assert_in_range(gpus, before, 4);
        before = gpus;
    }
    assert_int_equal(before, 4);
    w.frames = 10000;                                                        /* 20.7 billion pixels */
    assert_int_equal(engine_worth_gpus(&w, 4), 2);
    assert_int_equal(engine_worth_gpus(&(struct engine_work){.frames = 0}, 4), 4);      /* nobody knows: a stream, say */
}

static const struct engine_work any_work = {.frames = 1, .width = 1, .height = 1};
static const struct engine_work huge_work = {.frames = 1000000, .width = 3840, .height = 2160};
static const struct engine_devices unnamed = {.count = 0};

static void lists(void **state)
{
    (void)state;
    struct engines g;
    struct engine_devices named = {.count = 2, .number = {7, 3}};
    engines_init(&g, ENGINE_CPU, &named, 3);
    assert_int_equal(g.count, 1);
    assert_int_equal(g.threads, 3);
    assert_string_equal(g.slot[0].kind, "cpu");
    engines_init(&g, ENGINE_CUDA, &named, 3);
    assert_int_equal(g.count, 1);
    assert_string_equal(g.slot[0].kind, "cuda");
    assert_int_equal(g.slot[0].devices.count, 2);
    assert_int_equal(g.slot[0].devices.number[0], 7);
    assert_int_equal(g.slot[0].devices.number[1], 3);
    assert_true(g.slot[0].named);
    assert_null(g.slot[0].opened);
    engines_init(&g, ENGINE_CUDA, &unnamed, 3);
    assert_int_equal(g.slot[0].devices.count, 0);
    assert_false(g.slot[0].named);
    engines_init(&g, ENGINE_AUTO, &unnamed, 3);
    assert_int_equal(g.count, engine_built("cuda") ? 2 : 1);
    assert_string_equal(g.slot[g.count - 1].kind, "cpu");
    engines_close(&g);
}

static void cpu_is_opened_once(void **state)
{
    (void)state;
    struct engines g;
    struct err e = ERR_INIT;
    engines_init(&g, ENGINE_CPU, &unnamed, 2);
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
    engines_init(&g, ENGINE_AUTO, &unnamed, 2);
    assert_string_equal(engines_for(&g, &small, &e)->ops->name, "cpu");
    for (int i = 0; i < g.count - 1; i++)
        assert_true(!g.slot[i].opened && !g.slot[i].failed);
    struct engine *for_huge = engines_for(&g, &huge_work, &e);
    assert_non_null(for_huge);
    bool cuda = strcmp(for_huge->ops->name, "cuda") == 0;
    assert_true(!cuda || engines_for(&g, &small, &e) == for_huge);              /* once it is open every film has it */
    const char *next = engines_give_up(&g, for_huge);        /* of several GPUs none is known to have failed: all go */
    assert_string_equal(next ? next : "", cuda ? "the CPU" : "");
    assert_string_equal(engines_for(&g, &huge_work, &e)->ops->name, "cpu");
    assert_int_equal(e.code, ERR_NONE);
    engines_close(&g);
}

static void a_demanded_gpu_that_is_not_there(void **state)
{
    (void)state;
    struct engines g;
    engines_init(&g, ENGINE_CUDA, &(struct engine_devices){.count = 2, .number = {98, 99}}, 2);
    for (int film = 0; film < 2; film++) {
        struct err e = ERR_INIT;
        assert_null(engines_for(&g, &any_work, &e));
        assert_int_equal(e.code, ERR_ENGINE);
        assert_true(e.text[0] != '\0');
    }
    assert_null(engines_give_up(&g, NULL));
    engines_close(&g);
}

/* GPUs that are not there stand before the CPU: they are tried once, and not at all for a film that is not worth it. */
static void gpus_that_are_not_there(void **state)
{
    (void)state;
    log_set_level(LOG_ERROR);
    struct engines g = {.slot = {{.kind = "cuda", .devices = {.count = 2, .number = {98, 99}}}, {.kind = "cpu"}}, .count = 2, .threads = 2};
    struct err e = ERR_INIT;
    struct engine *cpu = engines_for(&g, &any_work, &e);
    assert_non_null(cpu);
    assert_false(g.slot[0].failed);
    assert_ptr_equal(engines_for(&g, &huge_work, &e), cpu);
    assert_true(g.slot[0].failed);
    assert_int_equal(g.slot[0].tried, 2);
    assert_ptr_equal(g.slot[1].opened, cpu);
    assert_int_equal(e.code, ERR_NONE);
    assert_null(engines_give_up(&g, cpu));
    assert_null(engines_give_up(&g, NULL));
    engines_close(&g);
}

/* What was given up is closed, and the next one takes over. */
static void the_next_takes_over(void **state)
{
    (void)state;
    struct engines g = {.slot = {{.kind = "cpu"}, {.kind = "cpu"}}, .count = 2, .threads = 2};
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

/* ------------------------------------------------------------------ several devices: CPUs stand in for GPUs */

static struct engines four_devices(bool named)
{
    struct engine_devices devices = {.count = 4, .number = {0, 1, 2, 3}};
    return (struct engines){.slot = {{.kind = "cpu", .devices = devices, .named = named}}, .count = 1, .threads = 1};
}

/* How many parts a film gets that is not in the cache; `at_once`: at first. */
static int parts_for(struct engines *g, uint64_t frames, int at_once)
{
    struct err e = ERR_INIT;
    struct engine_work w = {.frames = frames, .width = 1920, .height = 1080};
    struct engine *engine = engines_for(g, &w, &e);
    assert_non_null(engine);
    assert_int_equal(engine_parts(engine), at_once);
    engines_add(g, engine, &w);
    engine = engines_added(g, engine);
    assert_null(g->adding);
    assert_ptr_equal(engine, g->slot[0].opened);
    assert_ptr_equal(engines_added(g, engine), engine);
    return engine_parts(engine);
}

/* A short film starts one, a longer one adds what it is worth, and what is open stays open. */
static void as_many_as_it_is_worth(void **state)
{
    (void)state;
    struct engines g = four_devices(false);
    assert_int_equal(parts_for(&g, 100, 1), 1);
    assert_int_equal(parts_for(&g, 10000, 1), 2);
    assert_int_equal(parts_for(&g, 100, 2), 2);
    assert_int_equal(parts_for(&g, 1000000, 2), 4);
    assert_int_equal(parts_for(&g, 1000000, 4), 4);
    assert_string_equal(g.slot[0].opened->ops->name, "cpu");
    engines_close(&g);
}

/* Closed while they are on their way; added to an engine that is not in the list. */
static void adding_is_cut_short(void **state)
{
    (void)state;
    struct engines g = four_devices(false);
    struct err e = ERR_INIT;
    struct engine *engine = engines_for(&g, &huge_work, &e);
    engines_add(&g, engine, &huge_work);
    assert_non_null(g.adding);
    engines_close(&g);
    assert_null(g.adding);
    assert_null(g.slot[0].opened);
    g = four_devices(false);
    engine = engines_for(&g, &huge_work, &e);
    engines_add(&g, NULL, &huge_work);
    assert_null(g.adding);
    assert_ptr_equal(engines_added(&g, engine), engine);
    engines_close(&g);
}

static void named_ones_are_all_used(void **state)
{
    (void)state;
    struct engines g = four_devices(true);
    assert_int_equal(parts_for(&g, 100, 4), 4);
    engines_close(&g);
}

static void many_films_use_all(void **state)
{
    (void)state;
    struct engines g = four_devices(false);
    g.films = 2;
    assert_int_equal(parts_for(&g, 100, 4), 4);
    engines_close(&g);
}

/* Each list begins with a device of its own, counted round, and has the others in reserve. */
static void devices_are_shared(void **state)
{
    (void)state;
    for (int which = 0; which < 8; which++) {
        struct engines of = four_devices(false), g;
        of.films = 9;
        struct err e = ERR_INIT;
        engines_begin_as(&g, &of, 3);
        assert_int_equal(engines_devices(&g), 4);
        engines_share(&g, which);
        assert_int_equal(g.threads, 3);
        assert_int_equal(g.slot[0].devices.number[0], which % 4);
        int seen = 0;
        for (int i = 0; i < g.slot[0].others.count; i++)
            seen |= 1 << g.slot[0].others.number[i];
        assert_int_equal(seen, 15 & ~(1 << which % 4));
        struct engine *engine = engines_for(&g, &huge_work, &e);
        assert_int_equal(engine_parts(engine), 1);
        engines_add(&g, engine, &huge_work);
        assert_ptr_equal(engines_added(&g, engine), engine);
        assert_string_equal(engines_give_up(&g, engine), "the other GPUs");
        assert_int_equal(engine_parts(engines_for(&g, &huge_work, &e)), 3);
        engines_close(&g);
    }
}

/* One that cannot be opened is given up for the others; one that was named is not. */
static void a_share_that_is_not_to_be_had(void **state)
{
    (void)state;
    for (int named = 0; named < 2; named++) {
        struct engines g = four_devices(named);
        struct err e = ERR_INIT;
        g.slot[0].kind = "none";
        g.films = 9;
        engines_share(&g, 1);
        assert_null(engines_for(&g, &huge_work, &e));
        assert_int_equal(g.slot[0].others.count, named ? 3 : 0);
        assert_int_equal(g.slot[0].tried, named ? 1 : 3);
        engines_close(&g);
        g = four_devices(named);
        engines_share(&g, 1);
        struct engine *engine = engines_for(&g, &huge_work, &e);
        assert_non_null(engine);
        const char *instead = engines_give_up(&g, engine);
        assert_true(named ? !instead : strcmp(instead, "the other GPUs") == 0);
        engines_close(&g);
    }
}

/* Named ones that are not there are for all lists to complain of. */
static void how_many_devices(void **state)
{
    (void)state;
    struct engines g;
    struct engines named = {.slot = {{.kind = "cpu", .devices = {.number = {0, 0}, .count = 2}, .named = true}}, .count = 1};
    assert_int_equal(engines_devices(&named), 2);
    assert_true(engines_can_share(&named));
    assert_null(named.slot[0].opened);
    named.slot[0].devices.number[1] = 1;
    assert_int_equal(engines_devices(&named), 1);
    assert_false(engines_can_share(&named));
    engines_init(&g, ENGINE_CPU, &unnamed, 1);
    assert_int_equal(engines_devices(&g), 1);
    engines_init(&g, ENGINE_CUDA, &unnamed, 1);
    assert_in_range(engines_devices(&g), 1, ENGINE_PARTS_MOST);
    assert_null(g.slot[0].opened);
}

static bool exclusive;

static struct engine_device some_gpu(const struct engine *g)
{
    return (struct engine_device){.context = (void *)(uintptr_t)g, .exclusive = exclusive};
}

/* Nobody waits for the end of a GPU that the next process can have, too. */
static void who_lingers(void **state)
{
    (void)state;
    static const struct engine_ops ops = {.name = "cuda", .device = some_gpu};
    struct engine gpu = {.ops = &ops};
    struct engines g;
    engines_init(&g, ENGINE_CPU, &unnamed, 1);
    assert_false(engines_linger(&g));
    g.slot[g.count++] = (struct engine_slot){.kind = "cuda"};
    assert_false(engines_linger(&g));                       /* none was opened */
    g.slot[1].opened = &gpu;
    assert_true(engines_linger(&g));
    exclusive = true;
    assert_false(engines_linger(&g));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_of_work), cmocka_unit_test(worth_it), cmocka_unit_test(a_second_gpu), cmocka_unit_test(lists),
        cmocka_unit_test(cpu_is_opened_once), cmocka_unit_test(automatic), cmocka_unit_test(a_demanded_gpu_that_is_not_there),
        cmocka_unit_test(gpus_that_are_not_there), cmocka_unit_test(the_next_takes_over), cmocka_unit_test(as_many_as_it_is_worth), cmocka_unit_test(adding_is_cut_short),
        cmocka_unit_test(named_ones_are_all_used), cmocka_unit_test(many_films_use_all), cmocka_unit_test(devices_are_shared), cmocka_unit_test(a_share_that_is_not_to_be_had),
        cmocka_unit_test(how_many_devices), cmocka_unit_test(who_lingers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
