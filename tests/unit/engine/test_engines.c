#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "base/log.h"
#include "engine/engines.h"

TEST(seconds_of_work)
{
    struct engine_work w = {.frames = 334, .width = 1000, .height = 1000};
    assert_float_equal(engine_work_seconds(&w, 1), 1.0, 1e-9);
    /* 1.4 groups of pictures, and frame threads */
    assert_float_equal(engine_work_seconds(&w, 4), 1 / 2.4, 1e-9);
    w.frames = 3340;
    assert_float_equal(engine_work_seconds(&w, 4), 2.5, 1e-9);
    w = (struct engine_work){.columns = 69, .analysis_width = 1000, .analysis_height = 100};
    assert_float_equal(engine_work_seconds(&w, 1), 1.0, 1e-9);
    assert_float_equal(engine_work_seconds(&w, 4), 0.25, 1e-9);
    w = (struct engine_work){.sound_seconds = 7200};
    assert_float_equal(engine_work_seconds(&w, 4), 0.25, 1e-9);
}

/* As measured: 16 cores are done with half a minute of 1080p sooner than a GPU, but not with ten
 * such films, and four cores are not. */
TEST(worth_it)
{
    struct engine_work full = {.frames = 720, .width = 1920, .height = 1080},
                       small = {.frames = 720, .width = 854, .height = 480};
    assert_false(engine_worth_a_gpu(&full, 16, 0));
    assert_false(engine_worth_a_gpu(&full, 16, 1));
    assert_true(engine_worth_a_gpu(&full, 16, 10));
    assert_true(engine_worth_a_gpu(&full, 4, 1));
    assert_false(engine_worth_a_gpu(&small, 16, 1));
    bool worth = false;
    /* more work never means less of a reason */
    for (full.frames = 200; full.frames < 20000; full.frames++) {
        assert_true(engine_worth_a_gpu(&full, 16, 1) >= worth);
        worth = engine_worth_a_gpu(&full, 16, 1);
    }
    assert_true(worth);
    /* sound alone: no GPU for a clip, one for a library */
    const struct engine_work sound = {.sound_seconds = 7200};
    assert_false(engine_worth_a_gpu(&sound, 16, 1));
    assert_true(engine_worth_a_gpu(&sound, 16, 100));
    /* nobody knows: a stream, say */
    assert_true(engine_worth_a_gpu(&(struct engine_work){0}, 16, 1));
}

static const struct engine_work any_work = {.frames = 1, .width = 1, .height = 1};
static const struct engine_work huge_work = {.frames = 1000000, .width = 3840, .height = 2160};
static const struct engine_devices unnamed = {.count = 0};

