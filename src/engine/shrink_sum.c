#include "shrink_sum.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

struct shrink_span shrink_span(uint64_t i, uint64_t pixel, uint64_t sample)
{
    uint64_t low = i * pixel, high = low + pixel;
    uint64_t first = low / sample, begin = first + (first * sample < low), end = high / sample;
    if (begin > end) /* within one cell, without touching its edges */
        return (struct shrink_span){first, pixel, first, first, first, 0};
    struct shrink_span s = {first, begin * sample - low, begin, end, first, high - end * sample};
    if (s.tail_weight)
        s.tail = end;
    return s;
}

static struct edge edge_after(const struct axis *a, uint32_t i)
{
    uint32_t at = (i + 1) * a->pixel;
    return (struct edge){at / a->sample, at % a->sample};
}

static bool axis_room(struct axis *a, uint32_t out, struct err *e)
{
    if (out <= a->room)
        return true;
    shrink_axis_free(a);
    a->span = malloc(out * sizeof *a->span);
    a->edge = malloc(out * sizeof *a->edge);
    bool ok = a->span && a->edge;
    a->room = ok ? out : 0;
    return ok || err_memory(e, out * (sizeof *a->span + sizeof *a->edge));
}

bool shrink_axis_fit(struct axis *a, uint32_t in, uint32_t out, struct err *e)
{
    if (a->in == in && a->out == out)
        return true;
    if (!axis_room(a, out, e))
        return false;
    uint32_t g = common_divisor(in, out);
    a->in = in;
    a->out = out;
    a->sample = out / g;
    a->pixel = in / g;
    for (uint32_t i = 0; i < out; i++) {
        a->span[i] = shrink_span(i, a->pixel, a->sample);
        a->edge[i] = edge_after(a, i);
    }
    return true;
}

void shrink_axis_free(struct axis *a)
{
    free(a->span);
    free(a->edge);
    *a = (struct axis){0};
}

/* Inlined, so that constant flags and counts at the call are constants in the loop. */
#define INLINED static inline __attribute__((always_inline))

/*
 * The loops below take most of the time. Each is one statement over restrict pointers, so that the
 * compiler vectorizes it. Several rows are added at a time, because reading and writing the sums
 * costs more than reading the samples. `fresh`: the sums are not initialized yet.
 */
INLINED void add4_8(uint16_t *restrict to, const uint8_t *restrict row, ptrdiff_t pitch, size_t n,
                    bool fresh)
{
    const uint8_t *restrict b = row + pitch, *restrict c = b + pitch, *restrict d = c + pitch;
    for (size_t i = 0; i < n; i++)
        to[i] = (uint16_t)((fresh ? 0 : to[i]) + row[i] + b[i] + c[i] + d[i]);
}

INLINED void add2_8(uint16_t *restrict to, const uint8_t *restrict row, ptrdiff_t pitch, size_t n)
{
    const uint8_t *restrict b = row + pitch;
    for (size_t i = 0; i < n; i++)
        to[i] = (uint16_t)(to[i] + row[i] + b[i]);
}

static void add1_8(uint16_t *restrict to, const uint8_t *restrict row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (uint16_t)(to[i] + row[i]);
}

/* At most so many complete rows fit in 16-bit sums: 255 * 257 = 65535. */
enum { ROWS_IN_16_BITS = 256 };

static void whole_rows_8(uint16_t *to, const uint8_t *row, ptrdiff_t pitch, size_t n,
                         uint32_t count)
{
    if (count >= 4) {
        add4_8(to, row, pitch, n, true);
        for (count -= 4, row += 4 * pitch; count >= 4; count -= 4, row += 4 * pitch)
            add4_8(to, row, pitch, n, false);
    } else {
        memset(to, 0, n * sizeof *to);
    }
    if (count & 2) {
        add2_8(to, row, pitch, n);
        row += 2 * pitch;
    }
    if (count & 1)
        add1_8(to, row, n);
}

/*
 * Multiplies 16 by 16 bits, for which x86-64 has instructions, unlike 32 by 32. gcc uses them only
 * if the weight arrives as a uint16_t. After inlining, gcc would treat the weight as a uint32_t.
 */
#define BY_WEIGHT static __attribute__((noinline))

BY_WEIGHT void set_weighted(uint32_t *restrict to, const uint16_t *restrict from, uint16_t weight,
                            size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (uint32_t)from[i] * (uint32_t)weight;
}

BY_WEIGHT void add_weighted(uint32_t *restrict to, const uint16_t *restrict from, uint16_t weight,
                            size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += (uint32_t)from[i] * (uint32_t)weight;
}

/* Adds the partly covered rows. A row of weight 0 is read but adds nothing. */
BY_WEIGHT void add_partial_8(uint32_t *restrict to, const uint8_t *restrict head,
                             uint16_t head_weight, const uint8_t *restrict tail,
                             uint16_t tail_weight, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += (uint32_t)(uint16_t)head[i] * (uint32_t)head_weight +
                 (uint32_t)(uint16_t)tail[i] * (uint32_t)tail_weight;
}

