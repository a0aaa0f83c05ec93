/* test_ts_packet.c - packets of every length, cut at any byte, and bytes that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stage/ts_packet.h"

enum { SIZE = 1024 };

static void fill(uint8_t bytes[SIZE], size_t from, size_t length)
{
    memset(bytes, 0xff, SIZE);
    for (size_t at = from; at < SIZE; at += length)
        bytes[at] = TS_PACKET_SYNC;
}

static void found_wherever_they_begin(void **state)
{
    (void)state;
    uint8_t bytes[SIZE];
    for (size_t k = 0; k < TS_PACKET_LENGTHS; k++)
        for (size_t cut = 0; cut < ts_packet_length[k]; cut++) {
            size_t length = ts_packet_length[k], from = SIZE;
            fill(bytes, cut, length);
            assert_int_equal(ts_packet_find(bytes, SIZE, &from), length);
            assert_int_equal(from, cut);
            assert_true(ts_packet_is(bytes, cut + 3 * length, length));
            assert_false(ts_packet_is(bytes, cut + 2 * length, length) || ts_packet_is(bytes, cut + 3 * length + 1, length));
        }
}

static void others_are_none(void **state)
{
    (void)state;
    uint8_t bytes[SIZE];
    size_t from;
    fill(bytes, 0, 190);
    assert_int_equal(ts_packet_find(bytes, SIZE, &from), 0);
    fill(bytes, 204, TS_PACKET_BYTES);
    bytes[204] = 0;                                   /* so the first one lies too far behind */
    assert_int_equal(ts_packet_find(bytes, SIZE, &from), 0);
    fill(bytes, 5, TS_PACKET_BYTES);
    assert_int_equal(ts_packet_find(bytes, 5 + 3 * TS_PACKET_BYTES, &from), 0);
    assert_int_equal(ts_packet_find(bytes, 5 + 3 * TS_PACKET_BYTES + 1, &from), TS_PACKET_BYTES);
    assert_int_equal(ts_packet_find(bytes, 0, &from), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(found_wherever_they_begin), cmocka_unit_test(others_are_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
