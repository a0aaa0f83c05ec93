/*
 * kmeans_lanes.h - vectors of 32-bit lanes and what the k-means computes with them: 16 lanes with
 * AVX-512, 8 with AVX2, else 4. The flags of the including file select the instruction set.
 *
 * Vectors are those of GCC and clang, so that + - * & | ^ ~ << >> work on `lanes`. Functions are
 * for what C cannot say; without an instruction for it they are written in these operators.
 */
#ifndef BARCODE_KMEANS_LANES_H
#define BARCODE_KMEANS_LANES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "barcode/kmeans/points.h"

/* EACH_LANE(f, n) lists f(i, n) for i = 0 to LANES - 1. */
#define EACH_4(f, i, n) f(i, n), f((i) + 1, n), f((i) + 2, n), f((i) + 3, n)
#define EACH_8(f, i, n) EACH_4(f, i, n), EACH_4(f, (i) + 4, n)

#if defined(__AVX512BW__)
enum { LANES = 16 };
#define EACH_LANE(f, n) EACH_8(f, 0, n), EACH_8(f, 8, n)
typedef __m512i x86_lanes;
#define X86(operation) _mm512_##operation
#elif defined(__AVX2__)
enum { LANES = 8 };
#define EACH_LANE(f, n) EACH_8(f, 0, n)
typedef __m256i x86_lanes;
#define X86(operation) _mm256_##operation
#else
enum { LANES = 4 };
#define EACH_LANE(f, n) EACH_4(f, 0, n)
#ifdef __x86_64__
typedef __m128i x86_lanes;
#define X86(operation) _mm_##operation
#endif
#endif

/* What the vector code processes at a time: VECTORS vectors are a group (barcode/kmeans/points.h). */
enum {
    LANES_EVERY = (1 << LANES) - 1,
    VECTORS = LANES < 8 ? POINTS_GROUP_LEAST / LANES : 2,
    GROUP = VECTORS * LANES,
    BLOCK = GROUP * POINTS_BLOCK
};

_Static_assert((int)GROUP >= (int)POINTS_GROUP_LEAST && POINTS_STEP % BLOCK == 0 &&
                   POINTS_BLOCK % LANES == 0,
               "what points.c makes room for");

/* `lanes` may have two 16-bit values in each lane, or be half as many 64-bit ones (wide_...). */
typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));
typedef lanes lanes_memory __attribute__((may_alias));
typedef uint32_t unaligned_lanes __attribute__((vector_size(4 * LANES), may_alias, aligned(4)));
typedef int32_t signed_lanes __attribute__((vector_size(4 * LANES)));
typedef int16_t signed_pair_lanes __attribute__((vector_size(4 * LANES)));
typedef uint16_t pair_lanes __attribute__((vector_size(4 * LANES)));
typedef uint8_t byte_lanes __attribute__((vector_size(4 * LANES)));
typedef uint64_t wide_lanes __attribute__((vector_size(4 * LANES), may_alias));

/* LANES_MIX(a, b, i...): the lanes with these numbers in a and, from LANES on, in b. */
#ifdef __clang__
#define LANES_MIX(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define LANES_MIX(a, b, ...) __builtin_shuffle(a, b, (lanes){__VA_ARGS__})
#endif

static inline lanes lanes_load(const void *p) { return *(const lanes_memory *)p; }
/* Loads from an address of any alignment. */
static inline lanes lanes_load_any(const void *p) { return *(const unaligned_lanes *)p; }
static inline void lanes_store(void *p, lanes a) { *(lanes_memory *)p = a; }
static inline lanes lanes_all(int32_t v) { return (uint32_t)v - (lanes){0}; }
/* Returns 0, 1, 2, ... */
#define LANE_OF(i, n) (i)
static inline lanes lanes_count(void) { return (lanes){EACH_LANE(LANE_OF, 0)}; }
/* Returns half of signed lanes, rounded down. */
static inline lanes lanes_right1(lanes a) { return (lanes)((signed_lanes)a >> 1); }
static inline lanes pairs_sub(lanes a, lanes b) { return (lanes)((pair_lanes)a - (pair_lanes)b); }
static inline lanes wide_add(lanes a, lanes b) { return (lanes)((wide_lanes)a + (wide_lanes)b); }

/* ---- One instruction of most processors each ---- */

/* Defines a function of lanes a and b, which are x and y as vectors of another type. */
#define DEFINE_LANES(name, type, result) \
    static inline lanes name(lanes a, lanes b) \
    { \
        type x = (type)a, y = (type)b; \
        return (lanes)(result); \
    }

