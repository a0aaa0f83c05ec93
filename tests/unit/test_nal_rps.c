/* test_nal_rps.c - HEVC's reference picture sets, of headers that are written here bit by bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include "h26x_bits.h"
#include "stage/nal_rps.h"

static struct nal_rps_sets sets;

static int begin(void **state)
{
    (void)state;
    struct bytes b = {.n = 0};
    memset(&sets, 0, sizeof sets);
    hevc_sets(&b);
    assert_false(nal_rps_scan(&sets, 4, b.at, b.n, NULL));
    return 0;
}

static void reads_the_sets(void **state)
{
    (void)state;
    const struct nal_rps_sps *sps = &sets.sps[0];
    assert_true(sps->known && sps->longs);
    assert_int_equal(sps->order_bits, 8);
    assert_int_equal(sps->sets, 2);
    assert_true(sps->set[0].count == 1 && sps->set[0].delta[0] == -1 && sps->set[0].used[0]);
    /* (7-61): what the other set moved by -1 begins with stands behind the other one itself only where that is so. */
    assert_int_equal(sps->set[1].count, 2);
    assert_int_equal(sps->set[1].before, 2);
    assert_true(sps->set[1].delta[0] == -1 && sps->set[1].used[0]);
    assert_true(sps->set[1].delta[1] == -2 && !sps->set[1].used[1]);
}

static void reads_slices(void **state)
{
    (void)state;
    struct bytes near = {.n = 0}, far = {.n = 0}, own = {.n = 0}, key = {.n = 0};
    struct nal_rps_slice s;
    hevc_slice(&near, 1, 7, 1, -1);
    assert_true(nal_rps_scan(&sets, 4, near.at, near.n, &s));
    assert_true(s.type == 1 && s.temporal_id == 0 && s.order == 7 && s.range == 256 && s.near.count == 2 && s.longs == 0);
    hevc_slice(&far, 1, 9, 0, 200);
    assert_true(nal_rps_scan(&sets, 4, far.at, far.n, &s));
    assert_true(s.near.count == 1 && s.longs == 1 && s.far[0].order == 200 && s.far[0].used && !s.far[0].whole);
    hevc_own(&own, 0, 9, 5);
    assert_true(nal_rps_scan(&sets, 4, own.at, own.n, &s));
    assert_true(s.near.count == 1 && s.near.delta[0] == -5 && s.near.used[0]);
    hevc_slice(&key, 19, 0, 0, -1);
    assert_true(nal_rps_scan(&sets, 4, key.at, key.n, &s));
    assert_true(s.type == 19 && s.order == 0 && s.near.count == 0);
}

static void needs_the_sets(void **state)
{
    (void)state;
    static struct nal_rps_sets none;
    struct bytes b = {.n = 0};
    struct nal_rps_slice s;
    hevc_slice(&b, 1, 7, 1, -1);
    assert_false(nal_rps_scan(&none, 4, b.at, b.n, &s));
}

/* Sets and slices that break off anywhere. */
static void bears_any_length(void **state)
{
    (void)state;
    struct bytes b = {.n = 0};
    hevc_sets(&b);
    size_t front = b.n;
    hevc_slice(&b, 1, 9, 0, 200);
    for (size_t n = 4; n < b.n; n++) {
        uint8_t *copy = malloc(n);
        static struct nal_rps_sets other;
        struct nal_rps_slice s;
        assert_non_null(copy);
        memcpy(copy, b.at, n);
        memset(&other, 0, sizeof other);
        if (n < front && n - 4 < b.at[3])
            copy[3] = (uint8_t)(n - 4);
        nal_rps_scan(&other, 4, copy, n, &s);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(reads_the_sets, begin),
        cmocka_unit_test_setup(reads_slices, begin),
        cmocka_unit_test_setup(needs_the_sets, begin),
        cmocka_unit_test_setup(bears_any_length, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
