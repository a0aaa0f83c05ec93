/*
 * test_session_nvdec.c - what an NVDEC session does but the GPU itself: software stands in (nvdec.h), and every frame
 * must be the one that a software session stages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include "clip.h"

static bool same(const struct staged *a, const struct staged *b)
{
    struct digest_result r = digest_compare(a->digest, b->digest);
    return r.both > 0 && r.different == 0 && r.alone == 0;
}

static void judge(const char *name, uint64_t step, int threads)
{
    struct selection rule = every(step);
    clip_decode = DECODE_CPU;
    struct staged right = clip_stage(name, DECODE_PARALLEL, 2, &rule);
    clip_decode = threads > 0 ? DECODE_NVDEC : DECODE_AUTO;
    struct staged r = clip_stage(name, DECODE_PARALLEL, threads > 0 ? threads : 1, &rule);
    clip_decode = DECODE_AUTO;
    if (!right.fine || !r.fine)
        fail_msg("%s: %s%s", name, right.error.text, r.error.text);
    if (!same(&right, &r))
        fail_msg("%s, every %d: other frames", name, (int)step);
    assert_int_equal(r.counts.redone_runs, 0);       /* nothing that a flush would have had to save */
    assert_int_equal(r.counts.lost + r.counts.decode_errors + r.counts.contradicted, 0);
    staged_free(&right);
    staged_free(&r);
}

static void every_step(const char *name)
{
    static const uint64_t step[] = {1, 2, 7, 24, 60};
    for (size_t i = 0; i < sizeof step / sizeof *step; i++)
        judge(name, step[i], 1);
}

/* Runs that begin with an IDR go in without a flush: pictures of the last run come out while the next goes in. */
static void h264(void **state)
{
    (void)state;
    if (!clip_encode("-c:v libx264 -preset veryfast -x264-params keyint=12:min-keyint=12:bframes=3:b-pyramid=normal closed.mp4") ||
        !clip_encode("-c:v libx264 -preset veryfast -x264-params keyint=12:min-keyint=12:open-gop=1:bframes=3 open.mkv") ||
        !clip_encode("-c:v libx264 -preset veryfast -x264-params keyint=1 intra.mkv") ||
        !clip_encode("-c:v libx264 -preset veryfast -x264-params keyint=70:bframes=16:ref=4:b-adapt=0 far.mkv"))
        skip();
    every_step("closed.mp4");
    every_step("open.mkv");
    every_step("intra.mkv");
    every_step("far.mkv");
}

static void others(void **state)
{
    (void)state;
    if (!clip_encode("-c:v libx265 -preset superfast -x265-params log-level=error:keyint=12:min-keyint=12:open-gop=1:bframes=4 open-hevc.mkv") ||
        !clip_encode("-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 12 -b:v 300k vp9.webm") ||
        !clip_encode("-c:v mpeg2video -g 12 -bf 2 mpeg2.mkv") || !clip_hidden_vp8("vp8.webm"))
        skip();
    every_step("open-hevc.mkv");
    every_step("vp9.webm");
    every_step("mpeg2.mkv");
    every_step("vp8.webm");
}

/* A session that met errors gives what a software session gives of the same film, and counts what it counts. */
static void judge_damaged(const char *name, uint64_t step)
{
    struct selection rule = every(step);
    clip_decode = DECODE_CPU;
    struct staged right = clip_stage(name, DECODE_PARALLEL, 2, &rule);
    clip_decode = DECODE_NVDEC;
    struct staged r = clip_stage(name, DECODE_PARALLEL, 1, &rule);
    clip_decode = DECODE_AUTO;
    assert_true(right.fine && r.fine);
    if (!same(&right, &r))
        fail_msg("%s, every %d: other frames", name, (int)step);
    assert_int_equal(r.counts.contradicted, right.counts.contradicted);
    assert_int_equal(r.counts.decode_errors, right.counts.decode_errors);
    assert_int_equal(r.counts.damaged, right.counts.damaged);
    assert_int_equal(r.counts.lost, right.counts.lost);
    staged_free(&right);
    staged_free(&r);
}

/* What the decoder does not give is decoded again in software, and damage is counted once. */
static void damaged(void **state)
{
    (void)state;
    if (!clip_encode("-c:v libx264 -preset veryfast -x264-params keyint=12:min-keyint=12:bframes=2 whole.mp4"))
        skip();
    FILE *f = fopen("whole.mp4", "r+b");
    assert_non_null(f);
    for (long at = 20000; at < 26000; at += 97) {
        fseek(f, at, SEEK_SET);
        putc((int)(at * 31 & 255), f);
    }
    fclose(f);
    judge_damaged("whole.mp4", 1);
    judge_damaged("whole.mp4", 5);
    judge_damaged("whole.mp4", 24);
}

/* Overwrites bytes [from, from + count) of a file by what `change` makes of them. */
static void edit(const char *name, void (*change)(uint8_t *data, size_t size))
{
    FILE *f = fopen(name, "r+b");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    uint8_t *data = malloc(size);
    assert_non_null(data);
    rewind(f);
    assert_int_equal(fread(data, 1, size, f), size);
    change(data, size);
    rewind(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    fclose(f);
    free(data);
}

static void cut_hole(uint8_t *data, size_t size)
{
    memset(data + size / 2, 0, 200);
}

/* RASL pictures, from the first on, become RADL ones, and the first key is gone: those refer to what is not there. */
static void lie(uint8_t *data, size_t size)
{
    int keys = 0;
    for (size_t at = 0; at + 4 < size; at++) {
        if (data[at] || data[at + 1] || data[at + 2] != 1)
            continue;
        int type = data[at + 3] >> 1 & 63;
        keys += type == 21;
        if (keys == 1 && (type == 8 || type == 9))
            data[at + 3] = (uint8_t)((type - 2) << 1);
        if (keys == 0 && type < 32)
            data[at + 3] = 38 << 1;      /* filler */
    }
}

/* What NVDEC shows without a word: slices with holes, and pictures that refer to what memory happens to hold. */
static void left_to_software(void **state)
{
    (void)state;
    if (!clip_encode("-c:v libx264 -preset veryfast -x264-params keyint=12:min-keyint=12:bframes=2 hole.mp4") ||
        !clip_encode("-c:v libx265 -preset superfast -x265-params log-level=error:keyint=12:min-keyint=12:open-gop=1:bframes=4 lie.hevc"))
        skip();
    edit("hole.mp4", cut_hole);
    edit("lie.hevc", lie);
    judge_damaged("hole.mp4", 1);
    judge_damaged("hole.mp4", 7);
    judge_damaged("lie.hevc", 1);
    struct selection rule = every(1);
    clip_decode = DECODE_NVDEC;
    struct staged r = clip_stage("lie.hevc", DECODE_PARALLEL, 1, &rule);
    clip_decode = DECODE_AUTO;
    assert_true(r.fine);
    assert_int_equal(r.counts.contradicted, 0);
    assert_int_equal(r.counts.redone_runs, 1);
    staged_free(&r);
}

static int begin(void **state)
{
    setenv("BARCODE_NVDEC", "software", 1);
    return clip_begin(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(h264), cmocka_unit_test(others), cmocka_unit_test(damaged),
                                       cmocka_unit_test(left_to_software)};
    return cmocka_run_group_tests(tests, begin, clip_end);
}