#if defined(__x86_64__)
DEFINE_LANES(pairs_max, x86_lanes, X86(max_epi16)(x, y))
DEFINE_LANES(pairs_below, x86_lanes, X86(subs_epu16)(x, y))
DEFINE_LANES(bytes_min, x86_lanes, X86(min_epu8)(x, y))
DEFINE_LANES(bytes_max, x86_lanes, X86(max_epu8)(x, y))
DEFINE_LANES(pair_products, x86_lanes, X86(madd_epi16)(x, y))
DEFINE_LANES(even_products, x86_lanes, X86(mul_epu32)(x, y))
#elif defined(__aarch64__)
DEFINE_LANES(pairs_max, int16x8_t, vmaxq_s16(x, y))
DEFINE_LANES(pairs_below, uint16x8_t, vqsubq_u16(x, y))
DEFINE_LANES(bytes_min, uint8x16_t, vminq_u8(x, y))
DEFINE_LANES(bytes_max, uint8x16_t, vmaxq_u8(x, y))
DEFINE_LANES(even_products, uint64x2_t, vmull_u32(vmovn_u64(x), vmovn_u64(y)))
#else
DEFINE_LANES(pairs_max, signed_pair_lanes, y ^ ((x ^ y) & (x > y)))
DEFINE_LANES(pairs_below, pair_lanes, (x - y) & (pair_lanes)(x > y))
DEFINE_LANES(bytes_min, byte_lanes, y ^ ((x ^ y) & (byte_lanes)(x < y)))
DEFINE_LANES(bytes_max, byte_lanes, y ^ ((x ^ y) & (byte_lanes)(x > y)))
DEFINE_LANES(even_products, wide_lanes, (x & UINT32_MAX) * (y & UINT32_MAX))
#endif

#if defined(__AVX2__)
DEFINE_LANES(lanes_min, x86_lanes, X86(min_epi32)(x, y))
DEFINE_LANES(lanes_max, x86_lanes, X86(max_epi32)(x, y))
#elif defined(__aarch64__)
DEFINE_LANES(lanes_min, int32x4_t, vminq_s32(x, y))
DEFINE_LANES(lanes_max, int32x4_t, vmaxq_s32(x, y))
#else
DEFINE_LANES(lanes_min, signed_lanes, y ^ ((x ^ y) & (x < y)))
DEFINE_LANES(lanes_max, signed_lanes, y ^ ((x ^ y) & (x > y)))
#endif

/*
 * Return the lower and the higher of lanes from LANES_NORMAL to 0x7f7fffff. SSE2 compares them as
 * floats, whose order is the same. They are neither denormal nor infinite nor NaN.
 */
#if defined(__x86_64__) && !defined(__AVX2__)
enum { LANES_NORMAL = 1 << 23 };
DEFINE_LANES(normal_min, __m128, _mm_min_ps(x, y))
DEFINE_LANES(normal_max, __m128, _mm_max_ps(x, y))
#else
enum { LANES_NORMAL = 0 };
DEFINE_LANES(normal_min, lanes, lanes_min(x, y))
DEFINE_LANES(normal_max, lanes, lanes_max(x, y))
#endif

/*
 * Returns the lower of a and b + LANES_NORMAL, where a negative b, from -2^28, counts as huge: as
 * 2^28 or more.
 */
#if defined(__AVX2__)
DEFINE_LANES(lanes_side, x86_lanes, X86(min_epu32)(x, y))
#elif defined(__aarch64__)
DEFINE_LANES(lanes_side, uint32x4_t, vminq_u32(x, y))
#else
DEFINE_LANES(lanes_side, lanes, normal_min(x, (y & ((1 << 29) - 1)) + LANES_NORMAL))
#endif

static inline lanes pairs_abs(lanes a)
{
#ifdef __AVX2__
    return (lanes)X86(abs_epi16)((x86_lanes)a);
#else
    return pairs_max(a, pairs_sub((lanes){0}, a));
#endif
}

