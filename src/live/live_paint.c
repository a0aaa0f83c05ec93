#include "live_paint.h"

#include <stdlib.h>
#include <string.h>

#include "barcode/output/paint.h"

unsigned live_needs(const struct options *o)
{
    const bool shown = o->serve.given || o->live_format != LIVE_FORMAT_NONE;
    return strips_need((struct strips){o->strip, o->strips}) | csv_columns_need(&o->csv_columns) |
           (shown ? STRIP_DOMINANT : 0U);
}

void live_report(const struct options *o, const struct film *film, int width, int height,
                 const struct light_table *means, struct report *r)
{
    *r = (struct report){.film = film,
                         .selection = {.kind = SELECT_INTERVAL,
                                       .interval_us = o->live_us,
                                       .end_us = INT64_MAX,
                                       .keyframes = o->selection.keyframes},
                         .kmeans = o->kmeans,
                         .order = o->order,
                         .needs = live_needs(o),
                         .width = width,
                         .height = height,
                         .light = o->light,
                         .means = means,
                         .picture_width = o->width,
                         .picture_height = o->height,
                         .title = o->title,
                         .style = o->style,
                         .csv_columns = &o->csv_columns,
                         .overwrite = true,
                         .engine = "cpu",
                         .decode = "cpu",
                         .cache = "off",
                         .threads = 1};
    if (r->needs & STRIP_SLIT) {
        struct slit_line *line = slit_line_open(&o->slit, width, height, NULL);
        r->slit = o->slit;
        r->slit_length = line ? line->length : 0;
        slit_line_free(&line);
    }
    r->light.peak = light_peak(&o->light, film->transfer, film->peak);
}

struct live_paint {
    const struct options *o;
    struct report report;
    uint8_t *rgb;
};

struct live_paint *live_paint_open(const struct options *o, const struct report *r,
                                   const struct columns *columns, struct err *e)
{
    struct live_paint *p = err_calloc(1, sizeof *p, e);
    if (!p)
        return NULL;
    p->o = o;
    p->report = *r;
    p->report.picture_width = 1;
    p->report.picture_height = o->height;
    p->report.count = 1;
    p->report.columns = columns;
    p->rgb = err_calloc((size_t)o->height, 3, e);
    if (!p->rgb)
        live_paint_free(&p);
    return p;
}

void live_copy_column(struct column *to, const struct column *from, const struct report *r)
{
    struct column own = *to;
    *to = *from;
    to->cluster = own.cluster;
    to->row = own.row;
    to->mode = own.mode;
    to->slit = own.slit;
    if (to->cluster && from->cluster)
        memcpy(to->cluster, from->cluster, from->clusters * sizeof *from->cluster);
    if (to->row && from->row)
        memcpy(to->row, from->row, (size_t)r->height * 3);
    if (to->slit && from->slit)
        memcpy(to->slit, from->slit, (size_t)r->slit_length * 3);
}

const uint8_t *live_paint_column(struct live_paint *p, struct err *e)
{
    struct painter *painter = painter_open(&p->report, (struct strips){p->o->strip, 1}, e);
    for (int y = 0; painter && y < p->o->height; y++)
        painter_row(painter, y, p->rgb + (size_t)y * 3);
    bool ok = painter && painter_ok(painter, e);
    painter_free(&painter);
    return ok ? p->rgb : NULL;
}

void live_paint_free(struct live_paint **p)
{
    if (!*p)
        return;
    free((*p)->rgb);
    free(*p);
    *p = NULL;
}
