/*
 * fixed.h - powers of fractions in integers, for tables whose every entry must be the same on every
 * machine.
 *
 * Numbers are unsigned with FIXED_BITS fractional bits. log2 by repeated squaring (Knuth,
 * TAOCP 1.2.2, exercise 25), 2^x by the product of the roots 2^(1/2), 2^(1/4), ... A power of 0 to
 * 1 is within 2^-42.
 */
#ifndef BARCODE_SRC_FIXED_H
#define BARCODE_SRC_FIXED_H

#include <stdint.h>

enum { FIXED_BITS = 48 };
#define FIXED_ONE (UINT64_C(1) << FIXED_BITS)

/* a * b and a / b, rounded down. The result must be below 2^16; b is not 0 for the second. Pure;
 * any thread. */
uint64_t fixed_times(uint64_t a, uint64_t b);
uint64_t fixed_over(uint64_t a, uint64_t b);

/* 2^x, x with FIXED_BITS fractional bits and a sign. The result must be below 2^16; too small a one
 * is 0. Pure; any thread. */
uint64_t fixed_exp2(int64_t x);

/* x^(num/den): num and den 1..16384. x^(num/den) must be below 2^16; 0 gives 0. Pure; any thread.
 */
uint64_t fixed_pow(uint64_t x, uint32_t num, uint32_t den);

#endif