/* Returns acc + a.low * b.low + a.high * b.high + c.low * d.low + c.high * d.high, signed. */
static inline lanes lanes_dots(lanes acc, lanes a, lanes b, lanes c, lanes d)
{
#if defined(__AVX512VNNI__)
    x86_lanes first = _mm512_dpwssd_epi32((x86_lanes)acc, (x86_lanes)a, (x86_lanes)b);
    return (lanes)_mm512_dpwssd_epi32(first, (x86_lanes)c, (x86_lanes)d);
#elif defined(__x86_64__)
    return acc + pair_products(a, b) + pair_products(c, d);
#elif defined(__aarch64__)
    int16x8_t p = (int16x8_t)a, q = (int16x8_t)b, r = (int16x8_t)c, s = (int16x8_t)d;
    int32x4_t low = vmull_s16(vget_low_s16(p), vget_low_s16(q)), high = vmull_high_s16(p, q);
    low = vmlal_s16(low, vget_low_s16(r), vget_low_s16(s));
    return acc + (lanes)vpaddq_s32(low, vmlal_high_s16(high, r, s));
#else
#define LOW(a) ((signed_lanes)((a) << 16) >> 16)
#define HIGH(a) ((signed_lanes)(a) >> 16)
    return acc + (lanes)(LOW(a) * LOW(b) + HIGH(a) * HIGH(b) + LOW(c) * LOW(d) + HIGH(c) * HIGH(d));
#endif
}

/* Returns 64-bit lanes: sums of two products of unsigned lanes each, in any order. */
static inline lanes wide_products(lanes a, lanes b)
{
#if defined(__aarch64__)
    return (lanes)vmlal_high_u32(vmull_u32(vget_low_u32(a), vget_low_u32(b)), a, b);
#else
    lanes odd_a = (lanes)((wide_lanes)a >> 32), odd_b = (lanes)((wide_lanes)b >> 32);
    return wide_add(even_products(a, b), even_products(odd_a, odd_b));
#endif
}

/* ---- All lanes to one ---- */

/* Defines a function that combines all lanes to one. */
#ifdef __AVX2__
#ifdef __AVX512BW__
#define HALF(operation, a) \
    _mm256_##operation(_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64(a, 1))
