/*
 * max_filter.c - the diamond of max_filter.h, row by row, in strips of columns.
 *
 * With s = r - 1, B the maximum of five points and D its running maximum along one diagonal:
 *
 *   D(Y, x)   = max of B(Y + i, x + i), 0 <= i < r       B has rows -s..rows + s - 1
 *   out(y, x) = max of D(y - s + j, x - j), 0 <= j < r   D has rows -s..rows - 1
 *
 * Both are a `struct running` with `lean` 1 or -1.
 */
#include "barcode/sound/max_filter.h"

#include <stdlib.h>
#include <string.h>

/*
 * Running maximum of r points along a diagonal, which moves by `lean` columns a row. Rows arrive
 * one after another; the one at `at` within its block of r completes the windows that began s rows
 * before. Rows have `margin` columns before column 0.
 */
struct running {
    int lean;
    size_t at;
    /*
     * r rows. From `at` on, those of the previous block, each with the maximum along the diagonal
     * from there to the end of its block; before, those of this block as they arrived.
     */
    int16_t *block;
    int16_t *prefix; /* the maximum from the begin of this block, in columns of its row 0 */
};

struct max_filter {
    size_t radius;
    size_t strip;  /* columns of a strip */
    size_t margin; /* columns before and after it */
    size_t width;  /* of a row with margins */
    int16_t *memory;
    int16_t *lowest;    /* a row of INT16_MIN */
    int16_t *result;    /* a row of it */
    int16_t *source[3]; /* rows of the input with margins; row y at y mod 3 */
    struct running down_right, down_left;
};

/* A block has about so many bytes: what is in work stays in the cache next to the core. */
enum { BLOCK_BYTES = 24 << 10, STRIP_LEAST = 64, OTHER_ROWS = 7, ROW_STEP = 32 };

static inline int16_t larger(int16_t a, int16_t b) { return a > b ? a : b; }

/*
 * The loops over a row work on n values, rounded up to whole vectors. The compiler vectorizes them;
 * memory limits them, so that wider vectors than the base line's gain little.
 */
static inline size_t round_up(size_t n) { return (n + ROW_STEP - 1) / ROW_STEP * ROW_STEP; }

/* Writes the maxima of five points. */
static void cross_row(const int16_t *restrict up, const int16_t *restrict row,
                      const int16_t *restrict down, size_t n, int16_t *restrict to)
{
    n = round_up(n);
    const int16_t *left = row - 1;
    for (size_t x = 0; x < n; x++)
        to[x] = larger(larger(larger(up[x], down[x]), larger(left[x], left[x + 2])), row[x]);
}

/* Raises prefix to row, and writes the larger of prefix and suffix. */
static void merge_row(const int16_t *restrict row, const int16_t *restrict suffix, size_t n,
                      int16_t *restrict prefix, int16_t *restrict to)
{
    n = round_up(n);
    for (size_t x = 0; x < n; x++) {
        int16_t most = larger(prefix[x], row[x]);
        prefix[x] = most;
        to[x] = larger(most, suffix[x]);
    }
}

/* Raises row to next. */
static void raise_row(const int16_t *restrict next, size_t n, int16_t *restrict row)
{
    n = round_up(n);
    for (size_t x = 0; x < n; x++)
        row[x] = larger(row[x], next[x]);
}

static void fill(int16_t *row, size_t n)
{
    for (size_t x = 0; x < n; x++)
        row[x] = INT16_MIN;
}

static void divide_memory(struct max_filter *m)
{
    int16_t *at = m->memory + m->margin;
    int16_t **one[] = {&m->lowest,          &m->result,    &m->source[0],
                       &m->source[1],       &m->source[2], &m->down_right.prefix,
                       &m->down_left.prefix};
    for (size_t i = 0; i < OTHER_ROWS; i++, at += m->width)
        *one[i] = at;
    m->down_right.block = at;
    m->down_left.block = at + m->radius * m->width;
}

struct max_filter *max_filter_open(int radius, struct err *e)
{
    struct max_filter *m = err_calloc(1, sizeof *m, e);
    if (!m)
        return NULL;
    m->radius = (size_t)radius;
    m->margin = 2 * m->radius + ROW_STEP;
    m->strip = m->radius ? BLOCK_BYTES / sizeof(int16_t) / m->radius : 1;
    if (m->strip < STRIP_LEAST + 4 * m->radius)
        m->strip = STRIP_LEAST + 4 * m->radius;
    m->width = m->strip + 2 * m->margin;
    size_t values = (2 * m->radius + OTHER_ROWS) * m->width;
    m->memory = err_calloc(values, sizeof *m->memory, e);
    if (!m->memory) {
        free(m);
        return NULL;
    }
    fill(m->memory, values);
    divide_memory(m);
    m->down_right.lean = 1;
    m->down_left.lean = -1;
    return m;
}

