/*
 * fixed.h - integer powers of fractions, for tables that must be identical on every machine.
 *
 * Numbers are unsigned with FIXED_BITS fractional bits. log2 uses repeated squaring (Knuth, TAOCP
 * 1.2.2, exercise 25), and 2^x is the product of the roots 2^(1/2), 2^(1/4), ... A power of 0 to 1
 * is within 2^-42.
 */
#ifndef BARCODE_SRC_FIXED_H
#define BARCODE_SRC_FIXED_H

#include <stdint.h>

enum { FIXED_BITS = 48 };
#define FIXED_ONE (UINT64_C(1) << FIXED_BITS)

/* Return a * b and a / b (b > 0), rounded down; the result is below 2^16. Any thread. */
uint64_t fixed_times(uint64_t a, uint64_t b);
uint64_t fixed_over(uint64_t a, uint64_t b);

/* Returns 2^x below 2^16, x signed with FIXED_BITS; 0 if it is too small. Any thread. */
uint64_t fixed_exp2(int64_t x);

/* Returns x^(num/den) below 2^16, num and den 1..16384; 0 for x = 0. Any thread. */
uint64_t fixed_pow(uint64_t x, uint32_t num, uint32_t den);

#endif
