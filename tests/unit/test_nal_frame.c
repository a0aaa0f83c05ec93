/* test_nal_frame.c - H.264's frame_num and what begins it anew, of headers that are written here bit by bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include "h26x_bits.h"
#include "stage/nal_frame.h"

static struct nal_sets sets_of(bool gaps)
{
    struct bytes b = {.n = 0};
    struct nal_sets s = {0};
    h264_sets(&b, gaps);
    nal_sets_scan(4, b.at, b.n, &s);
    return s;
}

static void tells_the_number(void **state)
{
    (void)state;
    struct nal_sets s = sets_of(true);
    struct bytes b = {.n = 0};
    struct nal_frame f;
    h264_slice(&b, 1, true, 9, false);
    h264_slice(&b, 1, false, 10, false);
    size_t at = 0;
    assert_true(nal_frame_next(&s, 4, b.at, b.n, &at, &f));
    assert_true(f.frame_num == 9 && f.most == 16 && f.reference && f.gaps && !f.idr && !f.resets);
    assert_true(nal_frame_next(&s, 4, b.at, b.n, &at, &f));
    assert_true(f.frame_num == 10 && !f.reference);
    assert_false(nal_frame_next(&s, 4, b.at, b.n, &at, &f));
}

static void sees_what_begins_anew(void **state)
{
    (void)state;
    struct nal_sets s = sets_of(false);
    assert_true(s.pps[0].known && s.pps[0].weighted && s.pps[0].references[0] == 2);
    for (int reset = 0; reset < 2; reset++) {
        struct bytes b = {.n = 0};
        struct nal_frame f;
        size_t at = 0;
        h264_slice(&b, 1, true, 3, reset);
        assert_true(nal_frame_next(&s, 4, b.at, b.n, &at, &f));
        assert_int_equal(f.resets, reset);
    }
}

static void needs_the_sets(void **state)
{
    (void)state;
    struct nal_sets none = {0};
    struct bytes b = {.n = 0};
    struct nal_frame f;
    size_t at = 0;
    h264_slice(&b, 5, true, 0, false);
    assert_true(nal_frame_next(&none, 4, b.at, b.n, &at, &f));
    assert_int_equal(f.most, 0);
}

/* Breaking off anywhere is no read behind the end. */
static void bears_any_length(void **state)
{
    (void)state;
    struct nal_sets s = sets_of(false);
    struct bytes b = {.n = 0};
    h264_slice(&b, 1, true, 3, true);
    for (size_t n = 4; n < b.n; n++) {
        uint8_t *copy = malloc(n);
        struct nal_frame f;
        size_t at = 0;
        assert_non_null(copy);
        memcpy(copy, b.at, n);
        copy[3] = (uint8_t)(n - 4);
        nal_frame_next(&s, 4, copy, n, &at, &f);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_the_number),
        cmocka_unit_test(sees_what_begins_anew),
        cmocka_unit_test(needs_the_sets),
        cmocka_unit_test(bears_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
