/*
 * test_film_bars.c - what a look at key frames finds of bars: in containers with an index and without, with any number of threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stage/film_bars.h"
#include "clip.h"

#define X264 "-c:v libx264 -preset ultrafast -crf 23 -g 12 "
#define SCOPE "-i master.mkv -vf crop=96:40:0:12,pad=96:64:0:12:black " X264

static struct probe_facts look(const char *name, int threads)
{
    struct err e = ERR_INIT;
    struct probe_request request = {.want = PROBE_BARS, .threads = threads};
    struct probe_facts facts;
    struct source *s = source_open(name, &e);
    assert_non_null(s);
    assert_true(source_probe(s, &request, &facts, &e));
    source_close(&s);
    return facts;
}

/* By an index (mp4, mkv, avi), by the byte (ts), and in a small film without either (flv). */
static void every_way(void **state)
{
    (void)state;
    static const char *const name[] = {"scope.mkv", "scope.mp4", "scope.ts", "scope.avi", "scope.flv"};
    if (!clip_encode("-c:v ffv1 master.mkv") || !clip_ffmpeg(SCOPE "scope.mkv") || !clip_ffmpeg("-i scope.mkv -c copy scope.mp4") ||
        !clip_ffmpeg("-i scope.mkv -c copy scope.ts") || !clip_ffmpeg("-i scope.mkv -c copy -bsf:v h264_mp4toannexb scope.avi") ||
        !clip_ffmpeg("-i scope.mkv -c copy scope.flv"))
        skip();
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        for (int threads = 1; threads <= 5; threads += 2) {
            struct probe_facts facts = look(name[i], threads);
            assert_int_equal(facts.found, PROBE_BARS);
            assert_in_range(facts.looked, 12, 24);
            assert_in_range(facts.told, 1, facts.looked);
            assert_int_equal(facts.trim.count, 1);
            assert_in_range(facts.trim.rect[0].y, 11, 13);
            assert_in_range(facts.trim.rect[0].height, 38, 42);
            assert_int_equal(facts.trim.rect[0].width, CLIP_W);
        }
}

/* A film that can be staged can be looked at before and after. */
static void beside_other_probes(void **state)
{
    (void)state;
    if (!clip_encode("-c:v ffv1 master.mkv") || !clip_ffmpeg(SCOPE "scope.mkv"))
        skip();
    struct err e = ERR_INIT;
    struct source *s = source_open("scope.mkv", &e);
    struct probe_request request = {.want = PROBE_BARS | PROBE_LENGTH, .threads = 2};
    struct probe_facts facts;
    assert_non_null(s);
    for (int i = 0; i < 2; i++) {
        assert_true(source_probe(s, &request, &facts, &e));
        assert_int_equal(facts.found, PROBE_BARS | PROBE_LENGTH);
        assert_int_equal(facts.frames, CLIP_FRAMES);
        assert_int_equal(facts.trim.count, 1);
    }
    source_close(&s);
}

static void nothing_to_find(void **state)
{
    (void)state;
    if (!clip_encode(X264 "plain.mkv") || !clip_ffmpeg("-f lavfi -i color=black:s=96x64:d=3 " X264 "black.mkv") ||
        !clip_encode("-c:v mpeg4 -g 12 plain.avi"))
        skip();
    static const char *const name[] = {"plain.mkv", "black.mkv", "plain.avi"};
    for (size_t i = 0; i < 3; i++) {
        struct probe_facts facts = look(name[i], 2);
        assert_int_equal(facts.found, PROBE_BARS);
        assert_int_equal(facts.trim.count, 0);
        assert_true(facts.looked > 0);
    }
    struct err e = ERR_INIT;
    struct film gone = {.path = strdup("gone.mkv")};
    struct probe_facts facts = {.found = 0};
    assert_true(film_bars_probe(&gone, SOURCE_STREAM_CHOICE, NULL, 2, &facts, &e));      /* whoever stages it says why */
    assert_int_equal(facts.looked, 0);
    free(gone.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way), cmocka_unit_test(beside_other_probes), cmocka_unit_test(nothing_to_find),
    };
    return cmocka_run_group_tests(tests, clip_begin, clip_end);
}
