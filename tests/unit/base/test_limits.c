/* test_limits.c - what --memory and --max-pixels leave for the films. */
#include "test.h"
#include "base/limits.h"

static const uint64_t gib = (uint64_t)1 << 30;

/* The machine keeps a sixteenth, which the user may take; nobody gets more than there is. */
TEST(memory)
{
    assert_true(limits_memory_of(16 * gib, 0) == 15 * gib);
    assert_true(limits_memory_of(16 * gib, gib) == gib);
    assert_true(limits_memory_of(16 * gib, 16 * gib - 1) == 16 * gib - 1);
    assert_true(limits_memory_of(16 * gib, 16 * gib) == 15 * gib);
    assert_true(limits_memory_of(16 * gib, 64 * gib) == 15 * gib);
    assert_true(limits_memory_of(UINT64_MAX, 0) == UINT64_MAX);
    assert_true(limits_memory_of(UINT64_MAX, gib) == gib);
    assert_true(limits_memory_of(0, 0) == 0);
}

TEST(the_user_sets_them)
{
    assert_true(limits_memory() == limits_memory_of(machine_memory(), 0));
    assert_true(limits_pixels() == (uint64_t)1 << 27);
    limits_set(12345678, 640);
    assert_true(limits_memory() == 12345678);
    assert_true(limits_pixels() == 640);
    limits_set(0, 0);
    assert_true(limits_pixels() == (uint64_t)1 << 27);
}
