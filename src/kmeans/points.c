#include "barcode/kmeans/points.h"

#include <stdlib.h>
#include <string.h>

#include "kmeans_vector.h"

/*
 * Up to SORT_MOST pixels, the keys are radix-sorted, 12 bits a pass, low half first, with 8 bytes a
 * pixel. For more pixels, a table of 2^24 counters needs less memory, and scanning it is cheap in
 * comparison.
 */
enum { DIGIT_BITS = 12, DIGITS = 1 << DIGIT_BITS, SORT_MOST = 1 << 22 };
struct points_maker {
    const struct kmeans_vector *vector;
    uint32_t *key, *other;              /* [pixels], both buffers of the sort; NULL with a table */
    uint32_t *table;                    /* [KEYS] counts; NULL with a sort */
    uint32_t low[DIGITS], high[DIGITS]; /* histograms, then positions */
};

size_t points_most(size_t pixels) { return pixels < KEYS ? pixels : KEYS; }

/* Allocates four arrays in one block, zeroed, because vectors beyond the end are loaded. */
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
    p->group_square = kmeans_lines(groups * sizeof *p->group_square);
    if (p->colour && p->weight && p->prefix && p->group_sum && p->block_sum && p->group_square &&
        boxes_open(&p->group, groups) && boxes_open(&p->block, blocks))
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
    free(p->group_square);
    memset(p, 0, sizeof *p);
}

/* Sets n, the number of pixels and the padding from the points and their prefix sums. */
static void close_up(struct points *p, size_t n)
{
    p->n = n;
    p->padded = (n + POINTS_STEP - 1) / POINTS_STEP * POINTS_STEP;
    p->pixels = p->prefix[n - 1];
    for (size_t i = n; i < p->padded; i++) {
        p->colour[i] = p->colour[n - 1];
        p->weight[i] = 0;
    }
}

void points_seal(struct points *p, size_t n)
{
    uint32_t pixels = 0;
    uint64_t square = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t c = p->colour[i], r = c & 255, g = c >> 8 & 255, b = c >> 16 & 255;
        pixels += p->weight[i];
        p->prefix[i] = pixels;
        square += (uint64_t)p->weight[i] * (r * r + g * g + b * b);
    }
    p->square = square;
    close_up(p, n);
}

void points_box(struct points *p, enum isa isa) { kmeans_vector_of(isa)->box(p); }

struct points_maker *points_maker_open(size_t pixels, enum isa isa, struct err *e)
{
    struct points_maker *m = err_calloc(1, sizeof *m, e);
    if (!m)
        return NULL;
    m->vector = kmeans_vector_of(isa);
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

static void to_positions(uint32_t *count)
{
    uint32_t before = 0;
    for (int i = 0; i < DIGITS; i++) {
        uint32_t here = count[i];
        count[i] = before;
        before += here;
    }
}

/* Sorts by the key bits only; the bits above move with them. */
static void sort_keys(struct points_maker *m, size_t count)
{
    memset(m->low, 0, sizeof m->low);
    memset(m->high, 0, sizeof m->high);
    for (size_t i = 0; i < count; i++) {
        m->low[m->key[i] % DIGITS]++;
        m->high[m->key[i] / DIGITS % DIGITS]++;
    }
    to_positions(m->low);
    to_positions(m->high);
    for (size_t i = 0; i < count; i++)
        m->other[m->low[m->key[i] % DIGITS]++] = m->key[i];
    for (size_t i = 0; i < count; i++)
        m->key[m->high[m->other[i] / DIGITS % DIGITS]++] = m->other[i];
}

static void make_by_sorting(struct points_maker *m, struct points *p, const uint8_t *rgb,
                            size_t pixels)
{
    size_t runs = m->vector->runs(p, m->key, rgb, pixels);
    sort_keys(m, runs);
    close_up(p, m->vector->distinct(p, m->key, runs));
}

static void make_by_counting(struct points_maker *m, struct points *p, const uint8_t *rgb,
                             size_t pixels)
{
    memset(m->table, 0, KEYS * sizeof *m->table);
    for (size_t i = 0; i < pixels; i++)
        m->table[key_of(rgb + 3 * i)]++;
    size_t n = 0;
    for (uint32_t key = 0; key < KEYS; key++) {
        if (!m->table[key])
            continue;
        p->colour[n] = key_colour(key);
        p->weight[n++] = m->table[key];
    }
    points_seal(p, n);
}

void points_make(struct points_maker *m, struct points *p, const uint8_t *rgb, size_t pixels)
{
    if (m->table)
        make_by_counting(m, p, rgb, pixels);
    else
        make_by_sorting(m, p, rgb, pixels);
}