void shrink_column_sums_8(const struct rows *r, const struct shrink_span *span, uint32_t weight,
                          uint16_t *scratch, uint32_t *sum)
{
    uint64_t y = span->begin;
    bool fresh = true;
    do {
        uint64_t count = span->end - y > ROWS_IN_16_BITS ? ROWS_IN_16_BITS : span->end - y;
        whole_rows_8(scratch, r->data + (ptrdiff_t)y * r->pitch, r->pitch, r->count,
                     (uint32_t)count);
        if (fresh)
            set_weighted(sum, scratch, (uint16_t)weight, r->count);
        else
            add_weighted(sum, scratch, (uint16_t)weight, r->count);
        fresh = false;
        y += count;
    } while (y < span->end);
    if (span->head_weight || span->tail_weight)
        add_partial_8(sum, r->data + (ptrdiff_t)span->head * r->pitch, (uint16_t)span->head_weight,
                      r->data + (ptrdiff_t)span->tail * r->pitch, (uint16_t)span->tail_weight,
                      r->count);
}

/* Uses memcpy: a row may be unaligned, and need not have been written as uint16_t. */
static inline uint16_t word(const uint8_t *row, size_t i, int shift)
{
    uint16_t v;
    memcpy(&v, row + 2 * i, sizeof v);
    return (uint16_t)(v >> shift);
}

INLINED void add4_16(uint32_t *restrict to, const uint8_t *restrict row, ptrdiff_t pitch, size_t n,
                     int shift)
{
    const uint8_t *restrict b = row + pitch, *restrict c = b + pitch, *restrict d = c + pitch;
    for (size_t i = 0; i < n; i++)
        to[i] += (uint32_t)word(row, i, shift) + word(b, i, shift) + word(c, i, shift) +
                 word(d, i, shift);
}

INLINED void add1_16(uint32_t *restrict to, const uint8_t *restrict row, size_t n, int shift)
{
    for (size_t i = 0; i < n; i++)
        to[i] += word(row, i, shift);
}

INLINED void add_weighted_16(uint32_t *restrict to, const uint8_t *restrict row, uint16_t weight,
                             size_t n, int shift)
{
    for (size_t i = 0; i < n; i++)
        to[i] += (uint32_t)word(row, i, shift) * (uint32_t)weight;
}

static void multiply(uint32_t *restrict to, uint32_t weight, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] *= weight;
}

INLINED void sums_16(const struct rows *r, const struct shrink_span *span, uint32_t weight,
                     uint32_t *sum, int shift)
{
    size_t n = r->count;
    uint64_t y = span->begin;
    memset(sum, 0, n * sizeof *sum);
    for (; y + 4 <= span->end; y += 4)
        add4_16(sum, r->data + (ptrdiff_t)y * r->pitch, r->pitch, n, shift);
    for (; y < span->end; y++)
        add1_16(sum, r->data + (ptrdiff_t)y * r->pitch, n, shift);
    if (weight != 1)
        multiply(sum, weight, n);
    if (span->head_weight)
        add_weighted_16(sum, r->data + (ptrdiff_t)span->head * r->pitch,
                        (uint16_t)span->head_weight, n, shift);
    if (span->tail_weight)
        add_weighted_16(sum, r->data + (ptrdiff_t)span->tail * r->pitch,
                        (uint16_t)span->tail_weight, n, shift);
}

void shrink_column_sums_16(const struct rows *r, const struct shrink_span *span, uint32_t weight,
                           uint32_t *sum)
{
    switch (r->shift) {
    case 0: sums_16(r, span, weight, sum, 0); break;
    case 4: sums_16(r, span, weight, sum, 4); break;
    case 6: sums_16(r, span, weight, sum, 6); break;
    default: sums_16(r, span, weight, sum, r->shift); break;
    }
}

/* Sums whole samples for each pixel. The loops of the usual ratios are unrolled. */
INLINED void totals_of(const uint32_t *restrict sum, size_t ratio, size_t step,
                       uint32_t *restrict total, size_t n)
{
    for (size_t x = 0; x < n; x++) {
        uint32_t t = 0;
        for (size_t i = 0; i < ratio; i++)
            t += sum[(x * ratio + i) * step];
        total[x] = t;
    }
}

static void totals_whole(const uint32_t *restrict sum, size_t ratio, size_t step,
                         uint32_t *restrict total, size_t n)
{
    switch (ratio) {
    case 2: totals_of(sum, 2, step, total, n); break;
    case 3: totals_of(sum, 3, step, total, n); break;
    case 4: totals_of(sum, 4, step, total, n); break;
    case 6: totals_of(sum, 6, step, total, n); break;
    case 12: totals_of(sum, 12, step, total, n); break;
    default: totals_of(sum, ratio, step, total, n); break;
    }
}

