/* light_row_isa.c - struct light_row (shrink_sum.h) for one instruction set (isa.h). */
#include <string.h>

#include "shrink_sum.h"

static inline __attribute__((always_inline)) void read_words(const uint8_t *restrict row, size_t n,
                                                             size_t step, int shift, int up,
                                                             int32_t *restrict to)
{
    for (size_t x = 0; x < n; x++) {
        uint16_t word;
        memcpy(&word, row + x * step, sizeof word);
        int32_t fix16 = (word >> shift) << up;
        to[x] = fix16 > UINT16_MAX ? UINT16_MAX : fix16;
    }
}

static void read_row(const struct frame_view *v, const struct plane *p, const uint8_t *row,
                     int32_t *restrict to)
{
    size_t n = (size_t)p->width;
    if (v->bits <= 8)
        for (size_t x = 0; x < n; x++)
            to[x] = row[x * (size_t)p->step] * 256;
    else if (p->step == 2)
        read_words(row, n, 2, v->shift, 16 - v->bits, to);
    else
        read_words(row, n, (size_t)p->step, v->shift, 16 - v->bits, to);
}

static void chroma_parts(const struct colour_transform *m, const int32_t *restrict cb,
                         const int32_t *restrict cr, size_t n, int32_t *restrict part, size_t room)
{
    for (size_t i = 0; i < 3; i++, part += room) {
        const int32_t b = m->m[i][1], r = m->m[i][2], rest = -(b * m->offset[1] + r * m->offset[2]);
        for (size_t x = 0; x < n; x++)
            part[x] = b * cb[x] + r * cr[x] + rest;
    }
}

static void code_row(const struct colour_transform *m, const int32_t *restrict luma,
                     const int32_t *restrict part, size_t n, uint32_t *restrict code, size_t room)
{
    for (size_t i = 0; i < 3; i++, code += room) {
        const int32_t gain = m->m[i][0], rest = -gain * m->offset[0];
        for (size_t x = 0; x < n; x++)
            code[x] = light_code_of(gain * luma[x] + rest + (part ? part[i * room + x] : 0));
    }
}

static inline __attribute__((always_inline)) void apply_each(const struct light_table *t,
                                                             enum transfer transfer, bool linear,
                                                             const struct light_gamut *g,
                                                             uint32_t *row, size_t from, size_t n,
                                                             size_t room)
{
    for (size_t x = from; x < n; x++) {
        uint32_t code[3] = {row[x], row[room + x], row[2 * room + x]}, out[3];
        light_apply(t, transfer, linear, g, code, out);
        for (size_t i = 0; i < 3; i++)
            row[i * room + x] = out[i];
    }
}

#ifdef __AVX2__
#include <immintrin.h>

/* Eight samples. 64-bit products are computed separately for even and odd lanes. */
struct wide {
    __m256i even, odd;
};

static inline __m256i odds(__m256i v) { return _mm256_srli_epi64(v, 32); }

static inline __m256i joined(struct wide w)
{
    return _mm256_blend_epi32(w.even, _mm256_slli_epi64(w.odd, 32), 0xaa);
}

/* Returns (a * b) >> bits, unsigned; the result must be below 2^32. */
static inline struct wide times(__m256i a, __m256i b, int bits)
{
    return (struct wide){_mm256_srli_epi64(_mm256_mul_epu32(a, b), bits),
                         _mm256_srli_epi64(_mm256_mul_epu32(odds(a), odds(b)), bits)};
}

static inline __m256i look_up_table(const uint32_t *table, __m256i at)
{
    return _mm256_i32gather_epi32((const int *)table, at, 4);
}

/* light_cell. A float holds light >> 9 < 2^19 exactly, and its exponent is the octave. */
static inline __m256i cells(__m256i light)
{
    __m256i high = _mm256_srli_epi32(light, 9);
    __m256i exponent =
        _mm256_sub_epi32(_mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(high)), 23),
                         _mm256_set1_epi32(127));
    __m256i octave = _mm256_max_epi32(exponent, _mm256_setzero_si256());
    return _mm256_add_epi32(_mm256_slli_epi32(octave, 9), _mm256_srlv_epi32(light, octave));
}

static inline __m256i most(const __m256i v[3])
{
    return _mm256_max_epu32(_mm256_max_epu32(v[0], v[1]), v[2]);
}

static inline __m256i luminance(const __m256i v[3])
{
    static const int weight[3] = {4304, 11108, 972};
    struct wide sum = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (int i = 0; i < 3; i++) {
        const __m256i w = _mm256_set1_epi64x(weight[i]);
        sum.even = _mm256_add_epi64(sum.even, _mm256_mul_epu32(v[i], w));
        sum.odd = _mm256_add_epi64(sum.odd, _mm256_mul_epu32(odds(v[i]), w));
    }
    return joined((struct wide){_mm256_srli_epi64(sum.even, 14), _mm256_srli_epi64(sum.odd, 14)});
}

static inline __m256i gain_of(const struct light_table *t, enum transfer transfer,
                              const __m256i code[3], const __m256i light[3])
{
    if (transfer == TRANSFER_PQ)
        return look_up_table(t->gain, most(code));
    __m256i factor = look_up_table(t->ootf, cells(luminance(light)));
    __m256i shown = joined(times(most(light), factor, LIGHT_BITS));
    return joined(times(factor, look_up_table(t->gain, cells(shown)), LIGHT_BITS));
}

