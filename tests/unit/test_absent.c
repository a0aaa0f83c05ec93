/* test_absent.c - which pictures refer to some that the film lacks, and in which whole films none may seem to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include "h26x_bits.h"
#include "stage/absent.h"
#include "stage/timeline.h"

static struct absent *absent;
static struct nal_sets sets;
static int64_t now;

static void open_stream(enum bitstream stream, bool gaps)
{
    struct bytes b = {.n = 0};
    struct err e = ERR_INIT;
    assert_true(absent_open(&absent, stream, &e));
    memset(&sets, 0, sizeof sets);
    now = 0;
    if (stream == STREAM_H264)
        h264_sets(&b, gaps);
    else
        hevc_sets(&b);
    if (stream == STREAM_H264)
        nal_sets_scan(4, b.at, b.n, &sets);
    else
        absent_extradata(absent, b.at, 0);
    struct nal_info info = scan(stream, 4, &b);
    absent_look(absent, &sets, &(struct absent_packet){4, b.at, b.n, &info, TIME_NONE});
}

static int close_stream(void **state)
{
    (void)state;
    absent_close(&absent);
    return 0;
}

/* 'h', 'b', both 'x', or '.': what the sign says. */
static char look(enum bitstream stream, const struct bytes *b, enum cut cut)
{
    struct nal_info info = scan(stream, 4, b);
    info.cut = cut != CUT_NONE ? cut : info.cut;
    struct absent_sign s = absent_look(absent, &sets, &(struct absent_packet){4, b->at, b->n, &info, now});
    now += 40000;
    return s.hurts ? s.before ? 'x' : 'h' : s.before ? 'b' : '.';
}

static char h264(int type, bool reference, unsigned frame_num, enum cut cut)
{
    struct bytes b = {.n = 0};
    h264_slice(&b, type, reference, frame_num, false);
    return look(STREAM_H264, &b, cut);
}

/* An IDR and so many pictures behind it. */
static unsigned begin_h264(unsigned pictures)
{
    assert_int_equal(h264(5, true, 0, CUT_NONE), '.');
    for (unsigned i = 1; i <= pictures; i++)
        assert_int_equal(h264(1, true, i & 15, CUT_NONE), '.');
    return pictures;
}

static void a_number_is_left_out(void **state)
{
    (void)state;
    open_stream(STREAM_H264, false);
    unsigned n = begin_h264(40);
    assert_int_equal(h264(1, true, (n + 3) & 15, CUT_NONE), 'x');
    assert_int_equal(h264(1, false, (n + 4) & 15, CUT_NONE), 'h');
    assert_int_equal(h264(1, true, (n + 4) & 15, CUT_NONE), 'h');
    assert_int_equal(h264(5, true, 0, CUT_NONE), '.');
    assert_int_equal(h264(1, true, 1, CUT_NONE), '.');
}

/* The one that is gone is missed first by a picture that nothing refers to. */
static void it_spreads_from_one_that_nothing_refers_to(void **state)
{
    (void)state;
    open_stream(STREAM_H264, false);
    unsigned n = begin_h264(40);
    assert_int_equal(h264(1, false, (n + 2) & 15, CUT_NONE), 'x');
    assert_int_equal(h264(1, true, (n + 2) & 15, CUT_NONE), 'h');
}

static void early_ones(void **state)
{
    (void)state;
    for (int gap = 0; gap < 2; gap++)
        for (unsigned before = 0; before < 6; before++) {
            open_stream(STREAM_H264, false);
            begin_h264(before);
            now += gap * 80000;
            assert_int_equal(h264(1, true, before + 3, CUT_NONE), 'x');
            absent_close(&absent);
        }
}

/* What one step says of the times is nothing. */
static void an_odd_step_at_the_start(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        open_stream(STREAM_H264, false);
        assert_int_equal(h264(5, true, 0, CUT_NONE), '.');
        now += way ? 400000 : -39000;
        for (unsigned i = 1; i < 100; i++) {
            now += i % 10 == 0 ? 40000 : 0;
            assert_int_equal(h264(1, i % 2, i & 15, CUT_NONE), '.');
        }
        absent_close(&absent);
    }
}

/* Numbers that rise behind pictures that nothing refers to are an encoder's habit. */
static void a_habit_is_no_loss(void **state)
{
    (void)state;
    open_stream(STREAM_H264, false);
    assert_int_equal(h264(5, true, 0, CUT_NONE), '.');
    for (unsigned i = 1; i < 100; i++) {
        now += i % 10 == 0 ? 40000 : 0;
        assert_int_equal(h264(1, i % 2, i & 15, CUT_NONE), '.');
    }
}

static void gaps_may_be_allowed(void **state)
{
    (void)state;
    open_stream(STREAM_H264, true);
    unsigned n = begin_h264(40);
    assert_int_equal(h264(1, true, (n + 3) & 15, CUT_NONE), '.');
}

static void a_reset_counts_as_nought(void **state)
{
    (void)state;
    open_stream(STREAM_H264, false);
    unsigned n = begin_h264(40);
    struct bytes b = {.n = 0};
    h264_slice(&b, 1, true, (n + 1) & 15, true);
    assert_int_equal(look(STREAM_H264, &b, CUT_NONE), '.');
    assert_int_equal(h264(1, true, 1, CUT_NONE), '.');
}

