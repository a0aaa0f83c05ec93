/*
 * csv_columns.h - the columns of --csv, and the list of them that --csv-columns takes. The man page
 * has their names, units and formulas. Days of --live, also with `all`, begin with `clock`.
 * Neighbours that end in _N go together: colour_N,share_N is colour_1,share_1,colour_2,share_2...
 */
#ifndef BARCODE_CSV_COLUMNS_H
#define BARCODE_CSV_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

enum { CSV_ITEMS_MOST = 256, CSV_NAME = 32 };

/* What a column describes. */
enum csv_subject {
    CSV_PLAIN,    /* the film, the column or the whole frame */
    CSV_COLUMN,   /* the colour that the first mode paints */
    CSV_AVERAGE,  /* the mean colour */
    CSV_DOMINANT, /* the dominant colour */
    CSV_CLUSTER   /* one of the clusters, or each */
};

/* An entry of the list. */
struct csv_item {
    uint8_t subject; /* enum csv_subject */
    uint8_t what;    /* index of the plain names or of the quantities */
    uint8_t cluster; /* 1..CLUSTERS_MAX; 0: each (_N) */
    bool optional;   /* only if the modes of the run need what it takes */
};

struct csv_columns {
    struct csv_item item[CSV_ITEMS_MOST];
    size_t count; /* 0: the default */
};

/*
 * Parses a list of names, separated by commas. Fails with ERR_USAGE, and a sentence with the valid
 * names, if it contains another name. Any thread.
 */
bool csv_columns_parse(const char *list, struct csv_columns *columns, struct err *e);

/* Returns what the named columns need of a frame, whatever the modes are: bits of enum strip_need.
 * Any thread. */
unsigned csv_columns_need(const struct csv_columns *columns);

#endif
