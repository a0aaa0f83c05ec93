#include <string.h>

#include "test.h"
#include "base/wire.h"

static const uint64_t number[] = {
    0, 1, 127, 128, 16383, 16384, UINT32_MAX, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
enum { NUMBERS = sizeof number / sizeof *number };

TEST(there_and_back)
{
    struct wire_out o = {0};
    for (int i = 0; i < NUMBERS; i++) {
        wire_put_number(&o, number[i]);
        wire_put_signed(&o, (int64_t)number[i]);
        wire_put_u32(&o, (uint32_t)number[i]);
        wire_put_u64(&o, number[i]);
        wire_put_hash(&o, (struct hash128){number[i], ~number[i]});
    }
    assert_false(o.failed);
    struct wire_in in = wire_read(o.data, o.count);
    for (int i = 0; i < NUMBERS; i++) {
        assert_true(wire_number(&in) == number[i]);
        assert_true(wire_signed(&in) == (int64_t)number[i]);
        assert_true(wire_u32(&in) == (uint32_t)number[i]);
        assert_true(wire_u64(&in) == number[i]);
        assert_true(hash_same(wire_hash(&in), (struct hash128){number[i], ~number[i]}));
    }
    assert_false(in.failed);
    assert_int_equal(wire_left(&in), 0);
    wire_free(&o);
    assert_null(o.data);
}

TEST(bytes_are_fixed)
{
    struct wire_out o = {0};
    wire_put_u32(&o, 0x04030201);
    wire_put_number(&o, 300);
    wire_put_signed(&o, -2);
    static const uint8_t want[] = {1, 2, 3, 4, 0xac, 2, 3};
    assert_int_equal(o.count, sizeof want);
    assert_memory_equal(o.data, want, sizeof want);
    wire_free(&o);
}

/* Every way to run out: it fails, stays failed, and gives zeros. */
TEST(short_input)
{
    static const uint8_t endless[12] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    struct wire_in in = wire_read(endless, sizeof endless);
    assert_true(wire_number(&in) == 0 && in.failed);
    assert_true(wire_u32(&in) == 0 && wire_signed(&in) == 0);
    static const uint8_t too_large[10] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 2};
    in = wire_read(too_large, sizeof too_large);
    assert_true(wire_number(&in) == 0 && in.failed);
    in = wire_read(endless, 7);
    assert_true(wire_u64(&in) == 0 && in.failed);
    in = wire_read(endless, 0);
    assert_true(wire_number(&in) == 0 && in.failed);
}
