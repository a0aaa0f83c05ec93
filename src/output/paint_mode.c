#include "paint_mode.h"

#include <stdlib.h>
#include <string.h>

#include "barcode/shrink.h"

/* Where palette painting stands in a column: rows go from top to bottom, so bands are walked, not searched. */
struct band {
    uint64_t below;         /* pixels of the bands 0..index                */
    uint64_t total;         /* pixels of all                               */
    int32_t end;            /* first row that is not of the band `index`   */
    uint8_t index;
};

struct strip {
    const struct report *report;
    enum mode mode;
    int width, height;
    uint64_t first;         /* first column that can be painted            */
    int next;               /* row that the bands stand before             */
    struct band *band;      /* [count], palette only                       */
    uint8_t *line;          /* [count][3]: one row before it is fitted; NULL when the width is the count */
    uint8_t *solid;         /* [width][3]: the one row of modes without a height */
};

static bool has_picture(const struct strip *s, const struct column *c)
{
    if (c->status == COLUMN_MISSING)
        return false;
    if (s->mode == MODE_DOWNSAMPLE)
        return c->row != NULL;
    if (s->mode == MODE_AVERAGE)
        return true;
    return c->cluster && c->clusters > 0;
}

/* floor((H * c_j + T/2) / T); a column without any count is its first colour from top to bottom. */
static int32_t band_end(const struct strip *s, const struct band *b)
{
    if (b->total == 0)
        return s->height;
    return (int32_t)(((uint64_t)s->height * b->below + b->total / 2) / b->total);
}

static void bands_restart(struct strip *s)
{
    for (uint64_t i = 0; i < s->report->count; i++) {
        const struct column *c = columns_get(s->report->columns, i);
        if (!has_picture(s, c))
            continue;
        struct band *b = &s->band[i];
        *b = (struct band){0};
        for (int j = 0; j < c->clusters; j++)
            b->total += c->cluster[j].count;
        b->below = c->cluster[0].count;
        b->end = band_end(s, b);
    }
}

static const uint8_t *palette_pixel(const struct strip *s, uint64_t i, const struct column *c, int y)
{
    struct band *b = &s->band[i];
    while (y >= b->end && b->index + 1 < c->clusters) {
        b->index++;
        b->below += c->cluster[b->index].count;
        b->end = band_end(s, b);
    }
    return c->cluster[b->index].rgb;
}

/* The staged rows that row y covers, their mean. */
static void downsample_pixel(const struct strip *s, const struct shrink_span *rows, const uint8_t *row, uint8_t pixel[3])
{
    uint64_t total = (uint64_t)s->report->height;
    for (int c = 0; c < 3; c++) {
        uint64_t sum = row[rows->head * 3 + (uint64_t)c] * rows->head_weight + row[rows->tail * 3 + (uint64_t)c] * rows->tail_weight;
        for (uint64_t j = rows->begin; j < rows->end; j++)
            sum += row[j * 3 + (uint64_t)c] * (uint64_t)s->height;
        pixel[c] = (uint8_t)((2 * sum + total) / (2 * total));
    }
}

/* Row y of every column, one pixel each. */
static void paint_line(struct strip *s, int y, uint8_t *line)
{
    const struct report *r = s->report;
    struct shrink_span rows = {0};
    if (s->mode == MODE_DOWNSAMPLE)
        rows = shrink_span((uint64_t)y, (uint64_t)r->height, (uint64_t)s->height);

    uint8_t *pixel = line + s->first * 3;
    for (uint64_t i = s->first; i < r->count; i++, pixel += 3) {
        const struct column *c = columns_get(r->columns, i);
        if (!has_picture(s, c))
            memcpy(pixel, pixel - 3, 3);
        else if (s->mode == MODE_DOWNSAMPLE)
            downsample_pixel(s, &rows, c->row, pixel);
        else if (s->mode == MODE_PALETTE)
            memcpy(pixel, palette_pixel(s, i, c, y), 3);
        else
            memcpy(pixel, s->mode == MODE_AVERAGE ? c->average : c->cluster[0].rgb, 3);
    }
    for (uint64_t i = 0; i < s->first; i++)
        memcpy(line + i * 3, line + s->first * 3, 3);
}

/* A line of `count` pixels to one of `width`: the exact area mean, rounded half up. */
static void fit_line(const uint8_t *line, uint64_t count, uint8_t *rgb, uint64_t width)
{
    for (uint64_t x = 0; x < width; x++, rgb += 3) {
        struct shrink_span s = shrink_span(x, count, width);
        const uint8_t *head = line + s.head * 3, *tail = line + s.tail * 3, *end = line + s.end * 3;
        if (s.begin == s.end && s.head == s.tail) {     /* within one column */
            memcpy(rgb, head, 3);
            continue;
        }
        uint64_t whole[3] = {0};
        for (const uint8_t *q = line + s.begin * 3; q < end; q += 3)
            for (int c = 0; c < 3; c++)
                whole[c] += q[c];
        for (int c = 0; c < 3; c++) {
            uint64_t sum = head[c] * s.head_weight + whole[c] * width + tail[c] * s.tail_weight;
            rgb[c] = (uint8_t)((2 * sum + count) / (2 * count));
        }
    }
}

static void paint_row(struct strip *s, int y, uint8_t *rgb)
{
    if (!s->line) {
        paint_line(s, y, rgb);
        return;
    }
    paint_line(s, y, s->line);
    fit_line(s->line, s->report->count, rgb, (uint64_t)s->width);
}

void strip_row(struct strip *s, int y, uint8_t *rgb)
{
    if (s->solid) {
        memcpy(rgb, s->solid, (size_t)s->width * 3);
        return;
    }
    if (s->band && y < s->next)
        bands_restart(s);
    s->next = y;
    paint_row(s, y, rgb);
}

static bool find_first(struct strip *s, struct err *e)
{
    for (s->first = 0; s->first < s->report->count; s->first++)
        if (has_picture(s, columns_get(s->report->columns, s->first)))
            return true;
    return err_set(e, ERR_FAILED, "no column has a picture for the mode '%s'", mode_name(s->mode));
}

static bool take(void *pointer, size_t count, size_t size, struct err *e)
{
    void *memory = calloc(count, size);
    memcpy(pointer, &memory, sizeof memory);
    return memory || err_memory(e, count * size);
}

struct strip *strip_open(const struct report *r, enum mode mode, int width, int height, struct err *e)
{
    struct strip *s = NULL;
    if (!take(&s, 1, sizeof *s, e))
        return NULL;
    *s = (struct strip){.report = r, .mode = mode, .width = width, .height = height};
    if (!find_first(s, e))
        goto fail;
    if ((uint64_t)width != r->count && !take(&s->line, r->count, 3, e))
        goto fail;
    if (mode == MODE_PALETTE) {
        if (!take(&s->band, r->count, sizeof *s->band, e))
            goto fail;
        bands_restart(s);
    } else if (mode != MODE_DOWNSAMPLE) {
        uint8_t *solid = NULL;
        if (!take(&solid, (size_t)width, 3, e))
            goto fail;
        paint_row(s, 0, solid);
        s->solid = solid;
        free(s->line);      /* the whole strip is painted */
        s->line = NULL;
    }
    return s;
fail:
    strip_free(&s);
    return NULL;
}

void strip_free(struct strip **s)
{
    if (!*s)
        return;
    free((*s)->band);
    free((*s)->line);
    free((*s)->solid);
    free(*s);
    *s = NULL;
}
