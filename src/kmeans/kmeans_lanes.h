/*
 * kmeans_lanes.h - the vector operations that the k-means needs, for AVX2 (8 lanes of 32 bits) or
 * AVX-512 (16 lanes). The loops are written once on top of them. The flags of the including file
 * select the instruction set.
 *
 * Comparisons named lanes_... return one bit a lane. VNNI differs from AVX-512 only in lanes_dot.
 */
#ifndef BARCODE_KMEANS_LANES_H
#define BARCODE_KMEANS_LANES_H

#include <immintrin.h>
#include <stdint.h>

#include "barcode/kmeans/points.h"

#ifdef __AVX512BW__
enum { LANES = 16, LANES_EVERY = 0xffff };
typedef __m512i lanes;
#define VECTOR(operation) _mm512_##operation
#define WHOLE(operation) _mm512_##operation##_si512
/* Combines both halves of a vector. */
#define HALF(operation, a) \
    _mm256_##operation(_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64(a, 1))
#else
enum { LANES = 8, LANES_EVERY = 0xff };
typedef __m256i lanes;
#define VECTOR(operation) _mm256_##operation
#define WHOLE(operation) _mm256_##operation##_si256
#define HALF(operation, a) (a)
#endif

/* ---- What both have by the same name ---- */

static inline lanes lanes_load(const void *p) { return WHOLE(load)(p); }
/* Loads from an address of any alignment. */
static inline lanes lanes_load_any(const void *p) { return WHOLE(loadu)(p); }
static inline void lanes_store(void *p, lanes a) { WHOLE(store)(p, a); }
static inline lanes lanes_all(int32_t v) { return VECTOR(set1_epi32)(v); }
static inline lanes lanes_add(lanes a, lanes b) { return VECTOR(add_epi32)(a, b); }
static inline lanes lanes_sub(lanes a, lanes b) { return VECTOR(sub_epi32)(a, b); }
static inline lanes lanes_double(lanes a) { return lanes_add(a, a); }
/* Returns half, rounded down. */
static inline lanes lanes_right1(lanes a) { return VECTOR(srai_epi32)(a, 1); }
/* Returns the low halves of the products. */
static inline lanes lanes_mul(lanes a, lanes b) { return VECTOR(mullo_epi32)(a, b); }
static inline lanes lanes_min(lanes a, lanes b) { return VECTOR(min_epi32)(a, b); }
static inline lanes lanes_max(lanes a, lanes b) { return VECTOR(max_epi32)(a, b); }
static inline lanes lanes_min_unsigned(lanes a, lanes b) { return VECTOR(min_epu32)(a, b); }
static inline lanes lanes_and(lanes a, lanes b) { return WHOLE(and)(a, b); }
static inline lanes lanes_or(lanes a, lanes b) { return WHOLE(or)(a, b); }
static inline lanes lanes_not(lanes a) { return WHOLE(xor)(a, lanes_all(-1)); }
static inline lanes pairs_abs(lanes a) { return VECTOR(abs_epi16)(a); }
static inline lanes pairs_max(lanes a, lanes b) { return VECTOR(max_epi16)(a, b); }
static inline lanes pairs_sub(lanes a, lanes b) { return VECTOR(sub_epi16)(a, b); }
static inline lanes pairs_below(lanes a, lanes b) { return VECTOR(subs_epu16)(a, b); }
static inline lanes bytes_min(lanes a, lanes b) { return VECTOR(min_epu8)(a, b); }
static inline lanes bytes_max(lanes a, lanes b) { return VECTOR(max_epu8)(a, b); }
/* Returns 16-bit words a0 b0 + a1 b1, a2 b2 + a3 b3, ... of unsigned bytes a and signed b. */
static inline lanes bytes_dot(lanes a, lanes b) { return VECTOR(maddubs_epi16)(a, b); }
/* Returns acc + a.low * b.low + a.high * b.high, for signed halves. */
static inline lanes lanes_dot(lanes acc, lanes a, lanes b)
{
#ifdef __AVX512VNNI__
    return _mm512_dpwssd_epi32(acc, a, b);
#else
    return lanes_add(acc, VECTOR(madd_epi16)(a, b));
#endif
}
/* Returns 64-bit lanes: sums of two products of unsigned lanes each. */
static inline lanes wide_products(lanes a, lanes b)
{
    lanes even = VECTOR(mul_epu32)(a, b);
    lanes odd = VECTOR(mul_epu32)(VECTOR(srli_epi64)(a, 32), VECTOR(srli_epi64)(b, 32));
    return VECTOR(add_epi64)(even, odd);
}
static inline lanes wide_add(lanes a, lanes b) { return VECTOR(add_epi64)(a, b); }
static inline uint64_t wide_sum(lanes a)
{
    __m256i half = HALF(add_epi64, a);
    __m128i m = _mm_add_epi64(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    return (uint64_t)_mm_cvtsi128_si64(m) + (uint64_t)_mm_extract_epi64(m, 1);
}
/* Stores to[i] = the sum of all lanes of a[i]. `to` is 16-byte aligned. */
static inline void lanes_store_sums(uint32_t to[4], const lanes a[4])
{
    __m256i low = _mm256_hadd_epi32(HALF(add_epi32, a[0]), HALF(add_epi32, a[1]));
    __m256i high = _mm256_hadd_epi32(HALF(add_epi32, a[2]), HALF(add_epi32, a[3]));
    __m256i sum = _mm256_hadd_epi32(low, high);
    _mm_store_si128((__m128i *)to,
                    _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1)));
}

