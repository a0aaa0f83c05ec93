#include "live_paint.h"

#include <stdlib.h>
#include <string.h>

#include "output/poster/paint.h"

unsigned live_needs(const struct options *o)
{
    const bool shown = o->live.serve.given || o->live.format != LIVE_FORMAT_NONE;
    return strips_need((struct strips){o->picture.strip, o->picture.strips}) |
           csv_columns_need(&o->formats.csv_columns) | (shown ? STRIP_DOMINANT : 0U);
}

struct live_shape live_shape_of(const struct options *o, int width, int height)
{
    const unsigned needs = live_needs(o);
    struct live_shape s = {.step_us = o->live.column_us,
                           .width = width,
                           .height = height,
                           .k = needs & STRIP_CLUSTERS ? o->kmeans.k : 0,
                           .rows = needs & STRIP_ROWS ? height : 0};
    if (needs & STRIP_SLIT) {
        struct slit_line *line = slit_line_open(&o->picture.slit, width, height, NULL);
        s.slit = o->picture.slit;
        s.slit_length = line ? line->length : 0;
        slit_line_free(&line);
    }
    return s;
}

void live_report(const struct options *o, const struct film *film, const struct live_shape *shape,
                 const struct light_table *means, struct report *r)
{
    *r = (struct report){.film = film,
                         .selection = {.kind = SELECT_INTERVAL,
                                       .interval_us = o->live.column_us,
                                       .end_us = INT64_MAX,
                                       .keyframes = o->film.selection.keyframes},
                         .kmeans = o->kmeans,
                         .order = o->picture.order,
                         .needs = live_needs(o),
                         .width = shape->width,
                         .height = shape->height,
                         .slit = shape->slit,
                         .slit_length = shape->slit_length,
                         .light = o->film.light,
                         .means = means,
                         .picture_width = o->picture.width,
                         .picture_height = o->picture.height,
                         .title = o->poster.title,
                         .style = o->poster.style,
                         .csv_columns = &o->formats.csv_columns,
                         .overwrite = true,
                         .engine = "cpu",
                         .decode = "cpu",
                         .cache = "off",
                         .threads = 1};
    r->light.peak = light_peak(&o->film.light, film->transfer, film->peak);
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

bool live_paint_column(const struct options *o, const struct report *r,
                       const struct columns *columns, uint8_t *rgb)
{
    struct err none = ERR_INIT;
    struct report one = *r;
    one.picture_width = 1;
    one.picture_height = o->picture.height;
    one.count = 1;
    one.columns = columns;
    struct painter *painter = painter_open(&one, (struct strips){o->picture.strip, 1}, &none);
    for (int y = 0; painter && y < o->picture.height; y++)
        painter_row(painter, y, rgb + (size_t)y * 3);
    bool ok = painter && painter_ok(painter, &none);
    painter_free(&painter);
    return ok;
}
