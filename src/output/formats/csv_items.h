/* csv_items.h - names and needs of the columns of --csv. Any thread. */
#ifndef BARCODE_FORMATS_CSV_ITEMS_H
#define BARCODE_FORMATS_CSV_ITEMS_H

#include "csv_columns.h"
#include "colour_values.h"

/* csv_item.what of CSV_PLAIN. */
enum csv_plain {
    PLAIN_COLUMN,
    PLAIN_FRAME,
    PLAIN_TIME,
    PLAIN_STATUS,
    PLAIN_FILM,
    PLAIN_CONTRAST,
    PLAIN_COLOURFULNESS,
    PLAIN_TITLE,
    PLAIN_FILE,
    PLAIN_LOUDNESS,
    PLAIN_PEAK,
    PLAIN_CENTROID,
    PLAIN_CLOCK,
    PLAINS
};

/* csv_item.what of the other subjects: enum colour_value, or one of these. */
enum { QUANTITY_COLOUR = COLOUR_VALUES, QUANTITY_SHARE, QUANTITIES };

/* Returns the columns that are written without --csv-columns. */
struct csv_columns csv_columns_default(void);

/* Writes the name of a column. `cluster` (from 1) is that of an item of a cluster. */
void csv_item_name(const struct csv_item *item, int cluster, char name[CSV_NAME]);

/* Returns the digits after the point of a value. */
int csv_value_digits(enum colour_value value);

/* Returns what an item needs of a frame: bits of enum strip_need. */
unsigned csv_item_need(const struct csv_item *item);

#endif