TEST(lists)
{
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

TEST(cpu_is_opened_once)
{
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

/* A small film of a second never waits for a GPU to start; a long one gets what there is, and an
 * answer in any case. */
TEST(automatic)
{
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
    /* once it is open every film has it */
    assert_true(!cuda || engines_for(&g, &small, &e) == for_huge);
    for (; for_huge && strcmp(for_huge->ops->name, "cuda") == 0;
         for_huge = engines_for(&g, &huge_work, &e))
        assert_non_null(engines_give_up(&g, for_huge));
    assert_string_equal(engines_for(&g, &huge_work, &e)->ops->name, "cpu");
    assert_int_equal(e.code, ERR_NONE);
    engines_close(&g);
}

/* Even if another one of the list is. */
TEST(a_demanded_gpu_that_is_not_there)
{
    struct engines g;
    engines_init(&g, ENGINE_CUDA, &(struct engine_devices){.count = 2, .number = {0, 77}}, 2);
    for (int film = 0; film < 2; film++) {
        struct err e = ERR_INIT;
        assert_null(engines_for(&g, &any_work, &e));
        assert_int_equal(e.code, ERR_ENGINE);
        assert_true(e.text[0] != '\0');
    }
    assert_null(engines_give_up(&g, NULL));
    engines_close(&g);
}

/* GPUs that are not there stand before the CPU: they are tried once, and not at all for a film that
 * is not worth it. */
TEST(gpus_that_are_not_there)
{
    log_set_level(LOG_ERROR);
    struct engines g = {
        .slot = {{.kind = "cuda", .devices = {.count = 2, .number = {98, 99}}}, {.kind = "cpu"}},
        .count = 2,
        .threads = 2};
    struct err e = ERR_INIT;
    struct engine *cpu = engines_for(&g, &any_work, &e);
    assert_non_null(cpu);
    assert_false(g.slot[0].failed);
    assert_ptr_equal(engines_for(&g, &huge_work, &e), cpu);
    assert_true(g.slot[0].failed);
    assert_ptr_equal(g.slot[1].opened, cpu);
    assert_int_equal(e.code, ERR_NONE);
    assert_null(engines_give_up(&g, cpu));
    assert_null(engines_give_up(&g, NULL));
    engines_close(&g);
}

/* ------------------------------------------------------------------ several devices: CPUs stand in
 * for GPUs */

/* One that fails on a film is given up for the next one, and the last one has none; behind the last
 * GPU there may be the CPU. */
TEST(one_after_another)
{
    for (int kind = 0; kind < 3; kind++) {
        struct engine_devices devices = {.count = 4, .number = {0, 0, 0, 0}};
        struct engines g = {
            .slot = {{.kind = "cpu", .devices = devices, .named = kind == 1}, {.kind = "cpu"}},
            .count = kind == 2 ? 2 : 1,
            .threads = 1};
        struct err e = ERR_INIT;
        for (int i = 0; i < 4; i++) {
            struct engine *engine = engines_for(&g, &huge_work, &e);
            assert_non_null(engine);
            assert_int_equal(g.slot[0].next, i);
            assert_ptr_equal(engines_for(&g, &huge_work, &e), engine);
            const char *instead = engines_give_up(&g, engine),
                       *last = kind == 2 ? "the CPU" : "nothing";
            assert_string_equal(instead ? instead : "nothing", i < 3 ? "another GPU" : last);
        }
        if (kind == 2) {
            struct engine *cpu = engines_for(&g, &huge_work, &e);
            assert_true(cpu && cpu == g.slot[1].opened && g.slot[0].failed && !g.slot[0].opened);
            assert_null(engines_give_up(&g, cpu));
        }
        engines_close(&g);
    }
}

/* Each list begins with a device of its own, counted round, and has the others behind it. */
TEST(devices_take_turns)
{
    for (int first = 0; first < 8; first++) {
        struct engines of = {.slot = {{.kind = "cpu",
                                       .devices = {.count = 4, .number = {0, 1, 2, 3}}}},
                             .count = 1,
                             .threads = 1},
                       g;
        of.films = 9;
        engines_begin_as(&g, &of, 3);
        assert_int_equal(engines_devices(&g), 4);
        engines_turn(&g, first);
        assert_true(g.threads == 3 && g.films == 9);
        for (int i = 0; i < 4; i++)
            assert_int_equal(g.slot[0].devices.number[i], (first + i) % 4);
    }
}

TEST(how_many_devices)
{
    struct engines g;
    struct engines named = {
        .slot = {{.kind = "cpu", .devices = {.number = {0, 0}, .count = 2}, .named = true}},
        .count = 1};
    assert_int_equal(engines_devices(&named), 2);
    engines_init(&g, ENGINE_CPU, &unnamed, 1);
    assert_int_equal(engines_devices(&g), 1);
    engines_init(&g, ENGINE_CUDA, &unnamed, 1);
    assert_in_range(engines_devices(&g), 1, ENGINE_DEVICES_MOST);
    assert_null(g.slot[0].opened);
}

/* What can be known without a driver: those that were named, or those of the system that the user
 * leaves visible. */
TEST(how_many_at_most)
{
    struct engines g;
    struct engine_devices named = {.count = 3, .number = {5, 5, 1}};
    engines_init(&g, ENGINE_CUDA, &named, 1);
    assert_int_equal(engines_devices_at_most(&g), 3);
    engines_init(&g, ENGINE_CPU, &unnamed, 1);
    assert_int_equal(engines_devices_at_most(&g), 1);
    setenv("BARCODE_GPUS", "4", 1);
    engines_init(&g, ENGINE_CPU, &unnamed, 1);
    assert_int_equal(engines_devices_at_most(&g), 4);
    assert_int_equal(engines_devices(&g), 4);
    unsetenv("BARCODE_GPUS");
    setenv("CUDA_VISIBLE_DEVICES", "2", 1);
    engines_init(&g, ENGINE_CUDA, &unnamed, 1);
    assert_int_equal(engines_devices_at_most(&g), 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    assert_in_range(engines_devices_at_most(&g), 1, ENGINE_DEVICES_MOST);
}

static bool exclusive;

static struct engine_device some_gpu(const struct engine *g)
{
    return (struct engine_device){.context = (void *)(uintptr_t)g, .exclusive = exclusive};
}

/* Nobody waits for the end of a GPU that the next process can have, too. */
TEST(who_lingers)
{
    static const struct engine_ops ops = {.name = "cuda", .device = some_gpu};
    struct engine gpu = {.ops = &ops};
    struct engines g;
    engines_init(&g, ENGINE_CPU, &unnamed, 1);
    assert_false(engines_linger(&g));
    g.slot[g.count++] = (struct engine_slot){.kind = "cuda"};
    assert_false(engines_linger(&g)); /* none was opened */
    g.slot[1].opened = &gpu;
    assert_true(engines_linger(&g));
    exclusive = true;
    assert_false(engines_linger(&g));
}