/* Defines a function that combines all lanes to one. */
#define COMBINE_LANES(type, name, operation) \
    static inline type name(lanes a) \
    { \
        __m256i half = HALF(operation, a); \
        __m128i m = \
            _mm_##operation(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1)); \
        m = _mm_##operation(m, _mm_shuffle_epi32(m, 0x4e)); \
        return (type)_mm_cvtsi128_si32(_mm_##operation(m, _mm_shuffle_epi32(m, 0xb1))); \
    }
COMBINE_LANES(int32_t, lanes_least, min_epi32)
COMBINE_LANES(int32_t, lanes_most, max_epi32)
/* The minimum and maximum of each of the words' four bytes. */
COMBINE_LANES(uint32_t, bytes_least, min_epu8)
COMBINE_LANES(uint32_t, bytes_most, max_epu8)

/* ---- What differs ---- */

#ifdef __AVX512BW__

static inline lanes lanes_left(lanes a, int n) { return _mm512_slli_epi32(a, (unsigned)n); }
static inline lanes lanes_right(lanes a, int n) { return _mm512_srli_epi32(a, (unsigned)n); }
/* Return in lane i: lane index_i (modulo LANES) of a, or word index_i of the table. */
static inline lanes lanes_permute(lanes a, lanes index)
{
    return _mm512_permutexvar_epi32(index, a);
}
static inline lanes lanes_gather(const void *table, lanes index)
{
    return _mm512_i32gather_epi32(index, table, 4);
}
/* One boolean a lane, in the machine's own form. mask_bits returns one bit a lane. */
typedef __mmask16 lanes_mask;
static inline uint32_t mask_bits(lanes_mask m) { return m; }
static inline lanes_mask mask_less(lanes a, lanes b) { return _mm512_cmplt_epi32_mask(a, b); }
static inline lanes_mask mask_not_less(lanes a, lanes b) { return _mm512_cmpge_epi32_mask(a, b); }
/* Returns true where a has the single bit of b set. */
static inline lanes_mask mask_test(lanes a, lanes b) { return _mm512_test_epi32_mask(a, b); }
/* Returns a where the mask is true, else b. */
static inline lanes lanes_select(lanes_mask m, lanes a, lanes b)
{
    return _mm512_mask_blend_epi32(m, b, a);
}
/* Returns a where the mask is true, else 0. */
static inline lanes lanes_where(lanes_mask m, lanes a) { return _mm512_maskz_mov_epi32(m, a); }
/* Returns the sign bits. */
static inline uint32_t lanes_negative(lanes a) { return _mm512_movepi32_mask(a); }
static inline uint32_t lanes_differ(lanes a, lanes b) { return _mm512_cmpneq_epi32_mask(a, b); }
/* Returns x where d < 0, else y. */
static inline lanes lanes_pick_negative(lanes d, lanes x, lanes y)
{
    return _mm512_mask_blend_epi32(_mm512_movepi32_mask(d), y, x);
}
/* Returns 0, 1, 2, ... */
static inline lanes lanes_count(void)
{
    return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
/* Stores the lanes whose bit is 1, then undefined lanes: always writes LANES words. */
static inline void lanes_pack(uint32_t *p, uint32_t bits, lanes a)
{
    _mm512_storeu_si512(p, _mm512_maskz_compress_epi32((__mmask16)bits, a));
}
/* Returns in lane i: the sum of lanes 0 to i. */
static inline lanes lanes_sums(lanes a)
{
    lanes zero = _mm512_setzero_si512();
    a = _mm512_add_epi32(a, _mm512_alignr_epi32(a, zero, 15));
    a = _mm512_add_epi32(a, _mm512_alignr_epi32(a, zero, 14));
    a = _mm512_add_epi32(a, _mm512_alignr_epi32(a, zero, 12));
    return _mm512_add_epi32(a, _mm512_alignr_epi32(a, zero, 8));
}
static inline uint32_t lanes_last(lanes a)
{
    return (uint32_t)_mm_extract_epi32(_mm512_extracti32x4_epi32(a, 3), 3);
}
static inline lanes lanes_repeat(__m128i part) { return _mm512_broadcast_i32x4(part); }
static inline lanes lanes_from_u8(const uint8_t *p)
{
    return _mm512_cvtepu8_epi32(_mm_load_si128((const __m128i *)p));
}
/* Loads 12 bytes, and 4 more, for each part of 16 bytes. */
static inline lanes lanes_from_12(const uint8_t *p)
{
    __m512i words = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)p));
    words = _mm512_inserti32x4(words, _mm_loadu_si128((const __m128i *)(p + 12)), 1);
    words = _mm512_inserti32x4(words, _mm_loadu_si128((const __m128i *)(p + 24)), 2);
    return _mm512_inserti32x4(words, _mm_loadu_si128((const __m128i *)(p + 36)), 3);
}