/* Recordings joined at a recovery point: no loss, nor is it that what leads the key was left out. */
static void a_cut_needs_nothing(void **state)
{
    (void)state;
    open_stream(STREAM_H264, false);
    unsigned n = begin_h264(40);
    assert_int_equal(h264(1, true, (n + 7) & 15, CUT_OPEN), '.');
    assert_int_equal(h264(1, true, (n + 10) & 15, CUT_NONE), '.');
    assert_int_equal(h264(1, true, (n + 11) & 15, CUT_NONE), '.');
    assert_int_equal(h264(1, true, (n + 13) & 15, CUT_NONE), 'x');
    now += 80000;
    assert_int_equal(h264(1, true, (n + 16) & 15, CUT_OPEN), 'b');
    assert_int_equal(h264(1, true, (n + 17) & 15, CUT_NONE), '.');
}

/* ------------------------------------------------------------------ HEVC */

static char hevc(int type, unsigned order, unsigned set)
{
    struct bytes b = {.n = 0};
    hevc_slice(&b, type, order, set, -1);
    return look(STREAM_HEVC, &b, CUT_NONE);
}

static char hevc_back(int type, unsigned order, unsigned back)
{
    struct bytes b = {.n = 0};
    hevc_own(&b, type, order, back);
    return look(STREAM_HEVC, &b, CUT_NONE);
}

static void a_name_without_a_picture(void **state)
{
    (void)state;
    open_stream(STREAM_HEVC, false);
    assert_int_equal(hevc(19, 0, 0), '.');
    for (unsigned i = 1; i < 300; i++)
        assert_int_equal(hevc(1, i, i > 1), '.');
    assert_int_equal(hevc(1, 302, 1), 'x');
    assert_int_equal(hevc(1, 303, 1), '.');        /* its own reference came; that one's damage spreads by itself */
    assert_int_equal(hevc(19, 0, 0), '.');
    assert_int_equal(hevc(1, 1, 0), '.');
}

/* What is gone is told of once, and hurts each that uses it. */
static void told_once(void **state)
{
    (void)state;
    open_stream(STREAM_HEVC, false);
    assert_int_equal(hevc(19, 0, 0), '.');
    assert_int_equal(hevc_back(1, 10, 5), 'x');
    assert_int_equal(hevc_back(1, 6, 1), 'h');
}

static void far_references(void **state)
{
    (void)state;
    open_stream(STREAM_HEVC, false);
    assert_int_equal(hevc(19, 0, 0), '.');
    struct bytes b = {.n = 0}, gone = {.n = 0};
    hevc_slice(&b, 1, 1, 0, 0);
    assert_int_equal(look(STREAM_HEVC, &b, CUT_NONE), '.');
    hevc_slice(&gone, 1, 2, 0, 77);
    assert_int_equal(look(STREAM_HEVC, &gone, CUT_NONE), 'x');
}

/* What leads a CRA at the beginning refers to what is not to come; in mid-film it is there, or is missed. */
static void leading_pictures(void **state)
{
    (void)state;
    open_stream(STREAM_HEVC, false);
    assert_int_equal(hevc(1, 3, 0), '.');          /* before the first key nothing is known */
    assert_int_equal(hevc_back(21, 10, 0), '.');
    assert_int_equal(hevc_back(8, 8, 3), '.');
    assert_int_equal(hevc_back(1, 11, 1), '.');
    assert_int_equal(hevc_back(21, 20, 9), '.');
    assert_int_equal(hevc_back(9, 18, 7), '.');
    assert_int_equal(hevc_back(21, 90, 0), '.');
    assert_int_equal(hevc_back(9, 80, 7), 'h');
    assert_int_equal(hevc_back(17, 10, 0), '.');
    assert_int_equal(hevc_back(7, 9, 4), '.');
}

static void another_place(void **state)
{
    (void)state;
    open_stream(STREAM_HEVC, false);
    assert_int_equal(hevc(19, 0, 0), '.');
    absent_jumped(absent);
    assert_int_equal(hevc(1, 9, 0), '.');
    absent_close(&absent);
    open_stream(STREAM_OTHER, false);
    assert_null(absent);
    absent_jumped(NULL);
    absent_extradata(NULL, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_number_is_left_out, close_stream),
        cmocka_unit_test_teardown(it_spreads_from_one_that_nothing_refers_to, close_stream),
        cmocka_unit_test_teardown(early_ones, close_stream), cmocka_unit_test_teardown(an_odd_step_at_the_start, close_stream),
        cmocka_unit_test_teardown(a_habit_is_no_loss, close_stream),
        cmocka_unit_test_teardown(gaps_may_be_allowed, close_stream),
        cmocka_unit_test_teardown(a_reset_counts_as_nought, close_stream),
        cmocka_unit_test_teardown(a_cut_needs_nothing, close_stream),
        cmocka_unit_test_teardown(a_name_without_a_picture, close_stream),
        cmocka_unit_test_teardown(told_once, close_stream),
        cmocka_unit_test_teardown(far_references, close_stream),
        cmocka_unit_test_teardown(leading_pictures, close_stream),
        cmocka_unit_test_teardown(another_place, close_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
