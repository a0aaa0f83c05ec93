#include "render_line.h"

#include <stdlib.h>
#include <string.h>

#include "time_axis.h"

bool strip_shows(const struct strip *s, const struct column *c)
{
    unsigned needs = s->kind->needs;
    return c->status != COLUMN_MISSING &&
           (!(needs & STRIP_CLUSTERS) || (c->cluster && c->clusters > 0)) &&
           (!(needs & STRIP_ROWS) || c->row) && (!(needs & STRIP_SLIT) || c->slit);
}

enum { GAP_ROWS = 8 }; /* after which the hatch of gaps begins again */

static void paint_gap(uint64_t i, int y, uint8_t rgb[3])
{
    memset(rgb, (i + (uint64_t)y) & 4 ? STRIP_GAP_LIGHT : STRIP_GAP_DARK, 3);
}

/* Paints row y of every column, one pixel each. */
static void paint_line(struct strip *s, int y, uint8_t *line)
{
    s->y = y;
    if (s->kind->row)
        s->kind->row(s);
    if (s->kind->fit == FIT_TIME) {
        for (uint64_t x = 0; x < s->count; x++)
            s->kind->pixel(s, x, NULL, line + x * 3);
        return;
    }
    uint8_t *pixel = line + s->first * 3;
    bool gaps = s->report->gaps;
    for (uint64_t i = s->first; i < s->count; i++, pixel += 3) {
        const struct column *c = columns_get(s->columns, i);
        if (strip_shows(s, c))
            s->kind->pixel(s, i, c, pixel);
        else if (gaps)
            paint_gap(i, y, pixel);
        else
            memcpy(pixel, pixel - 3, 3);
    }
    for (uint64_t i = 0; i < s->first; i++) {
        if (gaps)
            paint_gap(i, y, line + i * 3);
        else
            memcpy(line + i * 3, line + s->first * 3, 3);
    }
    if (s->smooth)
        smooth_line(s->smooth, line);
}

static void paint_row(struct strip *s, int y, uint8_t *rgb)
{
    if (!s->line) {
        paint_line(s, y, rgb);
        return;
    }
    paint_line(s, y, s->line);
    for (int x = 0; s->under && x < s->width; x++)
        memcpy(rgb + (size_t)x * 3, s->line + (size_t)s->under[x] * 3, 3);
    if (s->under)
        return;
    if (s->kind->fit == FIT_MEAN)
        strip_fit_mean(s->line, s->count, rgb, (uint64_t)s->width, s->report->analysis.means);
    else
        strip_fit_medoid(s->line, s->count, rgb, (uint64_t)s->width);
}

void strip_row(struct strip *s, int y, uint8_t *rgb)
{
    size_t bytes = (size_t)s->width * 3;
    if (s->solid)
        memcpy(rgb, s->solid + (size_t)(s->report->gaps ? y % GAP_ROWS : 0) * bytes, bytes);
    else
        paint_row(s, y, rgb);
}

static bool find_first(struct strip *s)
{
    for (s->first = 0; s->first < s->count; s->first++)
        if (strip_shows(s, columns_get(s->columns, s->first)))
            return true;
    return false;
}

/* Pools the columns: from here on the strip has as many columns as pixels. */
static bool pool(struct strip *s, struct err *e)
{
    s->pooled = strip_pool(s, e);
    s->columns = s->pooled;
    s->count = (uint64_t)s->width;
    s->first = 0;
    return s->pooled != NULL;
}

/* Opens the filter of --smooth. A pooled column has the duration of the columns that it covers. */
static bool open_smooth(struct strip *s, struct err *e)
{
    int64_t *edge = s->pooled ? axis_pixel_edges(s->report, s->count, e) : axis_edges(s->report, e);
    if (!edge)
        return false;
    s->smooth = smooth_open(edge, s->count, s->report->picture.smooth_us, e);
    free(edge);
    return s->smooth != NULL;
}

/* Allocates what the rows need, and paints the different rows of a flat strip. */
static bool prepare(struct strip *s, struct err *e)
{
    const uint64_t width = (uint64_t)s->width;
    const bool by_time = axis_by_time(s->report);
    if (s->kind->fit == FIT_TIME) {
        s->count = width;
        return s->kind->open(s, e);
    }
    if (!find_first(s))
        return err_set(e, ERR_FAILED, "no column has a frame for the mode '%s'", s->kind->name);
    if (s->kind->fit == FIT_POOL && width < s->count && !by_time && !pool(s, e))
        return false;
    if (s->kind->open && !s->kind->open(s, e))
        return false;
    if (by_time && !(s->under = axis_pixel_columns(s->report, width, e)))
        return false;
    if (width != s->count || by_time) {
        s->line = err_calloc(s->count, 3, e);
        if (!s->line)
            return false;
    }
    if (s->report->picture.smooth_us > 0 && !open_smooth(s, e))
        return false;
    if (!s->kind->flat)
        return true;
    int rows = s->report->gaps ? GAP_ROWS : 1;
    uint8_t *solid = err_calloc(width * (uint64_t)rows, 3, e);
    if (!solid)
        return false;
    for (int y = 0; y < rows; y++)
        paint_row(s, y, solid + (uint64_t)y * width * 3);
    s->solid = solid;
    free(s->line); /* the strip is complete */
    s->line = NULL;
    return true;
}

struct strip *strip_open(const struct report *r, const struct strip_kind *kind, int width,
                         int height, struct err *e)
{
    struct strip *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    *s = (struct strip){.report = r,
                        .kind = kind,
                        .columns = r->columns,
                        .count = r->count,
                        .width = width,
                        .height = height};
    if (!prepare(s, e))
        strip_free(&s);
    return s;
}

void strip_free(struct strip **s)
{
    if (!*s)
        return;
    free((*s)->state);
    columns_free(&(*s)->pooled);
    free((*s)->under);
    free((*s)->smooth);
    free((*s)->line);
    free((*s)->solid);
    free(*s);
    *s = NULL;
}