#else
#define HALF(operation, a) (a)
#endif
static inline __m128i quarter_of(__m256i half, int i)
{
    return i ? _mm256_extracti128_si256(half, 1) : _mm256_castsi256_si128(half);
}
#define COMBINE_LANES(name, combine, operation) \
    static inline uint32_t name(lanes a) \
    { \
        __m256i half = HALF(operation, (x86_lanes)a); \
        __m128i m = _mm_##operation(quarter_of(half, 0), quarter_of(half, 1)); \
        m = _mm_##operation(m, _mm_shuffle_epi32(m, 0x4e)); \
        return (uint32_t)_mm_cvtsi128_si32(_mm_##operation(m, _mm_shuffle_epi32(m, 0xb1))); \
    }
#else
#define COMBINE_LANES(name, combine, operation) \
    static inline uint32_t name(lanes a) \
    { \
        a = combine(a, LANES_MIX(a, a, 2, 3, 0, 1)); \
        return combine(a, LANES_MIX(a, a, 1, 0, 3, 2))[0]; \
    }
#endif
COMBINE_LANES(normal_least, normal_min, min_epi32)
COMBINE_LANES(normal_most, normal_max, max_epi32)
/* The minimum and maximum of each of the words' four bytes. */
COMBINE_LANES(bytes_least, bytes_min, min_epu8)
COMBINE_LANES(bytes_most, bytes_max, max_epu8)

static inline uint64_t wide_sum(lanes a)
{
#ifdef __AVX2__
    __m256i half = HALF(add_epi64, (x86_lanes)a);
    __m128i sum = _mm_add_epi64(quarter_of(half, 0), quarter_of(half, 1));
#else
    wide_lanes sum = (wide_lanes)a;
#endif
    return (uint64_t)sum[0] + (uint64_t)sum[1];
}

/* Returns in lane i: the sum of lanes 0 to i. */
#define BEFORE_OF(i, n) ((n) < LANES ? (i) + LANES - (n) : (i))
#define LANES_BEFORE(a, n) LANES_MIX((lanes){0}, a, EACH_LANE(BEFORE_OF, n))
static inline lanes lanes_sums(lanes a)
{
    a += LANES_BEFORE(a, 1);
    a += LANES_BEFORE(a, 2);
    a += LANES_BEFORE(a, 4);
    return a + LANES_BEFORE(a, 8);
}

/* ---- One boolean a lane, in the processor's own form ---- */

#ifdef __AVX512BW__
typedef __mmask16 lanes_mask;
static inline lanes_mask mask_less(lanes a, lanes b)
{
    return _mm512_cmplt_epi32_mask((x86_lanes)a, (x86_lanes)b);
}
static inline lanes_mask mask_equal(lanes a, lanes b)
{
    return _mm512_cmpeq_epi32_mask((x86_lanes)a, (x86_lanes)b);
}
static inline uint32_t mask_bits(lanes_mask m) { return m; }
static inline lanes lanes_select(lanes_mask m, lanes a, lanes b)
{
    return (lanes)_mm512_mask_blend_epi32(m, (x86_lanes)b, (x86_lanes)a);
}
static inline lanes lanes_where(lanes_mask m, lanes a)
{
    return (lanes)_mm512_maskz_mov_epi32(m, (x86_lanes)a);
}
static inline uint32_t lanes_negative(lanes a) { return _mm512_movepi32_mask((x86_lanes)a); }
static inline uint32_t lanes_differ(lanes a, lanes b)
{
    return _mm512_cmpneq_epi32_mask((x86_lanes)a, (x86_lanes)b);
}
static inline lanes lanes_pick_negative(lanes d, lanes x, lanes y)
{
    return lanes_select((lanes_mask)lanes_negative(d), x, y);
}
#else
typedef lanes lanes_mask; /* all bits of a lane */
static inline lanes_mask mask_less(lanes a, lanes b)
{
    return (lanes)((signed_lanes)a < (signed_lanes)b);
}
static inline lanes_mask mask_equal(lanes a, lanes b) { return (lanes)(a == b); }
/* Returns a where the mask is true, else b. */
static inline lanes lanes_select(lanes_mask m, lanes a, lanes b) { return b ^ ((a ^ b) & m); }
/* Returns a where the mask is true, else 0. */
static inline lanes lanes_where(lanes_mask m, lanes a) { return m & a; }
/* Returns the sign bits. */
static inline uint32_t lanes_negative(lanes a)
{
#if defined(__AVX2__)
    return (uint32_t)_mm256_movemask_ps((__m256)a);
#elif defined(__x86_64__)
    return (uint32_t)_mm_movemask_ps((__m128)a);
#elif defined(__aarch64__)
    return vaddvq_u32((a >> 31) << lanes_count());
#else
    a >>= 31;
    return a[0] | a[1] << 1 | a[2] << 2 | a[3] << 3;
#endif
}
static inline uint32_t mask_bits(lanes_mask m) { return lanes_negative(m); }
static inline uint32_t lanes_differ(lanes a, lanes b)
{
    return mask_bits(mask_equal(a, b)) ^ LANES_EVERY;
}
/* Returns x where d < 0, else y. */
static inline lanes lanes_pick_negative(lanes d, lanes x, lanes y)
{
#ifdef __AVX2__
    return (lanes)_mm256_blendv_ps((__m256)y, (__m256)x, (__m256)d);
#else
    return lanes_select((lanes)((signed_lanes)d >> 31), x, y);
#endif
}
#endif

static inline lanes_mask mask_not_less(lanes a, lanes b) { return (lanes_mask)~mask_less(a, b); }
/* Returns true where a has the single bit of b set. */
static inline lanes_mask mask_test(lanes a, lanes b) { return mask_equal(a & b, b); }

/* ---- Loads and stores by lane ---- */

#ifdef __AVX512BW__

static inline lanes lanes_from_u8(const uint8_t *p)
{
    return (lanes)_mm512_cvtepu8_epi32(_mm_load_si128((const __m128i *)p));
}
/* Returns in lane i: word index_i of the table. `few`: the table has LANES words. */
static inline lanes lanes_look_up(const void *table, lanes index, bool few)
{
    if (few)
        return (lanes)_mm512_permutexvar_epi32((x86_lanes)index, (x86_lanes)lanes_load(table));
    return (lanes)_mm512_i32gather_epi32((x86_lanes)index, table, 4);
}
/* Stores the lanes whose bit is 1; always writes LANES words. Returns the end of those lanes. */
static inline uint32_t *lanes_pack(uint32_t *p, uint32_t bits, lanes a)
{
    _mm512_storeu_si512(p, _mm512_maskz_compress_epi32((__mmask16)bits, (x86_lanes)a));
    return p + __builtin_popcount(bits);
}

#elif defined(__AVX2__)

static inline lanes lanes_from_u8(const uint8_t *p)
{
    return (lanes)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
}
static inline lanes lanes_look_up(const void *table, lanes index, bool few)
{
    if (few)
        return (lanes)_mm256_permutevar8x32_epi32((x86_lanes)lanes_load(table), (x86_lanes)index);
    return (lanes)_mm256_i32gather_epi32(table, (x86_lanes)index, 4);
}
/* For each 8-bit mask: the positions of the ones, lowest first, one byte each. */
#define ORDER_OF(m, i) \
    ((m) >> (i)&1 ? (uint64_t)(i) << 8 * __builtin_popcount((m) & ((1 << (i)) - 1)) : 0)
#define ORDER(m) \
    ORDER_OF(m, 1) | ORDER_OF(m, 2) | ORDER_OF(m, 3) | ORDER_OF(m, 4) | ORDER_OF(m, 5) | \
        ORDER_OF(m, 6) | ORDER_OF(m, 7)
#define ORDER_4(m) ORDER(m), ORDER((m) + 1), ORDER((m) + 2), ORDER((m) + 3)
#define ORDER_16(m) ORDER_4(m), ORDER_4((m) + 4), ORDER_4((m) + 8), ORDER_4((m) + 12)
#define ORDER_64(m) ORDER_16(m), ORDER_16((m) + 16), ORDER_16((m) + 32), ORDER_16((m) + 48)
static const uint64_t lanes_order[256] = {ORDER_64(0), ORDER_64(64), ORDER_64(128), ORDER_64(192)};
static inline uint32_t *lanes_pack(uint32_t *p, uint32_t bits, lanes a)
{
    lanes order = lanes_from_u8((const uint8_t *)(lanes_order + bits));
    _mm256_storeu_si256((__m256i *)p, _mm256_permutevar8x32_epi32((x86_lanes)a, (x86_lanes)order));
    return p + __builtin_popcount(bits);
}

#else

static inline lanes lanes_from_u8(const uint8_t *p)
{
#if defined(__x86_64__)
    int word;
    memcpy(&word, p, sizeof word);
    __m128i zero = _mm_setzero_si128(), byte = _mm_cvtsi32_si128(word);
    return (lanes)_mm_unpacklo_epi16(_mm_unpacklo_epi8(byte, zero), zero);
#elif defined(__aarch64__)
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return (lanes)vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(word))));
#else
    return (lanes){p[0], p[1], p[2], p[3]};