#else

static inline lanes lanes_left(lanes a, int n) { return _mm256_slli_epi32(a, n); }
static inline lanes lanes_right(lanes a, int n) { return _mm256_srli_epi32(a, n); }
static inline lanes lanes_permute(lanes a, lanes index)
{
    return _mm256_permutevar8x32_epi32(a, index);
}
static inline lanes lanes_gather(const void *table, lanes index)
{
    return _mm256_i32gather_epi32(table, index, 4);
}
typedef __m256i lanes_mask;
static inline uint32_t lanes_negative(lanes a)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(a));
}
static inline uint32_t mask_bits(lanes_mask m) { return lanes_negative(m); }
static inline lanes_mask mask_less(lanes a, lanes b) { return _mm256_cmpgt_epi32(b, a); }
static inline lanes_mask mask_not_less(lanes a, lanes b) { return lanes_not(mask_less(a, b)); }
static inline lanes_mask mask_test(lanes a, lanes b)
{
    return _mm256_cmpeq_epi32(lanes_and(a, b), b);
}
static inline lanes lanes_select(lanes_mask m, lanes a, lanes b)
{
    return _mm256_blendv_epi8(b, a, m);
}
static inline lanes lanes_where(lanes_mask m, lanes a) { return lanes_and(m, a); }
static inline uint32_t lanes_differ(lanes a, lanes b)
{
    return lanes_negative(_mm256_cmpeq_epi32(a, b)) ^ LANES_EVERY;
}
static inline lanes lanes_pick_negative(lanes d, lanes x, lanes y)
{
    __m256 from_x = _mm256_castsi256_ps(x), from_y = _mm256_castsi256_ps(y);
    return _mm256_castps_si256(_mm256_blendv_ps(from_y, from_x, _mm256_castsi256_ps(d)));
}
static inline lanes lanes_count(void) { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }
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
static inline void lanes_pack(uint32_t *p, uint32_t bits, lanes a)
{
    lanes from = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(lanes_order + bits)));
    _mm256_storeu_si256((__m256i *)p, _mm256_permutevar8x32_epi32(a, from));
}
static inline lanes lanes_sums(lanes a)
{
    a = _mm256_add_epi32(a, _mm256_slli_si256(a, 4));
    a = _mm256_add_epi32(a, _mm256_slli_si256(a, 8));
    /* Each half has its own sums: add the last sum of the first half to the second. */
    lanes last = _mm256_permutevar8x32_epi32(a, _mm256_set1_epi32(3));
    return _mm256_add_epi32(a, _mm256_blend_epi32(_mm256_setzero_si256(), last, 0xf0));
}
static inline uint32_t lanes_last(lanes a) { return (uint32_t)_mm256_extract_epi32(a, 7); }
static inline lanes lanes_repeat(__m128i part) { return _mm256_broadcastsi128_si256(part); }
static inline lanes lanes_from_u8(const uint8_t *p)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
}
static inline lanes lanes_from_12(const uint8_t *p)
{
    __m256i words = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)p));
    return _mm256_inserti128_si256(words, _mm_loadu_si128((const __m128i *)(p + 12)), 1);
}

#endif

/* Returns in byte i: the byte of table[16] at the index (0..15) in byte i of `index`. */
static inline lanes bytes_look_up(const uint8_t *table, lanes index)
{
    return VECTOR(shuffle_epi8)(lanes_repeat(_mm_loadu_si128((const __m128i *)table)), index);
}

/* The number of pixels that lanes_from_rgb reads. */
enum { LANES_RGB = LANES + 2 };

/* Returns LANES pixels of 3 bytes at rgb, one word each with a high byte of 0. */
static inline lanes lanes_from_rgb(const uint8_t *rgb)
{
    __m128i apart = _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
    return VECTOR(shuffle_epi8)(lanes_from_12(rgb), lanes_repeat(apart));
}

/* What the vector code processes at a time. See barcode/kmeans/points.h. */
enum { VECTORS = 2, GROUP = VECTORS * LANES, BLOCK = GROUP * POINTS_BLOCK };

_Static_assert((int)GROUP >= (int)POINTS_GROUP_LEAST && POINTS_STEP % BLOCK == 0 &&
                   POINTS_BLOCK % LANES == 0,
               "what points.c makes room for");

/* The colours of LANES points, as pairs of 16-bit values. */
struct colours {
    lanes rb, g;
};

static inline struct colours colours_at(const uint32_t *colour)
{
    lanes word = lanes_load(colour), mask = lanes_all(0x00ff00ff);
    return (struct colours){lanes_and(word, mask), lanes_and(lanes_right(word, 8), mask)};
}

#endif
