/* Powers against the library's, in long double. */
#include <math.h>
#include <stdlib.h>

#include "test.h"
#include "engine/fixed.h"

TEST(powers)
{
    static const uint32_t power[][2] = {{1305, 8192}, {2523, 32}, {8192, 1305}, {32, 2523}, {5, 12},
                                        {12, 5},      {1, 5},     {1, 16384},   {16384, 1}};
    for (size_t k = 0; k < sizeof power / sizeof *power; k++)
        for (uint64_t i = 0; i <= 2000; i++) {
            uint64_t x = FIXED_ONE / 2000 * i;
            long double right =
                powl((long double)x / FIXED_ONE, (long double)power[k][0] / power[k][1]);
            long double got = (long double)fixed_pow(x, power[k][0], power[k][1]) / FIXED_ONE;
            assert_true(fabsl(got - right) < ldexpl(1, -34 - (power[k][0] < 16384 ? 8 : 0)));
        }
    assert_int_equal(fixed_pow(FIXED_ONE, 7, 3), FIXED_ONE);
    assert_int_equal(fixed_pow(1, 16384, 1), 0);
    assert_true(llabs((int64_t)fixed_pow(4096 * FIXED_ONE, 1, 2) - (int64_t)(64 * FIXED_ONE)) <
                1 << 12);
}

TEST(products)
{
    assert_int_equal(fixed_times(3 * FIXED_ONE, FIXED_ONE / 2), 3 * FIXED_ONE / 2);
    assert_int_equal(fixed_over(3 * FIXED_ONE, 2 * FIXED_ONE), 3 * FIXED_ONE / 2);
    assert_int_equal(fixed_over(1, FIXED_ONE), 1);
}

TEST(powers_of_two)
{
    for (int i = -40; i < 15; i++)
        assert_int_equal(fixed_exp2(i * (int64_t)FIXED_ONE),
                         i < 0 ? FIXED_ONE >> -i : FIXED_ONE << i);
    assert_int_equal(fixed_exp2(-100 * (int64_t)FIXED_ONE), 0);
}
