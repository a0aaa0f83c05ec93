/*
 * test_render_decide.c - what a film of a folder is to NVDEC: how much it has to decode.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "render/render_job.h"

static int context;

static struct engine_device on_gpu(const struct engine *g)
{
    (void)g;
    return (struct engine_device){.context = &context};
}

static const struct engine_ops gpu_ops = {.name = "cuda", .device = on_gpu}, cpu_ops = {.name = "cpu"};
static const struct source_ops film_ops = {.name = "film", .can = SOURCE_RESTARTABLE};
static struct engine gpu = {.ops = &gpu_ops}, cpu = {.ops = &cpu_ops};

/* A film of a folder, and the options of the run. */
struct fixture {
    struct options options;
    struct render render;
    struct source source;
    struct render_job job;
};

/* 720 pictures of 1080p. */
static void set(struct fixture *f, const char *codec)
{
    *f = (struct fixture){.options.progress = PROGRESS_NEVER};
    f->render = (struct render){.options = &f->options, .threads = 16};
    f->source = (struct source){.ops = &film_ops, .film = {.width = 1920, .height = 1080, .frames = 720, .duration_us = 30000000}};
    snprintf(f->source.film.codec, sizeof f->source.film.codec, "%s", codec);
    f->job = (struct render_job){.render = &f->render, .source = &f->source, .engine = &gpu, .total_bytes = 20000000,
                                 .report = {.film = &f->source.film, .cache = "miss", .selection = {.every = 24, .end_us = INT64_MAX}}};
}

static double pixels_of(struct fixture *f)
{
    return render_nvdec_pixels(&f->job, DECODE_PARALLEL);
}

/* What software decodes, or nobody, is nothing to NVDEC. */
static void what_nvdec_has_to_decode(void **state)
{
    (void)state;
    const double all = 720 * 1920.0 * 1080;
    struct fixture f;
    set(&f, "h264");
    assert_float_equal(pixels_of(&f), all, 1);
    assert_float_equal(render_nvdec_pixels(&f.job, DECODE_SEQUENTIAL), 0, 0);
    f.job.engine = &cpu;
    assert_float_equal(pixels_of(&f), 0, 0);
    set(&f, "h264");
    f.options.decode = DECODE_CPU;
    assert_float_equal(pixels_of(&f), 0, 0);
    set(&f, "h264");
    f.job.report.cache = "hit";
    assert_float_equal(pixels_of(&f), 0, 0);
    set(&f, "h264");
    f.job.report.selection.keyframes = true;
    assert_float_equal(pixels_of(&f), 0, 0);
    set(&f, "hevc");
    assert_float_equal(pixels_of(&f), all / 2, 1);
    set(&f, "vp9");
    assert_float_equal(pixels_of(&f), all, 1);
    set(&f, "mpeg2video");
    assert_float_equal(pixels_of(&f), 0, 0);
    set(&f, "av1");
    assert_float_equal(pixels_of(&f), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_nvdec_has_to_decode)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
