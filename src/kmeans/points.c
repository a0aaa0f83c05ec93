#include "barcode/points.h"

#include <stdlib.h>
#include <string.h>

#include "kmeans_lines.h"
#include "kmeans_vector.h"

/*
 * Up to SORT_MOST pixels the keys are sorted, 12 bits a pass, low half first: 8 bytes a pixel. Above
 * that a table of 2^24 counters is smaller than the keys and its scan is cheap beside the pixels.
 */
enum { DIGIT_BITS = 12, DIGITS = 1 << DIGIT_BITS, KEYS = 1 << 24, SORT_MOST = 1 << 22 };

struct points_maker {
    size_t pixels;
    uint32_t *key, *other;              /* [pixels], the two sides of the sort; NULL with a table */
    uint32_t *table;                    /* [KEYS] counts; NULL with a sort                        */
    uint32_t low[DIGITS], high[DIGITS]; /* histograms, then positions                             */
    uint32_t spread[3][256];            /* a channel's bits at their places in the key            */
    uint32_t gather[DIGITS];            /* 12 bits of a key as the low nibbles of a colour word   */
};

size_t points_most(size_t pixels)
{
    return pixels < KEYS ? pixels : KEYS;
}

/* The four arrays of the boxes are one piece of memory. Zeroed, for what is loaded and ignored. */
static bool boxes_open(struct boxes *b, size_t count)
{
    size_t each = (count + 15) / 16 * 16;
    b->low_rb = kmeans_lines_zeroed(4 * each * sizeof *b->low_rb);
    if (!b->low_rb)
        return false;
    b->low_g = b->low_rb + each;
    b->high_rb = b->low_g + each;
    b->high_g = b->high_rb + each;
    return true;
}

bool points_open(struct points *p, size_t capacity, struct err *e)
{
    size_t padded = (capacity + POINTS_STEP - 1) / POINTS_STEP * POINTS_STEP;
    size_t groups = padded / POINTS_GROUP_LEAST, blocks = groups / POINTS_BLOCK;
    memset(p, 0, sizeof *p);
    p->colour = kmeans_lines(padded * sizeof *p->colour);
    p->weight = kmeans_lines(padded * sizeof *p->weight);
    p->prefix = kmeans_lines(padded * sizeof *p->prefix);
    p->group_sum = kmeans_lines(groups * sizeof *p->group_sum);
    p->block_sum = kmeans_lines(blocks * sizeof *p->block_sum);
    if (p->colour && p->weight && p->prefix && p->group_sum && p->block_sum && boxes_open(&p->group, groups) &&
        boxes_open(&p->block, blocks))
        return true;
    points_close(p);
    return err_memory(e, padded * (sizeof *p->colour + sizeof *p->weight + sizeof *p->prefix));
}

void points_close(struct points *p)
{
    free(p->colour);
    free(p->weight);
    free(p->prefix);
    free(p->group.low_rb);
    free(p->block.low_rb);
    free(p->group_sum);
    free(p->block_sum);
    memset(p, 0, sizeof *p);
}

void points_seal(struct points *p, size_t n)
{
    p->n = n;
    p->padded = (n + POINTS_STEP - 1) / POINTS_STEP * POINTS_STEP;
    uint32_t pixels = 0;
    uint64_t square = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t c = p->colour[i], r = c & 255, g = c >> 8 & 255, b = c >> 16 & 255;
        pixels += p->weight[i];
        p->prefix[i] = pixels;
        square += (uint64_t)p->weight[i] * (r * r + g * g + b * b);
    }
    p->pixels = pixels;
    p->square = square;
    for (size_t i = n; i < p->padded; i++) {
        p->colour[i] = p->colour[n - 1];
        p->weight[i] = 0;
    }
}

void points_box(struct points *p, enum isa isa)
{
    const struct kmeans_vector *vector = kmeans_vector_of(isa);
    if (vector)
        vector->box(p);
}

