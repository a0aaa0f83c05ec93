/* format_options.h - the options of single output formats. */
#ifndef BARCODE_FORMAT_OPTIONS_H
#define BARCODE_FORMAT_OPTIONS_H

#include "base/option.h"
#include "csv_columns.h"
#include "thumbs.h"

struct format_options {
    struct csv_columns csv_columns; /* --csv-columns; count 0: not given */
    struct previews_rule previews;  /* --trickplay-width, --trickplay-interval */
    bool drop_frame;                /* of --shot-list; timecode.h */
};

extern const struct option_table format_options;

#endif
