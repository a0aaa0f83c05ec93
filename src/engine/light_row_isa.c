/*
 * light_row_isa.c - struct light_row (shrink_sum.h) for one instruction set (isa.h). Each loop is
 * simple enough for compilers to vectorize. Table look-ups are loops of their own.
 */
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

enum { BLOCK = 128 };

/* `to` may be `index`. */
static void look_up(const uint32_t *restrict table, const uint32_t *index, size_t n, uint32_t *to)
{
    for (size_t x = 0; x < n; x++)
        to[x] = table[index[x]];
}

/*
 * Computes light_cell of light below 2^31. A cell is the octave and nine more bits: the exponent of
 * a float, less that of 2^8, and the first bits of its fraction. The next bit is cleared, so that
 * rounding never carries into them. Light below LIGHT_FINE is its own cell.
 */
static void find_cells(const uint32_t *restrict light, size_t n, uint32_t *restrict cell)
{
    for (size_t x = 0; x < n; x++) {
        int32_t value = (int32_t)light[x], fine = value < LIGHT_FINE ? value : LIGHT_FINE, bits;
        float rounded = (float)(value & ~(value >> 10));
        memcpy(&bits, &rounded, sizeof bits);
        int32_t above = (bits >> 14) - (127 + 8) * LIGHT_FINE;
        cell[x] = (uint32_t)(above > fine ? above : fine);
    }
}

/* Computes the largest of three values below 2^31. */
static void find_largest(uint32_t *const row[3], size_t n, uint32_t *restrict to)
{
    const uint32_t *a = row[0], *b = row[1], *c = row[2];
    for (size_t x = 0; x < n; x++) {
        int32_t largest = (int32_t)a[x], second = (int32_t)b[x], third = (int32_t)c[x];
        largest = largest > second ? largest : second;
        to[x] = (uint32_t)(largest > third ? largest : third);
    }
}

/* Multiplies: row[x] = row[x] * by[x] >> bits. */
static void scale_row(uint32_t *restrict row, const uint32_t *restrict by, int bits, size_t n)
{
    for (size_t x = 0; x < n; x++)
        row[x] = (uint32_t)((uint64_t)row[x] * by[x] >> bits);
}

/*
 * Returns (m . v + round) >> LIGHT_GAMUT_BITS. v's high and low bits are summed separately, so that
 * 32 bits are enough: v is at most 2 LIGHT_WHITE, and the sum of |m| below 2^16.
 */
static inline int32_t weigh(const int32_t m[3], uint32_t r, uint32_t g, uint32_t b, int32_t round)
{
    enum { LOW = 11, MASK = (1 << LOW) - 1 };
    int32_t high =
        m[0] * (int32_t)(r >> LOW) + m[1] * (int32_t)(g >> LOW) + m[2] * (int32_t)(b >> LOW);
    int32_t low = m[0] * (int32_t)(r & MASK) + m[1] * (int32_t)(g & MASK) +
                  m[2] * (int32_t)(b & MASK) + round;
    return (high + (low >> LOW)) >> (LIGHT_GAMUT_BITS - LOW);
}

static inline uint32_t clamp_light(int32_t light)
{
    light = light < 0 ? 0 : light;
    return (uint32_t)(light > LIGHT_WHITE ? LIGHT_WHITE : light);
}

static void convert_primaries(const int32_t m[3][3], size_t n, uint32_t *restrict r,
                              uint32_t *restrict g, uint32_t *restrict b)
{
    const int32_t half = 1 << (LIGHT_GAMUT_BITS - 1);
    for (size_t x = 0; x < n; x++) {
        int32_t red = weigh(m[0], r[x], g[x], b[x], half);
        int32_t green = weigh(m[1], r[x], g[x], b[x], half);
        int32_t blue = weigh(m[2], r[x], g[x], b[x], half);
        r[x] = clamp_light(red);
        g[x] = clamp_light(green);
        b[x] = clamp_light(blue);
    }
}

/* What is computed of BLOCK samples at a time. */
struct block {
    uint32_t gain[BLOCK], factor[BLOCK], index[BLOCK];
};

/* Computes light_gain of HLG. */
static void find_hlg_gains(const struct light_table *t, uint32_t *const light[3], size_t n,
                           struct block *b)
{
    static const int32_t weight[3] = {4304, 11108, 972};
    for (size_t x = 0; x < n; x++)
        b->gain[x] = (uint32_t)weigh(weight, light[0][x], light[1][x], light[2][x], 0);
    find_cells(b->gain, n, b->index);
    look_up(t->ootf, b->index, n, b->factor);
    find_largest(light, n, b->gain);
    scale_row(b->gain, b->factor, LIGHT_BITS, n);
    find_cells(b->gain, n, b->index);
    look_up(t->gain, b->index, n, b->gain);
    scale_row(b->gain, b->factor, LIGHT_BITS, n);
}

/* Does light_apply for 1..BLOCK samples in place. */
static void apply_block(const struct light_table *t, const struct light_gamut *g,
                        uint32_t *const row[3], size_t n, struct block *b)
{
    if (t->transfer == TRANSFER_PQ)
        find_largest(row, n, b->index);
    for (size_t i = 0; i < 3; i++)
        look_up(t->light, row[i], n, row[i]);
    if (t->transfer == TRANSFER_PQ)
        look_up(t->gain, b->index, n, b->gain);
    else if (t->transfer != TRANSFER_SDR)
        find_hlg_gains(t, row, n, b);
    for (size_t i = 0; i < 3 && t->transfer != TRANSFER_SDR; i++)
        scale_row(row[i], b->gain, LIGHT_GAIN_BITS, n);
    if (t->transfer != TRANSFER_SDR || !g->same)
        convert_primaries(g->m, n, row[0], row[1], row[2]);
    for (size_t i = 0; i < 3 && !t->linear; i++) {
        find_cells(row[i], n, b->index);
        for (size_t x = 0; x < n; x++)
            row[i][x] = t->code[b->index[x]];
    }
}

static void apply_row(const struct light_table *t, const struct light_gamut *g, uint32_t *row,
                      size_t n, size_t room)
{
    struct block b;
    for (size_t x = 0; x < n; x += BLOCK, row += BLOCK)
        apply_block(t, g, (uint32_t *[3]){row, row + room, row + 2 * room},
                    n - x < BLOCK ? n - x : BLOCK, &b);
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