void max_filter_free(struct max_filter **m)
{
    if (*m)
        free((*m)->memory);
    free(*m);
    *m = NULL;
}

static int16_t *block_row(const struct max_filter *m, const struct running *r, size_t i)
{
    return r->block + i * m->width;
}

/* Writes the maxima of the windows that the row at r->at completes; from..from + n are new. */
static void complete_windows(const struct max_filter *m, const struct running *r, ptrdiff_t from,
                             size_t n, int16_t *to)
{
    ptrdiff_t s = (ptrdiff_t)m->radius - 1, at = (ptrdiff_t)r->at;
    bool last = at == s; /* the window is this block */
    const int16_t *suffix = last ? m->lowest : block_row(m, r, r->at + 1) + from - r->lean * s;
    merge_row(block_row(m, r, r->at) + from, suffix, n, r->prefix + from - r->lean * at, to);
}

/* Goes to the next row of the block, whose columns from..from + n are used. */
static void end_row(const struct max_filter *m, struct running *r, ptrdiff_t from, size_t n)
{
    if (++r->at < m->radius)
        return;
    for (size_t i = m->radius - 1; i-- > 0;)
        raise_row(block_row(m, r, i + 1) + from + r->lean, n, block_row(m, r, i) + from);
    r->at = 0;
    fill(r->prefix - m->margin, m->width);
}

/* The part of the array in work: columns first..first + n of in[rows][columns]. */
struct strip {
    const int16_t *in;
    int16_t *out;
    size_t rows, columns, first, n;
};

/* Copies a row of the strip, and r columns on both sides as far as there are so many. */
static void copy_source(const struct max_filter *m, const struct strip *s, size_t y)
{
    size_t left = s->first < m->radius ? s->first : m->radius;
    size_t right = s->columns - s->first - s->n;
    size_t n = left + s->n + (right < m->radius ? right : m->radius);
    memcpy(m->source[y % 3] - left, s->in + y * s->columns + s->first - left, n * sizeof(int16_t));
}

static const int16_t *source_row(const struct max_filter *m, const struct strip *s, ptrdiff_t y)
{
    return y < 0 || y >= (ptrdiff_t)s->rows ? m->lowest : m->source[y % 3];
}

/* Takes row y of B: writes row y - s of D, and with it row y - 2s of the result, if there are. */
static void filter_row(struct max_filter *m, const struct strip *strip, ptrdiff_t y)
{
    ptrdiff_t s = (ptrdiff_t)m->radius - 1;
    size_t n = strip->n, halo = m->radius - 1;
    struct running *right = &m->down_right, *left = &m->down_left;
    if (y + 1 > 0 && y + 1 < (ptrdiff_t)strip->rows)
        copy_source(m, strip, (size_t)(y + 1));
    cross_row(source_row(m, strip, y - 1) - s, source_row(m, strip, y) - s,
              source_row(m, strip, y + 1) - s, n + 2 * halo, block_row(m, right, right->at) - s);
    complete_windows(m, right, -s, n + 2 * halo, block_row(m, left, left->at) - 2 * s);
    end_row(m, right, -s, n + 2 * halo);
    if (y < 0)
        return;
    complete_windows(m, left, -s, n + halo, m->result);
    end_row(m, left, -s, n + halo);
    if (y >= s)
        memcpy(strip->out + (size_t)(y - s) * strip->columns + strip->first, m->result,
               n * sizeof(int16_t));
}

static void filter_strip(struct max_filter *m, const struct strip *strip)
{
    ptrdiff_t s = (ptrdiff_t)m->radius - 1;
    m->down_right.at = m->down_left.at = 0;
    fill(m->down_right.prefix - m->margin, m->width);
    fill(m->down_left.prefix - m->margin, m->width);
    for (int i = 0; i < 3; i++)
        fill(m->source[i] - m->margin, m->width);
    copy_source(m, strip, 0);
    for (ptrdiff_t y = -s; y < (ptrdiff_t)strip->rows + s; y++)
        filter_row(m, strip, y);
}

void max_filter_run(struct max_filter *m, const int16_t *in, size_t rows, size_t columns,
                    int16_t *out)
{
    if (!rows || !columns)
        return;
    if (!m->radius) {
        memcpy(out, in, rows * columns * sizeof *in);
        return;
    }
    size_t strips = (columns + m->strip - 1) / m->strip, n = (columns + strips - 1) / strips;
    for (size_t first = 0; first < columns; first += n) {
        size_t left = columns - first;
        filter_strip(m, &(struct strip){in, out, rows, columns, first, n < left ? n : left});
    }
}
