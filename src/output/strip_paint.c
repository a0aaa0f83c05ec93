#include "strip_paint.h"

#include <stdlib.h>
#include <string.h>

#include "barcode/shrink.h"

bool strip_shows(const struct strip *s, const struct column *c)
{
    unsigned needs = s->kind->needs;
    return c->status != COLUMN_MISSING && (!(needs & STRIP_CLUSTERS) || (c->cluster && c->clusters > 0)) &&
           (!(needs & STRIP_ROWS) || c->row);
}

/* Row y of every column, one pixel each. */
static void paint_line(struct strip *s, int y, uint8_t *line)
{
    const struct report *r = s->report;
    s->y = y;
    if (s->kind->row)
        s->kind->row(s);
    uint8_t *pixel = line + s->first * 3;
    for (uint64_t i = s->first; i < r->count; i++, pixel += 3) {
        const struct column *c = columns_get(r->columns, i);
        if (strip_shows(s, c))
            s->kind->pixel(s, i, c, pixel);
        else
            memcpy(pixel, pixel - 3, 3);
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
    if (s->solid)
        memcpy(rgb, s->solid, (size_t)s->width * 3);
    else
        paint_row(s, y, rgb);
}

static bool find_first(struct strip *s)
{
    for (s->first = 0; s->first < s->report->count; s->first++)
        if (strip_shows(s, columns_get(s->report->columns, s->first)))
            return true;
    return false;
}

/* `count` pixels; NULL when memory runs out. */
static uint8_t *pixels(uint64_t count, struct err *e)
{
    uint8_t *rgb = calloc(count, 3);
    if (!rgb)
        err_memory(e, count * 3);
    return rgb;
}

/* Makes what the rows need, and the one row of a flat strip. */
static bool prepare(struct strip *s, struct err *e)
{
    uint64_t width = (uint64_t)s->width, count = s->report->count;
    if (!find_first(s))
        return err_set(e, ERR_FAILED, "no column has a picture for the mode '%s'", s->kind->name);
    if (s->kind->open && !s->kind->open(s, e))
        return false;
    if (width != count && !(s->line = pixels(count, e)))
        return false;
    if (!s->kind->flat)
        return true;
    uint8_t *solid = pixels(width, e);
    if (!solid)
        return false;
    paint_row(s, 0, solid);
    s->solid = solid;
    free(s->line);      /* the whole strip is painted */
    s->line = NULL;
    return true;
}

struct strip *strip_open(const struct report *r, const struct strip_kind *kind, int width, int height, struct err *e)
{
    struct strip *s = calloc(1, sizeof *s);
    if (!s) {
        err_memory(e, sizeof *s);
        return NULL;
    }
    *s = (struct strip){.report = r, .kind = kind, .width = width, .height = height};
    if (!prepare(s, e))
        strip_free(&s);
    return s;
}

void strip_free(struct strip **s)
{
    if (!*s)
        return;
    free((*s)->state);
    free((*s)->line);
    free((*s)->solid);
    free(*s);
    *s = NULL;
}
