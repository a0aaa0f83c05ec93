/* picture_options.h - the options of a picture's modes, size and shape. */
#ifndef BARCODE_PICTURE_OPTIONS_H
#define BARCODE_PICTURE_OPTIONS_H

#include "barcode/engine/slit.h"
#include "engine/steady.h"
#include "strip.h"

/* limit of --columns, of --width, and of the columns that --interval gives */
enum { OPTION_COLUMNS_MOST = 10000000 };

struct picture_options {
    /* the selected modes in the order of strip_table; `strips` entries */
    const struct strip_kind *strip[STRIPS_MOST];
    size_t strips;
    bool stacked; /* -m all: one picture of all modes */
    /*
     * `strip`, then the other modes that need no data beyond what `strip` needs; `computes` entries
     */
    const struct strip_kind *computed[STRIPS_MOST];
    size_t computes;
    int steady; /* --steady: a percentage, 0 (off) to STEADY_MOST */
    enum palette_order order;
    int colours;      /* --colours, of the film's palette */
    struct slit slit; /* -m slit=X, --rotate */
    /*
     * after cli_finalize_picture; the size along time may be 0: one pixel per column
     */
    int width, height;
    enum strip_shape shape;
    int64_t smooth_us; /* --smooth; 0: off */
};

#endif
