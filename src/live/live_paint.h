/*
 * live_paint.h - the report of a stream, and the pixels of a single column of it.
 */
#ifndef BARCODE_LIVE_LIVE_PAINT_H
#define BARCODE_LIVE_LIVE_PAINT_H

#include "barcode/cli/options.h"
#include "barcode/output/report.h"

/* Returns what the outputs of a live stream need of a column: bits of enum strip_need. */
unsigned live_needs(const struct options *o);

/*
 * Fills a report, without columns, for analysis frames of width x height. `film` is borrowed, and
 * needs only its path and title.
 */
void live_report(const struct options *o, const struct film *film, int width, int height,
                 const struct light_table *means, struct report *r);

/* Paints one column again and again, in the first mode. One thread. */
struct live_paint;

/* `columns` has the column. Returns NULL if out of memory. All arguments must outlive it. */
struct live_paint *live_paint_open(const struct options *o, const struct report *r,
                                   const struct columns *columns, struct err *e);

/* Returns the pixels of the column, which has a frame: rgb[options.height][3], valid until the next
 * call. Returns NULL if it has not what the mode needs, or if out of memory. */
const uint8_t *live_paint_column(struct live_paint *p, struct err *e);

void live_paint_free(struct live_paint **p);

/* Copies a column of the report's kind into another that has the same room. */
void live_copy_column(struct column *to, const struct column *from, const struct report *r);

#endif