/*
 * Sums along the row by prefix sums. With P[k] the sum of the first k columns, the sum before an
 * edge is sample * P[whole] + part * column[whole]. A pixel is the difference of its two edges. So
 * no loop or branch depends on the ratio. The last edge is the row's end: its part is 0, and there
 * is no column to read.
 */
static void totals_32(const struct mean_rule *rule, const uint32_t *restrict sum,
                      uint32_t *restrict prefix, uint32_t *restrict total)
{
    /* Modulo 2^32. The differences are right, because no pixel's own total reaches 2^32. */
    const struct axis *a = rule->axis;
    const size_t step = rule->step;
    uint32_t running = 0, before = 0;
    prefix[0] = 0;
#pragma GCC unroll 4
    for (size_t i = 0; i < a->in; i++)
        prefix[i + 1] = running += sum[i * step];
    for (size_t x = 0; x + 1 < a->out; x++) {
        struct edge at = a->edge[x];
        uint32_t here = prefix[at.whole] * a->sample + sum[at.whole * step] * at.part;
        total[x] = here - before;
        before = here;
    }
    total[a->out - 1] = running * a->sample - before;
}

/*
 * Divides by t with a multiplication. With t <= 2^l, the multiplier ceil(2^(31 + l) / t) divides
 * every n < 2^31 exactly (Granlund and Montgomery 1994). It fits 32 bits except for t == 1.
 */
static void divide_32(const struct mean_rule *rule, uint32_t t, const uint32_t *restrict total,
                      uint16_t *restrict mean)
{
    int l = 1;
    while (((uint32_t)1 << l) < t)
        l++;
    const uint64_t magic = (((uint64_t)1 << (31 + l)) + t - 1) / t;
    const uint32_t half = t / 2, multiplier = (uint32_t)magic, n = rule->axis->out;
    const int scale = rule->scale;
    if (t == 1) {
        for (uint32_t x = 0; x < n; x++)
            mean[x] = (uint16_t)(total[x] << scale);
        return;
    }
    for (uint32_t x = 0; x < n; x++) {
        uint32_t high = (uint32_t)(((uint64_t)((total[x] << scale) + half) * multiplier) >> 32);
        uint32_t q = high >> (l - 1);
        mean[x] = (uint16_t)(q > UINT16_MAX ? UINT16_MAX : q);
    }
}

/*
 * Divides exactly by multiplication. For n below 2^64, floor(n * inverse / 2^64) is the quotient or
 * one less. `inverse` is less than 2^64 / t by at most 1, so the product is too small by less than
 * 1.
 */
static inline uint64_t divide(uint64_t n, uint64_t t, uint64_t inverse)
{
    uint64_t q = (uint64_t)(((u128)n * inverse) >> 64);
    return q + (n - q * t >= t);
}

static void means_64(const struct mean_rule *rule, uint64_t t, const uint32_t *restrict sum,
                     uint64_t *restrict prefix, uint16_t *restrict mean)
{
    const struct axis *a = rule->axis;
    const size_t step = rule->step;
    const uint64_t inverse = UINT64_MAX / t, half = t / 2;
    uint64_t running = 0, before = 0;
    prefix[0] = 0;
    for (uint32_t i = 0; i < a->in; i++)
        prefix[i + 1] = running += sum[i * step];
    for (uint32_t x = 0; x < a->out; x++) {
        struct edge at = a->edge[x];
        uint32_t next = at.whole < a->in ? at.whole : a->in - 1;
        uint64_t here = prefix[at.whole] * a->sample + (uint64_t)sum[next * step] * at.part;
        uint64_t q = divide(((here - before) << rule->scale) + half, t, inverse);
        mean[x] = q > UINT16_MAX ? UINT16_MAX : (uint16_t)q;
        before = here;
    }
}

void shrink_row_means(const struct mean_rule *rule, const uint32_t *sum,
                      const struct mean_scratch *scratch, uint16_t *mean)
{
    uint64_t t = (uint64_t)rule->axis->pixel * rule->column_weight;
    if ((((uint64_t)rule->largest * t) << rule->scale) + t / 2 <= INT32_MAX &&
        (t > 1 || rule->largest << rule->scale <= UINT16_MAX)) {
        /* The buffer has room for as many uint32_t, and is never read as the other type. */
        if (rule->axis->sample == 1)
            totals_whole(sum, rule->axis->pixel, rule->step, scratch->total, rule->axis->out);
        else
            totals_32(rule, sum, (uint32_t *)(void *)scratch->prefix, scratch->total);
        divide_32(rule, (uint32_t)t, scratch->total, mean);
    } else {
        means_64(rule, t, sum, scratch->prefix, mean);
    }
}