#endif
}
static inline lanes lanes_look_up(const void *table, lanes index, bool few)
{
    const uint32_t *word = table;
    (void)few;
    return (lanes){word[index[0]], word[index[1]], word[index[2]], word[index[3]]};
}
/* For each mask of 4 bits: the number of ones up to each bit. */
#define ONES(m) \
    { \
        (m) & 1, ((m)&1) + ((m) >> 1 & 1), __builtin_popcount((m)&7), __builtin_popcount(m) \
    }
#define ONES_4(m) ONES(m), ONES((m) + 1), ONES((m) + 2), ONES((m) + 3)
static const uint8_t lanes_ones[16][4] = {ONES_4(0), ONES_4(4), ONES_4(8), ONES_4(12)};
static inline uint32_t *lanes_pack(uint32_t *p, uint32_t bits, lanes a)
{
    const uint8_t *ones = lanes_ones[bits];
    p[0] = a[0];
    p[ones[0]] = a[1];
    p[ones[1]] = a[2];
    p[ones[2]] = a[3];
    return p + ones[3];
}

#endif

/* The colours of LANES points, as pairs of 16-bit values. */
struct colours {
    lanes rb, g;
};

static inline struct colours colours_at(const uint32_t *colour)
{
    lanes word = lanes_load(colour);
    return (struct colours){word & 0x00ff00ff, word >> 8 & 0x00ff00ff};
}

/* Moves weight * (r, g, b, 1) of a point from a sum to another. */
static inline void sums_move(uint64_t from[4], uint64_t to[4], uint32_t colour, uint32_t weight)
{
#if defined(__AVX2__)
    __m256i part = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128((int)colour));
    part = _mm256_mul_epu32(part, _mm256_set1_epi32((int)weight));
    *(__m256i *)from = _mm256_sub_epi64(*(__m256i *)from, part);
    *(__m256i *)to = _mm256_add_epi64(*(__m256i *)to, part);
#else
    lanes channel = lanes_from_u8((const uint8_t *)&colour), w = lanes_all((int)weight);
    lanes low = LANES_MIX(channel, channel, 0, 0, 1, 1),
          high = LANES_MIX(channel, channel, 2, 2, 3, 3);
    const wide_lanes part[2] = {(wide_lanes)even_products(low, w),
                                (wide_lanes)even_products(high, w)};
    for (int i = 0; i < 2; i++) {
        ((wide_lanes *)from)[i] -= part[i];
        ((wide_lanes *)to)[i] += part[i];
    }
#endif
}

#endif
