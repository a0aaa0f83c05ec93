/*
 * kmeans_lanes.h - the vector operations that the k-means needs, for AVX2 (8 lanes of 32 bits) or
 * AVX-512 (16 lanes). The templates are written once on top of them. The flags of the including
 * file select the instruction set.
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

static inline lanes lanes_load(const void *p) { return _mm512_load_si512(p); }
/* Loads from an address of any alignment. */
static inline lanes lanes_load_any(const void *p) { return _mm512_loadu_si512(p); }
static inline void lanes_store(void *p, lanes a) { _mm512_store_si512(p, a); }
static inline lanes lanes_all(int32_t v) { return _mm512_set1_epi32(v); }
static inline lanes lanes_add(lanes a, lanes b) { return _mm512_add_epi32(a, b); }
static inline lanes lanes_sub(lanes a, lanes b) { return _mm512_sub_epi32(a, b); }
static inline lanes lanes_min(lanes a, lanes b) { return _mm512_min_epi32(a, b); }
static inline lanes lanes_and(lanes a, lanes b) { return _mm512_and_si512(a, b); }
static inline lanes lanes_min_unsigned(lanes a, lanes b) { return _mm512_min_epu32(a, b); }
static inline lanes lanes_max(lanes a, lanes b) { return _mm512_max_epi32(a, b); }
static inline lanes lanes_not(lanes a) { return _mm512_xor_si512(a, _mm512_set1_epi32(-1)); }
static inline lanes lanes_right(lanes a, int n) { return _mm512_srli_epi32(a, (unsigned)n); }
/* Returns half, rounded down. */
static inline lanes lanes_right1(lanes a) { return _mm512_srai_epi32(a, 1); }
static inline lanes pairs_abs(lanes a) { return _mm512_abs_epi16(a); }
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
static inline lanes lanes_left(lanes a, int n) { return _mm512_slli_epi32(a, (unsigned)n); }
/* Returns 0, 1, 2, ... */
static inline lanes lanes_count(void)
{
    return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
/*
 * Stores the lanes whose bit is 1 consecutively, then undefined lanes: always writes LANES words.
 */
static inline void lanes_pack(uint32_t *p, uint32_t bits, lanes a)
{
    _mm512_storeu_si512(p, _mm512_maskz_compress_epi32((__mmask16)bits, a));
}
/* Returns the sign bits. */
static inline uint32_t lanes_negative(lanes a) { return _mm512_movepi32_mask(a); }
static inline lanes lanes_double(lanes a) { return _mm512_add_epi32(a, a); }
static inline lanes pairs_max(lanes a, lanes b) { return _mm512_max_epi16(a, b); }
static inline lanes pairs_sub(lanes a, lanes b) { return _mm512_sub_epi16(a, b); }
static inline lanes pairs_below(lanes a, lanes b) { return _mm512_subs_epu16(a, b); }
static inline lanes bytes_min(lanes a, lanes b) { return _mm512_min_epu8(a, b); }
static inline lanes bytes_max(lanes a, lanes b) { return _mm512_max_epu8(a, b); }
/* Returns in byte i: the byte of table[16] at the index (0..15) in byte i of `index`. */
static inline lanes bytes_look_up(const uint8_t *table, lanes index)
{
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)table)),
                               index);
}
/* Returns the low halves of the products. */
static inline lanes lanes_mul(lanes a, lanes b) { return _mm512_mullo_epi32(a, b); }
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
/* Stores to[i] = the sum of all lanes of a[i]. `to` is 16-byte aligned. */
static inline void lanes_store_sums(uint32_t to[4], const lanes a[4])
{
    __m256i half[4];
    for (int i = 0; i < 4; i++)
        half[i] =
            _mm256_add_epi32(_mm512_castsi512_si256(a[i]), _mm512_extracti64x4_epi64(a[i], 1));
    __m256i sum =
        _mm256_hadd_epi32(_mm256_hadd_epi32(half[0], half[1]), _mm256_hadd_epi32(half[2], half[3]));
    _mm_store_si128((__m128i *)to,
                    _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1)));
}
/*
 * Returns a0 b0 + a1 b1, a2 b2 + a3 b3, ... as 16-bit words, for unsigned bytes a and signed bytes
 * b.
 */
static inline lanes bytes_dot(lanes a, lanes b) { return _mm512_maddubs_epi16(a, b); }
/*
 * Returns LANES pixels of 3 bytes at rgb, one word each with a high byte of 0. Reads the bytes of
 * LANES_RGB pixels.
 */
