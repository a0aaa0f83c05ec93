#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "barcode/hash.h"

/* xxHash's own numbers for nothing at all, seed 0: entries on disk must mean the same next year. */
static void known_values(void **state)
{
    (void)state;
    char text[33];
    assert_true(hash_64("", 0) == UINT64_C(0x2d06800538d394c2));
    hash_hex(hash_128("", 0), text);
    assert_string_equal(text, "99aa06d3014798d86001c324468d497f");
}

static void every_bit_counts(void **state)
{
    (void)state;
    uint8_t data[300];
    memset(data, 7, sizeof data);
    struct hash128 whole = hash_128(data, sizeof data);
    uint64_t half = hash_64(data, sizeof data);
    for (size_t bit = 0; bit < sizeof data * 8; bit++) {
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(hash_same(hash_128(data, sizeof data), whole));
        assert_true(hash_64(data, sizeof data) != half);
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(hash_same(hash_128(data, sizeof data), whole));
    assert_false(hash_same(hash_128(data, sizeof data - 1), whole));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_values), cmocka_unit_test(every_bit_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
