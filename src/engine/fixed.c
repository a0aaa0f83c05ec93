#include "fixed.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

/* Fractional bits of mantissas, which are 1 to 2. */
enum { TOP = 62 };

uint64_t fixed_times(uint64_t a, uint64_t b) { return (uint64_t)((u128)a * b >> FIXED_BITS); }

uint64_t fixed_over(uint64_t a, uint64_t b) { return (uint64_t)(((u128)a << FIXED_BITS) / b); }

/* Returns log2(x), x > 0. */
static int64_t log2_of(uint64_t x)
{
    int high = 63 - __builtin_clzll(x);
    uint64_t m = high > TOP ? x >> (high - TOP) : x << (TOP - high);
    uint64_t fraction = 0;
    for (int i = 0; i < FIXED_BITS; i++) {
        m = (uint64_t)((u128)m * m >> TOP);
        uint64_t bit = m >> (TOP + 1);
        m >>= bit;
        fraction = fraction << 1 | bit;
    }
    return ((int64_t)(high - FIXED_BITS) * (INT64_C(1) << FIXED_BITS)) + (int64_t)fraction;
}

/* 2^(1/2), 2^(1/4), 2^(1/8) ...: floor(2^(2^-i) * 2^TOP). */
static const uint64_t roots[FIXED_BITS] = {
    UINT64_C(0x5a827999fcef3242), UINT64_C(0x4c1bf828c6dc54b7), UINT64_C(0x45cae0f1f545eb73),
    UINT64_C(0x42d561b3e6243d8a), UINT64_C(0x4166c34c5615d0eb), UINT64_C(0x40b268f9de0183b9),
    UINT64_C(0x4058f6a7ecccd5b6), UINT64_C(0x402c6be96af2fb58), UINT64_C(0x4016321b687027a8),
    UINT64_C(0x400b18178ba33b14), UINT64_C(0x40058bce410147e8), UINT64_C(0x4002c5d7bff71dae),
    UINT64_C(0x400162e807ee7e5b), UINT64_C(0x4000b1730df6a524), UINT64_C(0x400058b9497b8151),
    UINT64_C(0x40002c5c955dd701), UINT64_C(0x4000162e46d6f26b), UINT64_C(0x40000b1722757b1b),
    UINT64_C(0x4000058b90fd3e0c), UINT64_C(0x400002c5c86f3f26), UINT64_C(0x40000162e433c79b),
    UINT64_C(0x400000b17218edcf), UINT64_C(0x40000058b90c3968), UINT64_C(0x4000002c5c860d54),
    UINT64_C(0x400000162e4302d2), UINT64_C(0x4000000b17218073), UINT64_C(0x400000058b90bffc),
    UINT64_C(0x40000002c5c85fee), UINT64_C(0x4000000162e42ff3), UINT64_C(0x40000000b17217f8),
    UINT64_C(0x4000000058b90bfc), UINT64_C(0x400000002c5c85fe), UINT64_C(0x40000000162e42fe),
    UINT64_C(0x400000000b17217f), UINT64_C(0x40000000058b90bf), UINT64_C(0x4000000002c5c85f),
    UINT64_C(0x400000000162e42f), UINT64_C(0x4000000000b17217), UINT64_C(0x400000000058b90b),
    UINT64_C(0x40000000002c5c85), UINT64_C(0x4000000000162e42), UINT64_C(0x40000000000b1721),
    UINT64_C(0x4000000000058b90), UINT64_C(0x400000000002c5c8), UINT64_C(0x40000000000162e4),
    UINT64_C(0x400000000000b172), UINT64_C(0x40000000000058b9), UINT64_C(0x4000000000002c5c),
};

uint64_t fixed_exp2(int64_t x)
{
    int64_t whole = x >> FIXED_BITS; /* floor */
    uint64_t fraction = (uint64_t)x & (FIXED_ONE - 1);
    uint64_t m = UINT64_C(1) << TOP;
    for (int i = 0; i < FIXED_BITS; i++)
        if (fraction >> (FIXED_BITS - 1 - i) & 1)
            m = (uint64_t)((u128)m * roots[i] >> TOP);
    int64_t shift = TOP - FIXED_BITS - whole;
    if (shift <= 0)
        return m << (shift < -1 ? 1 : -shift);
    return shift > 63 ? 0 : m >> shift;
}

uint64_t fixed_pow(uint64_t x, uint32_t num, uint32_t den)
{
    if (x == 0)
        return 0;
    i128 power = (i128)log2_of(x) * num;
    i128 quotient = power / den;
    if (power % den < 0)
        quotient--;
    const i128 small = -((i128)64 << FIXED_BITS);
    return quotient < small ? 0 : fixed_exp2((int64_t)quotient);
}