/*
 * Returns one row of the matrix product, clamped. Sums stay within 2^46, so their low 32 bits are
 * right after an unsigned shift too.
 */
static inline __m256i mixed(const struct wide v[3], const int32_t m[3])
{
    const __m256i half = _mm256_set1_epi64x(1 << (LIGHT_GAMUT_BITS - 1));
    struct wide sum = {half, half};
    for (int j = 0; j < 3; j++) {
        const __m256i factor = _mm256_set1_epi64x(m[j]);
        sum.even = _mm256_add_epi64(sum.even, _mm256_mul_epi32(v[j].even, factor));
        sum.odd = _mm256_add_epi64(sum.odd, _mm256_mul_epi32(v[j].odd, factor));
    }
    __m256i all = joined((struct wide){_mm256_srli_epi64(sum.even, LIGHT_GAMUT_BITS),
                                       _mm256_srli_epi64(sum.odd, LIGHT_GAMUT_BITS)});
    return _mm256_min_epi32(_mm256_max_epi32(all, _mm256_setzero_si256()),
                            _mm256_set1_epi32(LIGHT_WHITE));
}

static inline __m256i coded(const struct light_table *t, __m256i light)
{
    __m256i pair = _mm256_i32gather_epi32((const int *)(const void *)t->code, cells(light), 2);
    return _mm256_and_si256(pair, _mm256_set1_epi32(UINT16_MAX));
}

static inline __attribute__((always_inline)) void apply_eights(const struct light_table *t,
                                                               enum transfer transfer, bool linear,
                                                               const struct light_gamut *g,
                                                               uint32_t *row, size_t eights,
                                                               size_t room)
{
    for (size_t x = 0; x < eights; x += 8) {
        __m256i code[3], light[3];
        struct wide v[3];
        for (size_t i = 0; i < 3; i++) {
            code[i] = _mm256_loadu_si256((const __m256i *)(const void *)(row + i * room + x));
            light[i] = look_up_table(t->light, code[i]);
        }
        if (transfer != TRANSFER_SDR) {
            __m256i gain = gain_of(t, transfer, code, light);
            for (int i = 0; i < 3; i++)
                v[i] = times(light[i], gain, LIGHT_GAIN_BITS);
        } else {
            for (int i = 0; i < 3; i++)
                v[i] = (struct wide){light[i], odds(light[i])};
        }
        for (int i = 0; i < 3 && (transfer != TRANSFER_SDR || !g->same); i++)
            light[i] = mixed(v, g->m[i]);
        for (size_t i = 0; i < 3; i++)
            _mm256_storeu_si256((__m256i *)(void *)(row + i * room + x),
                                linear ? light[i] : coded(t, light[i]));
    }
}
#else
static inline void apply_eights(const struct light_table *t, enum transfer transfer, bool linear,
                                const struct light_gamut *g, uint32_t *row, size_t eights,
                                size_t room)
{
    (void)t, (void)transfer, (void)linear, (void)g, (void)row, (void)eights, (void)room;
}
#endif

#ifdef __AVX2__
enum { AT_ONCE = 8 };
#else
enum { AT_ONCE = 0 };
#endif

static inline __attribute__((always_inline)) void apply_all(const struct light_table *t,
                                                            enum transfer transfer, bool linear,
                                                            const struct light_gamut *g,
                                                            uint32_t *row, size_t n, size_t room)
{
    size_t eights = AT_ONCE > 0 ? n / 8 * 8 : 0;
    apply_eights(t, transfer, linear, g, row, eights, room);
    apply_each(t, transfer, linear, g, row, eights, n, room);
}

/* Calls apply_all with constant transfer and output, so that each loop is specialized. */
static void apply_row(const struct light_table *t, const struct light_gamut *g, uint32_t *row,
                      size_t n, size_t room)
{
    if (t->transfer == TRANSFER_PQ && !t->linear)
        apply_all(t, TRANSFER_PQ, false, g, row, n, room);
    else if (t->transfer == TRANSFER_PQ)
        apply_all(t, TRANSFER_PQ, true, g, row, n, room);
    else if (t->transfer == TRANSFER_HLG && !t->linear)
        apply_all(t, TRANSFER_HLG, false, g, row, n, room);
    else if (t->transfer == TRANSFER_HLG)
        apply_all(t, TRANSFER_HLG, true, g, row, n, room);
    else
        apply_all(t, TRANSFER_SDR, t->linear, g, row, n, room);
}

static void add_row(uint64_t *restrict sum, const uint32_t *restrict lit, uint32_t weight, size_t n)
{
    if (weight == 1)
        for (size_t i = 0; i < n; i++)
            sum[i] += lit[i];
    else
        for (size_t i = 0; i < n; i++)
            sum[i] += (uint64_t)lit[i] * weight;
}

const struct light_row ISA_NAME(light_row) = {.read = read_row,
                                              .chroma = chroma_parts,
                                              .codes = code_row,
                                              .apply = apply_row,
                                              .add = add_row};