static inline lanes lanes_from_rgb(const uint8_t *rgb)
{
    __m512i words = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)rgb));
    words = _mm512_inserti32x4(words, _mm_loadu_si128((const __m128i *)(rgb + 12)), 1);
    words = _mm512_inserti32x4(words, _mm_loadu_si128((const __m128i *)(rgb + 24)), 2);
    words = _mm512_inserti32x4(words, _mm_loadu_si128((const __m128i *)(rgb + 36)), 3);
    __m128i apart = _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
    return _mm512_shuffle_epi8(words, _mm512_broadcast_i32x4(apart));
}
/* Return the minimum and maximum of each of the words' four bytes. */
static inline uint32_t bytes_least(lanes a)
{
    __m256i half = _mm256_min_epu8(_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64(a, 1));
    __m128i m = _mm_min_epu8(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    m = _mm_min_epu8(m, _mm_shuffle_epi32(m, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_min_epu8(m, _mm_shuffle_epi32(m, 0xb1)));
}
static inline uint32_t bytes_most(lanes a)
{
    __m256i half = _mm256_max_epu8(_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64(a, 1));
    __m128i m = _mm_max_epu8(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    m = _mm_max_epu8(m, _mm_shuffle_epi32(m, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_max_epu8(m, _mm_shuffle_epi32(m, 0xb1)));
}
static inline lanes lanes_or(lanes a, lanes b) { return _mm512_or_si512(a, b); }
/* Returns acc + a.low * b.low + a.high * b.high, for signed halves. */
static inline lanes lanes_dot(lanes acc, lanes a, lanes b)
{
#ifdef __AVX512VNNI__
    return _mm512_dpwssd_epi32(acc, a, b);
#else
    return _mm512_add_epi32(acc, _mm512_madd_epi16(a, b));
#endif
}
static inline uint32_t lanes_differ(lanes a, lanes b) { return _mm512_cmpneq_epi32_mask(a, b); }
/* Returns x where d < 0, else y. */
static inline lanes lanes_pick_negative(lanes d, lanes x, lanes y)
{
    return _mm512_mask_blend_epi32(_mm512_movepi32_mask(d), y, x);
}
static inline int32_t lanes_least(lanes a) { return _mm512_reduce_min_epi32(a); }
static inline int32_t lanes_most(lanes a) { return _mm512_reduce_max_epi32(a); }
static inline lanes lanes_from_u8(const uint8_t *p)
{
    return _mm512_cvtepu8_epi32(_mm_load_si128((const __m128i *)p));
}
/* Returns 64-bit lanes: sums of two products of unsigned lanes each. */
static inline lanes wide_products(lanes a, lanes b)
{
    lanes even = _mm512_mul_epu32(a, b);
    lanes odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32));
    return _mm512_add_epi64(even, odd);
}
static inline lanes wide_add(lanes a, lanes b) { return _mm512_add_epi64(a, b); }
static inline uint64_t wide_sum(lanes a) { return (uint64_t)_mm512_reduce_add_epi64(a); }

#else

enum { LANES = 8, LANES_EVERY = 0xff };
typedef __m256i lanes;

static inline lanes lanes_load(const void *p) { return _mm256_load_si256(p); }
static inline lanes lanes_load_any(const void *p) { return _mm256_loadu_si256(p); }
static inline void lanes_store(void *p, lanes a) { _mm256_store_si256(p, a); }
static inline lanes lanes_all(int32_t v) { return _mm256_set1_epi32(v); }
static inline lanes lanes_add(lanes a, lanes b) { return _mm256_add_epi32(a, b); }
static inline lanes lanes_sub(lanes a, lanes b) { return _mm256_sub_epi32(a, b); }
static inline lanes lanes_min(lanes a, lanes b) { return _mm256_min_epi32(a, b); }
static inline lanes lanes_and(lanes a, lanes b) { return _mm256_and_si256(a, b); }
static inline lanes lanes_min_unsigned(lanes a, lanes b) { return _mm256_min_epu32(a, b); }
static inline lanes lanes_max(lanes a, lanes b) { return _mm256_max_epi32(a, b); }
static inline lanes lanes_not(lanes a) { return _mm256_xor_si256(a, _mm256_set1_epi32(-1)); }
static inline lanes lanes_right(lanes a, int n) { return _mm256_srli_epi32(a, n); }
static inline lanes lanes_right1(lanes a) { return _mm256_srai_epi32(a, 1); }
static inline lanes pairs_abs(lanes a) { return _mm256_abs_epi16(a); }
static inline lanes lanes_permute(lanes a, lanes index)
{
    return _mm256_permutevar8x32_epi32(a, index);
}
static inline lanes lanes_gather(const void *table, lanes index)
{
    return _mm256_i32gather_epi32(table, index, 4);
}
typedef __m256i lanes_mask;
static inline uint32_t mask_bits(lanes_mask m)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(m));
}
static inline lanes_mask mask_less(lanes a, lanes b) { return _mm256_cmpgt_epi32(b, a); }
static inline lanes_mask mask_not(lanes_mask m)
{
    return _mm256_xor_si256(m, _mm256_set1_epi32(-1));
}
static inline lanes_mask mask_not_less(lanes a, lanes b)
{
    return mask_not(_mm256_cmpgt_epi32(b, a));
}
static inline lanes_mask mask_test(lanes a, lanes b)
{
    return _mm256_cmpeq_epi32(_mm256_and_si256(a, b), b);
}
static inline lanes lanes_select(lanes_mask m, lanes a, lanes b)
{
    return _mm256_blendv_epi8(b, a, m);
}
static inline lanes lanes_where(lanes_mask m, lanes a) { return _mm256_and_si256(m, a); }
static inline lanes lanes_left(lanes a, int n) { return _mm256_slli_epi32(a, n); }
static inline lanes lanes_count(void) { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }
/* For each 8-bit mask: the positions of the ones, lowest first, one byte each. */
static const uint64_t lanes_order[256] = {
    UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000001),
    UINT64_C(0x0000000000000100), UINT64_C(0x0000000000000002), UINT64_C(0x0000000000000200),
    UINT64_C(0x0000000000000201), UINT64_C(0x0000000000020100), UINT64_C(0x0000000000000003),
    UINT64_C(0x0000000000000300), UINT64_C(0x0000000000000301), UINT64_C(0x0000000000030100),
    UINT64_C(0x0000000000000302), UINT64_C(0x0000000000030200), UINT64_C(0x0000000000030201),
    UINT64_C(0x0000000003020100), UINT64_C(0x0000000000000004), UINT64_C(0x0000000000000400),
    UINT64_C(0x0000000000000401), UINT64_C(0x0000000000040100), UINT64_C(0x0000000000000402),
    UINT64_C(0x0000000000040200), UINT64_C(0x0000000000040201), UINT64_C(0x0000000004020100),
    UINT64_C(0x0000000000000403), UINT64_C(0x0000000000040300), UINT64_C(0x0000000000040301),
    UINT64_C(0x0000000004030100), UINT64_C(0x0000000000040302), UINT64_C(0x0000000004030200),
    UINT64_C(0x0000000004030201), UINT64_C(0x0000000403020100), UINT64_C(0x0000000000000005),
    UINT64_C(0x0000000000000500), UINT64_C(0x0000000000000501), UINT64_C(0x0000000000050100),
    UINT64_C(0x0000000000000502), UINT64_C(0x0000000000050200), UINT64_C(0x0000000000050201),
    UINT64_C(0x0000000005020100), UINT64_C(0x0000000000000503), UINT64_C(0x0000000000050300),
    UINT64_C(0x0000000000050301), UINT64_C(0x0000000005030100), UINT64_C(0x0000000000050302),
    UINT64_C(0x0000000005030200), UINT64_C(0x0000000005030201), UINT64_C(0x0000000503020100),
    UINT64_C(0x0000000000000504), UINT64_C(0x0000000000050400), UINT64_C(0x0000000000050401),
    UINT64_C(0x0000000005040100), UINT64_C(0x0000000000050402), UINT64_C(0x0000000005040200),
    UINT64_C(0x0000000005040201), UINT64_C(0x0000000504020100), UINT64_C(0x0000000000050403),
    UINT64_C(0x0000000005040300), UINT64_C(0x0000000005040301), UINT64_C(0x0000000504030100),
    UINT64_C(0x0000000005040302), UINT64_C(0x0000000504030200), UINT64_C(0x0000000504030201),
    UINT64_C(0x0000050403020100), UINT64_C(0x0000000000000006), UINT64_C(0x0000000000000600),
    UINT64_C(0x0000000000000601), UINT64_C(0x0000000000060100), UINT64_C(0x0000000000000602),
    UINT64_C(0x0000000000060200), UINT64_C(0x0000000000060201), UINT64_C(0x0000000006020100),
    UINT64_C(0x0000000000000603), UINT64_C(0x0000000000060300), UINT64_C(0x0000000000060301),
    UINT64_C(0x0000000006030100), UINT64_C(0x0000000000060302), UINT64_C(0x0000000006030200),
    UINT64_C(0x0000000006030201), UINT64_C(0x0000000603020100), UINT64_C(0x0000000000000604),
    UINT64_C(0x0000000000060400), UINT64_C(0x0000000000060401), UINT64_C(0x0000000006040100),
    UINT64_C(0x0000000000060402), UINT64_C(0x0000000006040200), UINT64_C(0x0000000006040201),
    UINT64_C(0x0000000604020100), UINT64_C(0x0000000000060403), UINT64_C(0x0000000006040300),
    UINT64_C(0x0000000006040301), UINT64_C(0x0000000604030100), UINT64_C(0x0000000006040302),
    UINT64_C(0x0000000604030200), UINT64_C(0x0000000604030201), UINT64_C(0x0000060403020100),
    UINT64_C(0x0000000000000605), UINT64_C(0x0000000000060500), UINT64_C(0x0000000000060501),
    UINT64_C(0x0000000006050100), UINT64_C(0x0000000000060502), UINT64_C(0x0000000006050200),
    UINT64_C(0x0000000006050201), UINT64_C(0x0000000605020100), UINT64_C(0x0000000000060503),
    UINT64_C(0x0000000006050300), UINT64_C(0x0000000006050301), UINT64_C(0x0000000605030100),
    UINT64_C(0x0000000006050302), UINT64_C(0x0000000605030200), UINT64_C(0x0000000605030201),
    UINT64_C(0x0000060503020100), UINT64_C(0x0000000000060504), UINT64_C(0x0000000006050400),
    UINT64_C(0x0000000006050401), UINT64_C(0x0000000605040100), UINT64_C(0x0000000006050402),
    UINT64_C(0x0000000605040200), UINT64_C(0x0000000605040201), UINT64_C(0x0000060504020100),
    UINT64_C(0x0000000006050403), UINT64_C(0x0000000605040300), UINT64_C(0x0000000605040301),
    UINT64_C(0x0000060504030100), UINT64_C(0x0000000605040302), UINT64_C(0x0000060504030200),
    UINT64_C(0x0000060504030201), UINT64_C(0x0006050403020100), UINT64_C(0x0000000000000007),
    UINT64_C(0x0000000000000700), UINT64_C(0x0000000000000701), UINT64_C(0x0000000000070100),
    UINT64_C(0x0000000000000702), UINT64_C(0x0000000000070200), UINT64_C(0x0000000000070201),
    UINT64_C(0x0000000007020100), UINT64_C(0x0000000000000703), UINT64_C(0x0000000000070300),
    UINT64_C(0x0000000000070301), UINT64_C(0x0000000007030100), UINT64_C(0x0000000000070302),
    UINT64_C(0x0000000007030200), UINT64_C(0x0000000007030201), UINT64_C(0x0000000703020100),
    UINT64_C(0x0000000000000704), UINT64_C(0x0000000000070400), UINT64_C(0x0000000000070401),
    UINT64_C(0x0000000007040100), UINT64_C(0x0000000000070402), UINT64_C(0x0000000007040200),
    UINT64_C(0x0000000007040201), UINT64_C(0x0000000704020100), UINT64_C(0x0000000000070403),
    UINT64_C(0x0000000007040300), UINT64_C(0x0000000007040301), UINT64_C(0x0000000704030100),
    UINT64_C(0x0000000007040302), UINT64_C(0x0000000704030200), UINT64_C(0x0000000704030201),
    UINT64_C(0x0000070403020100), UINT64_C(0x0000000000000705), UINT64_C(0x0000000000070500),
    UINT64_C(0x0000000000070501), UINT64_C(0x0000000007050100), UINT64_C(0x0000000000070502),
    UINT64_C(0x0000000007050200), UINT64_C(0x0000000007050201), UINT64_C(0x0000000705020100),
    UINT64_C(0x0000000000070503), UINT64_C(0x0000000007050300), UINT64_C(0x0000000007050301),
    UINT64_C(0x0000000705030100), UINT64_C(0x0000000007050302), UINT64_C(0x0000000705030200),
    UINT64_C(0x0000000705030201), UINT64_C(0x0000070503020100), UINT64_C(0x0000000000070504),
    UINT64_C(0x0000000007050400), UINT64_C(0x0000000007050401), UINT64_C(0x0000000705040100),
    UINT64_C(0x0000000007050402), UINT64_C(0x0000000705040200), UINT64_C(0x0000000705040201),
    UINT64_C(0x0000070504020100), UINT64_C(0x0000000007050403), UINT64_C(0x0000000705040300),
    UINT64_C(0x0000000705040301), UINT64_C(0x0000070504030100), UINT64_C(0x0000000705040302),
    UINT64_C(0x0000070504030200), UINT64_C(0x0000070504030201), UINT64_C(0x0007050403020100),
    UINT64_C(0x0000000000000706), UINT64_C(0x0000000000070600), UINT64_C(0x0000000000070601),
    UINT64_C(0x0000000007060100), UINT64_C(0x0000000000070602), UINT64_C(0x0000000007060200),
    UINT64_C(0x0000000007060201), UINT64_C(0x0000000706020100), UINT64_C(0x0000000000070603),
    UINT64_C(0x0000000007060300), UINT64_C(0x0000000007060301), UINT64_C(0x0000000706030100),
    UINT64_C(0x0000000007060302), UINT64_C(0x0000000706030200), UINT64_C(0x0000000706030201),
    UINT64_C(0x0000070603020100), UINT64_C(0x0000000000070604), UINT64_C(0x0000000007060400),
    UINT64_C(0x0000000007060401), UINT64_C(0x0000000706040100), UINT64_C(0x0000000007060402),
    UINT64_C(0x0000000706040200), UINT64_C(0x0000000706040201), UINT64_C(0x0000070604020100),
    UINT64_C(0x0000000007060403), UINT64_C(0x0000000706040300), UINT64_C(0x0000000706040301),
    UINT64_C(0x0000070604030100), UINT64_C(0x0000000706040302), UINT64_C(0x0000070604030200),
    UINT64_C(0x0000070604030201), UINT64_C(0x0007060403020100), UINT64_C(0x0000000000070605),
    UINT64_C(0x0000000007060500), UINT64_C(0x0000000007060501), UINT64_C(0x0000000706050100),
    UINT64_C(0x0000000007060502), UINT64_C(0x0000000706050200), UINT64_C(0x0000000706050201),
    UINT64_C(0x0000070605020100), UINT64_C(0x0000000007060503), UINT64_C(0x0000000706050300),
    UINT64_C(0x0000000706050301), UINT64_C(0x0000070605030100), UINT64_C(0x0000000706050302),
    UINT64_C(0x0000070605030200), UINT64_C(0x0000070605030201), UINT64_C(0x0007060503020100),
    UINT64_C(0x0000000007060504), UINT64_C(0x0000000706050400), UINT64_C(0x0000000706050401),
    UINT64_C(0x0000070605040100), UINT64_C(0x0000000706050402), UINT64_C(0x0000070605040200),
    UINT64_C(0x0000070605040201), UINT64_C(0x0007060504020100), UINT64_C(0x0000000706050403),
    UINT64_C(0x0000070605040300), UINT64_C(0x0000070605040301), UINT64_C(0x0007060504030100),
    UINT64_C(0x0000070605040302), UINT64_C(0x0007060504030200), UINT64_C(0x0007060504030201),
    UINT64_C(0x0706050403020100),
};
static inline void lanes_pack(uint32_t *p, uint32_t bits, lanes a)
{
    lanes from = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(lanes_order + bits)));
    _mm256_storeu_si256((__m256i *)p, _mm256_permutevar8x32_epi32(a, from));
}
static inline uint32_t lanes_negative(lanes a)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(a));
}
static inline lanes lanes_double(lanes a) { return _mm256_add_epi32(a, a); }
static inline lanes pairs_max(lanes a, lanes b) { return _mm256_max_epi16(a, b); }
static inline lanes pairs_sub(lanes a, lanes b) { return _mm256_sub_epi16(a, b); }
static inline lanes pairs_below(lanes a, lanes b) { return _mm256_subs_epu16(a, b); }
static inline lanes bytes_min(lanes a, lanes b) { return _mm256_min_epu8(a, b); }
static inline lanes bytes_max(lanes a, lanes b) { return _mm256_max_epu8(a, b); }
static inline lanes bytes_look_up(const uint8_t *table, lanes index)
{
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)table)),
                               index);
}
static inline lanes lanes_mul(lanes a, lanes b) { return _mm256_mullo_epi32(a, b); }
static inline lanes lanes_sums(lanes a)
{
    a = _mm256_add_epi32(a, _mm256_slli_si256(a, 4));
    a = _mm256_add_epi32(a, _mm256_slli_si256(a, 8));
    /* Each half has its own sums: add the last sum of the first half to the second. */
    lanes last = _mm256_permutevar8x32_epi32(a, _mm256_set1_epi32(3));
    return _mm256_add_epi32(a, _mm256_blend_epi32(_mm256_setzero_si256(), last, 0xf0));
}
static inline uint32_t lanes_last(lanes a) { return (uint32_t)_mm256_extract_epi32(a, 7); }
static inline void lanes_store_sums(uint32_t to[4], const lanes a[4])
{
    __m256i sum = _mm256_hadd_epi32(_mm256_hadd_epi32(a[0], a[1]), _mm256_hadd_epi32(a[2], a[3]));
    _mm_store_si128((__m128i *)to,
                    _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1)));
}
static inline lanes bytes_dot(lanes a, lanes b) { return _mm256_maddubs_epi16(a, b); }
static inline lanes lanes_from_rgb(const uint8_t *rgb)
{
    __m256i words = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)rgb));
    words = _mm256_inserti128_si256(words, _mm_loadu_si128((const __m128i *)(rgb + 12)), 1);
    __m128i apart = _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
    return _mm256_shuffle_epi8(words, _mm256_broadcastsi128_si256(apart));
}
static inline uint32_t bytes_least(lanes a)
{
    __m128i m = _mm_min_epu8(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    m = _mm_min_epu8(m, _mm_shuffle_epi32(m, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_min_epu8(m, _mm_shuffle_epi32(m, 0xb1)));
}
static inline uint32_t bytes_most(lanes a)
{
    __m128i m = _mm_max_epu8(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    m = _mm_max_epu8(m, _mm_shuffle_epi32(m, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_max_epu8(m, _mm_shuffle_epi32(m, 0xb1)));
}
static inline lanes lanes_or(lanes a, lanes b) { return _mm256_or_si256(a, b); }
static inline lanes lanes_dot(lanes acc, lanes a, lanes b)
{
    return _mm256_add_epi32(acc, _mm256_madd_epi16(a, b));
}
static inline uint32_t lanes_differ(lanes a, lanes b)
{
    return lanes_negative(_mm256_cmpeq_epi32(a, b)) ^ LANES_EVERY;
}
static inline lanes lanes_pick_negative(lanes d, lanes x, lanes y)
{
    __m256 from_x = _mm256_castsi256_ps(x), from_y = _mm256_castsi256_ps(y);
    return _mm256_castps_si256(_mm256_blendv_ps(from_y, from_x, _mm256_castsi256_ps(d)));
}
static inline int32_t lanes_least(lanes a)
{
    __m128i m = _mm_min_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    m = _mm_min_epi32(m, _mm_shuffle_epi32(m, 0x4e));
    return _mm_cvtsi128_si32(_mm_min_epi32(m, _mm_shuffle_epi32(m, 0xb1)));
}
static inline int32_t lanes_most(lanes a)
{
    __m128i m = _mm_max_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
    return _mm_cvtsi128_si32(_mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1)));
}
static inline lanes lanes_from_u8(const uint8_t *p)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
}
static inline lanes wide_products(lanes a, lanes b)
{
    lanes even = _mm256_mul_epu32(a, b);
    lanes odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32));
    return _mm256_add_epi64(even, odd);
}
static inline lanes wide_add(lanes a, lanes b) { return _mm256_add_epi64(a, b); }
static inline uint64_t wide_sum(lanes a)
{
    __m128i m = _mm_add_epi64(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    return (uint64_t)_mm_cvtsi128_si64(m) + (uint64_t)_mm_extract_epi64(m, 1);
}

#endif

/* What the vector code processes at a time. See barcode/kmeans/points.h. */
enum { VECTORS = 2, GROUP = VECTORS * LANES, BLOCK = GROUP * POINTS_BLOCK };

_Static_assert((int)GROUP >= (int)POINTS_GROUP_LEAST && POINTS_STEP % BLOCK == 0 &&
                   POINTS_BLOCK % LANES == 0,
               "what points.c makes room for");

/* The number of pixels that lanes_from_rgb reads. */
enum { LANES_RGB = LANES + 2 };

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
