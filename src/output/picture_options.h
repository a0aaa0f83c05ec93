/* picture_options.h - the options of a picture's modes, size and shape. */
#ifndef BARCODE_PICTURE_OPTIONS_H
#define BARCODE_PICTURE_OPTIONS_H

#include "barcode/engine/slit.h"
#include "base/option.h"
#include "engine/steady.h"
#include "output/modes/strip.h"

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
    int colours;       /* --colours, of the film's palette; completed by cli_check */
    struct slit slit;  /* -m slit=X, --rotate */
    int width, height; /* completed by cli_check; along time 0: one pixel per column */
    enum strip_shape shape;
    int64_t smooth_us; /* --smooth; 0: off */
    bool shots_equal;  /* --shot-width equal: with a column a shot, all are equally wide */
};

extern const struct option_table picture_options;

/* Pixels along time of a picture for which no option gives a width or selects frames. */
enum { PICTURE_LONG = 2040, PICTURE_SHORT = 1280 };

/*
 * Returns how often the pixels of each of `count` columns are repeated in such a picture, 1 or more.
 * It is then PICTURE_SHORT to PICTURE_LONG long. If no number of repeats achieves that, returns 1.
 */
uint64_t picture_repeats(uint64_t count);

/* Returns the help of -m, which lists all modes; the caller frees it. NULL if out of memory. */
char *picture_options_modes(void);

#endif