static void fill_tables(struct points_maker *m)
{
    for (uint32_t v = 0; v < 256; v++) {
        uint32_t bits = 0;
        for (int i = 0; i < 8; i++)
            bits |= (v >> i & 1) << (3 * i);
        m->spread[0][v] = bits << 2;
        m->spread[1][v] = bits << 1;
        m->spread[2][v] = bits;
    }
    for (uint32_t key = 0; key < DIGITS; key++) {
        uint32_t colour = 0;
        for (int i = 0; i < 4; i++)
            colour |= (key >> (3 * i + 2) & 1) << i | (key >> (3 * i + 1) & 1) << (8 + i) |
                      (key >> (3 * i) & 1) << (16 + i);
        m->gather[key] = colour;
    }
}

struct points_maker *points_maker_open(size_t pixels, struct err *e)
{
    struct points_maker *m = calloc(1, sizeof *m);
    if (!m) {
        err_memory(e, sizeof *m);
        return NULL;
    }
    m->pixels = pixels;
    fill_tables(m);
    bool sort = pixels <= SORT_MOST;
    if (sort) {
        m->key = kmeans_lines(pixels * sizeof *m->key);
        m->other = kmeans_lines(pixels * sizeof *m->other);
    } else {
        m->table = kmeans_lines(KEYS * sizeof *m->table);
    }
    if (sort ? m->key && m->other : m->table != NULL)
        return m;
    points_maker_close(&m);
    err_memory(e, (sort ? 2 * pixels : KEYS) * sizeof(uint32_t));
    return NULL;
}

void points_maker_close(struct points_maker **m)
{
    if (!*m)
        return;
    free((*m)->key);
    free((*m)->other);
    free((*m)->table);
    free(*m);
    *m = NULL;
}

static uint32_t key_of(const struct points_maker *m, const uint8_t *rgb)
{
    return m->spread[0][rgb[0]] | m->spread[1][rgb[1]] | m->spread[2][rgb[2]];
}

static uint32_t colour_of(const struct points_maker *m, uint32_t key)
{
    return m->gather[key % DIGITS] | m->gather[key / DIGITS] << 4 | UINT32_C(1) << 24;
}

static void to_positions(uint32_t *count)
{
    uint32_t before = 0;
    for (int i = 0; i < DIGITS; i++) {
        uint32_t here = count[i];
        count[i] = before;
        before += here;
    }
}

/* Returns how many distinct colours it wrote. */
static size_t make_by_sorting(struct points_maker *m, struct points *p, const uint8_t *rgb, size_t pixels)
{
    memset(m->low, 0, sizeof m->low);
    memset(m->high, 0, sizeof m->high);
    for (size_t i = 0; i < pixels; i++) {
        uint32_t key = key_of(m, rgb + 3 * i);
        m->key[i] = key;
        m->low[key % DIGITS]++;
        m->high[key / DIGITS]++;
    }
    to_positions(m->low);
    to_positions(m->high);
    for (size_t i = 0; i < pixels; i++)
        m->other[m->low[m->key[i] % DIGITS]++] = m->key[i];
    for (size_t i = 0; i < pixels; i++)
        m->key[m->high[m->other[i] / DIGITS]++] = m->other[i];

    /* The write without a branch: an equal key overwrites its own point. */
    size_t n = 0, first = 0;
    for (size_t i = 0; i < pixels; i++) {
        uint32_t key = m->key[i];
        bool last = i + 1 == pixels || m->key[i + 1] != key;
        p->colour[n] = key;
        p->weight[n] = (uint32_t)(i + 1 - first);
        n += last;
        first = last ? i + 1 : first;
    }
    for (size_t i = 0; i < n; i++)
        p->colour[i] = colour_of(m, p->colour[i]);
    return n;
}

static size_t make_by_counting(struct points_maker *m, struct points *p, const uint8_t *rgb, size_t pixels)
{
    memset(m->table, 0, KEYS * sizeof *m->table);
    for (size_t i = 0; i < pixels; i++)
        m->table[key_of(m, rgb + 3 * i)]++;
    size_t n = 0;
    for (uint32_t key = 0; key < KEYS; key++) {
        if (!m->table[key])
            continue;
        p->colour[n] = colour_of(m, key);
        p->weight[n++] = m->table[key];
    }
    return n;
}

void points_make(struct points_maker *m, struct points *p, const uint8_t *rgb, size_t pixels)
{
    size_t n = m->table ? make_by_counting(m, p, rgb, pixels) : make_by_sorting(m, p, rgb, pixels);
    points_seal(p, n);
}
