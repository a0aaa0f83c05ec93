
#include "test.h"
#include "barcode/kmeans/seed.h"

static void check(const uint32_t counter[4], const uint32_t key[2], const uint32_t want[4])
{
    uint32_t got[4];
    philox4x32_10(counter, key, got);
    for (int i = 0; i < 4; i++)
        assert_int_equal(got[i], want[i]);
}

/* kat_vectors of Random123. */
TEST(known_answers)
{
    check((const uint32_t[4]){0, 0, 0, 0}, (const uint32_t[2]){0, 0},
          (const uint32_t[4]){0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    check((const uint32_t[4]){UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
          (const uint32_t[2]){UINT32_MAX, UINT32_MAX},
          (const uint32_t[4]){0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    check((const uint32_t[4]){0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
          (const uint32_t[2]){0xa4093822, 0x299f31d0},
          (const uint32_t[4]){0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(words_in_order)
{
    assert_true(philox_u64(UINT64_C(0x299f31d0a4093822), 0x243f6a88, 0x85a308d3, 0x13198a2e,
                           0x03707344) == UINT64_C(0x94fdccebd16cfe09));
}
