/* live_paint.h - the report of a stream, and the pixels of a single column of it. One thread. */
#ifndef BARCODE_LIVE_LIVE_PAINT_H
#define BARCODE_LIVE_LIVE_PAINT_H

#include "plan/options.h"
#include "output/report.h"
#include "live_record.h"

/* Returns what the outputs of a live stream need of a column: bits of enum strip_need. */
unsigned live_needs(const struct options *o);

/* Returns the shape of columns from analysis frames of width x height. */
struct live_shape live_shape_of(const struct options *o, int width, int height);

/*
 * Fills a report without columns. `film` is borrowed, and needs only its path, title, transfer and
 * peak.
 */
void live_report(const struct options *o, const struct film *film, const struct live_shape *shape,
                 const struct light_table *means, struct report *r);

/*
 * Paints columns[0], which has a frame, in the first mode: rgb[options.height][3]. Returns false if
 * it has not what the mode needs, or if out of memory.
 */
bool live_paint_column(const struct options *o, const struct report *r,
                       const struct columns *columns, uint8_t *rgb);

/* Copies a column of the report's kind into another that has the same room. */
void live_copy_column(struct column *to, const struct column *from, const struct report *r);

#endif
